/** Everything a forward pass computed. */

import { calling, GlassformerError, inWords } from "./errors.js";
import { jsonOf, rowsOf, safetensorsOf } from "./export.js";
import type { Trace as WasmTrace } from "./generated/glassformer_wasm.js";
import type { JsonTrace, PlainTrace, TidyRow } from "./glassformer.js";
import { invalidOption, readCallOptions } from "./input.js";
import { dispose, Handle } from "./lifetime.js";
import { readPlain, writePlain } from "./plain.js";
import { type Place, Plan, type StageDescription } from "./plan.js";
import { Tensor } from "./tensor.js";
import { wasm } from "./wasm.js";

type Numbers = Float64Array | Float32Array;

/** The lesson's own names, of the last block. */
const SHORT_NAMES: ReadonlyMap<unknown, string> = new Map([
  ["attention", "attention.weights"],
  ["afterAttention", "after_attention"],
  ["feedForward", "feed_forward.output"],
  ["hidden", "hidden"],
]);

/** Traces up to this size are copied out whole and live in JavaScript alone. */
const SMALL = 65536;

export class Trace {
  readonly #tokens: readonly number[];
  readonly #words: readonly string[];
  readonly #length: number;
  readonly #plan: Plan;
  readonly #layout: readonly Place[];
  #block: Numbers | undefined;
  readonly #large: Handle<WasmTrace> | undefined;
  #freed = false;

  /** Not for users: `CausalLanguageModel.respondTo` and `Trace.fromPlain` make traces. */
  constructor(plan: Plan, tokens: readonly number[], length: number, numbers: Numbers | WasmTrace) {
    if (!(plan instanceof Plan)) {
      throw invalidOption("trace", inWords(plan), "traces are made by respondTo and Trace.fromPlain");
    }
    this.#plan = plan;
    this.#tokens = Object.freeze([...tokens]);
    const words = plan.options.words as readonly string[] | undefined;
    this.#words = Object.freeze(tokens.map((id) => words?.[id] ?? String(id)));
    this.#length = length;
    this.#layout = plan.layout(length);
    if (ArrayBuffer.isView(numbers)) {
      this.#block = numbers;
    } else if (numbers.bytes <= SMALL) {
      this.#block = this.#blockOf(numbers);
      numbers.free();
    } else {
      this.#large = new Handle(numbers, "traces");
    }
  }

  get tokens(): readonly number[] {
    return this.#tokens;
  }

  get words(): readonly string[] {
    return this.#words;
  }

  get length(): number {
    return this.#length;
  }

  get stages(): readonly string[] {
    return this.#plan.names;
  }

  has(name: string): boolean {
    return this.#plan.find(this.#full(name)) !== undefined;
  }

  get(name: string): Tensor {
    const slot = this.#plan.slot(this.#full(name));
    const { axes, hooks } = this.#plan.stages[slot];
    const tensor = new Tensor(this.#copy(slot), this.#layout[slot].shape, axes);
    return hooks.includes(name) ? asHooked(tensor) : tensor;
  }

  describe(name: string): StageDescription {
    const { hooks: _hooks, ...description } = this.#plan.stages[this.#plan.slot(this.#full(name))];
    return structuredClone(description) as StageDescription;
  }

  get positioned(): Tensor {
    return this.get("positioned");
  }

  get attention(): Tensor {
    return this.get("attention");
  }

  get afterAttention(): Tensor {
    return this.get("afterAttention");
  }

  get feedForward(): Tensor {
    return this.get("feedForward");
  }

  get hidden(): Tensor {
    return this.get("hidden");
  }

  get logits(): Tensor {
    return this.get("logits");
  }

  get probabilities(): Tensor {
    return this.get("probabilities");
  }

  diff(other: Trace): ReturnType<WasmTrace["diff"]> {
    if (!(typeof other === "object" && other !== null && #plan in other)) {
      throw invalidOption("other", inWords(other), "diff compares with a trace");
    }
    return this.#inWasm((a) => other.#inWasm((b) => calling(() => a.diff(b))));
  }

  toPlain(): PlainTrace {
    return writePlain(this.#plan, this.#tokens, this.#length, this.#all());
  }

  static fromPlain(plain: PlainTrace): Trace {
    const { plan, tokens, length, block } = readPlain(plain);
    return new Trace(plan, tokens, length, block);
  }

  toJSON(): JsonTrace {
    return calling(() => jsonOf(this, this.#plan));
  }

  toRows(options?: object): TidyRow[] {
    readCallOptions("toRows", options);
    return calling(() => rowsOf(this));
  }

  toSafetensors(): Uint8Array {
    return safetensorsOf(this, this.#plan);
  }

  free(): void {
    this.#freed = true;
    this.#block = undefined;
    this.#large?.free();
  }

  /** How Node and Deno show it on a console. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Trace of ${this.#length} positions, ${this.stages.length} stages: ${this.stages.join(", ")}`;
  }

  [dispose](): void {
    this.free();
  }

  /** The full name of what a short one stands for in the last block. */
  #full(name: string): string {
    const short = SHORT_NAMES.get(name);
    return short === undefined ? name : `blocks.${Number(this.#plan.options.nBlocks) - 1}.${short}`;
  }

  #copy(slot: number): Numbers {
    const { offset, size } = this.#layout[slot];
    if (this.#block !== undefined) return this.#block.slice(offset, offset + size);
    const large = this.#handle().get();
    return this.#filled(size, (out) => large.stage_into(slot, out));
  }

  #all(): Numbers {
    if (this.#block !== undefined) return this.#block.slice();
    return this.#blockOf(this.#handle().get());
  }

  #blockOf(numbers: WasmTrace): Numbers {
    const { offset, size } = this.#layout[this.#layout.length - 1];
    return this.#filled(offset + size, (out) => numbers.block_into(out));
  }

  /** A new array of the trace's type, filled by wasm: allocated here, where a refusal leaves nothing half done. */
  #filled(size: number, fill: (out: Numbers) => void): Numbers {
    const Type = this.#plan.dtype === "float64" ? Float64Array : Float32Array;
    return calling(() => {
      const out = new Type(size);
      fill(out);
      return out;
    });
  }

  #handle(): Handle<WasmTrace> {
    if (this.#large !== undefined && !this.#freed) return this.#large;
    throw new GlassformerError("freed", "trace freed: free() was called and it cannot be used any more", {
      what: "trace",
    });
  }

  /** Lends this trace to wasm for one call. */
  #inWasm<T>(use: (trace: WasmTrace) => T): T {
    if (this.#block === undefined) return use(this.#handle().get());
    const { options, fromRows } = this.#plan;
    const tokens = Uint32Array.from(this.#tokens);
    const { seed: _seed, words: _words, ...shape } = options;
    const lent = calling(() => wasm().trace_from_block(shape, fromRows, tokens, this.#length, this.#block));
    try {
      return use(lent);
    } finally {
      lent.free();
    }
  }
}

/** The same numbers in TransformerLens's order: a leading batch axis, and the position before the head. */
function asHooked(tensor: Tensor): Tensor {
  const { data, shape, axes } = tensor;
  if (axes[0] !== "head" || axes[1] !== "position") {
    return new Tensor(data, [1, ...shape], ["batch", ...axes]);
  }
  const [heads, rows, width] = shape;
  const turned = data.slice();
  for (let h = 0; h < heads; h++) {
    for (let t = 0; t < rows; t++) {
      turned.set(data.subarray((h * rows + t) * width, (h * rows + t + 1) * width), (t * heads + h) * width);
    }
  }
  return new Tensor(turned, [1, rows, heads, width], ["batch", "position", "head", "coordinate"]);
}
