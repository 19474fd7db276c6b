/** Models by name: the choices of well-known families, at the page's sizes. */

import { LESSON, type Spec } from "../spec.js";

export interface Preset {
  readonly name: string;
  readonly words: string;
  readonly spec: Spec;
}

const LLAMA = {
  nKeyValueHeads: 1,
  norm: "rms",
  normAffine: true,
  position: "rotary",
  rotary: { pairing: "half" },
};

export const PRESETS: readonly Preset[] = [
  { name: "the lesson's model", words: "The decoder that the lesson begins with.", spec: LESSON },
  {
    name: "GPT-2 style",
    words: "Pre-norm LayerNorm with gain and bias, GELU by tanh, learned positions, biases, tied head.",
    spec: {
      kind: "CausalLanguageModel",
      options: {
        nBlocks: 2,
        nHidden: 16,
        maxContext: 24,
        normAffine: true,
        activation: "gelu_tanh",
        position: "learned",
        bias: { attention: true, feedForward: true, norm: true },
        tiedHead: true,
      },
    },
  },
  {
    name: "Llama style",
    words: "Pre-norm RMSNorm, SwiGLU, rotation by halves, query heads that share a key and a value head.",
    spec: { kind: "CausalLanguageModel", options: { nBlocks: 2, ...LLAMA, feedForward: "swiglu" } },
  },
  {
    name: "Gemma style",
    words: "Embedding times √D, RMSNorm with gains of 1 + g, GEGLU by tanh, wide heads, tied head.",
    spec: {
      kind: "CausalLanguageModel",
      options: {
        headWidth: 4,
        nBlocks: 2,
        ...LLAMA,
        gainOffset: 1,
        epsilon: 1e-6,
        embeddingScale: 2,
        activation: "gelu_tanh",
        feedForward: "geglu",
        tiedHead: true,
      },
    },
  },
  {
    name: "Mixtral style",
    words: "As Llama, with a router that sends each row to two of four SwiGLU experts.",
    spec: {
      kind: "CausalLanguageModel",
      options: { ...LLAMA, feedForward: { experts: 4, selected: 2, expert: "swiglu" } },
    },
  },
  {
    name: "original Transformer",
    words: "The encoder-decoder of 2017: post-norm, embedding times √D, sines and cosines, ReLU, tied head.",
    spec: {
      kind: "EncoderDecoderModel",
      options: {
        nHidden: 16,
        normPlacement: "post",
        normAffine: true,
        finalNorm: false,
        embeddingScale: 2,
        bias: { feedForward: true, norm: true },
        tiedHead: true,
      },
    },
  },
  {
    name: "BERT style encoder",
    words: "No mask, post-norm, GELU, learned positions, biases everywhere, tied head.",
    spec: {
      kind: "EncoderModel",
      options: {
        nHidden: 16,
        maxContext: 24,
        normPlacement: "post",
        normAffine: true,
        finalNorm: false,
        activation: "gelu",
        position: "learned",
        bias: { attention: true, feedForward: true, norm: true, head: true },
        tiedHead: true,
      },
    },
  },
];
