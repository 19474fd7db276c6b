/** Traces as plain objects, for `postMessage` and storage, and back. */

import { type Core, coreOfModel } from "./core.js";
import type { Edit } from "./edits.js";
import { calling, GlassformerError, inWords } from "./errors.js";
import type { PlainBatch, PlainEdit, PlainTrace } from "./glassformer.js";
import {
  copyOfTyped,
  field,
  invalidOption,
  lengthOf,
  mismatch,
  readingFrom,
  readNumbers,
  readOptions,
} from "./input.js";
import { MASK_NAMES, type PaddingSide, type PromptMasks, readSide } from "./masks.js";
import { filledIn, readSeeded } from "./options.js";
import { passOf } from "./pass.js";
import { MODELS, type ModelName, type Options, Plan, STARTS, shapeOptions } from "./plan.js";
import { ofPrompt } from "./prompts.js";
import { type Changes, inWasm, Recording } from "./recording.js";
import { wasm } from "./wasm.js";

const FORMAT = "glassformer-plain-1";
const BATCH_FORMAT = "glassformer-plain-batch-1";
/** What all prompts of a batch have in common. */
const SHARED = ["format", "model", "options", "start"];
const EDIT = ["stage", "index", "change", "values"];
/** What each has of its own. */
const OWN = ["tokens", "source", "length", "sourceLength", "masked", "masks", "edits", "data"];

export function writePlain(recording: Recording): PlainTrace {
  return { format: FORMAT, ...sharedOf(recording.plan), ...ownOf(recording) };
}

export function writePlainBatch(recordings: readonly Recording[], padding: PaddingSide): PlainBatch {
  const [{ plan }] = recordings;
  const prompts = recordings.map((own) => ({ ...ownOf(own), last: own.prompt.last }));
  return { format: BATCH_FORMAT, ...sharedOf(plan), padding, prompts };
}

function sharedOf({ model, options, start }: Plan): Pick<PlainTrace, "model" | "options" | "start"> {
  return { model, options: structuredClone(options), start };
}

function ownOf(recording: Recording): Omit<PlainTrace, "format" | "model" | "options" | "start"> {
  const { tokens, source, length, sourceLength, changes } = recording.prompt;
  const data = recording.block();
  const [masks, edits] = [structuredClone(changes.masks), structuredClone(changes.edits) as PlainEdit[]];
  return { tokens: [...tokens], source: [...source], length, sourceLength, masks, edits, data };
}

/** The parts of a trace, checked: whoever made the object, what it makes is a trace or a refusal. */
export function readPlain(plain: unknown, model: unknown): Recording {
  const core = model === undefined ? undefined : coreOfModel(model);
  const fields = readOptions("plain trace", plain, [...SHARED, ...OWN]);
  const recording = readPrompt(readPlan(fields, FORMAT), fields);
  return core === undefined ? recording : computedBy(core, recording);
}

/** The recording, if a model with its present parameters gives the same numbers to the bit. */
function computedBy(core: Core, recording: Recording): Recording {
  const { plan, prompt } = recording;
  const shape = (options: Options) => JSON.stringify(shapeOptions(options));
  const differs = (what: string) =>
    invalidOption("model", "a model", `${what}: the trace was computed by another one`);
  if (core.model !== plan.model || shape(core.options) !== shape(plan.options))
    throw differs("its options differ");
  const [tower, side] = plan.hasSource ? ["decoder.", "source"] : ["", undefined];
  const rows = (name: string) => Float64Array.from(recording.cells(plan.slot(name)));
  const ofTokens = plan.start === "tokens";
  const target = ofTokens ? Float64Array.from(prompt.tokens) : rows(`${tower}positioned`);
  const sourceRows = () => rows(plan.start === "memory" ? "memory" : "encoder.positioned");
  const source = side === undefined ? undefined : ofTokens ? Float64Array.from(prompt.source) : sourceRows();
  const again = passOf(core.weights, { plan, target, source, changes: prompt.changes });
  const [own, computed] = [recording.block(), again.block()];
  if (!own.every((x, i) => Object.is(x, computed[i]))) throw differs("its parameters give other numbers");
  const { last } = prompt;
  return new Recording(plan, { ...again.prompt, last }, own, core.weights);
}

export function readPlainBatch(plain: unknown): { recordings: Recording[]; padding: PaddingSide } {
  const fields = readOptions("plain batch", plain, [...SHARED, "padding", "prompts"]);
  const plan = readPlan(fields, BATCH_FORMAT);
  const padding = readSide(fields.padding);
  const list = fields.prompts;
  const count = lengthOf("prompts", "prompts", list);
  if (count === 0) throw invalidOption("prompts", "a list of none", "a batch has a prompt at least");
  const recordings: Recording[] = [];
  for (let b = 0; b < count; b++) {
    const own = readingFrom("prompts", () => (list as ArrayLike<unknown>)[b]);
    recordings.push(ofPrompt(b, () => readPrompt(plan, readOptions("prompt", own, [...OWN, "last"]))));
  }
  return { recordings, padding };
}

