/** One pass through a model: from ids or rows to a recording. */

import { calling } from "./errors.js";
import { lastOf } from "./masks.js";
import type { Plan } from "./plan.js";
import { type Changes, Recording } from "./recording.js";
import type { Weights } from "./weights.js";

export interface Given {
  readonly plan: Plan;
  /** Ids or flat rows of the prompt; of an encoder-decoder, of the target. */
  readonly target: Float64Array;
  readonly source: Float64Array | undefined;
  readonly changes: Changes;
  /** An earlier trace: what the prompt has in common with it is not computed again. */
  readonly reuse?: Recording | undefined;
}

/** A pass with these parameters. What an earlier trace was computed with other ones gives nothing to share. */
export function passOf(weights: Weights, { plan, target, source, changes, reuse }: Given): Recording {
  const { start } = plan;
  const isShared = reuse !== undefined && reuse.weights === weights && start === "tokens";
  const trace = weights.lend((model) =>
    isShared
      ? reuse.lend((earlier) => calling(() => model.respond_reusing(source, target, changes, earlier)))
      : model.respond(start, source, target, changes),
  );
  const idsOf = (numbers: Float64Array | undefined) =>
    Object.freeze(start === "tokens" ? Array.from(numbers ?? []) : []);
  const { rows: length, source_rows: sourceLength, computed_from: computedFrom } = trace;
  const prompt = { tokens: idsOf(target), source: idsOf(source), length, sourceLength, changes };
  return new Recording(
    plan,
    { ...prompt, last: lastOf(changes.masks, length), computedFrom },
    trace,
    weights,
  );
}
