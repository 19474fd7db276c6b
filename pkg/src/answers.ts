/** From what was read of a call to its trace, or to the traces of a batch. */

import { BatchTrace, recordingsOfBatch } from "./batch.js";
import type { Core } from "./core.js";
import { readEdits } from "./edits.js";
import { inWords } from "./errors.js";
import { invalidOption } from "./input.js";
import { type MaskName, type PaddingSide, readMasks } from "./masks.js";
import { passOf } from "./pass.js";
import { type Plan, type Start, shapeOptions } from "./plan.js";
import { ofPrompt, type Prompts } from "./prompts.js";
import type { Recording } from "./recording.js";
import { recordingOf, Trace } from "./trace.js";

export type Answer = Trace | BatchTrace;

export interface Call {
  readonly start: Start;
  /** The prompts; of an encoder-decoder, the targets. */
  readonly target: Prompts;
  /** The sources, or the memory; as many as targets. */
  readonly source?: Prompts;
  readonly masks: unknown;
  readonly edits?: unknown;
  readonly reuse?: unknown;
  readonly side: PaddingSide;
}

/** The masks that a pass has a use for. */
function masksOf({ start, source }: Call): MaskName[] {
  if (source === undefined) return ["attention", "padding"];
  const ofMemory: MaskName[] = ["attention", "padding", "memory", "memoryPadding"];
  return start === "memory" ? ofMemory : [...ofMemory, "sourcePadding"];
}

function recordingsOf(value: unknown): readonly Recording[] | undefined {
  const own = recordingOf(value);
  return own !== undefined ? [own] : recordingsOfBatch(value);
}

/** The trace whose rows may be taken over. */
function readReuse(value: unknown, batched: boolean, plan: Plan): Recording | undefined {
  if (value === undefined) return undefined;
  const recording = recordingOf(value);
  if (recording === undefined || batched) {
    const reason = batched ? "a batch is computed as a whole" : "it must be a trace of one prompt";
    throw invalidOption("reuse", inWords(value), reason);
  }
  const shape = (own: Plan) => JSON.stringify(shapeOptions(own.options));
  if (recording.plan.model !== plan.model || shape(recording.plan) !== shape(plan)) {
    throw invalidOption(
      "reuse",
      "a trace of another model",
      "it must be a trace of a model of these options",
    );
  }
  return recording;
}

/** Each prompt is run by itself: its numbers are its own, whatever stands beside it. */
export function answers(core: Core, call: Call): Answer {
  const { start, target, source, side } = call;
  const { batched } = target;
  // Asked for again: reading the arguments may have run anything.
  core.check();
  const lengths = { target: target.lengths, source: source?.lengths ?? [] };
  const sizes = { batched, heads: core.options.nHeads as number, ...lengths, side };
  const masks = readMasks(call.masks, masksOf(call), sizes);
  const plan = core.plan(start);
  const both = target.lengths.map((length, b) => ({ target: length, source: source?.lengths[b] ?? 0 }));
  const edits = readEdits(call.edits, { plan, batched, lengths: both, recordingsOf });
  const reuse = readReuse(call.reuse, batched, plan);
  // And once more: so have masks and edits.
  const weights = core.weights;
  const pass = (b: number) => {
    const changes = { masks: masks[b], edits: edits[b] };
    return passOf(weights, { plan, target: target.numbers[b], source: source?.numbers[b], changes, reuse });
  };
  if (!batched) return new Trace(pass(0));
  const done: Recording[] = [];
  try {
    target.numbers.forEach((_, b) => {
      done.push(ofPrompt(b, () => pass(b)));
    });
  } catch (refusal) {
    for (const recording of done) recording.free();
    throw refusal;
  }
  return new BatchTrace(done, side);
}
