/** A model's options with the seed they may have: a number, a stream, or where a stream stood. */

import { inWords, isArray } from "./errors.js";
import type { StreamPosition } from "./glassformer.js";
import { field, invalidOption, readModelOptions } from "./input.js";
import type { Options } from "./plan.js";
import { RandomStream } from "./random.js";

/** The options without a stream that stood as their seed, and that stream. */
export function readSeeded(options: unknown): {
  given: Record<string, unknown>;
  stream: RandomStream | undefined;
} {
  const given = readModelOptions(options);
  const stream = RandomStream.from(given.seed) ?? resumed(given.seed);
  if (stream !== undefined) delete given.seed;
  const inertly = ([name, value]: [string, unknown]): [string, unknown] => [
    cut(name),
    name === "words" && isArray(value) ? value : inert(name, value),
  ];
  return { given: Object.fromEntries(Object.entries(given).map(inertly)), stream };
}

/** A text that is no longer than what tells it apart from every name there is. */
function cut(text: string): string {
  return text.slice(0, 100);
}

/** A value that runs no code when wasm looks at it: an object stands for any object, a list for any list. */
function inert(name: string, value: unknown): unknown {
  if (typeof value === "string") return cut(value);
  if (typeof value === "bigint" && BigInt.asIntN(256, value) !== value) {
    throw invalidOption(name, inWords(value), "no option is that large");
  }
  if (typeof value === "function") return () => {};
  if (typeof value !== "object" || value === null) return value;
  return isArray(value) ? [] : {};
}

/** A stream that goes on where the one stood from which a model was drawn, as `options.seed` gives it back. */
function resumed(seed: unknown): RandomStream | undefined {
  return field("seed", seed, "stream") === undefined ? undefined : RandomStream.at(seed as StreamPosition);
}

/** Every option as users see it, frozen: a seed that no number names exactly is a BigInt, a stream its position. */
export function filledIn(reported: Options, position: StreamPosition | undefined): Readonly<Options> {
  const { seed, words } = reported;
  if (words !== undefined) Object.freeze(words);
  return Object.freeze({ ...reported, seed: position ?? (typeof seed === "string" ? BigInt(seed) : seed) });
}
