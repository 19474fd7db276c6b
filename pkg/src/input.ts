/** Reading what a caller hands over, before anything is computed. Nothing here changes its argument. */

import { calling, GlassformerError, inWords } from "./errors.js";

/** Runs a caller's own code (getters, proxies) and makes a refusal of what it throws. */
function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof GlassformerError) throw cause;
    const reason = `reading it threw ${inWords(cause instanceof Error ? cause.message : cause)}`;
    throw invalidOption(what, "the value", reason);
  }
}

export function invalidOption(option: string, value: string, reason: string): GlassformerError {
  const message = `option ${option}: ${value} is refused; ${reason}`;
  return new GlassformerError("invalid_option", message, { option, value, reason, nearest: [] });
}

/** A shallow copy of an object of options, its lists copied too. */
export function readOptions(what: string, options: unknown): Record<string, unknown> {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw invalidOption(what, inWords(options), "it must be an object of options");
  }
  return reading(what, () => {
    if (!isPlain(options)) {
      throw invalidOption(
        what,
        "an object of a class",
        "it must be a plain object, whose own fields are read",
      );
    }
    const symbol = Object.getOwnPropertySymbols(options)[0];
    if (symbol !== undefined)
      throw invalidOption(what, "a field named by a symbol", "there is no such option");
    const copy: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(options)) {
      // A plain data property, so that an option called "__proto__" is an unknown option and nothing else.
      const data = Array.isArray(value) ? Array.from(value) : value;
      Object.defineProperty(copy, name, {
        value: data,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return copy;
  });
}

/** Whether an object inherits nothing but what every object does, in whatever realm it was made. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The options of a call, none of which may be left over. */
export function readCallOptions(what: string, options: unknown): void {
  if (options === undefined) return;
  const [name, value] = Object.entries(readOptions(what, options)).find(([, v]) => v !== undefined) ?? [];
  if (name !== undefined) throw invalidOption(name, inWords(value), `${what} has no such option`);
}

function lengthOf(what: string, of: string, list: unknown): number {
  const isList = typeof list === "object" && list !== null && "length" in list;
  const length: unknown = isList ? reading(what, () => list.length) : undefined;
  if (typeof length === "number" && Number.isInteger(length) && length >= 0) return length;
  const value = isList ? `a length of ${inWords(length)}` : inWords(list);
  const message = `${what} must be a list of ${of}, got ${value}`;
  throw new GlassformerError("not_an_integer", message, { what, value });
}

/** Token ids as numbers; whether each is whole and in the vocabulary is the core's to say. */
export function readIds(ids: unknown, maxContext: number): Float64Array {
  const length = lengthOf("the prompt", "whole numbers", ids);
  // Refused before a list that claims any length is read.
  if (length > maxContext) {
    const message = `the prompt has ${length} tokens; this model reads at most ${maxContext}`;
    throw new GlassformerError("context_exceeded", message, { length, maxContext });
  }
  const list = ids as ArrayLike<unknown>;
  const out = new Float64Array(length);
  for (let position = 0; position < length; position++) {
    const id = reading("the prompt", () => list[position]);
    if (typeof id !== "number") {
      const value = inWords(id);
      const message = `token id at position ${position} must be a whole number, got ${value}`;
      throw new GlassformerError("not_an_integer", message, { what: "token id", position, value });
    }
    out[position] = id;
  }
  return out;
}

/** Numbers, flat; a list of another length than `expected` is refused before it is read or copied. */
export function readNumbers(
  what: string,
  values: unknown,
  expected?: number,
  refusal?: (length: number) => GlassformerError,
): Float64Array {
  const length = lengthOf(what, "numbers", values);
  if (refusal !== undefined && length !== expected) throw refusal(length);
  if (values instanceof Float64Array) return values;
  const list = values as ArrayLike<unknown>;
  const out = calling(() => new Float64Array(length));
  for (let position = 0; position < length; position++) {
    const value = reading(what, () => list[position]);
    if (typeof value !== "number") {
      const message = `${what} at ${position} must be a number, got ${inWords(value)}`;
      throw new GlassformerError("not_finite", message, { what, position, value: inWords(value) });
    }
    out[position] = value;
  }
  return out;
}

/** Rows of a width: a list of rows, or an object with `data` and `shape` such as a Tensor; at most so many. */
export function readRows(rows: unknown, width: number, most = Number.POSITIVE_INFINITY): Float64Array {
  if (typeof rows === "object" && rows !== null && "data" in rows && "shape" in rows) {
    const { shape, data } = reading("rows", () => ({ shape: rows.shape, data: rows.data }));
    const sizes = Array.from(
      readNumbers("the shape of rows", shape, 2, (length) => rowsMismatch(length, width)),
    );
    const [count] = sizes;
    checkCount(count, most);
    if (sizes[1] !== width) throw mismatch("rows", [count, width], sizes);
    return readNumbers("rows", data, count * width, (length) => mismatch("rows", sizes, [length]));
  }
  const count = lengthOf("the list of rows", "rows", rows);
  checkCount(count, most);
  const list = rows as ArrayLike<unknown>;
  const out = calling(() => new Float64Array(count * width));
  for (let t = 0; t < count; t++) {
    const row = reading("rows", () => list[t]);
    const wrong = (length: number) => mismatch("rows", [count, width], [count, length]);
    out.set(readNumbers(`row ${t}`, row, width, wrong), t * width);
  }
  return out;
}

function checkCount(length: number, maxContext: number): void {
  if (length <= maxContext) return;
  const message = `there are ${length} rows; this model reads at most ${maxContext}`;
  throw new GlassformerError("context_exceeded", message, { length, maxContext });
}

function rowsMismatch(axes: number, width: number): GlassformerError {
  const message = `rows have ${axes} axes, expected 2, the second of size ${width}`;
  return new GlassformerError("shape_mismatch", message, { what: "rows", expected: [2], actual: [axes] });
}

/** A refusal of something whose shape does not fit. */
export function mismatch(
  what: string,
  expected: readonly number[],
  actual: readonly number[],
): GlassformerError {
  const message = `${what} has shape [${actual.join(", ")}], expected [${expected.join(", ")}]`;
  const fields = { what, expected: [...expected], actual: [...actual] };
  return new GlassformerError("shape_mismatch", message, fields);
}

/** A shape, as one size or a list of sizes; `undefined` is one number alone. */
export function readShape(shape: unknown): number[] | undefined {
  if (shape === undefined) return undefined;
  const sizes = typeof shape === "number" ? [shape] : Array.from(readNumbers("shape", shape));
  for (const [position, size] of sizes.entries()) {
    if (!Number.isInteger(size) || size < 0) {
      const message = `shape at position ${position} must be a whole number, got ${size}`;
      throw new GlassformerError("not_an_integer", message, { what: "shape", position, value: String(size) });
    }
  }
  return sizes;
}
