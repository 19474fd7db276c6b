/** Traces of one prompt and of a batch. */

import type { Explanation } from "./explanation.js";
import type { JsonBatch, JsonTrace, PlainBatch, PlainTrace } from "./forms.js";
import type { StageEntropies, StageNorms } from "./measures.js";
import type { LanguageModel } from "./models.js";
import type { LensLayer, LogitContributions, ResidualPart } from "./residual.js";
import type { BatchTidyRow, Diff, StageDescription, TidyRow } from "./stages.js";
import type { Tensor } from "./tensor.js";

/** Everything a forward pass computed. Readable until its own `free()`, whatever becomes of the model. */
export class Trace {
  private constructor();
  /** The prompt; empty when the pass started from rows. */
  readonly tokens: readonly number[];
  /** The tokens' labels; their ids as text where the model has no words. */
  readonly words: readonly string[];
  /** T, the number of positions. */
  readonly length: number;
  /** Of an encoder-decoder: the source's tokens; empty when the pass started from rows. */
  readonly sourceTokens: readonly number[];
  /** Their labels; their ids as text where the model has no `sourceWords`. */
  readonly sourceWords: readonly string[];
  /** S, the number of the source's, or the memory's, positions; 0 where there is neither. */
  readonly sourceLength: number;
  /** How many rows were computed for this trace: the last ones. The others were taken over from the trace it reused. */
  readonly computedRows: number;
  /** The names of the stages, in execution order. */
  readonly stages: readonly string[];
  /**
   * A copy of a stage, by its name, or by a short one (`attention`, `hidden`, …): those are of the last block, of an
   * encoder-decoder the decoder's. TransformerLens hook names work too and give its axis order with a leading batch axis.
   * Indices and counts (`integer` in its description) come as an Int32Array.
   * @throws `unknown_stage` with the nearest names, `freed`, `out_of_memory`.
   */
  get(name: string): Tensor;
  has(name: string): boolean;
  /** What is said about a stage. @throws `unknown_stage`. */
  describe(name: string): StageDescription;
  readonly positioned: Tensor;
  /** The attention weights of the last block, H,T,S. */
  readonly attention: Tensor;
  readonly afterAttention: Tensor;
  /** The feed-forward branch's contribution in the last block. */
  readonly feedForward: Tensor;
  readonly hidden: Tensor;
  readonly logits: Tensor;
  readonly probabilities: Tensor;
  /**
   * The mean over heads of a stage of attention weights, T,S. Default the last block's `attention.weights`.
   * @throws `unknown_stage`, `invalid_option` for a stage of anything else.
   */
  averageWeights(stage?: string): Tensor;
  /**
   * Where this trace and another differ, over the positions and keys both have.
   * @throws `shape_mismatch`, `config_conflict` for traces of models of another shape or `dtype`.
   */
  diff(other: Trace): Diff;
  /**
   * The exact arithmetic of one cell of a stage: what it was computed from, in the order of the pass. Negative indices
   * count from the end. @throws `unknown_stage`, `shape_mismatch`, `index_out_of_range`, `not_an_integer`,
   * `invalid_option` for a trace without its model, `out_of_memory`, `freed`.
   */
  explain(stage: string, index: ArrayLike<number>): Explanation;
  /**
   * What each stage, and each head of attention, has written into the residual stream that leaves the last block: the parts
   * sum to it within rounding. With `heads: false` each attention branch is one part.
   * @throws `config_conflict` where branches are not simply added (post-norm, `residual: false`), `invalid_option`.
   */
  residualParts(options?: { heads?: boolean }): ResidualPart[];
  /**
   * What each head of an attention branch writes into the stream, H,T,D; without its bias, the branch's output is their
   * sum. Default the last block's `attention.output`. @throws `unknown_stage`, `invalid_option`.
   */
  headResults(stage?: string): Tensor;
  /**
   * The logits and probabilities that the head would make of the stream as it enters the first block and as it leaves
   * each, with the last norm recomputed for each; with `frozen: true` divided by the last stream's scale, as
   * TransformerLens does. @throws `config_conflict` without a vocabulary, `invalid_option`.
   */
  logitLens(options?: { frozen?: boolean }): LensLayer[];
  /**
   * What each part of the stream adds to a token's logit at a position (negative: from the end), or with `against` to how
   * far it is above another's. The last norm's scale is taken as it is there, frozen, so that the parts add up.
   * @throws `config_conflict`, `index_out_of_range`, `token_out_of_range`, `not_an_integer`, `invalid_option`.
   */
  logitContributions(position: number, id: number, against?: number): LogitContributions;
  /**
   * The trace of the same prompt with another last token, with the same parameters, masks and edits: to the bit what a full
   * pass gives, but only the last row is computed where earlier rows do not know of it.
   * @throws `token_out_of_range`, `not_an_integer`, `invalid_option` for a trace of rows, or without its model.
   */
  withLastToken(id: number): Trace;
  /**
   * The L2 norm of each row of the residual stream and of each branch's contribution, in execution order: `positioned`, and
   * of each block `attention.output`, `after_attention` (`cross_attention.output`, `after_cross_attention`),
   * `feed_forward.output`, `hidden`. @throws `out_of_memory`, `freed`.
   */
  norms(): StageNorms[];
  /** The entropy of each row of each stage of attention weights, beside its bound. @throws `out_of_memory`, `freed`. */
  entropies(): StageEntropies[];
  /** A plain object for `postMessage` and structured cloning. */
  toPlain(): PlainTrace;
  /**
   * The trace of a plain object. Questions that need parameters need the `model` it was computed with, whose present
   * parameters must give its numbers to the bit.
   * @throws `invalid_option`, `shape_mismatch`, `not_finite`, `token_out_of_range`.
   */
  static fromPlain(plain: PlainTrace, options?: { model?: LanguageModel }): Trace;
  /** As `glassformer/trace.schema.json` says. */
  toJSON(): JsonTrace;
  toRows(): TidyRow[];
  /** A safetensors file of all stages; opens in Python with `safetensors.numpy.load`. */
  toSafetensors(): Uint8Array;
  free(): void;
  [Symbol.dispose](): void;
}

