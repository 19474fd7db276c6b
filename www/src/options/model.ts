/** The controls of what a model is and how large. */

import type { ModelName } from "glassformer";
import { type Group, writeKind } from "./control.js";

const isPair = ({ kind }: { kind: ModelName }) => kind === "EncoderDecoderModel";

export const MODEL: Group = {
  title: "Which model",
  controls: [
    {
      type: "choice",
      path: "(model)",
      label: "Model",
      choices: [
        {
          value: "CausalLanguageModel",
          name: "decoder",
          words: "Each row sees itself and the rows before it, and predicts the token after it.",
        },
        {
          value: "EncoderModel",
          name: "encoder",
          words: "A row sees the later rows too: nothing has to be predicted from what came before.",
        },
        {
          value: "EncoderDecoderModel",
          name: "encoder-decoder",
          words:
            "An encoder reads a source; a decoder looks at it by cross-attention and predicts the target.",
        },
      ],
      read: (_, { kind }) => kind,
      write: (spec, kind) => writeKind(spec, kind as ModelName),
    },
  ],
};

export const SIZES: Group = {
  title: "Sizes",
  controls: [
    {
      type: "amount",
      path: "nModel",
      label: "Width of a row, D",
      words: "How many numbers stand for a token at every stage of the stream.",
      most: 16,
      whole: true,
      others: () => [8, 6],
    },
    {
      type: "amount",
      path: "nHeads",
      label: "Heads, H",
      words: "How many patterns of attention run side by side.",
      most: 8,
      whole: true,
      others: () => [1, 2, 4],
    },
    {
      type: "amount",
      path: "headWidth",
      label: "Width of a head, K",
      words: "Numbers in a query, a key and a value; unless chosen, D divided by H.",
      most: 8,
      whole: true,
      empty: "D / H",
      others: () => [2, 4],
    },
    {
      type: "amount",
      path: "nKeyValueHeads",
      label: "Key and value heads, G",
      words: "Fewer than H: several query heads share a key and a value head (grouped-query attention).",
      most: 8,
      whole: true,
      empty: "H",
      others: () => [1, 2],
    },
    {
      type: "amount",
      path: "nBlocks",
      label: "Blocks, L",
      words: "How often attention and feed-forward follow each other.",
      most: 4,
      whole: true,
      others: () => [1, 2],
    },
    {
      type: "amount",
      path: "nEncoderBlocks",
      label: "Blocks of the encoder",
      words: "The encoder may have more or fewer than the decoder.",
      most: 4,
      whole: true,
      empty: "L",
      others: () => [1, 2],
      only: isPair,
    },
    {
      type: "amount",
      path: "nHidden",
      label: "Feed-forward width, F",
      words: "How many units the feed-forward branch, or each expert, has; unless chosen, 2·D.",
      most: 64,
      whole: true,
      empty: "2·D",
      others: () => [8, 16],
    },
    {
      type: "amount",
      path: "maxContext",
      label: "Longest prompt",
      words: "Longer prompts are refused; a learned table of positions has so many rows.",
      most: 1024,
      whole: true,
      others: () => [24, 512],
    },
  ],
};

export const STREAM: Group = {
  title: "Stream and head",
  controls: [
    {
      type: "switch",
      path: "residual",
      label: "Residual additions",
      on: "What a branch makes is added to the stream.",
      off: "What a branch makes takes the stream's place: see what is then lost.",
    },
    {
      type: "switch",
      path: "parallel",
      label: "Parallel branches",
      on: "Attention and feed-forward both read the block's input.",
      off: "Feed-forward reads what attention left.",
    },
    {
      type: "amount",
      path: "embeddingScale",
      label: "Embedding times",
      words: "Multiplies the table's rows: √D in the original Transformer and in Gemma.",
      others: () => [2, 3],
    },
    {
      type: "switch",
      path: "tiedHead",
      label: "Tied head",
      on: "The head is the embedding table itself: one set of numbers for both.",
      off: "The head has numbers of its own.",
    },
  ],
};

export const DRAWS: Group = {
  title: "Where the numbers come from",
  controls: [
    {
      type: "amount",
      path: "seed",
      label: "Seed",
      words: "Another seed draws other numbers; the same one always the same, on every machine.",
      whole: true,
      others: () => [1, 2],
    },
    {
      type: "choice",
      path: "init",
      label: "Recipe",
      choices: [
        {
          value: "lesson",
          name: "the lesson's recipe",
          words: "NumPy's stream: embedding times 0.5, every other matrix times 1/√(number of inputs).",
        },
        {
          value: "rustlab",
          name: "rustlab's recipe",
          words: "Rust's stream: attention times 1/√(inputs), feed-forward times √(2/inputs).",
        },
        {
          value: "gpt2",
          name: "GPT-2's recipe",
          words: "NumPy's stream: every matrix times 0.02, outputs of branches also times 1/√(2·L).",
        },
      ],
    },
    {
      type: "amount",
      path: "branchScale",
      label: "Branches times",
      words: "Multiplies attention output and contract as they are drawn; 1/√(2·L) keeps a deep stream calm.",
      others: () => [0.5, 2],
    },
    {
      type: "choice",
      path: "dtype",
      label: "Precision",
      choices: [
        { value: "float64", name: "float64", words: "64 bits a number: about 16 digits." },
        { value: "float32", name: "float32", words: "32 bits a number: about 7 digits." },
      ],
    },
  ],
};
