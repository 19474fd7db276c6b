/** How long rows are, how widely attention spreads, how much blocks stretch, and what a model costs. */

import type { Core } from "./core.js";
import { calling, GlassformerError, inWords } from "./errors.js";
import type { Count, StageEntropies, StageNorms } from "./glassformer.js";
import { invalidOption } from "./input.js";
import { readPrompts, readPromptsOfRows, rowsAreGiven } from "./prompts.js";
import type { Recording } from "./recording.js";
import { Tensor } from "./tensor.js";

interface NormsReport {
  stage: string;
  kind: "stream" | "branch";
  norms: number[];
  ratios?: number[];
}

interface EntropyReport {
  stage: string;
  heads: number;
  bits: number[];
  bound: number[];
}

export function normsOf(recording: Recording): StageNorms[] {
  return recording.lend((trace) =>
    calling(() => {
      const byPosition = (list: number[]) => new Tensor(Float64Array.from(list), [list.length], ["position"]);
      return (trace.norms() as NormsReport[]).map(({ stage, kind, norms, ratios }) => ({
        stage,
        kind,
        norms: byPosition(norms),
        ...(ratios === undefined ? {} : { ratios: byPosition(ratios) }),
      }));
    }),
  );
}

export function entropiesOf(recording: Recording): StageEntropies[] {
  return recording.lend((trace) =>
    calling(() =>
      (trace.entropies() as EntropyReport[]).map(({ stage, heads, bits, bound }) => {
        const shape = [heads, bits.length / heads];
        const byQuery = (list: number[]) => new Tensor(Float64Array.from(list), shape, ["head", "query"]);
        return { stage, bits: byQuery(bits), bound: byQuery(bound) };
      }),
    ),
  );
}

export function gainOf(core: Core, prompt: unknown, block: unknown): number {
  core.check();
  if (core.model === "EncoderDecoderModel") {
    const reason = "the gain of a block is asked of models with one stream";
    throw invalidOption("model", "an EncoderDecoderModel", reason);
  }
  const { start, numbers } = readOnePrompt(core, prompt);
  if (typeof block !== "number") {
    const value = inWords(block);
    const message = `block must be a whole number, got ${value}`;
    throw new GlassformerError("not_an_integer", message, { what: "block", value });
  }
  // Asked for only now: reading the prompt may have run anything.
  return core.weights.lend((model) => model.gain(start, numbers, block));
}

export function countOf(core: Core): Count {
  return core.weights.lend((model) => model.count() as Count);
}

/** The ids or rows of one prompt. */
function readOnePrompt(core: Core, prompt: unknown): { start: "tokens" | "rows"; numbers: Float64Array } {
  const { maxContext: most, nModel } = core.options as { maxContext: number; nModel: number };
  const isOfRows = rowsAreGiven(prompt);
  const { batched, numbers } = isOfRows
    ? readPromptsOfRows({ what: "rows", most }, prompt, nModel)
    : readPrompts({ what: "the prompt", most }, prompt);
  if (batched) throw invalidOption("prompt", "a batch", "the gain is asked of one prompt: ids, or rows T,D");
  return { start: isOfRows ? "rows" : "tokens", numbers: numbers[0] };
}