/**
 * The traces of several prompts, each as it would be alone, to the bit. Every tensor has a leading `batch` axis and is as
 * large as the longest prompt needs; cells that a shorter one does not have, rows and keys, are NaN (-1 in stages of whole
 * numbers). Positions count a prompt's own tokens.
 */
export class BatchTrace {
  private constructor();
  /** On which side shorter prompts are padded. */
  readonly padding: "right" | "left";
  /** B, the number of prompts. */
  readonly size: number;
  /** Each prompt's tokens, without padding. */
  readonly tokens: readonly (readonly number[])[];
  readonly words: readonly (readonly string[])[];
  /** T, the length of the longest prompt. */
  readonly length: number;
  readonly lengths: readonly number[];
  readonly sourceTokens: readonly (readonly number[])[];
  readonly sourceWords: readonly (readonly string[])[];
  /** S, the length of the longest source. */
  readonly sourceLength: number;
  readonly sourceLengths: readonly number[];
  readonly stages: readonly string[];
  /**
   * A prompt's own trace, of its own length, which is freed by itself; negative indices count from the end.
   * @throws `index_out_of_range`, `not_an_integer`, `freed`.
   */
  prompt(b: number): Trace;
  /** A copy of a stage, by any name that a trace takes. @throws as a trace's. */
  get(name: string): Tensor;
  has(name: string): boolean;
  describe(name: string): StageDescription;
  readonly positioned: Tensor;
  /** The attention weights of the last block, B,H,T,S. */
  readonly attention: Tensor;
  readonly afterAttention: Tensor;
  readonly feedForward: Tensor;
  readonly hidden: Tensor;
  readonly logits: Tensor;
  readonly probabilities: Tensor;
  /**
   * The logits at each prompt's last position that no padding mask hides, B,V; of a prompt that is padding alone, at its
   * last. @throws `unknown_stage` without a vocabulary.
   */
  readonly lastLogits: Tensor;
  /** The mean over heads of a stage of attention weights, B,T,S. @throws as a trace's. */
  averageWeights(stage?: string): Tensor;
  /** Where each prompt and the other batch's of the same place differ. @throws as a trace's. */
  diff(other: BatchTrace): Diff[];
  /** A plain object for `postMessage` and structured cloning. */
  toPlain(): PlainBatch;
  static fromPlain(plain: PlainBatch): BatchTrace;
  /** As `glassformer/trace.schema.json` says. */
  toJSON(): JsonBatch;
  /** Every prompt's own cells, none of padding. */
  toRows(): BatchTidyRow[];
  /** A safetensors file of all stages, with their padding. */
  toSafetensors(): Uint8Array;
  /** Frees what the batch holds; traces that `prompt` gave stay readable. */
  free(): void;
  [Symbol.dispose](): void;
}
