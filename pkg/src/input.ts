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

/** The options of a call, none of which may be left over. */
export function readCallOptions(what: string, options: unknown): void {
  if (options === undefined) return;
  const [name, value] = Object.entries(readOptions(what, options)).find(([, v]) => v !== undefined) ?? [];
  if (name !== undefined) throw invalidOption(name, inWords(value), `${what} has no such option`);
}

function lengthOf(what: string, list: unknown): number {
  const isList = typeof list === "object" && list !== null && "length" in list;
  const length: unknown = isList ? reading(what, () => list.length) : undefined;
  if (typeof length === "number" && Number.isInteger(length) && length >= 0) return length;
  const value = isList ? `a length of ${inWords(length)}` : inWords(list);
  throw new GlassformerError("not_an_integer", `${what} must be a list of whole numbers, got ${value}`, {
    what,
    value,
  });
}

/** Token ids as numbers; whether each is whole and in the vocabulary is the core's to say. */
export function readIds(ids: unknown, maxContext: number): Float64Array {
  const length = lengthOf("the prompt", ids);
  // Refused before a list that claims any length is read.
  if (length > maxContext) {
    const message = `the prompt has ${length} rows; this model reads at most ${maxContext}`;
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

/** Numbers, flat. */
export function readNumbers(what: string, values: unknown): Float64Array {
  if (values instanceof Float64Array) return values;
  const length = lengthOf(what, values);
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

/** Rows of a width: a list of rows, or an object with `data` and `shape` such as a Tensor. */
export function readRows(rows: unknown, width: number): Float64Array {
  if (typeof rows === "object" && rows !== null && "data" in rows && "shape" in rows) {
    const shape = Array.from(
      readNumbers(
        "the shape of rows",
        reading("rows", () => rows.shape),
      ),
    );
    const data = readNumbers(
      "rows",
      reading("rows", () => rows.data),
    );
    if (shape.length !== 2 || shape[1] !== width || shape[0] * width !== data.length) {
      throw rowsMismatch([shape[0] ?? 1, width], shape);
    }
    return data;
  }
  const count = lengthOf("the list of rows", rows);
  const list = rows as ArrayLike<unknown>;
  const out = calling(() => new Float64Array(count * width));
  for (let t = 0; t < count; t++) {
    const row = readNumbers(
      `row ${t}`,
      reading("rows", () => list[t]),
    );
    if (row.length !== width) throw rowsMismatch([count, width], [count, row.length]);
    out.set(row, t * width);
  }
  return out;
}

function rowsMismatch(expected: number[], actual: number[]): GlassformerError {
  const message = `rows has shape [${actual.join(", ")}], expected [${expected.join(", ")}]`;
  return new GlassformerError("shape_mismatch", message, { what: "rows", expected, actual });
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
