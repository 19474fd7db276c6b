/** Reading what the equations are given: numbers with a shape, and options. Everything that is read is a copy. */

import { calling, GlassformerError, inWords, isArray, short } from "../errors.js";
import {
  copyOfTyped,
  field,
  invalidOption,
  mismatch,
  readNumbers,
  readOptions,
  readShape,
} from "../input.js";
import { isTensor, Tensor } from "../tensor.js";

export type Cells = Float64Array | Float32Array;

/** Numbers with their shape, JavaScript's own, to be changed in place. */
export interface Given {
  data: Cells;
  shape: readonly number[];
  axes: readonly string[];
}

/** As in NumPy 1. */
const MOST_AXES = 32;
/** What an engine may put into one array. */
const MOST_CELLS = 2 ** 32 - 1;

/**
 * Numbers of any shape: a tensor, an object with `data` and `shape`, a typed array, nested lists, or one number.
 * Float32Arrays and float32 tensors stay so; anything else is float64.
 */
export function readCells(what: string, value: unknown): Given {
  if (typeof value === "number")
    return withAxes(
      calling(() => Float64Array.of(value)),
      [],
    );
  if (isTensor(value)) {
    const { data, shape, axes } = value;
    return { data: copyOf(what, data, shape), shape, axes };
  }
  const [data, shape] = [field(what, value, "data"), field(what, value, "shape")];
  if (data !== undefined && shape !== undefined) {
    const sizes = readShape(shape) ?? [];
    return withAxes(copyOf(what, data, sizes), sizes);
  }
  const single = copyOfTyped(value, Float32Array);
  return single === undefined ? nested(what, value) : withAxes(single, [single.length]);
}

function withAxes(data: Cells, shape: readonly number[]): Given {
  return { data, shape, axes: shape.map((_, axis) => `axis ${axis}`) };
}

/** A copy of flat numbers, of which there are as many as a shape has. */
function copyOf(what: string, values: unknown, shape: readonly number[]): Cells {
  const size = sizeOf(shape);
  const wrong = (length: number) => mismatch(what, shape, [length]);
  const single = copyOfTyped(values, Float32Array);
  if (single === undefined) return readNumbers(what, values, size, wrong);
  if (single.length !== size) throw wrong(single.length);
  return single;
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, n) => product * n, 1);
}

/** The numbers of lists in lists, all lists of one depth equally long; the first of each depth says how long. */
function nested(what: string, value: unknown): Given {
  const shape: number[] = [];
  let first = value;
  while (typeof first !== "number") {
    const length = listLength(what, first);
    if (length === undefined) throw notNumbers(what, shape, first);
    if (shape.length === MOST_AXES) throw mismatch(`the shape of ${what}`, [MOST_AXES], [MOST_AXES + 1]);
    shape.push(length);
    // Nothing says what would stand in an empty list, or is a list in a typed array.
    if (length === 0 || ArrayBuffer.isView(first)) break;
    first = field(what, first, "0");
  }
  const size = sizeOf(shape);
  if (size > MOST_CELLS) throw tooLarge(what, size);
  const data = calling(() => new Float64Array(size));
  const fill = (list: unknown, axis: number, start: number, length: number): void => {
    const wrong = (actual: readonly number[]) =>
      mismatch(
        `${what}, a list in which all lists of one depth must be equally long,`,
        shape.slice(axis),
        actual,
      );
    const actual = listLength(what, list);
    if (actual !== shape[axis]) throw wrong(actual === undefined ? [] : [actual]);
    if (axis === shape.length - 1) {
      data.set(
        readNumbers(what, list, length, (changed) => wrong([changed])),
        start,
      );
      return;
    }
    const step = actual === 0 ? 0 : length / actual;
    for (let i = 0; i < actual; i++) fill(field(what, list, String(i)), axis + 1, start + i * step, step);
  };
  fill(value, 0, 0, size);
  return withAxes(data, shape);
}

/** The length of a list; undefined for what is none. */
function listLength(what: string, value: unknown): number | undefined {
  if (!isArray(value) && !ArrayBuffer.isView(value) && typeof value !== "object") return undefined;
  const length = field(what, value, "length");
  return typeof length === "number" && Number.isInteger(length) && length >= 0 ? length : undefined;
}

function notNumbers(what: string, shape: readonly number[], value: unknown): GlassformerError {
  const place = shape.length === 0 ? "" : ` at ${shape.map(() => 0).join(", ")}`;
  const message = `${what}${place} must be numbers: a tensor, a typed array or nested lists; got ${inWords(value)}`;
  return new GlassformerError("not_finite", message, { what, value: inWords(value) });
}

