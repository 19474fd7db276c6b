/** From logits to what a token is drawn from; see `MathFunctions` in declared.d.ts. */

import { calling, inWords } from "../errors.js";
import { invalidOption, mismatch } from "../input.js";
import type { Tensor } from "../tensor.js";
import { equations } from "./bindings.js";
import * as read from "./read.js";

interface Filtered {
  distribution: Tensor;
  filtered: Tensor;
  removedMass: number;
}

export function filterLogits(logits: unknown, options: unknown, ...more: unknown[]): Filtered {
  read.refuseMore(more, "filterLogits takes logits and options");
  const given = read.options("filterLogits", options, ["temperature", "topK", "topP"]);
  const { data, shape } = read.readRowsOf("logits", logits);
  if (shape.length !== 1) throw mismatch("logits, of one row,", [data.length], shape);
  // A token may be left out by -Infinity; there is no choosing by NaN, nor between infinities.
  read.checkNumbers("logits", data, (x) => x < Number.POSITIVE_INFINITY);
  const { temperature = 1, topP } = given;
  if (typeof temperature !== "number") throw notNumber("temperature", temperature);
  if (topP !== undefined && typeof topP !== "number") throw notNumber("topP", topP);
  const topK = given.topK === undefined ? undefined : read.readCount("topK", given.topK, 1);
  const made = () => read.room("the distribution", shape, data);
  const [before, after] = [made(), made()];
  const { math_filter_logits } = equations();
  const removedMass = calling(() => math_filter_logits(data, before, after, temperature, topK, topP));
  const tensor = (cells: read.Cells) => read.tensor({ data: cells, shape, axes: ["vocabulary"] });
  return { distribution: tensor(before), filtered: tensor(after), removedMass };
}

function notNumber(name: string, value: unknown): Error {
  return invalidOption(name, inWords(value), "it must be a number");
}
