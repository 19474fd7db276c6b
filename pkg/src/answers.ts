/** From what was read of a call to its trace, or to the traces of a batch. */

import { BatchTrace } from "./batch.js";
import type { Core } from "./core.js";
import { type MaskName, type PaddingSide, readMasks } from "./masks.js";
import type { Start } from "./plan.js";
import { ofPrompt, type Prompts } from "./prompts.js";
import type { Recording } from "./recording.js";
import { Trace } from "./trace.js";

export type Answer = Trace | BatchTrace;

export interface Call {
  readonly start: Start;
  /** The prompts; of an encoder-decoder, the targets. */
  readonly target: Prompts;
  /** The sources, or the memory; as many as targets. */
  readonly source?: Prompts;
  readonly masks: unknown;
  readonly side: PaddingSide;
}

/** The masks that a pass has a use for. */
function masksOf({ start, source }: Call): MaskName[] {
  if (source === undefined) return ["attention", "padding"];
  const ofMemory: MaskName[] = ["attention", "padding", "memory", "memoryPadding"];
  return start === "memory" ? ofMemory : [...ofMemory, "sourcePadding"];
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
  const pass = (b: number) => core.pass(start, source?.numbers[b], target.numbers[b], masks[b]);
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
