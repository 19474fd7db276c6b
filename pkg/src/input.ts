/**
 * Reading what a caller hands over, before anything is computed. Nothing here changes its argument; whatever code an
 * argument runs while it is read (getters, proxies) has run before a model is touched, and what it throws is a refusal.
 */

import { calling, GlassformerError, inWords, isArray, short } from "./errors.js";

/** Runs a caller's own code and makes a refusal of what it throws. */
export function readingFrom<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof GlassformerError) throw cause;
    throw invalidOption(what, "the value", `reading it threw ${messageOf(cause)}`);
  }
}

/** What an error says, however it is made. */
export function messageOf(cause: unknown): string {
  try {
    return cause instanceof Error ? inWords(cause.message) : inWords(cause);
  } catch {
    return "an error that cannot be read";
  }
}

export function invalidOption(option: string, value: string, reason: string): GlassformerError {
  const name = short(option);
  const message = `option ${name}: ${value} is refused; ${reason}`;
  return new GlassformerError("invalid_option", message, { option: name, value, reason, nearest: [] });
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

/** A shallow copy of a plain object's own fields; `allowed` are the only ones there may be. */
export function readOptions(
  what: string,
  options: unknown,
  allowed?: readonly string[],
): Record<string, unknown> {
  if (typeof options !== "object" || options === null || isArray(options)) {
    throw invalidOption(what, inWords(options), "it must be an object of options");
  }
  return readingFrom(what, () => {
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
      if (allowed !== undefined && !allowed.includes(name)) {
        throw invalidOption(name, inWords(value), `${what} has no such field`);
      }
      // A plain data property, so that an option called "__proto__" is an unknown option and nothing else.
      Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return copy;
  });
}

/** Whether an object inherits nothing but what every object does, in whatever realm it was made. */
export function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

/** The options of a call; `allowed` are the only ones there may be. */
export function readCallOptions(
  what: string,
  options: unknown,
  allowed: readonly string[] = [],
): Record<string, unknown> {
  if (options === undefined) return {};
  const given = readOptions(what, options);
  const isLeft = ([name, value]: [string, unknown]) => value !== undefined && !allowed.includes(name);
  const [name, value] = Object.entries(given).find(isLeft) ?? [];
  if (name !== undefined) throw invalidOption(name, inWords(value), `${what} has no such option`);
  return given;
}

/** A field of a value, where it is an object that has it. */
export function field(what: string, value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return readingFrom(what, () => (name in value ? (value as Record<string, unknown>)[name] : undefined));
}

export function lengthOf(what: string, of: string, list: unknown): number {
  const isList = typeof list === "object" && list !== null;
  const length = isList ? (typedLength(list) ?? field(what, list, "length")) : undefined;
  if (typeof length === "number" && Number.isInteger(length) && length >= 0) return length;
  const value = length === undefined ? inWords(list) : `a length of ${inWords(length)}`;
  const message = `${what} must be a list of ${of}, got ${value}`;
  throw new GlassformerError("not_an_integer", message, { what, value });
}

// The engine's own views of typed arrays: a subclass or a property may say anything about itself.
const TypedArray = Object.getPrototypeOf(Float64Array.prototype);
const kindOf = Object.getOwnPropertyDescriptor(TypedArray, Symbol.toStringTag)?.get as () =>
  | string
  | undefined;
const trueLength = Object.getOwnPropertyDescriptor(TypedArray, "length")?.get as () => number;

/** The name of a typed array's kind, such as "Uint8Array", whatever it says itself; undefined for anything else. */
export function typedKind(value: unknown): string | undefined {
  return typeof value === "object" && value !== null ? kindOf.call(value) : undefined;
}

/** The length of a typed array, whatever it says itself; undefined for anything else. */
function typedLength(value: object): number | undefined {
  return kindOf.call(value) === undefined ? undefined : trueLength.call(value);
}

/** Whether a value is a typed array of one kind, whatever it says itself. */
export function isTyped(value: unknown, Type: { readonly name: string }): boolean {
  return typeof value === "object" && value !== null && kindOf.call(value) === Type.name;
}

/** A copy of a typed array of one kind, or undefined where the value is none. */
export function copyOfTyped<T extends Float64Array | Float32Array>(
  value: unknown,
  Type: new (length: number) => T,
): T | undefined {
  if (!isTyped(value, Type)) return undefined;
  const copy = calling(() => new Type(trueLength.call(value)));
  // A detached array is one still, but of nothing that can be read.
  readingFrom("an array", () => copy.set(value as T));
  return copy;
}

/** A copy of numbers, flat; a list of another length than `expected` is refused before it is read or copied. */
export function readNumbers(
  what: string,
  values: unknown,
  expected?: number,
  refusal?: (length: number) => GlassformerError,
  decoded: (value: unknown) => unknown = (value) => value,
): Float64Array {
  const length = lengthOf(what, "numbers", values);
  if (refusal !== undefined && length !== expected) throw refusal(length);
  const copy = copyOfTyped(values, Float64Array);
  if (copy !== undefined) return copy;
  const list = values as ArrayLike<unknown>;
  const out = calling(() => new Float64Array(length));
  for (let position = 0; position < length; position++) {
    const value = decoded(readingFrom(what, () => list[position]));
    if (typeof value !== "number") {
      const message = `${what} at ${position} must be a number, got ${inWords(value)}`;
      throw new GlassformerError("not_finite", message, { what, position, value: inWords(value) });
    }
    out[position] = value;
  }
  return out;
}

/** A shape, as one size or a list of at most 32 sizes, as in NumPy 1; `undefined` is one number alone. */
export function readShape(shape: unknown): number[] | undefined {
  if (shape === undefined) return undefined;
  const list = typeof shape === "number" ? [shape] : shape;
  const axes = lengthOf("shape", "whole numbers", list);
  if (axes > 32) throw mismatch("shape", [32], [axes]);
  const sizes = Array.from(readNumbers("shape", list));
  for (const [position, size] of sizes.entries()) {
    if (!Number.isInteger(size) || size < 0) {
      const message = `shape at position ${position} must be a whole number from 0 on, got ${size}`;
      throw new GlassformerError("not_an_integer", message, {
        what: "shape",
        position,
        value: String(size),
      });
    }
  }
  return sizes;
}
