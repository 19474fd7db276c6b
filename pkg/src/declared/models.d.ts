/** The models. */

import type { CallOptions, MemoryRows, Rows, RowsOptions, SourceRows } from "./calls.js";
import type { JsonModel } from "./forms.js";
import type { Beam, BeamOptions, GenerateOptions, GenerationStep } from "./generate.js";
import type { Count } from "./measures.js";
import type { EncoderDecoderOptions, FilledInOptions, Options } from "./options.js";
import type { Bump, Responses } from "./residual.js";
import type { NumbersInShape, Prompt, Rows2, Rows3, Shaped, Tensor } from "./tensor.js";
import type { BatchTrace, Trace } from "./traces.js";

/** What a parameter is: its shape in the order of its layout. */
interface Parameter {
  readonly name: string;
  readonly shape: readonly [number] | readonly [number, number];
  /** "out,in": y = x W^T; "in,out": y = x W; a table; or a vector. */
  readonly layout: "row per token" | "row per position" | "out,in" | "in,out" | "vector";
  readonly count: number;
}

/** What every model has. */
declare abstract class LanguageModel {
  /** Every option with its value; frozen. */
  readonly options: FilledInOptions;
  /** All parameters, in the order they are drawn. */
  readonly parameters: Parameter[];
  /** A copy of a parameter, in its layout. @throws `unknown_parameter`, `out_of_memory`, `freed`. */
  parameter(name: string): Tensor;
  /**
   * Replaces a parameter: flat numbers, rows, or a tensor, in its layout. Traces that exist keep their numbers.
   * @throws `unknown_parameter`, `shape_mismatch`, `not_an_integer` (no list), `not_finite` (an infinity, NaN or no
   * number at all), `out_of_memory`, `freed`; nothing is then changed.
   */
  setParameter(name: string, values: NumbersInShape): void;
  /** Parameters by part, operations of a token by part, and from which length on attention takes most. @throws `freed`. */
  count(): Count;
  /**
   * The largest singular value of the Jacobian of the last token's row as it leaves a block (counted from 0) by that row as
   * it enters: how much the block can stretch a small change of it. Of a prompt of ids, or of rows T,D that enter the first
   * block. Exact but for rounding: computed in float64 by the rules of differentiation, not by differences.
   * @throws `index_out_of_range` and `not_an_integer` for the block; `invalid_option` for a batch, and of an
   * EncoderDecoderModel; else as `respondTo` and `respondToRows`.
   */
  gain(prompt: Prompt | Rows2 | Shaped, block: number): number;
  /** The parameters as a safetensors file, in their layouts; opens in Python. */
  toSafetensors(): Uint8Array;
  /** Which model it is, its options and seed, and the parameters that were set. */
  toJSON(): JsonModel;
  /** Gives the memory back; a second call does nothing. The model's traces stay readable. */
  free(): void;
  [Symbol.dispose](): void;
}

/** A model of one stack of blocks. */
declare abstract class OneTower extends LanguageModel {
  /**
   * The trace of a prompt of token ids. A list of prompts is a batch, also when it holds one alone: each is computed as it
   * would be alone, to the bit. A tensor of two axes is a batch too.
   * @throws `empty_prompt`, `context_exceeded`, `not_an_integer`, `token_out_of_range`, `shape_mismatch` (masks),
   * `capacity_exceeded`, `not_finite`, `out_of_memory`, `freed`; in a batch `prompt` says which one it was.
   */
  respondTo(ids: ArrayLike<number>, options?: CallOptions): Trace;
  respondTo(prompts: ArrayLike<Prompt>, options?: CallOptions): BatchTrace;
  respondTo(given: Prompt | ArrayLike<Prompt>, options?: CallOptions): Trace | BatchTrace;
  /**
   * The trace of a pass that starts at `positioned` with the caller's rows, T,D; B,T,D is a batch of prompts of one length.
   * @throws `empty_prompt`, `context_exceeded`, `shape_mismatch`, `not_an_integer` (no list), `capacity_exceeded`,
   * `not_finite`, `out_of_memory`, `freed`.
   */
  respondToRows(rows: Rows2, options?: RowsOptions): Trace;
  respondToRows(rows: Rows3, options?: RowsOptions): BatchTrace;
  respondToRows(rows: Rows, options?: RowsOptions): Trace | BatchTrace;
  /**
   * What changes when one coordinate of one row is bumped: in the branches that read the row, each alone, and in every
   * later stage. @throws `unknown_stage`, `invalid_option`, `index_out_of_range`, `not_an_integer`, `not_finite`, and as
   * `respondTo`.
   */
  perturb(bump: Bump, asked: ArrayLike<number> | Rows2 | Shaped): Responses;
}

