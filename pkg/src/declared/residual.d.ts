/** The residual stream taken apart, and bumped. */

import type { Tensor } from "./tensor.js";

/** What was written into the residual stream by one stage, or one head. */
export interface ResidualPart {
  /** The stage that wrote it; of a head, that stage with `.head.0`; of a bias with `.bias`; of an edit with `.edit`. */
  name: string;
  stage: string;
  head?: number;
  /** T,D. */
  values: Tensor;
}

/** What the head would make of the residual stream at one stage. */
export interface LensLayer {
  /** `positioned`, or a block's `hidden`. */
  stage: string;
  /** T,V. */
  logits: Tensor;
  probabilities: Tensor;
}

/** What each part of the residual stream adds to a logit, or to the difference of two. */
export interface LogitContributions {
  parts: { name: string; value: number }[];
  /** What no part adds: the last norm's bias through the head, and the head's bias. */
  constant: number;
  logit: number;
  /** The parts and the constant summed, minus the logit: rounding. */
  check: number;
}

/** A bump of one coordinate of one row. */
export interface Bump {
  /** A stage with a row of `nModel` coordinates for each position: `positioned`, `blocks.0.after_attention`, … */
  stage: string;
  /** Negative ones count from the end. */
  position: number;
  coordinate: number;
  /** What is added. Default 1. */
  amount?: number;
}

/** What a bump changed. */
export interface Responses {
  /** The contributions of the branches that read the bumped stage, their norm included: each branch alone. */
  branch: StageResponse[];
  /** Every later stage of the model. */
  model: StageResponse[];
}

export interface StageResponse {
  stage: string;
  /** The sum of the absolute changes of a row's cells, and how many changed, to the bit. */
  rows: { position: number; sumAbs: number; cells: number }[];
}
