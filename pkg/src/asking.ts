/** Questions to a trace that need the parameters it was computed with. */

import { GlassformerError, inWords } from "./errors.js";
import { invalidOption } from "./input.js";
import { passOf } from "./pass.js";
import type { Recording } from "./recording.js";
import type { Weights } from "./weights.js";

/** The parameters of a trace; one that came without them is refused. */
export function weightsOf({ weights }: Recording, question: string): Weights {
  if (weights !== undefined) return weights;
  const reason = "it came without its model; Trace.fromPlain(plain, { model }) gives it one";
  throw invalidOption("trace", `${question} of a trace without parameters`, reason);
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
  const target = Float64Array.of(...prompt.tokens.slice(0, -1), id + 0);
  const source = plan.hasSource ? Float64Array.from(prompt.source) : undefined;
  return passOf(weights, { plan, target, source, changes: prompt.changes, reuse: recording });
}
