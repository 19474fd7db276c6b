/** The controls of normalization and of biases. */

import { type Group, put } from "./control.js";

export const NORM: Group = {
  title: "Norm",
  controls: [
    {
      type: "choice",
      path: "norm",
      label: "Kind of norm",
      choices: [
        {
          value: "layer",
          name: "LayerNorm",
          words: "Takes each row's mean off, then divides by its standard deviation.",
        },
        {
          value: "rms",
          name: "RMSNorm",
          words: "Divides each row by its root mean square; no mean is taken off.",
        },
        { value: "none", name: "no norm", words: "Rows stay as large as they are." },
      ],
    },
    {
      type: "choice",
      path: "normPlacement",
      label: "Where it stands",
      choices: [
        {
          value: "pre",
          name: "pre-norm",
          words: "A branch reads a normalized copy; the stream itself is only added to.",
        },
        {
          value: "post",
          name: "post-norm",
          words: "The sum behind each branch is normalized, as in the original Transformer.",
        },
      ],
    },
    {
      type: "switch",
      path: "normAffine",
      label: "Gain",
      on: "A normalized row is multiplied by a vector of gains, which are parameters.",
      off: "A normalized row stays as it is.",
    },
    {
      type: "switch",
      path: "bias.norm",
      label: "Bias of the norm",
      on: "Behind the gain a vector is added.",
      off: "Nothing is added behind the gain.",
    },
    {
      type: "amount",
      path: "gainOffset",
      label: "Gain offset",
      words: "Added to each gain before it multiplies: 1 in Gemma.",
      others: () => [1, 2],
    },
    {
      type: "amount",
      path: "epsilon",
      label: "Epsilon",
      words: "Stands under the norm's root, so that a row of zeros is not divided by 0.",
      others: () => [1e-6, 1e-3],
    },
    {
      type: "switch",
      path: "finalNorm",
      label: "Final norm",
      on: "What leaves the last block is normalized.",
      off: "What leaves the last block goes on as it is.",
    },
    {
      type: "switch",
      path: "embeddingNorm",
      label: "Embedding norm",
      on: "The embedding is normalized before positions are added, as in Bloom.",
      off: "The embedding goes on as it is.",
    },
  ],
};

export const BIASES: Group = {
  title: "Biases",
  controls: [
    {
      type: "choice",
      path: "bias.attention",
      label: "In attention",
      choices: [
        { value: "false", name: "no biases in attention", words: "Projections only multiply." },
        {
          value: "qkv",
          name: "biases on query, key and value",
          words: "These three add a vector; the output does not (Qwen).",
        },
        {
          value: "true",
          name: "biases on all four projections",
          words: "Each adds a vector (GPT-2, BERT).",
        },
      ],
      read: (filled) => String((filled as { bias: { attention?: unknown } }).bias.attention ?? false),
      write: (spec, value) =>
        put(spec, "bias.attention", value === "false" ? undefined : value === "true" || "qkv"),
    },
    {
      type: "switch",
      path: "bias.feedForward",
      label: "Biases in the feed-forward branch",
      on: "Its layers add a vector.",
      off: "Its layers only multiply.",
    },
    {
      type: "switch",
      path: "bias.head",
      label: "Bias of the head",
      on: "Each word's score has a number added.",
      off: "Scores are the head's products alone.",
    },
  ],
};