function readPlan({ format, model, options, start }: Record<string, unknown>, expected: string): Plan {
  if (format !== expected) throw invalidOption("format", inWords(format), `it must be "${expected}"`);
  return new Plan(...completed(model, options), oneOf("start", start, STARTS));
}

function oneOf<T extends string>(name: string, value: unknown, choices: readonly T[]): T {
  const choice = choices.find((word) => word === value);
  if (choice !== undefined) return choice;
  const words = choices.map((word) => `"${word}"`).join(", ");
  throw invalidOption(name, inWords(value), `it must be one of ${words}`);
}

function readPrompt(plan: Plan, fields: Record<string, unknown>): Recording {
  const { maxContext, nVocab, nSourceVocab } = plan.options as Record<string, number>;
  const length = readLength("length", fields.length, 1, maxContext);
  // Traces of before there were sources and masks have none.
  const { source = [], sourceLength: rows = 0, masked = false, last = length - 1 } = fields;
  const [least, most] = plan.hasSource ? [1, maxContext] : [0, 0];
  const sourceLength = readLength("sourceLength", rows, least, most);
  if (typeof masked !== "boolean") throw invalidOption("masked", inWords(masked), "it must be true or false");
  const changes = readChanges(plan, fields);
  const ofTokens = plan.start === "tokens";
  const prompt = {
    tokens: readTokens("tokens", fields.tokens, ofTokens ? length : 0, nVocab),
    source: readTokens("source", source, ofTokens ? sourceLength : 0, nSourceVocab),
    length,
    sourceLength,
    changes: masked && isUnchanged(changes) ? ofUnknownMasks(plan, length, sourceLength) : changes,
    last: readLength("last", last, 0, length - 1),
    computedFrom: 0,
  };
  const Expected = plan.dtype === "float64" ? Float64Array : Float32Array;
  const block = copyOfTyped<Float64Array | Float32Array>(fields.data, Expected);
  if (block === undefined) throw invalidOption("data", inWords(fields.data), `it must be a ${Expected.name}`);
  const cells = plan.layout(length, sourceLength).reduce((sum, place) => sum + place.size, 0);
  if (block.length !== cells) throw mismatch("the trace's numbers", [cells], [block.length]);
  // The core's own check: no number of a trace is infinite or NaN, but for the scores that the mask hides.
  inWasm(plan, prompt, block).free();
  return new Recording(plan, prompt, block);
}

/** The masks and edits that stand in a plain trace; whether they fit is the core's to say. */
function readChanges(plan: Plan, { masks = {}, edits = [] }: Record<string, unknown>): Changes {
  const given = readOptions("masks", masks, MASK_NAMES);
  const read = Object.entries(given).map(([name, values]) => [name, readNumbers(`masks.${name}`, values)]);
  const count = lengthOf("edits", "edits", edits);
  const list = Array.from({ length: count }, (_, i): Edit => {
    const own = readingFrom("edits", () => (edits as ArrayLike<unknown>)[i]);
    const { stage, index, change, values } = readOptions(`edit ${i}`, own, EDIT);
    return {
      stage: plan.stages[plan.slot(stage)].name,
      index: readNumbers(`edit ${i}: index`, index),
      change: oneOf("change", change, ["set", "add", "scale"]),
      values: readNumbers(`edit ${i}: values`, values),
    };
  });
  return { masks: Object.fromEntries(read) as PromptMasks, edits: list };
}

function isUnchanged({ masks, edits }: Changes): boolean {
  return Object.keys(masks).length === 0 && edits.length === 0;
}

/** Traces of before masks were kept say only that there were some: what they added to scores is taken as nothing. */
function ofUnknownMasks(plan: Plan, length: number, sourceLength: number): Changes {
  const attention = new Float64Array(length * length);
  const memory = plan.hasSource ? { memory: new Float64Array(length * sourceLength) } : {};
  return { masks: { attention, ...memory }, edits: [] };
}

function readLength(name: string, value: unknown, least: number, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalidOption(name, inWords(value), `it must be a whole number from ${least} to ${most}`);
}

function readTokens(name: string, tokens: unknown, expected: number, vocabulary: number): readonly number[] {
  const wrong = (length: number) => mismatch(name, [expected], [length]);
  const ids = Array.from(readNumbers(name, tokens, expected, wrong), (id) => id + 0);
  const position = ids.findIndex((id) => !(Number.isInteger(id) && id >= 0 && id < vocabulary));
  if (position < 0) return Object.freeze(ids);
  const fields = { position, id: ids[position], vocabulary };
  const message = `token id ${ids[position]} at position ${position} of ${name} is outside the vocabulary of ${vocabulary}`;
  throw new GlassformerError("token_out_of_range", message, fields);
}

/** A model's name, and its options as it would report them, whoever wrote them down. */
function completed(model: unknown, options: unknown): [ModelName, Readonly<Options>] {
  // Traces of before there were other models are of the first.
  const isOld = model === undefined && field("options", options, "nEncoderBlocks") === undefined;
  const isNameless = model === undefined;
  const name = isOld ? MODELS[0] : oneOf("model", isNameless ? MODELS[2] : model, MODELS);
  const { given, stream } = readSeeded(name, options);
  return [name, filledIn(calling(() => wasm().fill_in(given)) as Options, stream?.position())];
}
