/** Numbers with a shape, JavaScript's own. */

import { calling, GlassformerError, inWords, isArray } from "./errors.js";
import { field, invalidOption, isTyped, mismatch } from "./input.js";
import { aligned } from "./print.js";

export type TypedArray = Float64Array | Float32Array | Int32Array;
export type Nested = number | Nested[];
export type Range = number | readonly [number?, number?] | null | undefined;

const DTYPES = { float64: Float64Array, float32: Float32Array, int32: Int32Array } as const;
export type DType = keyof typeof DTYPES;

export class Tensor {
  readonly #made = true;
  readonly data: TypedArray;
  readonly shape: readonly number[];
  readonly axes: readonly string[];

  constructor(data: TypedArray, shape: readonly number[], axes: readonly string[]) {
    const isShape = isArray(shape) && isArray(axes) && shape.every((n) => Number.isInteger(n) && n >= 0);
    if (!isShape || !Object.values(DTYPES).some((Type) => isTyped(data, Type))) {
      throw invalidOption("tensor", inWords(data), "tensors are made by traces, parameters and streams");
    }
    const size = shape.reduce((product, n) => product * n, 1);
    if (size !== data.length || axes.length !== shape.length) {
      throw mismatch("tensor", shape, [data.length]);
    }
    this.data = data;
    this.shape = Object.freeze([...shape]);
    this.axes = Object.freeze([...axes]);
  }

  static is(value: unknown): value is Tensor {
    return typeof value === "object" && value !== null && #made in value;
  }

  /** How Node and Deno show it on a console. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Tensor ${this.axes.join(", ")} (${this.shape.join(" × ")}, ${this.dtype})\n${this}`;
  }

  get dims(): readonly number[] {
    return this.shape;
  }

  get dtype(): DType {
    if (this.data instanceof Float64Array) return "float64";
    return this.data instanceof Float32Array ? "float32" : "int32";
  }

  get type(): DType {
    return this.dtype;
  }

  get size(): number {
    return this.data.length;
  }

  at(...index: number[]): number {
    if (index.length !== this.shape.length) throw mismatch("index", [this.shape.length], [index.length]);
    let flat = 0;
    for (let axis = 0; axis < index.length; axis++) {
      flat = flat * this.shape[axis] + this.resolve(axis, index[axis]);
    }
    return this.data[flat];
  }

  row(i: number): Tensor {
    if (this.shape.length === 0) throw mismatch("index", [0], [1]);
    return this.slice(this.resolve(0, i));
  }

  slice(...ranges: Range[]): Tensor {
    if (ranges.length > this.shape.length) throw mismatch("slice", [this.shape.length], [ranges.length]);
    const bounds = this.shape.map((_, axis) => this.bounds(axis, ranges[axis]));
    const kept = this.shape.map((_, axis) => axis).filter((axis) => typeof ranges[axis] !== "number");
    const sizes = bounds.map(([start, end]) => end - start);
    const count = sizes.reduce((product, n) => product * n, 1);
    const data = calling(() => new DTYPES[this.dtype](count));
    // Runs of the last axis stand together in both.
    const run = sizes.at(-1) ?? 1;
    for (let to = 0; to < count; to += run) {
      let [rest, from, stride] = [to, 0, 1];
      for (let axis = sizes.length - 1; axis >= 0; axis--) {
        from += (bounds[axis][0] + (rest % sizes[axis])) * stride;
        rest = Math.floor(rest / sizes[axis]);
        stride *= this.shape[axis];
      }
      data.set(this.data.subarray(from, from + run), to);
    }
    return new Tensor(
      data,
      kept.map((axis) => sizes[axis]),
      kept.map((axis) => this.axes[axis]),
    );
  }

  item(): number {
    if (this.data.length !== 1) throw mismatch("tensor asked for its one item", [1], this.shape);
    return this.data[0];
  }

  tolist(): Nested {
    const nest = (axis: number, start: number, length: number): Nested => {
      if (axis === this.shape.length) return this.data[start];
      const size = this.shape[axis];
      const step = size === 0 ? 0 : length / size;
      return Array.from({ length: size }, (_, i) => nest(axis + 1, start + i * step, step));
    };
    return nest(0, 0, this.data.length);
  }

  toString(): string {
    return aligned(this);
  }

  toJSON(): { dtype: DType; shape: number[]; axes: string[]; data: (number | string)[] } {
    const { dtype, shape, axes, data } = this;
    return { dtype, shape: [...shape], axes: [...axes], data: Array.from(data, toJsonNumber) };
  }

  private bounds(axis: number, range: Range): [number, number] {
    const size = this.shape[axis];
    if (range === null || range === undefined) return [0, size];
    if (typeof range === "number") {
      const i = this.resolve(axis, range);
      return [i, i + 1];
    }
    const [length, first, last] = ["length", "0", "1"].map((name) => field("range", range, name));
    if (!isArray(range) || typeof length !== "number" || length > 2) {
      throw invalidOption(`range of axis ${axis}`, inWords(range), "it must be an index or [start, end]");
    }
    const start = first === undefined ? 0 : this.resolve(axis, first, 1);
    const end = last === undefined ? size : this.resolve(axis, last, 1);
    return [start, Math.max(start, end)];
  }

  /** An index of an axis; negative ones count from its end, as in NumPy and in `Array.prototype.at`. */
  private resolve(axis: number, index: unknown, past = 0): number {
    const size = this.shape[axis];
    const what = `index of axis ${this.axes[axis]}`;
    if (typeof index !== "number" || !Number.isInteger(index)) {
      const value = inWords(index);
      throw new GlassformerError("not_an_integer", `${what} must be a whole number, got ${value}`, {
        what,
        value,
      });
    }
    const resolved = index < 0 ? index + size : index;
    if (resolved >= 0 && resolved < size + past) return resolved;
    const message = `${what} is ${index}; the axis has ${size}, counted from 0`;
    throw new GlassformerError("index_out_of_range", message, { what, index, size });
  }
}

/** JSON has no infinities, no NaN, and writes -0 as 0: they are written as texts. */
export function toJsonNumber(x: number): number | string {
  if (Object.is(x, -0)) return "-0";
  return Number.isFinite(x) ? x : String(x);
}

/** The number that `toJsonNumber` wrote; anything else comes back as it is, to be refused by who reads it. */
export function fromJsonNumber(x: unknown): unknown {
  return typeof x === "string" && ["-0", "-Infinity", "Infinity", "NaN"].includes(x) ? Number(x) : x;
}

/** Whether a value is one of these tensors; no code of the value's own runs. */
export function isTensor(value: unknown): value is Tensor {
  return Tensor.is(value);
}
