/**
 * glassformer: a transformer block with nothing hidden.
 *
 * Axes: B prompts of a batch, T positions, S key or source positions, D model width (`nModel`), H query heads, G key
 * and value heads, K head width, F feed-forward width (`nHidden`), E experts, k chosen experts, V vocabulary.
 * Everything is row-major, and the same bits come out on every platform.
 */

declare global {
  // As TypeScript's own library declares it from "esnext.disposable" on.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

export type DType = "float64" | "float32" | "int32";

/** A whole number from 0 to 2^64-1; past 2^53 a BigInt says every one of them exactly. */
export type Seed = number | bigint;

export interface Options {
  /** Number of tokens, V. 0 makes a bare stack of blocks, for `respondToRows`. */
  nVocab: number;
  /** Width of the residual stream, D. Default 4. */
  nModel?: number;
  /** Query heads, H; must divide `nModel` unless `headWidth` is chosen. Default 2. */
  nHeads?: number;
  /** Width of a head, K. Default nModel/nHeads. */
  headWidth?: number;
  /** Key and value heads, G; must divide `nHeads`. Query head h reads key head floor(h/(H/G)). Default nHeads. */
  nKeyValueHeads?: number;
  /** Blocks, L. Default 1. */
  nBlocks?: number;
  /** Width of the feed-forward branch, F. Default 2·nModel. */
  nHidden?: number;
  /** Longest prompt. Default 1024. */
  maxContext?: number;
  /** What is computed in. Default "float64". */
  dtype?: "float64" | "float32";
  /** Labels of the vocabulary, V of them. */
  words?: readonly string[];
  /** Default 7. A `randomStream` goes on behind the model's draws; its position continues a stream. */
  seed?: Seed | "random" | RandomStream | StreamPosition;
  /** The recipe of the draws. Default "lesson". */
  init?: "lesson" | "rustlab" | "gpt2";
  /** Multiplies attention output and contract at initialization; 1/sqrt(2N) for a stack of N. Default 1. */
  branchScale?: number;
  /** LayerNorm, RMSNorm or none. Default "layer". */
  norm?: "layer" | "rms" | "none";
  /** Norms on what a branch reads, or on the sum behind it. Default "pre". */
  normPlacement?: "pre" | "post";
  /** Whether norms have a gain that is a parameter. Default false. */
  normAffine?: boolean;
  /** Added to each gain before it multiplies: 1 in Gemma. Default 0. */
  gainOffset?: number;
  /** Added to the variance (or mean square) inside the norm's root. Default 1e-5. */
  epsilon?: number;
  /** Whether the last block's output is normalized. Default true, without norms false. */
  finalNorm?: boolean;
  /** Whether the embedding is normalized before positions are added (Bloom). Default false. */
  embeddingNorm?: boolean;
  /** Multiplies the embedding: sqrt(nModel) in Gemma. Default 1. */
  embeddingScale?: number;
  /** Whether branches are added to the stream; without it each takes its place. Default true. */
  residual?: boolean;
  /** Whether both branches read the block's input (GPT-NeoX). Default false. */
  parallel?: boolean;
  /** Of a dense branch ("relu") or of the gate ("sigmoid" of glu, "silu" of swiglu, "gelu" of geglu). */
  activation?:
    | "relu"
    | "gelu"
    | "gelu_tanh"
    | "silu"
    | "identity"
    | "sigmoid"
    | "tanh"
    | "softplus"
    | "quick_gelu"
    | "gelu_bloom";
  /** One layer, a gated one, or a mixture of experts. Default "dense". */
  feedForward?: "dense" | "glu" | "swiglu" | "geglu" | ExpertsOptions;
  /** What tells positions apart. Default "sinusoidal". */
  position?: "sinusoidal" | "learned" | "rotary" | "alibi" | "none";
  /** With position "rotary". */
  rotary?: RotaryOptions;
  /** With position "alibi": a slope for each head. Default the paper's. */
  alibiSlopes?: readonly number[];
  /** Default "causal", of an EncoderModel "none"; of an EncoderDecoderModel it is the decoder's. */
  mask?: "causal" | "none";
  /** How many keys a query sees on each side at most, its own included. Default all. */
  window?: number;
  /** What scores are multiplied by. Default 1/sqrt(headWidth). */
  scoreScale?: number;
  /** Whether block n's scores are also divided by n + 1. Default false. */
  scaleByLayer?: boolean;
  /** Which layers have a bias; true is every one there can be. Default false. */
  bias?: boolean | BiasOptions;
  /** Whether the head is the embedding table. Default false. */
  tiedHead?: boolean;
}

/** A mixture of experts (Shazeer et al. 2017, arXiv:1701.06538). */
export interface ExpertsOptions {
  /** How many there are, E. */
  experts: number;
  /** How many each row is sent to, k: the most probable, of equal ones the first. */
  selected: number;
  /** Default "dense". */
  expert?: "dense" | "swiglu";
  /** Whether a row's gates are divided by their sum. Default true. */
  renormalize?: boolean;
  /** How many choices of one prompt an expert takes, in the order of the rows. Default all. */
  capacity?: number;
  /** What becomes of a choice that finds its expert full. Default "drop". */
  overflow?: "drop" | "reroute" | "error";
  /** Standard deviation of the noise on the router's logits. Default 0. */
  noise?: number;
  /** Block n draws its noise from NumPy's default_rng(noiseSeed + n). Default 0. */
  noiseSeed?: number;
}

/** Rotary positions (Su et al. 2021, arXiv:2104.09864). */
export interface RotaryOptions {
  /** Default 10000. */
  base?: number;
  /** Which coordinates turn together: (2j, 2j+1), or (j, j + width/2) as in Llama. Default "adjacent". */
  pairing?: "adjacent" | "half";
  /** How many of a head's coordinates turn. Default all. */
  width?: number;
  /** How frequencies are stretched for longer prompts. Default not at all. */
  scaling?:
    | { kind: "linear"; factor: number }
    | {
        kind: "llama3";
        factor: number;
        lowFrequencyFactor: number;
        highFrequencyFactor: number;
        originalContext: number;
      };
}

export interface BiasOptions {
  /** All four projections, or query, key and value ("qkv"). Default false. */
  attention?: boolean | "qkv";
  feedForward?: boolean;
  norm?: boolean;
  head?: boolean;
}

/** Options of an encoder-decoder. */
export interface EncoderDecoderOptions extends Options {
  /** Number of source tokens. Default nVocab. */
  nSourceVocab?: number;
  /** Blocks of the encoder. Default nBlocks. */
  nEncoderBlocks?: number;
  /** Labels of the source's vocabulary. */
  sourceWords?: readonly string[];
}

/** Every option with its value. A stream given as `seed` stands here as the position the draws began at. */
export interface FilledInOptions
  extends Required<Omit<Options, "words" | "seed" | "rotary" | "alibiSlopes" | "window">>,
    Pick<Options, "rotary" | "alibiSlopes" | "window"> {
  readonly seed: Seed | StreamPosition;
  readonly words?: readonly string[];
  readonly nSourceVocab?: number;
  readonly nEncoderBlocks?: number;
  readonly sourceWords?: readonly string[];
}

/** What a parameter is: its shape in the order of its layout. */
export interface Parameter {
  readonly name: string;
  readonly shape: readonly [number] | readonly [number, number];
  /** "out,in": y = x W^T; "in,out": y = x W; a table; or a vector. */
  readonly layout: "row per token" | "row per position" | "out,in" | "in,out" | "vector";
  readonly count: number;
}

/** What every model has. */
interface LanguageModel {
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
  /** The parameters as a safetensors file, in their layouts; opens in Python. */
  toSafetensors(): Uint8Array;
  /** Which model it is, options, seed, and the parameters that were set. */
  toJSON(): JsonModel;
  /** Gives the memory back; a second call does nothing. The model's traces stay readable. */
  free(): void;
  [Symbol.dispose](): void;
}

/** A decoder that predicts each next token from the ones before it. */
export class CausalLanguageModel implements LanguageModel {
  /** @throws GlassformerError `invalid_option`, `config_conflict`, `not_finite`, `out_of_memory`, `not_initialized`. */
  constructor(options: Options);
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
  /** The parameters as a safetensors file, in their layouts; opens in Python. */
  toSafetensors(): Uint8Array;
  /** Which model it is, options, seed, and the parameters that were set. */
  toJSON(): JsonModel;
  /** Gives the memory back; a second call does nothing. The model's traces stay readable. */
  free(): void;
  [Symbol.dispose](): void;
  /**
   * The trace of a prompt of token ids; of a list of prompts, a batch, each as it would be alone.
   * @throws `empty_prompt`, `context_exceeded`, `not_an_integer`, `token_out_of_range`, `shape_mismatch` (masks),
   * `capacity_exceeded`, `not_finite`, `out_of_memory`, `freed`.
   */
  respondTo(ids: ArrayLike<number> | Tensor, options?: CallOptions): Trace;
  respondTo(prompts: ArrayLike<ArrayLike<number>>, options?: CallOptions): BatchTrace;
  /**
   * The trace of a pass that starts at `positioned` with the caller's rows, T,D or B,T,D.
   * @throws `empty_prompt`, `context_exceeded`, `shape_mismatch`, `not_an_integer` (no list), `capacity_exceeded`,
   * `not_finite`, `out_of_memory`, `freed`.
   */
  respondToRows(rows: ArrayLike<ArrayLike<number>>, options?: RowsOptions): Trace;
  respondToRows(batch: ArrayLike<ArrayLike<ArrayLike<number>>>, options?: RowsOptions): BatchTrace;
  respondToRows(rows: Shaped, options?: RowsOptions): Trace | BatchTrace;
  static fromJSON(json: JsonModel): CausalLanguageModel;
}

/**
 * An encoder: `mask` is "none" unless it is chosen, so every row sees every other. A leading `encoder.` may stand before
 * names of stages and parameters.
 */
export class EncoderModel implements LanguageModel {
  constructor(options: Options);
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
  /** The parameters as a safetensors file, in their layouts; opens in Python. */
  toSafetensors(): Uint8Array;
  /** Which model it is, options, seed, and the parameters that were set. */
  toJSON(): JsonModel;
  /** Gives the memory back; a second call does nothing. The model's traces stay readable. */
  free(): void;
  [Symbol.dispose](): void;
  /**
   * The trace of a prompt of token ids; of a list of prompts, a batch, each as it would be alone.
   * @throws `empty_prompt`, `context_exceeded`, `not_an_integer`, `token_out_of_range`, `shape_mismatch` (masks),
   * `capacity_exceeded`, `not_finite`, `out_of_memory`, `freed`.
   */
  respondTo(ids: ArrayLike<number> | Tensor, options?: CallOptions): Trace;
  respondTo(prompts: ArrayLike<ArrayLike<number>>, options?: CallOptions): BatchTrace;
  /**
   * The trace of a pass that starts at `positioned` with the caller's rows, T,D or B,T,D.
   * @throws `empty_prompt`, `context_exceeded`, `shape_mismatch`, `not_an_integer` (no list), `capacity_exceeded`,
   * `not_finite`, `out_of_memory`, `freed`.
   */
  respondToRows(rows: ArrayLike<ArrayLike<number>>, options?: RowsOptions): Trace;
  respondToRows(batch: ArrayLike<ArrayLike<ArrayLike<number>>>, options?: RowsOptions): BatchTrace;
  respondToRows(rows: Shaped, options?: RowsOptions): Trace | BatchTrace;
  static fromJSON(json: JsonModel): EncoderModel;
}

/**
 * An encoder over a source and a decoder that attends to it (Vaswani et al. 2017, arXiv:1706.03762). Stages and
 * parameters stand under `encoder.` and `decoder.`.
 */
export class EncoderDecoderModel implements LanguageModel {
  constructor(options: EncoderDecoderOptions);
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
  /** The parameters as a safetensors file, in their layouts; opens in Python. */
  toSafetensors(): Uint8Array;
  /** Which model it is, options, seed, and the parameters that were set. */
  toJSON(): JsonModel;
  /** Gives the memory back; a second call does nothing. The model's traces stay readable. */
  free(): void;
  [Symbol.dispose](): void;
  /** The trace of a source and a target, or of as many of each. @throws as a decoder's. */
  respondTo(source: ArrayLike<number>, target: ArrayLike<number>, options?: CallOptions): Trace;
  respondTo(
    sources: ArrayLike<ArrayLike<number>>,
    targets: ArrayLike<ArrayLike<number>>,
    options?: CallOptions,
  ): BatchTrace;
  /** The trace of a pass from rows: of both towers, or of the decoder over a memory. */
  respondToRows(rows: SourceRows | MemoryRows, options?: RowsOptions): Trace | BatchTrace;
  static fromJSON(json: JsonModel): EncoderDecoderModel;
}

/** Rows S,D and T,D, or with a leading batch axis. */
export interface SourceRows {
  source: Rows;
  target: Rows;
}

export interface MemoryRows {
  memory: Rows;
  target: Rows;
}

export type Rows = ArrayLike<ArrayLike<number>> | ArrayLike<ArrayLike<ArrayLike<number>>> | Shaped;

/** Booleans and 0/1 integers: true hides. Any other numbers are added to scores; -Infinity hides. */
export type Mask = boolean | number | ArrayLike<Mask> | Shaped;

/**
 * Masks of one call, on top of the model's own. Paddings are marks (true is padding), or lengths: how many positions
 * of each prompt are valid.
 */
export interface Masks {
  /** T,S or H,T,S or B,H,T,S or B*H,T,S. */
  attention?: Mask;
  /** B,S, or S of one prompt: which keys are padding. */
  padding?: Mask;
  /** For cross-attention: as `attention`, S the memory's length. */
  memory?: Mask;
  /** Which rows of the memory are padding; where the source is given, the source's unless it is chosen. */
  memoryPadding?: Mask;
  /** Which positions of the source are padding, in the encoder. */
  sourcePadding?: Mask;
}

export interface RowsOptions {
  masks?: Masks;
}

export interface CallOptions extends RowsOptions {
  /** On which side of a batch's shorter prompts the padding stands. Default "right". */
  padding?: "left" | "right";
}

export interface Shaped {
  readonly data: ArrayLike<number>;
  readonly shape: readonly number[];
}

export type NumbersInShape = ArrayLike<number> | ArrayLike<ArrayLike<number>> | Shaped;

export type ModelName = "CausalLanguageModel" | "EncoderModel" | "EncoderDecoderModel";

export interface JsonModel {
  format: string;
  model?: ModelName;
  options: Record<string, unknown>;
  parameters?: Record<string, (number | string)[]>;
}

export type Nested = number | Nested[];

/** An index (which drops the axis), a half-open range, or nothing for the whole axis. */
export type Range = number | readonly [number?, number?] | null | undefined;

/** Numbers with a shape: a copy of JavaScript's own. */
export class Tensor {
  private constructor();
  readonly data: Float64Array | Float32Array | Int32Array;
  readonly shape: readonly number[];
  /** The same as `shape`. */
  readonly dims: readonly number[];
  readonly dtype: DType;
  /** The same as `dtype`. */
  readonly type: DType;
  /** Such as `["head", "query", "key"]`. */
  readonly axes: readonly string[];
  readonly size: number;
  /** One number; negative indices count from the end. @throws `index_out_of_range`, `not_an_integer`, `shape_mismatch`. */
  at(...index: number[]): number;
  /** The i-th entry of the first axis, as a tensor without that axis. */
  row(i: number): Tensor;
  /** Part of the tensor, one range per axis, as a copy. */
  slice(...ranges: Range[]): Tensor;
  /** The number of a tensor that holds just one. */
  item(): number;
  tolist(): Nested;
  /** Aligned, four decimals. */
  toString(): string;
  /** Infinities, NaN and -0 as texts, because JSON has no numbers for them. */
  toJSON(): { dtype: DType; shape: number[]; axes: string[]; data: (number | string)[] };
}

export interface StageDescription {
  name: string;
  /** The letter it has in formulas. */
  symbol: string;
  axes: string[];
  kind:
    | "given"
    | "lookup"
    | "function"
    | "sum"
    | "linear"
    | "normalization"
    | "product"
    | "softmax"
    | "mixture"
    | "elementwise"
    | "selection"
    | "statistic"
    | "draw";
  /** One sentence. */
  meaning: string;
  /** One cell's equation. */
  formula: string;
  /** The stages, and `parameter …`, that a cell is computed from. */
  inputs: string[];
  /** Whose positions its rows have: the prompt's (of an encoder-decoder, the target's) or the source's. */
  side: "target" | "source";
  /** Whether its numbers are whole: indices and counts, in an Int32Array. */
  integer: boolean;
}

/** One number of a trace, for tables and plots. */
export interface TidyRow {
  stage: string;
  head: number | null;
  expert: number | null;
  /** null in a stage of the whole prompt, such as an expert's load. */
  position: number | null;
  key: number | null;
  choice: number | null;
  /** The word at the position; null when the pass started from rows. */
  token: string | null;
  coordinate: number | null;
  value: number;
}

/** One number of a batch. */
export interface BatchTidyRow extends TidyRow {
  batch: number;
}

export interface RowChange {
  position: number;
  /** Whether every cell is identical to the bit. */
  identical: boolean;
  changedCells: number;
  /** The largest absolute change of a cell; Infinity where one of the two is infinite. */
  maxAbs: number;
  /** The index of that cell in its stage; null where nothing changed. */
  where: number[] | null;
}

export interface Diff {
  stages: { stage: string; rows: RowChange[] }[];
  rows: { position: number; identical: boolean; maxAbs: number; partsFrom: string | null }[];
  /** The first stage in which any row differs. */
  partsFrom: string | null;
}

interface PlainPrompt {
  tokens: number[];
  source?: number[];
  length: number;
  sourceLength?: number;
  /** Whether the call had masks. */
  masked?: boolean;
  data: Float64Array | Float32Array;
}

interface PlainHead {
  format: string;
  model?: ModelName;
  options: Record<string, unknown>;
  start: "tokens" | "rows" | "memory";
}

export interface PlainTrace extends PlainHead, PlainPrompt {}

export interface PlainBatch extends PlainHead {
  padding: "left" | "right";
  prompts: (PlainPrompt & { last: number })[];
}

export interface JsonStage {
  name: string;
  axes: string[];
  shape: number[];
  data: (number | string)[];
}

export interface JsonTrace {
  schema: string;
  model: ModelName;
  options: Record<string, unknown>;
  tokens: number[];
  words: string[];
  source?: number[];
  sourceWords?: string[];
  stages: JsonStage[];
}

export interface JsonBatch {
  schema: string;
  model: ModelName;
  options: Record<string, unknown>;
  padding: "left" | "right";
  lengths: number[];
  tokens: number[][];
  words: string[][];
  sourceLengths?: number[];
  source?: number[][];
  sourceWords?: string[][];
  stages: JsonStage[];
}

/** Everything a forward pass computed. Readable until its own `free()`, whatever becomes of the model. */
export class Trace {
  private constructor();
  /** The prompt; empty when the pass started from rows. */
  readonly tokens: readonly number[];
  /** The tokens' labels; their ids as text where the model has no words. */
  readonly words: readonly string[];
  /** T, the number of positions. */
  readonly length: number;
  /** The source's tokens; empty without one. */
  readonly sourceTokens: readonly number[];
  readonly sourceWords: readonly string[];
  /** S, the number of the source's (or the memory's) positions. */
  readonly sourceLength: number;
  /** The names of the stages, in execution order. */
  readonly stages: readonly string[];
  /**
   * A copy of a stage, by its name, or by a short one (`attention`, `hidden`, …). TransformerLens hook names work too and give its axis order with a leading batch axis.
   * @throws `unknown_stage` with the nearest names.
   */
  get(name: string): Tensor;
  has(name: string): boolean;
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
  /** The mean over heads of a stage of attention weights, T,S; by default of the last block's. */
  averageWeights(stage?: string): Tensor;
  /** Where this trace and another differ, over the positions and keys both have. */
  diff(other: Trace): Diff;
  /** A plain object for `postMessage` and structured cloning. */
  toPlain(): PlainTrace;
  static fromPlain(plain: PlainTrace): Trace;
  /** As `glassformer/trace.schema.json` says. */
  toJSON(): JsonTrace;
  toRows(): TidyRow[];
  /** A safetensors file of all stages; opens in Python with `safetensors.numpy.load`. */
  toSafetensors(): Uint8Array;
  free(): void;
  [Symbol.dispose](): void;
}

/**
 * The traces of several prompts, each as it would be alone, to the bit. Every tensor has a leading `batch` axis; cells
 * of padding are NaN (-1 in stages of whole numbers).
 */
export class BatchTrace {
  private constructor();
  readonly padding: "left" | "right";
  /** B, how many prompts there are. */
  readonly size: number;
  readonly tokens: readonly (readonly number[])[];
  readonly words: readonly (readonly string[])[];
  /** T, the longest prompt's length. */
  readonly length: number;
  readonly lengths: readonly number[];
  readonly sourceTokens: readonly (readonly number[])[];
  readonly sourceWords: readonly (readonly string[])[];
  readonly sourceLength: number;
  readonly sourceLengths: readonly number[];
  readonly stages: readonly string[];
  /** A prompt's own trace, with its own length. @throws `index_out_of_range`, `not_an_integer`. */
  prompt(b: number): Trace;
  get(name: string): Tensor;
  has(name: string): boolean;
  describe(name: string): StageDescription;
  readonly positioned: Tensor;
  readonly attention: Tensor;
  readonly afterAttention: Tensor;
  readonly feedForward: Tensor;
  readonly hidden: Tensor;
  readonly logits: Tensor;
  readonly probabilities: Tensor;
  /** The logits at each prompt's last valid position, B,V. */
  readonly lastLogits: Tensor;
  /** The mean over heads of a stage of attention weights, B,T,S. */
  averageWeights(stage?: string): Tensor;
  /** The difference of each prompt. */
  diff(other: BatchTrace): Diff[];
  toPlain(): PlainBatch;
  static fromPlain(plain: PlainBatch): BatchTrace;
  toJSON(): JsonBatch;
  /** Each prompt's own cells; positions count its own tokens. */
  toRows(): BatchTidyRow[];
  toSafetensors(): Uint8Array;
  free(): void;
  [Symbol.dispose](): void;
}

/** Where a stream stands. */
export interface StreamPosition {
  readonly stream: "numpy" | "rand";
  readonly seed: number | string;
  /** How many 64-bit words were drawn. */
  readonly words: number;
  /** The half of an earlier word that waits for the next 32-bit draw (NumPy's `uinteger`); null where none does. */
  readonly half: number | null;
}

export type Shape = number | ArrayLike<number>;

/** A seeded random stream. Without a shape a draw is one number. */
export interface RandomStream {
  /** Standard normal draws. */
  normal(): number;
  normal(shape: Shape): Tensor;
  /** Uniform draws from [0, 1). */
  random(): number;
  random(shape: Shape): Tensor;
  /** Whole numbers from low to high - 1, as an Int32Array where the bounds fit in 32 bits. */
  integers(low: number, high: number): number;
  integers(low: number, high: number, shape: Shape): Tensor;
  /** Indices below n, with probabilities p where they are given. */
  choice(n: number, p?: ArrayLike<number> | Tensor | null): number;
  choice(n: number, p: ArrayLike<number> | Tensor | null | undefined, shape: Shape): Tensor;
  /** Where the stream stands now. */
  position(): StreamPosition;
}

/** NumPy's `default_rng(seed)`, or Rust's rand 0.8 `StdRng::seed_from_u64(seed)` with rand_distr 0.4. */
export function randomStream(stream: "numpy" | "rand", seed: Seed | StreamPosition): RandomStream;

/** Codes of refusals; they never change their meaning. */
export type ErrorCode =
  | "invalid_option"
  | "config_conflict"
  | "not_an_integer"
  | "token_out_of_range"
  | "index_out_of_range"
  | "empty_prompt"
  | "context_exceeded"
  | "shape_mismatch"
  | "unknown_stage"
  | "unknown_parameter"
  | "not_finite"
  | "capacity_exceeded"
  | "freed"
  | "not_initialized"
  | "out_of_memory";

/** A refusal. The model stays usable; nothing was changed. */
export class GlassformerError extends Error {
  constructor(code: ErrorCode, message: string, fields?: Record<string, unknown>);
  readonly code: ErrorCode;
  /** What the refusal is about, by name: `position`, `id`, `vocabulary`, `expected`, `nearest`, … */
  readonly [field: string]: unknown;
}

/**
 * Compiles the wasm off the calling thread. Needed by `glassformer/slim`, which must be given the bytes, a
 * module or a response; elsewhere optional. Calling it again does nothing.
 */
export function init(source?: WasmSource | Promise<WasmSource>): Promise<void>;

/** The bytes of glassformer.wasm, a response that brings them, or a `WebAssembly.Module`. */
export type WasmSource = ArrayBuffer | ArrayBufferView | ResponseLike | object;

/** What is used of a `Response`, so that no platform's own types are needed. */
export interface ResponseLike {
  readonly ok: boolean;
  readonly status: number;
  readonly url: string;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** What lives in wasm memory now. */
export function memory(): { wasmBytes: number; liveModels: number; liveTraces: number };

export * from "./math/declared.js";
