/** Parameters: the names of their axes, and reading values for them. */

import type { Parameter } from "./glassformer.js";
import { field, mismatch, readNumbers, readShape } from "./input.js";
import { readRows } from "./prompts.js";

const AXES: Record<Parameter["layout"], readonly string[] | undefined> = {
  "out,in": ["out", "in"],
  "in,out": ["in", "out"],
  "row per token": ["vocabulary", "coordinate"],
  "row per position": ["position", "coordinate"],
  vector: undefined,
};

/** The names of a parameter's axes. */
export function axesOf({ name, layout }: Parameter): readonly string[] {
  return AXES[layout] ?? [axisOf(name)];
}

/** What a vector has a number for. */
function axisOf(name: string): string {
  if (name.endsWith("head_bias")) return "vocabulary";
  if (/\.(expand|gate)_bias$/.test(name)) return "unit";
  return /\.(query|key|value)_bias$/.test(name) ? "out" : "coordinate";
}

/** Values for a parameter: flat, as rows, or a tensor. */
export function readParameter({ name, shape, count }: Parameter, values: unknown): Float64Array {
  const what = `parameter ${name}`;
  const wrong = (length: number) => mismatch(what, shape, [length]);
  const [data, given] = [field(what, values, "data"), field(what, values, "shape")];
  if (data !== undefined) {
    const sizes = given === undefined ? shape : (readShape(given) ?? []);
    if (sizes.length !== shape.length || sizes.some((size, axis) => size !== shape[axis])) {
      throw mismatch(what, shape, sizes);
    }
    return readNumbers(what, data, count, wrong);
  }
  const [height, width] = shape;
  if (width === undefined || !isList(field(what, values, "0"))) {
    return readNumbers(what, values, count, wrong);
  }
  const rows = readRows(what, values, width, height);
  if (rows.length !== count) throw mismatch(what, shape, [rows.length / width, width]);
  return rows;
}

function isList(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
