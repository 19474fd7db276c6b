/** A model's options, copied to plain data that runs no code of its own, and given back filled in. */

import { calling, GlassformerError, inWords, isArray } from "./errors.js";
import type { StreamPosition } from "./glassformer.js";
import { field, invalidOption, isPlain, lengthOf, readingFrom, readOptions } from "./input.js";
import type { ModelName, Options } from "./plan.js";
import { RandomStream } from "./random.js";

/** How deep options of options are read, those of the model included. */
const DEPTH = 3;
/** How long a list may be that is an option; the words are read apart. */
const LONGEST = 4096;

/** The options of a model of some class, without a stream that stood as their seed, and that stream. */
export function readSeeded(
  model: ModelName,
  options: unknown,
): { given: Record<string, unknown>; stream: RandomStream | undefined } {
  const given = asModel(model, readOptions("options", options));
  for (const [words, size] of [
    ["words", "nVocab"],
    ["sourceWords", "nSourceVocab"],
  ] as const) {
    if (isArray(given[words])) given[words] = readWords(words, given[words], size, given[size]);
  }
  const stream = RandomStream.from(given.seed) ?? resumed(given.seed);
  if (stream !== undefined) delete given.seed;
  const inertly = ([name, value]: [string, unknown]): [string, unknown] => [
    cut(name),
    /^(words|sourceWords)$/.test(name) && isArray(value) ? value : inert(name, value, DEPTH - 1),
  ];
  return { given: Object.fromEntries(Object.entries(given).map(inertly)), stream };
}

/** What tells the classes of models apart, in the words of wasm, which has one class. */
function asModel(model: ModelName, given: Record<string, unknown>): Record<string, unknown> {
  if (model === "EncoderDecoderModel") {
    if (given.nSourceVocab === undefined) given.nSourceVocab = given.nVocab;
    if (given.nEncoderBlocks === undefined) {
      given.nEncoderBlocks = given.nBlocks === undefined ? 1 : given.nBlocks;
    }
    return given;
  }
  for (const name of ["nSourceVocab", "nEncoderBlocks", "sourceWords"]) {
    const value = given[name];
    if (value !== undefined) {
      throw invalidOption(
        name,
        inWords(value),
        `there is no such option of ${model}, only an encoder-decoder has it`,
      );
    }
  }
  if (model === "EncoderModel" && given.mask === undefined) given.mask = "none";
  return given;
}

/** A copy of a list of words, which is not read before its length fits. */
function readWords(what: string, words: unknown[], of: string, size: unknown): string[] {
  const length = lengthOf(what, "texts", words);
  // Refused for that already, whatever the words are.
  if (typeof size !== "number" || !Number.isInteger(size)) return [];
  if (length !== size) {
    const reason = `${length} words for a vocabulary of ${size}`;
    const fields = { options: [what, of], values: [length, size], reason };
    throw new GlassformerError("config_conflict", `options ${what} and ${of} disagree: ${reason}`, fields);
  }
  const word = (i: number) =>
    wordOf(
      what,
      i,
      readingFrom(what, () => words[i]),
    );
  return calling(() => Array.from({ length }, (_, i) => word(i)));
}

function wordOf(what: string, i: number, word: unknown): string {
  const reason = `it must be a list of texts, and that stands at ${i}`;
  if (typeof word !== "string") throw invalidOption(what, inWords(word), reason);
  if (/\p{Surrogate}/u.test(word)) throw invalidOption(what, "half a surrogate pair", reason);
  return word;
}

/** A text that is no longer than what tells it apart from every name there is. */
function cut(text: string): string {
  return text.slice(0, 100);
}

/**
 * A value that runs no code when wasm looks at it: a copy of plain data so many levels deep; below that, and in lists,
 * an object stands for any object, a list for any list.
 */
function inert(name: string, value: unknown, depth: number): unknown {
  if (typeof value === "string") return cut(value);
  if (typeof value === "bigint" && BigInt.asIntN(256, value) !== value) {
    throw invalidOption(name, inWords(value), "no option is that large");
  }
  if (typeof value === "function") return () => {};
  if (typeof value !== "object" || value === null) return value;
  if (isArray(value)) return depth > 0 ? inertList(name, value) : [];
  if (!readingFrom(name, () => isPlain(value))) {
    throw invalidOption(
      name,
      "an object of a class",
      "it must be a number, a text, a list or a plain object",
    );
  }
  if (depth === 0) return {};
  const entries = Object.entries(readOptions(name, value));
  return Object.fromEntries(entries.map(([own, of]) => [cut(own), inert(`${name}.${own}`, of, depth - 1)]));
}

function inertList(name: string, list: unknown[]): unknown[] {
  const length = lengthOf(name, "values", list);
  if (length > LONGEST) throw invalidOption(name, `a list of ${length}`, "no option is a list that long");
  return Array.from({ length }, (_, i) =>
    inert(
      name,
      readingFrom(name, () => list[i]),
      0,
    ),
  );
}

/** A stream that goes on where the one stood from which a model was drawn, as `options.seed` gives it back. */
function resumed(seed: unknown): RandomStream | undefined {
  return field("seed", seed, "stream") === undefined ? undefined : RandomStream.at(seed as StreamPosition);
}

/** Every option as users see it, frozen: a seed that no number names exactly is a BigInt, a stream its position. */
export function filledIn(reported: Options, position: StreamPosition | undefined): Readonly<Options> {
  const { seed } = reported;
  return frozen({ ...reported, seed: position ?? (typeof seed === "string" ? BigInt(seed) : seed) });
}

/** Freezes plain data to its ends. */
function frozen<T extends object>(value: T): Readonly<T> {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) frozen(part);
  return Object.freeze(value);
}
