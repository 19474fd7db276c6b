/** Reading what a model is asked about: token ids or rows, of one prompt or of a batch of them. */

import { calling, GlassformerError, inWords } from "./errors.js";
import { field, invalidOption, lengthOf, mismatch, readingFrom, readNumbers, readShape } from "./input.js";
import { isTensor } from "./tensor.js";

/** The prompts of a call: one, or a batch. */
export interface Prompts {
  readonly batched: boolean;
  /** Ids, or flat rows, of each. */
  readonly numbers: readonly Float64Array[];
  /** How many positions each has. */
  readonly lengths: readonly number[];
}

/** More prompts than anyone can look at; a list that claims more is not read. */
const MOST_PROMPTS = 65_536;

/** What prompts are called in refusals, such as "the prompt", and how long one may be. */
export interface Side {
  readonly what: string;
  readonly most: number;
}

/** Whether one prompt is given as rows, and not as ids. */
export function rowsAreGiven(value: unknown): boolean {
  if (isTensor(value)) return value.shape.length > 1;
  if (field("rows", value, "data") !== undefined && field("rows", value, "shape") !== undefined) return true;
  return isList(field("rows", value, "0"));
}

/** One prompt of ids, or a list of such prompts. */
export function readPrompts(side: Side, ids: unknown): Prompts {
  if (isTensor(ids) && ids.shape.length === 2) {
    const { data, shape } = ids;
    const flat = readNumbers(side.what, data, shape[0] * shape[1], (length) =>
      mismatch(side.what, shape, [length]),
    );
    return batch(divided(flat, shape[0]).map((prompt, b) => ofPrompt(b, () => readIds(side, prompt))));
  }
  const list = flatOf(side, ids);
  if (!isList(field(side.what, list, "0"))) {
    const read = readIds(side, list);
    return { batched: false, numbers: [read], lengths: [read.length] };
  }
  return batch(readList(side.what, list, (prompt) => readIds(side, flatOf(side, prompt))));
}

/** The numbers of a tensor of one axis; anything else as it is. */
function flatOf({ what }: Side, ids: unknown): unknown {
  if (!isTensor(ids)) return ids;
  if (ids.shape.length !== 1) throw mismatch(what, [ids.size], ids.shape);
  return ids.data;
}

function batch(numbers: Float64Array[], width = 1): Prompts {
  if (numbers.length === 0) {
    throw new GlassformerError("empty_prompt", "the batch is empty; it needs at least one prompt");
  }
  return { batched: true, numbers, lengths: numbers.map((flat) => flat.length / width) };
}

/** Flat numbers as so many equal parts. */
function divided(flat: Float64Array, parts: number): Float64Array[] {
  const size = flat.length / parts;
  return Array.from({ length: parts }, (_, b) => flat.slice(b * size, (b + 1) * size));
}

/** Each prompt of a list; what is refused of one names it. */
function readList<T>(what: string, list: unknown, read: (prompt: unknown) => T): T[] {
  const length = lengthOf(what, "prompts", list);
  if (length > MOST_PROMPTS) {
    throw invalidOption(what, `a list of ${length} prompts`, `a batch has at most ${MOST_PROMPTS}`);
  }
  const prompts: T[] = [];
  for (let b = 0; b < length; b++) {
    const prompt = readingFrom(what, () => (list as ArrayLike<unknown>)[b]);
    prompts.push(ofPrompt(b, () => read(prompt)));
  }
  return prompts;
}

/** Does something with one prompt of a batch: a refusal names the prompt. */
export function ofPrompt<T>(b: number, work: () => T): T {
  try {
    return work();
  } catch (refusal) {
    if (!(refusal instanceof GlassformerError)) throw refusal;
    const { code, message, ...fields } = refusal;
    throw new GlassformerError(code, `prompt ${b} of the batch: ${refusal.message}`, {
      ...fields,
      prompt: b,
    });
  }
}

