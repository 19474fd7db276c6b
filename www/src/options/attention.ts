/** The controls of positions and of attention. */

import { refusal, type Spec, type Value, valueAt } from "../spec.js";
import { type Group, put, without } from "./control.js";

/** Scalings whose numbers are those of a known model. */
const SCALINGS: Readonly<Record<string, Value>> = {
  linear: { kind: "linear", factor: 4 },
  llama3: { kind: "llama3", factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalContext: 8192 },
};

/** Another list of slopes. */
function slopes(filled: object): number[] {
  return Array.from({ length: Number(valueAt(filled, "nHeads")) }, () => 0.1);
}

/** The package's reason why something cannot be added to a model. */
function unavailable(spec: Spec): string | undefined {
  const reason = refusal(spec);
  return reason === undefined ? undefined : `Not available: ${reason}.`;
}

const ROTARY: Group = {
  title: "Rotation",
  closed: (spec) => unavailable(put(spec, "rotary.base", 500)),
  controls: [
    {
      type: "choice",
      path: "rotary.pairing",
      label: "Pairs that turn together",
      choices: [
        {
          value: "adjacent",
          name: "neighbours in pairs",
          words: "Coordinates 0 and 1, 2 and 3, as in the paper.",
        },
        {
          value: "half",
          name: "halves in pairs",
          words: "A coordinate and the one half the width further, as in Llama.",
        },
      ],
    },
    {
      type: "amount",
      path: "rotary.width",
      label: "Coordinates that turn",
      words: "The first so many of a head's, an even number; the rest do not know the position.",
      most: 8,
      whole: true,
      empty: "all",
      others: () => [2, 4, 6],
    },
    {
      type: "amount",
      path: "rotary.base",
      label: "Base",
      words: "The larger, the slower the later pairs turn.",
      others: () => [500, 20000],
    },
    {
      type: "choice",
      path: "rotary.scaling",
      label: "Stretch",
      choices: [
        { value: "none", name: "no stretch", words: "Position t turns as far as the paper says." },
        { value: "linear", name: "linear, 4-fold", words: "Every pair turns four times slower." },
        {
          value: "llama3",
          name: "Llama 3.1's",
          words: "Slow pairs turn eight times slower, fast ones as before.",
        },
      ],
      read: (filled) => String(valueAt(filled, "rotary.scaling.kind") ?? "none"),
      write: (spec, value) => put(spec, "rotary.scaling", SCALINGS[value]),
    },
  ],
};

const ALIBI: Group = {
  title: "Slopes",
  closed: (spec, filled) => unavailable(put(spec, "alibiSlopes", slopes(filled))),
  controls: [
    {
      type: "amount",
      path: "alibiSlopes",
      label: "Slopes",
      words: "One for each head, with commas: by so much a score falls with each step of distance.",
      list: true,
      empty: "the paper's",
      others: (filled) => [slopes(filled)],
    },
  ],
};

export const POSITION: Group = {
  title: "Position",
  controls: [
    {
      type: "choice",
      path: "position",
      label: "What tells positions apart",
      choices: [
        {
          value: "sinusoidal",
          name: "sines and cosines",
          words: "Waves of several lengths are added to the embedding.",
        },
        {
          value: "learned",
          name: "a learned table",
          words: "A row of a table, one for each position, is added.",
        },
        {
          value: "rotary",
          name: "rotation",
          words: "Queries and keys are turned by an angle that grows with the position.",
        },
        { value: "alibi", name: "ALiBi", words: "Scores fall with the distance between query and key." },
        {
          value: "none",
          name: "no positions",
          words: "Only the mask, where there is one, tells positions apart.",
        },
      ],
      // What only says more about the position that is left goes with it.
      write: (spec, value) =>
        put({ ...spec, options: without(spec.options, "rotary", "alibiSlopes") }, "position", value),
    },
  ],
  inner: [ROTARY, ALIBI],
};

export const ATTENTION: Group = {
  title: "Attention",
  controls: [
    {
      type: "choice",
      path: "mask",
      label: "Mask",
      choices: [
        { value: "causal", name: "causal mask", words: "A row sees no later row." },
        { value: "none", name: "no mask", words: "A row sees every row." },
      ],
    },
    {
      type: "amount",
      path: "window",
      label: "Window",
      words: "How many keys a row sees to each side at most, its own included.",
      most: 24,
      whole: true,
      empty: "all",
      others: () => [1, 2],
    },
    {
      type: "amount",
      path: "scoreScale",
      label: "Scores times",
      words: "What a product of query and key is multiplied by; unless chosen, 1/√K.",
      empty: "1/√K",
      others: () => [0.5, 1],
    },
    {
      type: "switch",
      path: "scaleByLayer",
      label: "Scores divided by the block's number",
      on: "Scores of block n are also divided by n + 1.",
      off: "All blocks' scores have the same scale.",
    },
  ],
};
