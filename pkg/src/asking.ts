/** Questions to a trace that need the parameters it was computed with. */

import { calling, GlassformerError, inWords } from "./errors.js";
import type { Model, Trace as WasmTrace } from "./generated/glassformer_wasm.js";
import type { Explanation } from "./glassformer.js";
import { invalidOption, lengthOf, mismatch, readingFrom } from "./input.js";
import { passOf } from "./pass.js";
import type { Recording } from "./recording.js";
import type { Weights } from "./weights.js";

/** The parameters of a trace; one that came without them is refused. */
function weightsOf({ weights }: Recording, question: string): Weights {
  if (weights !== undefined) return weights;
  const reason = "it came without its model; Trace.fromPlain(plain, { model }) gives it one";
  throw invalidOption("trace", `${question} of a trace without parameters`, reason);
}

/** Asks wasm a question about a trace and the parameters it was computed with. */
export function ask<T>(
  recording: Recording,
  question: string,
  call: (model: Model, trace: WasmTrace) => T,
): T {
  const weights = weightsOf(recording, question);
  return weights.lend((model) => recording.lend((trace) => calling(() => call(model, trace))));
}

/** The same prompt with another last token, the same masks and edits; only that row is computed, where that suffices. */
export function withLastToken(recording: Recording, id: unknown): Recording {
  const { plan, prompt } = recording;
  const weights = weightsOf(recording, "withLastToken");
  if (plan.start !== "tokens") {
    throw invalidOption("trace", "a trace of rows", "withLastToken changes a token, and there is none");
  }
  if (typeof id !== "number") {
    const value = inWords(id);
    const message = `the last token id must be a whole number, got ${value}`;
    throw new GlassformerError("not_an_integer", message, { what: "token id", value });
  }
  const target = Float64Array.from(prompt.tokens);
  target[target.length - 1] = id + 0;
  const source = plan.hasSource ? Float64Array.from(prompt.source) : undefined;
  return passOf(weights, { plan, target, source, changes: prompt.changes, reuse: recording });
}

/** The exact arithmetic of one cell. */
export function explain(recording: Recording, stage: unknown, index: unknown): Explanation {
  const { plan, layout } = recording;
  const slot = plan.slot(stage);
  const { name, axes } = plan.stages[slot];
  const { shape } = layout[slot];
  const count = lengthOf("the index", "whole numbers", index);
  if (count !== shape.length)
    throw mismatch(`the index of ${name} (${axes.join(", ")})`, [shape.length], [count]);
  const cell = shape.map((size, axis) => {
    const i = readingFrom("the index", () => (index as ArrayLike<unknown>)[axis]);
    if (typeof i !== "number" || !Number.isInteger(i)) {
      const value = inWords(i);
      const message = `the ${axes[axis]} of the index must be a whole number, got ${value}`;
      throw new GlassformerError("not_an_integer", message, { what: axes[axis], position: axis, value });
    }
    // As in a tensor, -1 is the last.
    const own = i < 0 ? size + i : i;
    if (own >= 0 && own < size) return own;
    const message = `${axes[axis]} ${i} of ${name} is out of range; there are ${size}`;
    throw new GlassformerError("index_out_of_range", message, { what: axes[axis], index: i, size });
  });
  const place = Uint32Array.from(cell);
  return ask(recording, "explain", (model, trace) => model.explain(trace, name, place));
}
