/**
 * glassformer: a transformer block with nothing hidden.
 *
 * Axes: T positions, D model width (`nModel`), H heads, K head width, F feed-forward width (`nHidden`),
 * V vocabulary, S key positions. Everything is row-major, and the same bits come out on every platform.
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
  /** Attention heads, H; must divide `nModel`. Default 2. */
  nHeads?: number;
  /** Width of a head; this version has nModel/nHeads only. */
  headWidth?: number;
  /** Key and value heads; this version has `nHeads` only. */
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
  norm?: "layer";
  normPlacement?: "pre";
  normAffine?: false;
  /** Added to the variance inside the norm's root. Default 1e-5. */
  epsilon?: number;
  /** Whether the last block's output is normalized. Default true. */
  finalNorm?: boolean;
  residual?: true;
  parallel?: false;
  /** Default "relu". */
  activation?: "relu" | "gelu" | "gelu_tanh" | "silu" | "identity";
  feedForward?: "dense";
  position?: "sinusoidal";
  mask?: "causal";
  bias?: false;
  tiedHead?: false;
  /** What scores are multiplied by. Default 1/sqrt(headWidth). */
  scoreScale?: number;
}

/** Every option with its value. A stream given as `seed` stands here as the position the draws began at. */
export interface FilledInOptions extends Required<Omit<Options, "words" | "seed">> {
  readonly seed: Seed | StreamPosition;
  readonly words?: readonly string[];
}

/** What a parameter is: its shape in the order of its layout. */
export interface Parameter {
  readonly name: string;
  readonly shape: [number, number];
  /** "out,in": y = x W^T; "in,out": y = x W; or "row per token". */
  readonly layout: "row per token" | "out,in" | "in,out";
  readonly count: number;
}

/** A decoder that predicts each next token from the ones before it. */
export class CausalLanguageModel {
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
  /**
   * The trace of a prompt of token ids.
   * @throws `empty_prompt`, `context_exceeded`, `not_an_integer`, `token_out_of_range`, `not_finite`, `out_of_memory`,
   * `freed`.
   */
  respondTo(ids: ArrayLike<number> | Tensor): Trace;
  /**
   * The trace of a pass that starts at `positioned` with the caller's rows, T,D.
   * @throws `empty_prompt`, `context_exceeded`, `shape_mismatch`, `not_an_integer` (no list), `not_finite`,
   * `out_of_memory`, `freed`.
   */
  respondToRows(rows: ArrayLike<ArrayLike<number>> | Shaped): Trace;
  /** The parameters as a safetensors file, in their layouts; opens in Python. */
  toSafetensors(): Uint8Array;
  /** Options, seed, and the parameters that were set. */
  toJSON(): JsonModel;
  static fromJSON(json: JsonModel): CausalLanguageModel;
  /** Gives the memory back; a second call does nothing. The model's traces stay readable. */
  free(): void;
  [Symbol.dispose](): void;
}

export interface Shaped {
  readonly data: ArrayLike<number>;
  readonly shape: readonly number[];
}

export type NumbersInShape = ArrayLike<number> | ArrayLike<ArrayLike<number>> | Shaped;

export interface JsonModel {
  format: string;
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
    | "elementwise";
  /** One sentence. */
  meaning: string;
  /** One cell's equation. */
  formula: string;
  /** The stages, and `parameter …`, that a cell is computed from. */
  inputs: string[];
}

/** One number of a trace, for tables and plots. */
export interface TidyRow {
  stage: string;
  head: number | null;
  position: number;
  key: number | null;
  /** The word at the position; null when the pass started from rows. */
  token: string | null;
  coordinate: number | null;
  value: number;
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

export interface PlainTrace {
  format: string;
  options: Record<string, unknown>;
  start: "tokens" | "rows";
  tokens: number[];
  length: number;
  data: Float64Array | Float32Array;
}

export interface JsonTrace {
  schema: string;
  options: Record<string, unknown>;
  tokens: number[];
  words: string[];
  stages: { name: string; axes: string[]; shape: number[]; data: (number | string)[] }[];
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
