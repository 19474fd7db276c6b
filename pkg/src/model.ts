/** What the models have in common, and the one that reads from left to right. */

import { type Answer, answers } from "./answers.js";
import { Core, madeOf } from "./core.js";
import { inWords } from "./errors.js";
import { jsonOptions } from "./export.js";
import { beams, generate, sequenceLogProbability } from "./generate.js";
import type { Beam, Count, GenerationStep, JsonModel, Parameter, Responses } from "./glassformer.js";
import { invalidOption, mismatch, readCallOptions, readNumbers, readOptions } from "./input.js";
import { dispose } from "./lifetime.js";
import { readSide } from "./masks.js";
import { countOf, gainOf } from "./measures.js";
import type { ModelName, Options } from "./plan.js";
import { readPrompts, readPromptsOfRows } from "./prompts.js";
import { perturb } from "./residual.js";
import { safetensors } from "./safetensors.js";
import { fromJsonNumber, type Tensor, toJsonNumber } from "./tensor.js";

/** What respondTo takes besides ids. */
export const RESPOND = ["masks", "padding", "edits", "reuse"];

const FORMAT = "glassformer-model-1";

/** What a model is made of; not for users. */
export let coreOf: (model: LanguageModel) => Core;

export class LanguageModel {
  readonly #core: Core;

  static {
    coreOf = (model) => model.#core;
  }

  constructor(core: Core) {
    this.#core = core;
    madeOf(this, core);
  }

  get options(): Readonly<Options> {
    return this.#core.options;
  }

  get parameters(): Parameter[] {
    return structuredClone(this.#core.parameters);
  }

  parameter(name: string): Tensor {
    return this.#core.parameter(name);
  }

  setParameter(name: string, values: unknown): void {
    this.#core.setParameter(name, values);
  }

  count(): Count {
    return countOf(this.#core);
  }

  gain(prompt: unknown, block: unknown): number {
    return gainOf(this.#core, prompt, block);
  }

  toJSON(): JsonModel {
    const core = this.#core;
    core.check();
    const values = (name: string) => Array.from(core.parameter(name).data, toJsonNumber);
    const entries = [...core.set].map((name) => [name, values(name)] as const);
    return {
      format: FORMAT,
      model: core.model,
      options: jsonOptions(core.options),
      ...(entries.length > 0 ? { parameters: Object.fromEntries(entries) } : {}),
    };
  }

  /** The parameters as a safetensors file, in their layouts. */
  toSafetensors(): Uint8Array {
    const core = this.#core;
    const list = core.parameters;
    const metadata = {
      format: FORMAT,
      model: core.model,
      options: JSON.stringify(jsonOptions(core.options)),
      layouts: JSON.stringify(Object.fromEntries(list.map(({ name, layout }) => [name, layout]))),
    };
    return safetensors(
      metadata,
      list.map(({ name }) => ({ name, tensor: core.parameter(name) })),
    );
  }

  free(): void {
    this.#core.free();
  }

  [dispose](): void {
    this.free();
  }
}

/** The model that `toJSON` wrote; one that was written without a name is a CausalLanguageModel. */
export function revived<T extends LanguageModel>(
  name: ModelName,
  Model: new (options: object) => T,
  json: unknown,
): T {
  const fields = ["format", "model", "options", "parameters"];
  const { format, model, options, parameters } = readOptions("model", json, fields);
  if (format !== FORMAT) throw invalidOption("format", inWords(format), `it must be "${FORMAT}"`);
  if ((model === undefined ? "CausalLanguageModel" : model) !== name) {
    throw invalidOption("model", inWords(model), `it must be "${name}", whose fromJSON this is`);
  }
  const given = readOptions("options", options);
  // JSON has no BigInt: its digits stand for it.
  if (typeof given.seed === "string" && /^\d{1,20}$/.test(given.seed)) given.seed = BigInt(given.seed);
  const values = parameters === undefined ? {} : readOptions("parameters", parameters);
  const made = new Model(given);
  try {
    for (const [parameter, list] of Object.entries(values)) {
      const { shape, count } = coreOf(made).find(parameter);
      const what = `parameter ${parameter}`;
      const wrong = (length: number) => mismatch(what, shape, [length]);
      made.setParameter(parameter, readNumbers(what, list, count, wrong, fromJsonNumber));
    }
  } catch (refusal) {
    made.free();
    throw refusal;
  }
  return made;
}

/** A model of one stack of blocks: it reads one prompt, or a batch of them. */
class OneTower extends LanguageModel {
  respondTo(ids: unknown, options?: unknown): Answer {
    const core = coreOf(this);
    core.check();
    if (typeof options === "number") {
      const reason = "ids are given as one list: respondTo([0, 1, 2])";
      throw invalidOption("second argument", inWords(options), reason);
    }
    const { padding, ...changed } = readCallOptions("respondTo", options, RESPOND);
    const { masks, edits, reuse } = changed;
    const side = readSide(padding);
    const target = readPrompts({ what: "the prompt", most: core.options.maxContext as number }, ids);
    return answers(core, { start: "tokens", target, masks, edits, reuse, side });
  }

  perturb(bump: unknown, asked: unknown): Responses {
    return perturb(coreOf(this), bump, [asked]);
  }

  respondToRows(rows: unknown, options?: unknown): Answer {
    const core = coreOf(this);
    core.check();
    const { masks, edits } = readCallOptions("respondToRows", options, ["masks", "edits"]);
    const { maxContext, nModel } = core.options as { maxContext: number; nModel: number };
    const target = readPromptsOfRows({ what: "rows", most: maxContext }, rows, nModel);
    return answers(core, { start: "rows", target, masks, edits, side: "right" });
  }
}

export class CausalLanguageModel extends OneTower {
  constructor(options: object) {
    super(new Core("CausalLanguageModel", options));
  }

  generate(ids: unknown, options: unknown): GenerationStep[] {
    return generate(coreOf(this), ids, options);
  }

  beams(ids: unknown, options: unknown): Beam[] {
    return beams(coreOf(this), ids, options);
  }

  sequenceProbability(ids: unknown, from?: unknown): number {
    return Math.exp(sequenceLogProbability(coreOf(this), ids, from));
  }

  sequenceLogProbability(ids: unknown, from?: unknown): number {
    return sequenceLogProbability(coreOf(this), ids, from);
  }

  static fromJSON(json: unknown): CausalLanguageModel {
    return revived("CausalLanguageModel", CausalLanguageModel, json);
  }
}

export class EncoderModel extends OneTower {
  constructor(options: object) {
    super(new Core("EncoderModel", options));
  }

  static fromJSON(json: unknown): EncoderModel {
    return revived("EncoderModel", EncoderModel, json);
  }
}