/** A decoder that predicts each next token from the ones before it. */
declare class CausalLanguageModel extends OneTower {
  /** @throws GlassformerError `invalid_option`, `config_conflict`, `not_finite`, `out_of_memory`, `not_initialized`. */
  constructor(options: Options);
  /** @throws as the constructor and `setParameter`. */
  static fromJSON(json: JsonModel): CausalLanguageModel;
  /**
   * Continues a prompt token by token; each step computes its new row alone. A run ends behind `endId`, after
   * `maxNewTokens`, or quietly where the context has grown past what the model reads.
   * @throws `context_exceeded` for a prompt that is too long, `invalid_option`, `token_out_of_range`, `not_an_integer`,
   * `empty_prompt`, `config_conflict` without a vocabulary, `out_of_memory`, `freed`.
   */
  generate(ids: ArrayLike<number>, options: GenerateOptions): GenerationStep[];
  /**
   * The best continuations that a beam search of some width finds, best first; a narrow one can miss the best.
   * @throws as `generate`.
   */
  beams(ids: ArrayLike<number>, options: BeamOptions): Beam[];
  /**
   * The probability of `ids[from..]` after `ids[..from]`, by the chain rule. Default from 1: of all but the first token.
   * @throws `index_out_of_range`, and as `generate`.
   */
  sequenceProbability(ids: ArrayLike<number>, from?: number): number;
  /** Its logarithm, for sequences whose probability is too small for a number. */
  sequenceLogProbability(ids: ArrayLike<number>, from?: number): number;
}

/**
 * An encoder: `mask` is "none" unless it is chosen, so every row sees every other. A leading `encoder.` may stand before
 * names of stages and parameters, as an encoder-decoder has them.
 */
declare class EncoderModel extends OneTower {
  /** @throws as a CausalLanguageModel's. */
  constructor(options: Options);
  /** @throws as the constructor and `setParameter`. */
  static fromJSON(json: JsonModel): EncoderModel;
}

/**
 * An encoder over a source and a decoder that attends to it (Vaswani et al. 2017, arXiv:1706.03762). Stages and parameters
 * stand under `encoder.` and `decoder.`; `mask` is the decoder's, the encoder has none.
 */
declare class EncoderDecoderModel extends LanguageModel {
  /** @throws as a CausalLanguageModel's. */
  constructor(options: EncoderDecoderOptions);
  /** @throws as the constructor and `setParameter`. */
  static fromJSON(json: JsonModel): EncoderDecoderModel;
  /**
   * The trace of a source of S ids and a target of T; lists of prompts, as many sources as targets, are a batch, in which
   * both may differ in length.
   * @throws as a CausalLanguageModel's; `of` says whether an id is one of the source or of the target.
   */
  respondTo(source: ArrayLike<number>, target: ArrayLike<number>, options?: CallOptions): Trace;
  respondTo(sources: ArrayLike<Prompt>, targets: ArrayLike<Prompt>, options?: CallOptions): BatchTrace;
  respondTo(
    source: Prompt | ArrayLike<Prompt>,
    target: Prompt | ArrayLike<Prompt>,
    options?: CallOptions,
  ): Trace | BatchTrace;
  /**
   * The trace of a pass whose towers start at `positioned` with the caller's rows; or of the decoder alone over a memory
   * in place of what leaves the encoder, whose first stage is then `memory`.
   * @throws as a CausalLanguageModel's.
   */
  respondToRows(rows: { source: Rows2; target: Rows2 }, options?: RowsOptions): Trace;
  respondToRows(rows: { memory: Rows2; target: Rows2 }, options?: RowsOptions): Trace;
  respondToRows(rows: { source: Rows3; target: Rows3 }, options?: RowsOptions): BatchTrace;
  respondToRows(rows: { memory: Rows3; target: Rows3 }, options?: RowsOptions): BatchTrace;
  respondToRows(rows: SourceRows | MemoryRows, options?: RowsOptions): Trace | BatchTrace;
  /** As a CausalLanguageModel's, of ids or of rows on both sides. */
  perturb(
    bump: Bump,
    source: ArrayLike<number> | Rows2 | Shaped,
    target: ArrayLike<number> | Rows2 | Shaped,
  ): Responses;
}

// Listed, so that the classes they share are not taken for exports.
export { CausalLanguageModel, EncoderDecoderModel, EncoderModel, type LanguageModel, type Parameter };