function tooLarge(what: string, size: number): GlassformerError {
  const bytes = size * 8;
  const message = `memory for ${what}: ${bytes} bytes are more than can be had`;
  return new GlassformerError("out_of_memory", message, { what, bytes });
}

/** Zeros for a result, of the kind of what it is computed from. */
export function room(what: string, shape: readonly number[], like?: Cells): Cells {
  const size = sizeOf(shape);
  if (size > MOST_CELLS) throw tooLarge(what, size);
  return calling(() => (like instanceof Float32Array ? new Float32Array(size) : new Float64Array(size)));
}

/** The same numbers as 64-bit ones. */
export function wide(data: Cells): Float64Array {
  return data instanceof Float64Array ? data : calling(() => Float64Array.from(data));
}

/** Whole numbers as 32-bit ones. */
export function whole(data: Cells): Int32Array {
  return calling(() => Int32Array.from(data));
}

export function tensor({ data, shape, axes }: Omit<Given, "data"> & { data: Cells | Int32Array }): Tensor {
  return new Tensor(data, shape, axes);
}

/** Numbers whose last axis is worked along. */
export function readRowsOf(what: string, value: unknown): Given & { width: number } {
  const given = readCells(what, value);
  const width = given.shape.at(-1);
  if (width === undefined || width === 0) {
    const message = `${what} has shape [${given.shape.join(", ")}]; its last axis, which is worked along, must have a number at least`;
    throw new GlassformerError("shape_mismatch", message, { what, expected: [1], actual: [...given.shape] });
  }
  return { ...given, width };
}

/** What is left of an array when each row becomes one number. */
export function rowsOf({ data, shape, axes }: Given, what: string): Given {
  const left = shape.slice(0, -1);
  return { data: room(what, left, data), shape: left, axes: axes.slice(0, -1) };
}

/** Numbers of one shape, as 64-bit ones. */
export function readExactly(what: string, value: unknown, shape: readonly number[]): Float64Array {
  const given = readCells(what, value);
  if (given.shape.length !== shape.length || given.shape.some((n, axis) => n !== shape[axis])) {
    throw mismatch(what, shape, given.shape);
  }
  return wide(given.data);
}

/** As `readExactly`, where every number must be finite. */
export function readFinite(what: string, value: unknown, shape: readonly number[]): Float64Array {
  const data = readExactly(what, value, shape);
  checkNumbers(what, data, Number.isFinite);
  return data;
}

/** Refuses the first number for which a function has no value. */
export function checkNumbers(what: string, data: Cells, allowed: (x: number) => boolean): void {
  const position = data.findIndex((x) => !allowed(x));
  if (position < 0) return;
  const value = data[position];
  const message = `${what} at ${position} is ${value}, for which there is no value`;
  throw new GlassformerError("not_finite", message, { what, position, value });
}

/** The options of a function, which may be left out, and none of which is ignored. */
export function options(what: string, given: unknown, allowed: readonly string[]): Record<string, unknown> {
  return given === undefined ? {} : readOptions(`the options of ${what}`, given, allowed);
}

/** Refuses arguments that would be ignored. */
export function refuseMore(more: readonly unknown[], takes: string): void {
  if (more.length > 0) throw invalidOption("argument", inWords(more[0]), takes);
}

export function readNumber(
  name: string,
  value: unknown,
  missing: number | undefined,
  allowed: (x: number) => boolean = () => true,
  words = "a finite number",
): number {
  const x = value ?? missing;
  if (typeof x === "number" && Number.isFinite(x) && allowed(x) && value !== null) return x;
  throw invalidOption(name, inWords(value), `it must be ${words}`);
}

/** A whole number in a range. */
export function readCount(
  what: string,
  value: unknown,
  least = 0,
  most = MOST_CELLS,
  missing?: number,
): number {
  const x = value === undefined ? missing : value;
  if (typeof x !== "number" || !Number.isInteger(x)) {
    const words = inWords(x);
    const message = `${what} must be a whole number, got ${words}`;
    throw new GlassformerError("not_an_integer", message, { what, value: words });
  }
  if (x < least || x > most) throw invalidOption(what, inWords(x), `it must be from ${least} to ${most}`);
  return x;
}

export function readFlag(name: string, value: unknown, missing: boolean): boolean {
  if (value === undefined) return missing;
  if (typeof value !== "boolean") throw invalidOption(name, inWords(value), "it must be true or false");
  return value;
}

/** A name of which the core knows whether it is one; cut where no name is that long. */
export function readName(name: string, value: unknown, missing?: string): string {
  const given = value === undefined ? missing : value;
  if (typeof given !== "string") throw invalidOption(name, inWords(given), "it must be a name");
  return short(given);
}
