/** The stages of prompts of unequal length in one tensor. */

import { calling } from "./errors.js";
import type { PaddingSide } from "./masks.js";
import type { Recording } from "./recording.js";
import { Tensor } from "./tensor.js";

/** What stands in a cell that a prompt does not have: whole numbers have no NaN, and -1 is no count and no index. */
const PADDING = { whole: -1, other: Number.NaN };

/** One stage of all prompts, a batch axis first, as large as the longest prompt and the longest source need. */
export function padded(recordings: readonly Recording[], slot: number, side: PaddingSide): Tensor {
  const [{ plan }] = recordings;
  const longest = (of: "length" | "sourceLength") =>
    recordings.reduce((most, { prompt }) => Math.max(most, prompt[of]), 0);
  const { shape, size } = plan.layout(longest("length"), longest("sourceLength"))[slot];
  const { axes, integer } = plan.stages[slot];
  const Type = integer ? Int32Array : plan.dtype === "float64" ? Float64Array : Float32Array;
  const data = calling(() => new Type(recordings.length * size));
  data.fill(integer ? PADDING.whole : PADDING.other);
  recordings.forEach((recording, b) => {
    const own = recording.layout[slot].shape;
    // An axis on which every prompt has the same is as long in both.
    const begins = shape.map((n, axis) => (side === "left" ? n - own[axis] : 0));
    place(recording.cells(slot), own, data.subarray(b * size, (b + 1) * size), shape, begins);
  });
  return new Tensor(data, [recordings.length, ...shape], ["batch", ...axes]);
}

type Cells = Float64Array | Float32Array | Int32Array;

/** Copies a smaller tensor into a larger one, from an index on. */
function place(
  cells: Cells,
  own: readonly number[],
  into: Cells,
  shape: readonly number[],
  begins: readonly number[],
): void {
  // Runs of the last axis stand together in both.
  const run = own.at(-1) ?? 1;
  for (let from = 0; from < cells.length; from += run) {
    let [rest, to, stride] = [from, 0, 1];
    for (let axis = own.length - 1; axis >= 0; axis--) {
      to += (begins[axis] + (rest % own[axis])) * stride;
      rest = Math.floor(rest / own[axis]);
      stride *= shape[axis];
    }
    into.set(cells.subarray(from, from + run), to);
  }
}
