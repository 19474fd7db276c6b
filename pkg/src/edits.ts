/** Reading the edits of a call: what becomes of which cells of which stages. */

import { GlassformerError, inWords } from "./errors.js";
import { readGrid } from "./grid.js";
import { invalidOption, lengthOf, mismatch, readingFrom, readOptions } from "./input.js";
import type { Plan } from "./plan.js";
import type { Recording } from "./recording.js";

const CHANGES = ["set", "add", "scale", "from"] as const;

/** An edit of one prompt, as wasm takes it: -1 in `index` stands for all places of an axis. */
export interface Edit {
  readonly stage: string;
  readonly index: Float64Array;
  readonly change: "set" | "add" | "scale";
  readonly values: Float64Array;
}

/** What the prompts of a call are. */
export interface Asked {
  readonly plan: Plan;
  readonly batched: boolean;
  readonly lengths: readonly { target: number; source: number }[];
  /** The recordings of a trace, or of a batch; undefined for anything else. */
  recordingsOf(value: unknown): readonly Recording[] | undefined;
}

/** More edits than anyone writes; a list that claims more is not read. */
const MOST_EDITS = 4096;

/** The edits of each prompt. */
export function readEdits(edits: unknown, asked: Asked): Edit[][] {
  const out: Edit[][] = asked.lengths.map(() => []);
  if (edits === undefined) return out;
  const count = lengthOf("edits", "edits", edits);
  if (count > MOST_EDITS) {
    throw invalidOption("edits", `a list of ${count}`, `a call has at most ${MOST_EDITS} edits`);
  }
  for (let i = 0; i < count; i++) {
    const given = readingFrom("edits", () => (edits as ArrayLike<unknown>)[i]);
    readEdit(`edit ${i}`, given, asked).forEach((edit, b) => {
      if (edit !== undefined) out[b].push(edit);
    });
  }
  return out;
}

/** One edit, for each prompt that it is of. */
function readEdit(what: string, given: unknown, asked: Asked): (Edit | undefined)[] {
  const { stage, index, ...rest } = readOptions(what, given, ["stage", "index", ...CHANGES]);
  const changes = CHANGES.filter((change) => rest[change] !== undefined);
  if (changes.length !== 1) {
    const value = changes.length === 0 ? "none of them" : changes.join(" and ");
    throw invalidOption(what, value, "an edit has one of set, add, scale and from");
  }
  const [change] = changes;
  const { plan, batched } = asked;
  const slot = plan.slot(stage);
  const { name, axes, hooks } = plan.stages[slot];
  if (hooks.includes(stage as string)) {
    throw invalidOption("stage", inWords(stage), `an edit names a stage by its own name, ${name}`);
  }
  const entries = readIndex(what, index, [...(batched ? ["batch"] : []), ...axes]);
  const prompt = batched ? entries[0] : -1;
  const own = batched ? entries.slice(1) : entries;
  if (prompt >= asked.lengths.length) throw outOfRange(what, 0, prompt, asked.lengths.length);
  const patch = change === "from" ? readPatch(what, rest.from, asked) : undefined;
  return asked.lengths.map(({ target, source }, b) => {
    if (prompt >= 0 && prompt !== b) return undefined;
    const { shape } = plan.layout(target, source)[slot];
    own.forEach((entry, axis) => {
      if (entry >= shape[axis]) throw outOfRange(what, axis + (batched ? 1 : 0), entry, shape[axis]);
    });
    const chosen = shape.filter((_, axis) => own[axis] < 0);
    const values =
      patch !== undefined
        ? patched(what, patch[patch.length === 1 ? 0 : b], name, own, shape)
        : readValues(`${what}: ${change}`, rest[change], chosen);
    const word = change === "from" ? "set" : change;
    return { stage: name, index: Float64Array.from(own), change: word, values };
  });
}

/** One entry for each axis, -1 for all of it; left out, all of all. */
function readIndex(what: string, index: unknown, axes: readonly string[]): number[] {
  if (index === undefined) return axes.map(() => -1);
  const count = lengthOf(`${what}: index`, "whole numbers", index);
  if (count !== axes.length) {
    const text = `${what}: the index of axes ${axes.join(", ")}`;
    throw mismatch(text, [axes.length], [count]);
  }
  return axes.map((axis, i) => {
    const entry = readingFrom(what, () => (index as ArrayLike<unknown>)[i]);
    if (entry === null || entry === undefined) return -1;
    if (typeof entry === "number" && Number.isInteger(entry) && entry >= 0) return entry;
    const value = inWords(entry);
    if (typeof entry === "number" && Number.isInteger(entry)) {
      const message = `${what}: the ${axis} of the index is ${value}; places count from 0, null stands for all`;
      throw new GlassformerError("index_out_of_range", message, { what: axis, index: entry });
    }
    const message = `${what}: the ${axis} of the index must be a whole number, or null for all, got ${value}`;
    throw new GlassformerError("not_an_integer", message, { what: axis, position: i, value });
  });
}

function outOfRange(what: string, axis: number, index: number, size: number): GlassformerError {
  const message = `${what}: index ${index} of axis ${axis} is out of range; there are ${size}`;
  return new GlassformerError("index_out_of_range", message, { what: `axis ${axis}`, index, size });
}

/** One number for all chosen cells, or one for each. */
function readValues(what: string, value: unknown, chosen: readonly number[]): Float64Array {
  if (typeof value === "number") return Float64Array.of(value);
  if (chosen.length === 0) throw invalidOption(what, inWords(value), "one cell takes one number");
  const { data, kind } = readGrid(what, value, [chosen]);
  if (kind === "boolean") throw invalidOption(what, "true or false", "cells are numbers");
  return data;
}

/** The recordings that a patch comes from: one for all prompts, or one for each. */
function readPatch(what: string, from: unknown, { recordingsOf, lengths }: Asked): readonly Recording[] {
  const recordings = recordingsOf(from);
  if (recordings === undefined) throw invalidOption(`${what}: from`, inWords(from), "it must be a trace");
  if (recordings.length !== 1 && recordings.length !== lengths.length) {
    throw mismatch(`${what}: the batch that it is from`, [lengths.length], [recordings.length]);
  }
  return recordings;
}

/** The chosen cells of another trace's stage. */
function patched(
  what: string,
  other: Recording,
  name: string,
  index: readonly number[],
  shape: readonly number[],
): Float64Array {
  const slot = other.plan.slot(name);
  const from = other.layout[slot].shape;
  const isSame =
    from.length === shape.length && index.every((i, axis) => i >= 0 || from[axis] === shape[axis]);
  if (!isSame) throw mismatch(`${what}: ${name} in the trace it is from`, shape, from);
  index.forEach((entry, axis) => {
    if (entry >= from[axis]) throw outOfRange(`${what}, in the trace it is from`, axis, entry, from[axis]);
  });
  const cells = other.cells(slot);
  const chosen: number[] = [];
  const walk = (axis: number, flat: number): void => {
    if (axis === from.length) {
      chosen.push(cells[flat]);
      return;
    }
    const places = index[axis] >= 0 ? [index[axis]] : Array.from({ length: from[axis] }, (_, i) => i);
    for (const place of places) walk(axis + 1, flat * from[axis] + place);
  };
  walk(0, 0);
  return Float64Array.from(chosen);
}
