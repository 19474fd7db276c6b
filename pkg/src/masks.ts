/**
 * Reading the masks of a call. They are given for the whole batch, in its padded size, and are cut to what each prompt
 * has of its own.
 */

import { calling, GlassformerError, inWords } from "./errors.js";
import { type Grid, readGrid } from "./grid.js";
import { invalidOption, readCallOptions } from "./input.js";
import { ofPrompt } from "./prompts.js";

/** On which side shorter prompts of a batch are padded. */
export type PaddingSide = "right" | "left";

export interface Sizes {
  readonly batched: boolean;
  readonly heads: number;
  /** The lengths of the prompts; of an encoder-decoder, of the targets. */
  readonly target: readonly number[];
  /** The lengths of the sources; none where there is no source. */
  readonly source: readonly number[];
  readonly side: PaddingSide;
}

/** One prompt's masks, as wasm takes them: numbers to add to scores, and marks of hidden keys. */
export type PromptMasks = Partial<Record<MaskName, Float64Array>>;
export type MaskName = "attention" | "padding" | "memory" | "memoryPadding" | "sourcePadding";

/** Which keys each mask speaks of, and whether it hides keys alone or pairs of a query and a key. */
const MASKS = {
  attention: { keys: "target", isOfPairs: true, with: undefined },
  padding: { keys: "target", isOfPairs: false, with: "attention" },
  memory: { keys: "source", isOfPairs: true, with: undefined },
  memoryPadding: { keys: "source", isOfPairs: false, with: "memory" },
  sourcePadding: { keys: "source", isOfPairs: false, with: undefined },
} as const;

export const MASK_NAMES = Object.keys(MASKS);

/** Where queries and keys are of two things, both masks of attention speak of the source's keys. */
export const ACROSS = {
  ...MASKS,
  attention: { ...MASKS.attention, keys: "source" },
  padding: { ...MASKS.padding, keys: "source" },
} as const;

/** The masks of each prompt; `allowed` are the only ones there may be. */
export function readMasks(
  masks: unknown,
  allowed: readonly MaskName[],
  sizes: Sizes,
  places: typeof MASKS | typeof ACROSS = MASKS,
): PromptMasks[] {
  const out: PromptMasks[] = sizes.target.map(() => ({}));
  if (masks === undefined) return out;
  const given = readCallOptions("masks", masks, allowed);
  for (const name of allowed) {
    if (given[name] === undefined) continue;
    const { keys, isOfPairs, with: combined } = places[name];
    const what = `masks.${name}`;
    if (isOfPairs) {
      const read = readPairs(what, given[name], sizes, sizes[keys]);
      out.forEach((own, b) => {
        own[name] = calling(() => read(b));
      });
      continue;
    }
    const read = readKeys(what, given[name], sizes, sizes[keys]);
    out.forEach((own, b) => {
      const cells = calling(() => read(b));
      const marks = asMarks(cells);
      if (marks !== undefined) own[name] = marks;
      else if (combined !== undefined) own[combined] = added(own[combined], cells, sizes.target[b]);
      else throw ofPrompt(b, () => notMarks(what));
    });
  }
  // What is padding in the source is padding in the memory that the encoder makes of it.
  for (const own of out) {
    if (given.memoryPadding === undefined && own.sourcePadding !== undefined)
      own.memoryPadding = own.sourcePadding;
  }
  return out;
}

/** The last position that a prompt's padding mask does not hide; the last of all where it hides every one. */
export function lastOf(masks: PromptMasks, length: number): number {
  const last = masks.padding?.lastIndexOf(0) ?? -1;
  return last < 0 ? length - 1 : last;
}

function longest(lengths: readonly number[]): number {
  return lengths.reduce((most, length) => Math.max(most, length), 0);
}

/** Where a prompt's own positions begin among the padded ones. */
function begin(side: PaddingSide, padded: number, own: number): number {
  return side === "left" ? padded - own : 0;
}

/** What is added to the scores of each prompt: T,S numbers, or H times as many. */
function readPairs(
  what: string,
  value: unknown,
  { batched, heads, target, side }: Sizes,
  keyLengths: readonly number[],
): (b: number) => Float64Array {
  const [prompts, queries, keys] = [target.length, longest(target), longest(keyLengths)];
  const grid = readGrid(what, value, [
    [queries, keys],
    [heads, queries, keys],
    ...(batched ? [[prompts * heads, queries, keys]] : []),
    [prompts, heads, queries, keys],
  ]);
  const cells = additive(what, grid);
  const isPerPrompt = grid.shape.length === 4 || (grid.shape.length === 3 && grid.shape[0] !== heads);
  const count = grid.shape.length === 2 ? 1 : heads;
  return (b) => {
    const [rows, columns] = [target[b], keyLengths[b]];
    const [fromRow, fromColumn] = [begin(side, queries, rows), begin(side, keys, columns)];
    const out = new Float64Array(count * rows * columns);
    for (let i = 0; i < count * rows; i++) {
      const group = (isPerPrompt ? b * heads : 0) + Math.floor(i / rows);
      const from = (group * queries + fromRow + (i % rows)) * keys + fromColumn;
      out.set(cells.subarray(from, from + columns), i * columns);
    }
    return out;
  };
}