function isList(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Token ids as numbers; whether each is whole and in the vocabulary is the core's to say. */
function readIds({ what, most }: Side, ids: unknown): Float64Array {
  const length = lengthOf(what, "whole numbers", ids);
  // Refused before a list that claims any length is read.
  if (length > most) throw tooLong(`${what} has ${length} tokens`, length, most);
  const list = ids as ArrayLike<unknown>;
  const out = calling(() => new Float64Array(length));
  for (let position = 0; position < length; position++) {
    const id = readingFrom(what, () => list[position]);
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

/** One prompt of rows of a width, T,D, or a batch of prompts of one length, B,T,D. */
export function readPromptsOfRows(side: Side, rows: unknown, width: number): Prompts {
  const { what, most } = side;
  const [data, shape] = [field(what, rows, "data"), field(what, rows, "shape")];
  if (data !== undefined && shape !== undefined) {
    const sizes = readShape(shape) ?? [];
    if (sizes.length !== 3) return one(readRows(what, { data, shape: sizes }, width, most), width);
    const [prompts, count] = sizes;
    checkCount(count, most);
    if (sizes[2] !== width) throw mismatch(what, [prompts, count, width], sizes);
    const wrong = (length: number) => mismatch(what, sizes, [length]);
    return batch(divided(readNumbers(what, data, prompts * count * width, wrong), prompts), width);
  }
  if (!isOfRows(what, field(what, rows, "0"))) return one(readRows(what, rows, width, most), width);
  const read = batch(
    readList(what, rows, (prompt) => readRows(what, prompt, width, most)),
    width,
  );
  const [count] = read.lengths;
  const other = read.lengths.find((length) => length !== count);
  if (other !== undefined) {
    throw mismatch(`${what}, all prompts of which must be equally long,`, [count, width], [other, width]);
  }
  return read;
}

/** Whether a value is a prompt of rows, and not one row. */
function isOfRows(what: string, value: unknown): boolean {
  if (!isList(value)) return false;
  return field(what, value, "data") !== undefined || isList(field(what, value, "0"));
}

function one(numbers: Float64Array, width: number): Prompts {
  return { batched: false, numbers: [numbers], lengths: [numbers.length / width] };
}

/** Rows of a width: a list of rows, or an object with `data` and `shape` such as a Tensor; at most so many. */
export function readRows(
  what: string,
  rows: unknown,
  width: number,
  most = Number.POSITIVE_INFINITY,
): Float64Array {
  const [data, shape] = [field(what, rows, "data"), field(what, rows, "shape")];
  if (data !== undefined && shape !== undefined) {
    const sizes = readShape(shape) ?? [];
    if (sizes.length !== 2) throw notRows(what, sizes.length, width);
    const [count] = sizes;
    checkCount(count, most);
    if (sizes[1] !== width) throw mismatch(what, [count, width], sizes);
    return readNumbers(what, data, count * width, (length) => mismatch(what, sizes, [length]));
  }
  const count = lengthOf(`the list of ${what}`, "rows", rows);
  checkCount(count, most);
  const list = rows as ArrayLike<unknown>;
  const out = calling(() => new Float64Array(count * width));
  for (let t = 0; t < count; t++) {
    const row = readingFrom(what, () => list[t]);
    const wrong = (length: number) => mismatch(what, [count, width], [count, length]);
    out.set(readNumbers(`${what}, row ${t}`, row, width, wrong), t * width);
  }
  return out;
}

function checkCount(length: number, most: number): void {
  if (length > most) throw tooLong(`there are ${length} rows`, length, most);
}

function tooLong(what: string, length: number, maxContext: number): GlassformerError {
  const message = `${what}; this model reads at most ${maxContext}`;
  return new GlassformerError("context_exceeded", message, { length, maxContext });
}

function notRows(what: string, axes: number, width: number): GlassformerError {
  const message = `${what} have ${axes} axes, expected 2 (or 3 for a batch), the last of size ${width}`;
  return new GlassformerError("shape_mismatch", message, { what, expected: [2], actual: [axes] });
}
