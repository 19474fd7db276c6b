/**
 * Reading what a caller hands over, before anything is computed. Nothing here changes its argument; whatever code an
 * argument runs while it is read (getters, proxies) has run before a model is touched, and what it throws is a refusal.
 */

import { calling, GlassformerError, inWords, isArray, short } from "./errors.js";

/** Runs a caller's own code and makes a refusal of what it throws. */
function reading<T>(what: string, read: () => T): T {
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
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

/** A model's options, with a copy of their list of words, which is not read before its length fits. */
export function readModelOptions(options: unknown): Record<string, unknown> {
  const given = readOptions("options", options);
  const { words, nVocab } = given;
  if (!isArray(words)) return given;
  const length = lengthOf("words", "texts", words);
  if (typeof nVocab !== "number" || !Number.isInteger(nVocab)) {
    // Refused for that already, whatever the words are.
    return { ...given, words: [] };
  }
  if (length !== nVocab) {
    const reason = `${length} words for a vocabulary of ${nVocab}`;
    const fields = { options: ["words", "nVocab"], values: [length, nVocab], reason };
    throw new GlassformerError("config_conflict", `options words and nVocab disagree: ${reason}`, fields);
  }
  given.words = calling(() =>
    Array.from({ length }, (_, i) =>
      wordOf(
        i,
        reading("words", () => words[i]),
      ),
    ),
  );
  return given;
}

function wordOf(i: number, word: unknown): string {
  const reason = `it must be a list of texts, and that stands at ${i}`;
  if (typeof word !== "string") throw invalidOption("words", inWords(word), reason);
  if (/\p{Surrogate}/u.test(word)) throw invalidOption("words", "half a surrogate pair", reason);
  return word;
}

/** The options of a call, none of which may be left over. */
export function readCallOptions(what: string, options: unknown): void {
  if (options === undefined) return;
  const [name, value] = Object.entries(readOptions(what, options)).find(([, v]) => v !== undefined) ?? [];
  if (name !== undefined) throw invalidOption(name, inWords(value), `${what} has no such option`);
}

/** A field of a value, where it is an object that has it. */
export function field(what: string, value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return reading(what, () => (name in value ? (value as Record<string, unknown>)[name] : undefined));
}

function lengthOf(what: string, of: string, list: unknown): number {
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
  reading("an array", () => copy.set(value as T));
  return copy;
}

/** Token ids as numbers; whether each is whole and in the vocabulary is the core's to say. */
export function readIds(ids: unknown, maxContext: number): Float64Array {
  const length = lengthOf("the prompt", "whole numbers", ids);
  // Refused before a list that claims any length is read.
  if (length > maxContext) throw tooLong(`the prompt has ${length} tokens`, length, maxContext);
  const list = ids as ArrayLike<unknown>;
  const out = calling(() => new Float64Array(length));
  for (let position = 0; position < length; position++) {
    const id = reading("the prompt", () => list[position]);
    if (typeof id !== "number") {
      const value = inWords(id);
      const message = `token id at position ${position} must be a whole number, got ${value}`;
      throw new GlassformerError("not_an_integer", message, { what: "token id", position, value });
    }
    // 0 and -0 are one token.
    out[position] = id + 0;
  }
  return out;
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
    const value = decoded(reading(what, () => list[position]));
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
  const [data, shape] = [field("rows", rows, "data"), field("rows", rows, "shape")];
  if (data !== undefined && shape !== undefined) {
    const sizes = Array.from(readNumbers("the shape of rows", shape, 2, (axes) => notRows(axes, width)));
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
  if (length > maxContext) throw tooLong(`there are ${length} rows`, length, maxContext);
}

function tooLong(what: string, length: number, maxContext: number): GlassformerError {
  const message = `${what}; this model reads at most ${maxContext}`;
  return new GlassformerError("context_exceeded", message, { length, maxContext });
}

function notRows(axes: number, width: number): GlassformerError {
  const message = `rows have ${axes} axes, expected 2, the second of size ${width}`;
  return new GlassformerError("shape_mismatch", message, { what: "rows", expected: [2], actual: [axes] });
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
