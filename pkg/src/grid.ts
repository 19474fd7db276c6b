/** Reading numbers or booleans of one of several shapes: masks. */

import { calling, GlassformerError, inWords } from "./errors.js";
import { field, invalidOption, lengthOf, readingFrom, readShape, typedKind } from "./input.js";
import { isTensor } from "./tensor.js";

export interface Grid {
  readonly shape: readonly number[];
  /** Booleans, whole numbers of typed arrays, floats of typed arrays, or plain numbers. */
  readonly kind: Kind;
  readonly data: Float64Array;
  /** A refusal of the grid's shape. */
  refused(): GlassformerError;
}

export type Kind = "boolean" | "whole" | "float" | "number";

/** No mask has more. */
const MOST_AXES = 4;

/**
 * A copy of what a grid holds: nested lists, in which the last may be typed arrays, or `data` with a `shape`, such as a
 * tensor's. A grid of no allowed shape is refused before it is read.
 */
export function readGrid(what: string, value: unknown, shapes: readonly (readonly number[])[]): Grid {
  const [data, given] = [field(what, value, "data"), field(what, value, "shape")];
  const isFlat = isTensor(value) || (data !== undefined && given !== undefined);
  const shape = isFlat ? (readShape(given) ?? []) : shapeOf(what, value);
  const refused = (actual: readonly number[] = shape) => wrongShape(what, shapes, actual);
  if (!shapes.some((allowed) => isSame(allowed, shape))) throw refused();
  const size = shape.reduce((product, n) => product * n, 1);
  const out = calling(() => new Float64Array(size));
  const kinds = new Set<Kind>();
  const fill = (list: unknown, axis: number, start: number, length: number): void => {
    const own = lengthOf(what, "numbers or booleans", list);
    const isLast = isFlat || axis === shape.length - 1;
    if (own !== (isLast ? length : shape[axis])) throw refused([...shape.slice(0, axis), own]);
    if (isLast) {
      kinds.add(readCells(what, list, out.subarray(start, start + length), start));
      return;
    }
    for (let i = 0; i < own; i++) {
      const inner = readingFrom(what, () => (list as ArrayLike<unknown>)[i]);
      fill(inner, axis + 1, start + (i * length) / own, length / own);
    }
  };
  fill(isFlat ? data : value, 0, 0, size);
  return { shape, kind: theKind(what, kinds), data: out, refused };
}

/** The shape of nested lists, as the first of each depth say. */
function shapeOf(what: string, value: unknown): number[] {
  const shape: number[] = [];
  let first = value;
  do {
    shape.push(lengthOf(what, "numbers or booleans", first));
    first = typedKind(first) === undefined ? field(what, first, "0") : undefined;
  } while (typeof first === "object" && first !== null && shape.length <= MOST_AXES);
  return shape;
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((n, axis) => n === b[axis]);
}

/** Copies a list of cells, and says of what kind they are. */
function readCells(what: string, list: unknown, out: Float64Array, from: number): Kind {
  const typed = typedKind(list);
  let kind: Kind | undefined = typed === undefined ? undefined : /^Float/.test(typed) ? "float" : "whole";
  for (let i = 0; i < out.length; i++) {
    const cell = readingFrom(what, () => (list as ArrayLike<unknown>)[i]);
    const position = from + i;
    if (typeof cell !== "number" && typeof cell !== "boolean") {
      const words = inWords(cell);
      const message = `${what} at ${position} must be true, false or a number, got ${words}`;
      throw new GlassformerError("not_finite", message, { what, position, value: words });
    }
    kind = together(
      what,
      kind,
      typed !== undefined ? kind : typeof cell === "boolean" ? "boolean" : "number",
    );
    out[i] = Number(cell);
  }
  return kind ?? "number";
}

/** The kind of all of a grid's lists. */
function theKind(what: string, kinds: Iterable<Kind>): Kind {
  let kind: Kind | undefined;
  for (const next of kinds) kind = together(what, kind, next);
  return kind ?? "number";
}

/** What two kinds are together: one float makes all numbers floats, and booleans stand alone. */
function together(what: string, a: Kind | undefined, b: Kind | undefined): Kind | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  if (a === "boolean" || b === "boolean") {
    throw invalidOption(
      what,
      "booleans among numbers",
      "it must be all booleans, which hide, or all numbers",
    );
  }
  return a === "float" || b === "float" ? "float" : "number";
}

/** A refusal that names every shape there may be. */
function wrongShape(
  what: string,
  shapes: readonly (readonly number[])[],
  actual: readonly number[],
): GlassformerError {
  const texts = new Set(shapes.map((shape) => `[${shape.join(", ")}]`));
  const message = `${what} has shape [${actual.join(", ")}], expected ${[...texts].join(" or ")}`;
  const fields = { what, expected: [...shapes[0]], actual: [...actual], allowed: shapes.map((s) => [...s]) };
  return new GlassformerError("shape_mismatch", message, fields);
}
