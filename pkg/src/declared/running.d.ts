/** Refusals, loading, and memory. */

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
