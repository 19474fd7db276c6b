/** The model that reads a source and writes a target. */

import { type Answer, answers } from "./answers.js";
import { Core } from "./core.js";
import { GlassformerError, inWords } from "./errors.js";
import type { Responses } from "./glassformer.js";
import { invalidOption, readCallOptions, readOptions } from "./input.js";
import { readSide } from "./masks.js";
import { coreOf, LanguageModel, RESPOND, revived } from "./model.js";
import { type Prompts, readPrompts, readPromptsOfRows } from "./prompts.js";
import { perturb } from "./residual.js";

export class EncoderDecoderModel extends LanguageModel {
  constructor(options: object) {
    super(new Core("EncoderDecoderModel", options));
  }

  static fromJSON(json: unknown): EncoderDecoderModel {
    return revived("EncoderDecoderModel", EncoderDecoderModel, json);
  }

  respondTo(source: unknown, target: unknown, options?: unknown): Answer {
    const core = coreOf(this);
    core.check();
    if (typeof source === "number" || typeof target === "number") {
      const reason = "ids are given as two lists: respondTo([4, 5], [0, 1, 2])";
      throw invalidOption("argument", inWords(typeof source === "number" ? source : target), reason);
    }
    const { padding, ...changed } = readCallOptions("respondTo", options, RESPOND);
    const { masks, edits, reuse } = changed;
    const side = readSide(padding);
    const most = core.options.maxContext as number;
    const sources = readPrompts({ what: "the source", most }, source);
    const targets = readPrompts({ what: "the target", most }, target);
    checkPairs("the source", sources, targets);
    try {
      return answers(core, { start: "tokens", source: sources, target: targets, masks, edits, reuse, side });
    } catch (refusal) {
      throw named(refusal, sources, core.options.nSourceVocab as number);
    }
  }

  perturb(bump: unknown, source: unknown, target: unknown): Responses {
    return perturb(coreOf(this), bump, [source, target]);
  }

  respondToRows(rows: unknown, options?: unknown): Answer {
    const core = coreOf(this);
    core.check();
    const { masks, edits } = readCallOptions("respondToRows", options, ["masks", "edits"]);
    const { source, memory, target } = readOptions("rows", rows, ["source", "memory", "target"]);
    if ((source === undefined) === (memory === undefined)) {
      const value = source === undefined ? "neither source nor memory" : "source and memory";
      throw invalidOption("rows", value, "it must be { source, target } or { memory, target }");
    }
    const { maxContext: most, nModel } = core.options as { maxContext: number; nModel: number };
    const [start, what] =
      memory === undefined ? (["rows", "the source"] as const) : (["memory", "the memory"] as const);
    const read = readPromptsOfRows({ what, most }, memory ?? source, nModel);
    const targets = readPromptsOfRows({ what: "the target", most }, target, nModel);
    checkPairs(what, read, targets);
    return answers(core, { start, source: read, target: targets, masks, edits, side: "right" });
  }
}

/** Refuses sources and targets that are no pairs, and empty ones by name. */
function checkPairs(what: string, sources: Prompts, targets: Prompts): void {
  const count = ({ batched, lengths }: Prompts) => (batched ? [lengths.length] : []);
  if (String(count(sources)) !== String(count(targets))) {
    const inWords = (prompts: Prompts) =>
      prompts.batched ? `a batch of ${prompts.lengths.length}` : "one prompt";
    const message = `${what} is ${inWords(sources)} and the target ${inWords(targets)}: each needs the other`;
    const fields = { what, expected: count(targets), actual: count(sources) };
    throw new GlassformerError("shape_mismatch", message, fields);
  }
  for (const [side, { lengths }] of [
    [what, sources],
    ["the target", targets],
  ] as const) {
    const b = lengths.indexOf(0);
    if (b < 0) continue;
    const which = targets.batched ? ` at ${b} of the batch` : "";
    const message = `${side}${which} is empty; it needs at least one token, or row`;
    throw new GlassformerError("empty_prompt", message, {
      what: side,
      ...(targets.batched ? { prompt: b } : {}),
    });
  }
}

/** A refusal of an id that says on which side it stands. */
function named(refusal: unknown, sources: Prompts, vocabulary: number): unknown {
  if (!(refusal instanceof GlassformerError)) return refusal;
  const { code, ...fields } = refusal as GlassformerError & Record<string, unknown>;
  const { what, position, id, value, prompt } = fields;
  const isOfToken = code === "token_out_of_range" || (code === "not_an_integer" && what === "token id");
  if (!isOfToken || typeof position !== "number") return refusal;
  const own = sources.numbers[typeof prompt === "number" ? prompt : 0]?.[position];
  const isWrong = own !== undefined && !(Number.isInteger(own) && own >= 0 && own < vocabulary);
  const side = isWrong && String(own) === String(id ?? value) ? "the source" : "the target";
  return new GlassformerError(code, `${side}: ${refusal.message}`, { ...fields, of: side });
}
