/** Continuing a prompt. */

import type { Tensor } from "./tensor.js";

export interface GenerateOptions {
  /** How many tokens are written at most. */
  maxNewTokens: number;
  /** The most probable token each time, of equal ones the first; nothing is drawn. Default false. */
  greedy?: boolean;
  /** What logits are divided by. Default 1. */
  temperature?: number;
  /** Only so many of the most probable tokens are kept (Fan et al. 2018, arXiv:1805.04833). */
  topK?: number;
  /** Of what is left, only the fewest tokens that together have this probability (Holtzman et al. 2019, arXiv:1904.09751). */
  topP?: number;
  /** Draws are those of NumPy's `default_rng(seed)`, made once for the run. Default 0. */
  seed?: number | bigint;
  /** The token after which nothing is written; it is the last step's. */
  endId?: number;
}

export interface GenerationStep {
  /** The tokens before. */
  context: number[];
  /** softmax(logits / temperature), V: what the model says, before anything is left out. */
  distribution: Tensor;
  /** The same after topK and topP, V: what was drawn from. */
  filtered: Tensor;
  /** The probability that the filters removed. */
  removedMass: number;
  tokenId: number;
  /** Its probability in `filtered`. */
  probability: number;
}

export interface BeamOptions {
  /** How many continuations are kept: once it is V^(n-1) for n tokens, the search is exhaustive. */
  width: number;
  /** How many tokens each has at most. */
  maxNewTokens: number;
  /** The token that finishes a continuation. */
  endId?: number;
  /** A score is the log-probability over the number of new tokens to this power. Default 0: the log-probability itself. */
  lengthPenalty?: number;
}

export interface Beam {
  /** The new ones, the end token included. */
  tokens: number[];
  logProbability: number;
  score: number;
}
