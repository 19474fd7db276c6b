/** A trace as a plain object, for `postMessage` and storage, and back. */

import { calling, GlassformerError, inWords } from "./errors.js";
import type { PlainTrace } from "./glassformer.js";
import { copyOfTyped, invalidOption, mismatch, readNumbers, readOptions } from "./input.js";
import { type Options, Plan, shapeOptions } from "./plan.js";
import { filledIn, readSeeded } from "./seeded.js";
import { wasm } from "./wasm.js";

const FORMAT = "glassformer-plain-1";
const FIELDS = ["format", "options", "start", "tokens", "length", "data"];

export function writePlain(
  plan: Plan,
  tokens: readonly number[],
  length: number,
  data: Float64Array | Float32Array,
): PlainTrace {
  const start = plan.fromRows ? "rows" : "tokens";
  return { format: FORMAT, options: structuredClone(plan.options), start, tokens: [...tokens], length, data };
}

/** The parts of a trace, checked: whoever made the object, what it makes is a trace or a refusal. */
export function readPlain(plain: unknown): {
  plan: Plan;
  tokens: number[];
  length: number;
  block: Float64Array | Float32Array;
} {
  const { format, options, start, tokens, length, data } = readOptions("plain trace", plain, FIELDS);
  if (format !== FORMAT) throw invalidOption("format", inWords(format), `it must be "${FORMAT}"`);
  if (start !== "tokens" && start !== "rows") {
    throw invalidOption("start", inWords(start), 'it must be "tokens" or "rows"');
  }
  const plan = new Plan(completed(options), start === "rows");
  const { maxContext, nVocab } = plan.options as { maxContext: number; nVocab: number };
  if (!(typeof length === "number" && Number.isInteger(length) && length > 0 && length <= maxContext)) {
    throw invalidOption("length", inWords(length), `it must be a whole number from 1 to ${maxContext}`);
  }
  const expected = start === "rows" ? 0 : length;
  const ids = Array.from(readNumbers("tokens", tokens, expected, (n) => mismatch("tokens", [expected], [n])));
  const position = ids.findIndex((id) => !(Number.isInteger(id) && id >= 0 && id < nVocab));
  if (position >= 0) {
    const fields = { position, id: ids[position], vocabulary: nVocab };
    const message = `token id ${ids[position]} at position ${position} is outside the vocabulary of ${nVocab}`;
    throw new GlassformerError("token_out_of_range", message, fields);
  }
  const Expected = plan.dtype === "float64" ? Float64Array : Float32Array;
  const block = copyOfTyped<Float64Array | Float32Array>(data, Expected);
  if (block === undefined) throw invalidOption("data", inWords(data), `it must be a ${Expected.name}`);
  const cells = plan.layout(length).reduce((sum, place) => sum + place.size, 0);
  if (block.length !== cells) throw mismatch("the trace's numbers", [cells], [block.length]);
  // The core's own check: no number of a trace is infinite or NaN, but for the scores that the mask hides.
  calling(() =>
    wasm().trace_from_block(shapeOptions(plan.options), plan.fromRows, Uint32Array.from(ids), length, block),
  ).free();
  return { plan, tokens: ids, length, block };
}

/** Options as a model would report them, whoever wrote them down. */
function completed(options: unknown): Readonly<Options> {
  const { given, stream } = readSeeded(options);
  return filledIn(calling(() => wasm().fill_in(given)) as Options, stream?.position());
}
