/** What models are asked, and what is hidden from them. */

import type { Rows2, Rows3, Shaped } from "./tensor.js";
import type { BatchTrace, Trace } from "./traces.js";

/** Rows of the residual stream: T,D, or B,T,D with prompts of one length. */
export type Rows = Rows2 | Rows3 | Shaped;

/** What an encoder-decoder starts from: rows that enter the encoder, S,D, and the decoder, T,D; or B,S,D and B,T,D. */
export interface SourceRows {
  source: Rows;
  target: Rows;
}

/** What its decoder starts from alone: rows in place of what leaves the encoder, S,D or B,S,D. */
export interface MemoryRows {
  memory: Rows;
  target: Rows;
}

/**
 * Booleans, or whole numbers of which each is 0 or 1 (plain or in an integer array): true, or 1, hides. Any other numbers,
 * and whatever stands in a Float64Array or Float32Array, are added to scores; -Infinity hides. In lists of lists, in typed
 * arrays in lists, or as `data` with a `shape`, such as a tensor.
 */
export type Mask = ArrayLike<MaskCell> | MaskShaped;
export type MaskCell = boolean | number | Mask;

export interface MaskShaped {
  readonly data: ArrayLike<number> | ArrayLike<boolean>;
  readonly shape: readonly number[];
}

/**
 * Masks of one call, besides the model's own `mask` and `window`; a key is seen where none hides it. A query that may see
 * no key has weights of exactly 0, and its branch's contribution is the bias alone (PyTorch gives NaN, or 0, as it computes one way or another).
 *
 * For a batch they are given in its padded size, and each prompt takes the part that is its own. Queries at positions that
 * a padding mask hides are computed all the same. A key padding is B,S marks (true is padding), S marks for all prompts, or
 * lengths: a list of B numbers says how many positions of each prompt are valid, the last ones with `padding: "left"`.
 * @throws `shape_mismatch` with every shape there may be in `allowed`; `not_finite` for NaN or Infinity; for lengths
 * `not_an_integer` and `index_out_of_range`.
 */
export interface Masks {
  /** Of self-attention (of an encoder-decoder, the decoder's): T,S or H,T,S, of a batch also B,H,T,S or B*H,T,S. */
  attention?: Mask;
  /** Which keys of it are padding. */
  padding?: Mask;
  /** Of cross-attention: as `attention`, where S is the length of the source or memory. */
  memory?: Mask;
  /** Which rows of the memory are padding. Default `sourcePadding`, where the source is given. */
  memoryPadding?: Mask;
  /** Which positions of the source are padding, as the encoder's keys; hidden or not, never numbers to add. */
  sourcePadding?: Mask;
}

/**
 * A change of some cells of one stage, made as soon as the stage is computed: later stages follow, earlier ones are not
 * touched. One of `set`, `add`, `scale` and `from`.
 */
export interface Edit {
  /** A stage by its own or its short name. */
  stage: string;
  /** One entry for each axis of the stage, of a batch the prompt's first; null stands for all. Default: all cells. */
  index?: readonly (number | null)[];
  /** One number for all of the cells, or one for each. Scores may be set to, or lowered by, -Infinity, which hides. */
  set?: EditValues;
  add?: EditValues;
  scale?: EditValues;
  /** A trace whose cells of the same stage and index take their place. */
  from?: Trace | BatchTrace;
}
export type EditValues = number | EditList | Shaped;
export type EditList = ArrayLike<number | EditList>;

export interface RowsOptions {
  masks?: Masks;
  /**
   * Ablation and patching: changes of stages, one after the other.
   * @throws `unknown_stage`, `shape_mismatch`, `index_out_of_range`, `not_an_integer`, `not_finite`, `invalid_option`.
   */
  edits?: readonly Edit[];
}

export interface CallOptions extends RowsOptions {
  /**
   * An earlier trace of this model: only the rows behind the longest prefix that the two prompts share are computed (the
   * last one always), the others are taken over; the result is the same to the bit. Nothing is taken over where rows look
   * ahead, after a parameter was set, or where the two calls' masks or edits differ; `computedRows` says what was done.
   */
  reuse?: Trace;
  /** On which side a batch's shorter prompts are padded in its tensors. Default "right". */
  padding?: "right" | "left";
}