/** What is added to each key's scores, or how many keys there are, of each prompt: S numbers. */
function readKeys(
  what: string,
  value: unknown,
  { batched, side }: Sizes,
  lengths: readonly number[],
): (b: number) => Float64Array {
  const [prompts, keys] = [lengths.length, longest(lengths)];
  const grid = readGrid(what, value, [[keys], [prompts, keys], [prompts]]);
  const cut = (b: number, cells: Float64Array, offset: number) => {
    const from = offset + begin(side, keys, lengths[b]);
    return cells.slice(from, from + lengths[b]);
  };
  if (isCounts(what, grid, { batched, prompts, keys })) {
    const counts = readCounts(what, grid.data, keys);
    return (b) => {
      const isHidden = (s: number) => (side === "left" ? s < keys - counts[b] : s >= counts[b]);
      const marks = Float64Array.from({ length: keys }, (_, s) =>
        isHidden(s) ? Number.NEGATIVE_INFINITY : 0,
      );
      return cut(b, marks, 0);
    };
  }
  if (grid.shape.length === 1 && grid.shape[0] !== keys) throw grid.refused();
  const cells = additive(what, grid);
  return (b) => cut(b, cells, grid.shape.length === 2 ? b * keys : 0);
}

/**
 * Whether a list says how many keys of each prompt are no padding: a list of one number for each prompt does, unless it could
 * be marks too, which is refused: what it means must not depend on how many prompts there are.
 */
function isCounts(
  what: string,
  grid: Grid,
  { batched, prompts, keys }: { batched: boolean; prompts: number; keys: number },
): boolean {
  if (grid.shape.length !== 1 || grid.kind === "boolean" || grid.shape[0] !== prompts) return false;
  if (grid.shape[0] !== keys) return true;
  // As long as a list of marks: of one prompt a typed array of marks, or of floats to add, is usual.
  if (!batched && grid.kind !== "number") return false;
  // No prompt has more positions than there are, so whole numbers past 1 are lengths; nothing else tells them apart.
  if (batched && grid.kind !== "float" && grid.data.some((x) => x > 1)) return true;
  throw invalidOption(
    what,
    `a list of ${prompts === 1 ? "one number" : `${prompts} numbers`}`,
    "it can be read as marks or as lengths; Booleans, or a row of marks for each prompt, are marks",
  );
}

function readCounts(what: string, data: Float64Array, size: number): Float64Array {
  data.forEach((count, position) => {
    if (!Number.isInteger(count)) {
      const message = `${what} at ${position} must be a whole number of positions, got ${count}`;
      throw new GlassformerError("not_an_integer", message, { what, position, value: String(count) });
    }
    if (count < 0 || count > size) {
      const message = `${what} at ${position} is ${count}; a prompt has from 0 to ${size} positions here`;
      throw new GlassformerError("index_out_of_range", message, { what, position, index: count, size });
    }
  });
  return data;
}

/** What a grid adds: -Infinity where it hides. */
function additive(what: string, { kind, data }: Grid): Float64Array {
  if (kind !== "float" && data.every((x) => x === 0 || x === 1)) {
    return data.map((x) => (x === 1 ? Number.NEGATIVE_INFINITY : 0));
  }
  const position = data.findIndex((x) => !(x < Number.POSITIVE_INFINITY));
  if (position < 0) return data;
  const value = data[position];
  const message = `${what} at ${position} is ${value}; a mask adds finite numbers, or -Infinity, which hides`;
  throw new GlassformerError("not_finite", message, { what, position, value });
}

/** 1 where a key is hidden, where that is all that is said of the keys. */
function asMarks(cells: Float64Array): Float64Array | undefined {
  if (!cells.every((x) => x === 0 || x === Number.NEGATIVE_INFINITY)) return undefined;
  return cells.map((x) => (x === 0 ? 0 : 1));
}

function notMarks(what: string): GlassformerError {
  return invalidOption(
    what,
    "a mask of finite numbers",
    "the source's padding is hidden or not: true or false",
  );
}

/** A mask of pairs with what is added to each key. */
function added(pairs: Float64Array | undefined, keys: Float64Array, queries: number): Float64Array {
  const out = calling(() => pairs ?? new Float64Array(queries * keys.length));
  return out.map((x, i) => x + keys[i % keys.length]);
}

/** The side on which shorter prompts are padded. */
export function readSide(padding: unknown): PaddingSide {
  if (padding === undefined) return "right";
  if (padding === "right" || padding === "left") return padding;
  throw invalidOption(
    "padding",
    inWords(padding),
    'it must be "right" or "left"; padding that is hidden is a mask',
  );
}
