/** A model's options with the seed they may have: a number, a stream, or where a stream stood. */

import { isArray } from "./errors.js";
import type { StreamPosition } from "./glassformer.js";
import { field, readModelOptions } from "./input.js";
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
  for (const [name, value] of Object.entries(given)) {
    given[name] = name === "words" && isArray(value) ? value.map(inert) : inert(value);
  }
  return { given, stream };
}

/** A value that runs no code when wasm looks at it: an object stands for any object, a list for any list. */
function inert(value: unknown): unknown {
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
