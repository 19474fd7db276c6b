/** Norms, entropies and counts. */

import type { Tensor } from "./tensor.js";

/** The lengths of one stage's rows. */
export interface StageNorms {
  stage: string;
  /** The residual stream, or what a branch contributes to it. */
  kind: "stream" | "branch";
  /** T: the L2 norm of each row, in float64. */
  norms: Tensor;
  /**
   * Of a branch, T: its norm over that of the stream it is added to, as it was before. Infinity over a row of zeros, NaN
   * where the branch is zero too.
   */
  ratios?: Tensor;
}

/** The entropies of one stage of attention weights, in bits. */
export interface StageEntropies {
  stage: string;
  /** H,T: -sum of p log2 p over the keys of each query's row, where 0 log2 0 is 0. */
  bits: Tensor;
  /**
   * H,T: log2 of how many keys the query sees, which equal weights reach: of a causal model log2 t, the position t counted
   * from 1; with windows, masks or edits the keys whose score is not -Infinity are counted. 0 where there are none.
   */
  bound: Tensor;
}

/** What a model is made of, and what a token costs. */
export interface Count {
  parameters: ParameterCount;
  flops: FlopCount;
  crossovers: Crossovers;
}

/** Parameters by part: each is in exactly one, and `total` is their sum. Biases count where their matrix does. */
export interface ParameterCount {
  total: number;
  /** Embedding tables; with `tiedHead` the head's too. */
  embedding: number;
  /** Learned positions. */
  position: number;
  /** Self-attention in all blocks. */
  attention: number;
  /** Of an EncoderDecoderModel. */
  crossAttention?: number;
  /** The feed-forward branches; of a mixture every expert and the routers. */
  feedForward: number;
  /** Gains and biases of all norms. */
  norms: number;
  /** The head; 0 where it is tied. */
  head: number;
  /** One block; of an EncoderDecoderModel one of the decoder's. */
  perBlock: BlockCount;
  /** Of an EncoderDecoderModel: one of the encoder's. */
  perEncoderBlock?: BlockCount;
}

/** The parameters of one block by part. */
export interface BlockCount {
  total: number;
  attention: number;
  crossAttention?: number;
  feedForward: number;
  norms: number;
}

/**
 * Floating-point operations for each token (of an EncoderDecoderModel, of the target), in all blocks: 2 for each
 * multiplication with its addition. A product with a matrix of I inputs and O outputs is 2·I·O. Biases, norms, activations,
 * softmax, positions and the lookup of embeddings are not counted.
 */
export interface FlopCount {
  /** Query, key, value and output of self-attention. */
  projections: number;
  /** Scores and mixing for each key that the token sees: at a context of n they are n times this. */
  scoresAndMixing: number;
  /** Of an EncoderDecoderModel. */
  crossAttention?: {
    /** Query and output, for each token of the target. */
    projections: number;
    /** Key and value, for each row of the memory, once. */
    memoryProjections: number;
    /** For each row of the memory that the token sees. */
    scoresAndMixing: number;
  };
  /** The feed-forward branches; of a mixture the router and the chosen experts alone. */
  feedForward: number;
  head: number;
  /** Of an EncoderDecoderModel: its encoder's, for each token of the source. */
  encoder?: { projections: number; scoresAndMixing: number; feedForward: number };
}

/**
 * From how many keys on a token takes more operations in self-attention than in the feed-forward branch; exact, so it may be
 * a fraction, and past `maxContext`. null where a `window` keeps a token from ever seeing so many.
 */
export interface Crossovers {
  /** Scores and mixing alone: 4·nModel where nHidden is that, and heads share nModel among them. */
  scoresAndMixing: number | null;
  /** With the projections: 2·nModel there; 0 where these alone take as many. */
  withProjections: number | null;
}
