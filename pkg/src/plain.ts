/** A trace as a plain object, for `postMessage` and storage, and back. */

import { inWords } from "./errors.js";
import type { PlainTrace } from "./glassformer.js";
import { invalidOption, mismatch, readNumbers, readOptions } from "./input.js";
import { Plan } from "./plan.js";
import type { TypedArray } from "./tensor.js";

const FORMAT = "glassformer-plain-1";

export function writePlain(
  plan: Plan,
  tokens: readonly number[],
  length: number,
  data: TypedArray,
): PlainTrace {
  const start = plan.fromRows ? "rows" : "tokens";
  return { format: FORMAT, options: structuredClone(plan.options), start, tokens: [...tokens], length, data };
}

/** The parts of a trace, checked: whoever made the object, what it makes is a trace or a refusal. */
export function readPlain(plain: unknown): {
  plan: Plan;
  tokens: number[];
  length: number;
  block: TypedArray;
} {
  const { format, options, start, tokens, length, data } = readOptions("plain trace", plain);
  if (format !== FORMAT) throw invalidOption("format", inWords(format), `it must be "${FORMAT}"`);
  if (start !== "tokens" && start !== "rows") {
    throw invalidOption("start", inWords(start), 'it must be "tokens" or "rows"');
  }
  const plan = new Plan(readOptions("options", options), start === "rows");
  if (!(typeof length === "number" && Number.isInteger(length) && length > 0 && length <= 0xffffffff)) {
    throw invalidOption("length", inWords(length), "it must be a whole number from 1 on");
  }
  const ids = Array.from(readNumbers("tokens", tokens));
  const expected = start === "rows" ? 0 : length;
  if (ids.length !== expected || !ids.every((id) => Number.isInteger(id) && id >= 0)) {
    throw mismatch("tokens", [expected], [ids.length]);
  }
  const layout = plan.layout(length);
  const cells = layout.reduce((sum, place) => sum + place.size, 0);
  const Expected = plan.dtype === "float64" ? Float64Array : Float32Array;
  if (!(data instanceof Expected))
    throw invalidOption("data", inWords(data), `it must be a ${Expected.name}`);
  if (data.length !== cells) throw mismatch("the trace's numbers", [cells], [data.length]);
  return { plan, tokens: ids, length, block: data.slice() };
}
