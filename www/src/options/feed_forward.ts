/** The controls of the feed-forward branch. */

import { valueAt } from "../spec.js";
import { type Group, put, without } from "./control.js";

/** What a mixture begins with. */
const MIXTURE = { experts: 4, selected: 2 };

function branchOf(filled: object): string {
  const branch = valueAt(filled, "feedForward");
  return typeof branch === "object" ? "experts" : String(branch);
}

const EXPERTS: Group = {
  title: "Experts",
  closed: (_, filled) =>
    branchOf(filled) === "experts" ? undefined : "Not available: the branch is no mixture of experts.",
  controls: [
    {
      type: "amount",
      path: "feedForward.experts",
      label: "Experts, E",
      words: "How many feed-forward networks a block has.",
      most: 8,
      whole: true,
      others: () => [4, 8],
    },
    {
      type: "amount",
      path: "feedForward.selected",
      label: "Chosen for each row, k",
      words: "The most probable ones; of equal ones the first.",
      most: 8,
      whole: true,
      others: () => [1, 2],
    },
    {
      type: "choice",
      path: "feedForward.expert",
      label: "An expert is",
      choices: [
        { value: "dense", name: "dense experts", words: "A hidden layer and an activation." },
        { value: "swiglu", name: "SwiGLU experts", words: "A gated layer, as in Mixtral." },
      ],
      // The activation says more about the kind that is left.
      write: (spec, value) =>
        put({ ...spec, options: without(spec.options, "activation") }, "feedForward.expert", value),
    },
    {
      type: "switch",
      path: "feedForward.renormalize",
      label: "Renormalized shares",
      on: "The chosen experts' shares are divided by their sum, to make 1.",
      off: "The chosen experts keep the router's probabilities.",
    },
    {
      type: "amount",
      path: "feedForward.capacity",
      label: "Capacity",
      words: "How many choices of a prompt an expert takes, in the order of the rows.",
      most: 64,
      whole: true,
      empty: "all",
      others: () => [1, 2],
    },
    {
      type: "choice",
      path: "feedForward.overflow",
      label: "When an expert is full",
      choices: [
        { value: "drop", name: "drop the choice", words: "The row does without." },
        {
          value: "reroute",
          name: "reroute the choice",
          words: "The row goes to its next most probable expert with room.",
        },
        { value: "error", name: "refuse the prompt", words: "Nothing is computed." },
      ],
    },
    {
      type: "amount",
      path: "feedForward.noise",
      label: "Router noise",
      words: "Standard deviation of what is added to the router's scores before the choice.",
      others: () => [0.5, 1],
    },
    {
      type: "amount",
      path: "feedForward.noiseSeed",
      label: "Seed of the noise",
      words: "The noise is the same for the same seed.",
      whole: true,
      others: () => [1, 2],
    },
  ],
};

export const FEED_FORWARD: Group = {
  title: "Feed-forward",
  controls: [
    {
      type: "choice",
      path: "feedForward",
      label: "Branch",
      choices: [
        { value: "dense", name: "dense", words: "Expand, activation, contract." },
        {
          value: "glu",
          name: "GLU",
          words: "Two layers side by side; one, through an activation, gates the other.",
        },
        { value: "swiglu", name: "SwiGLU", words: "A gated layer whose gate is SiLU (Llama)." },
        { value: "geglu", name: "GEGLU", words: "A gated layer whose gate is GELU (Gemma)." },
        {
          value: "experts",
          name: "mixture of experts",
          words: "A router sends each row to a few of several networks.",
        },
      ],
      read: branchOf,
      // The activation says more about the branch that is left.
      write: (spec, value) =>
        put(
          { ...spec, options: without(spec.options, "activation") },
          "feedForward",
          value === "experts" ? MIXTURE : value,
        ),
    },
    {
      type: "choice",
      path: "activation",
      label: "Activation",
      choices: [
        { value: "relu", name: "ReLU", words: "Negative numbers become 0." },
        { value: "gelu", name: "GELU", words: "x times the normal distribution's share below x." },
        { value: "gelu_tanh", name: "GELU by tanh", words: "GPT-2's and Gemma's close formula for GELU." },
        { value: "silu", name: "SiLU", words: "x times its sigmoid." },
        { value: "identity", name: "identity", words: "Nothing is bent: two layers in a row are one." },
        { value: "sigmoid", name: "sigmoid", words: "Everything comes to lie between 0 and 1." },
        { value: "tanh", name: "tanh", words: "Everything comes to lie between -1 and 1." },
        { value: "softplus", name: "softplus", words: "A ReLU without a corner." },
        { value: "quick_gelu", name: "quick GELU", words: "x times the sigmoid of 1.702·x." },
        { value: "gelu_bloom", name: "Bloom's GELU", words: "GELU by tanh with Bloom's rounded constant." },
      ],
    },
  ],
  inner: [EXPERTS],
};
