/** Continuing a prompt. */

import type { Core } from "./core.js";
import { calling, GlassformerError, inWords } from "./errors.js";
import type { Beam, GenerationStep } from "./glassformer.js";
import { invalidOption, mismatch, readOptions } from "./input.js";
import { readPrompts } from "./prompts.js";
import { Tensor } from "./tensor.js";

const RUN = ["maxNewTokens", "greedy", "temperature", "topK", "topP", "seed", "endId"];
const SEARCH = ["width", "maxNewTokens", "endId", "lengthPenalty"];

/** More continuations than memory holds traces of. */
const MOST_BEAMS = 65_536;

/** A prompt, continued token by token. */
export function generate(core: Core, ids: unknown, options: unknown): GenerationStep[] {
  const prompt = readPrompt(core, ids);
  const given = readOptions("generate", options, RUN);
  const count = whole("maxNewTokens", given.maxNewTokens, 0, 0xffffffff);
  const { greedy = false, temperature = 1, topP } = given;
  if (typeof greedy !== "boolean") throw invalidOption("greedy", inWords(greedy), "it must be true or false");
  const heat = number("temperature", temperature);
  const topK = given.topK === undefined ? undefined : whole("topK", given.topK, 1, 0xffffffff);
  const mass = topP === undefined ? undefined : number("topP", topP);
  const seed = readSeed(given.seed);
  const end = readEnd(core, given.endId);
  const steps = core.weights.lend((model) =>
    model.generate(prompt, count, greedy, heat, topK, mass, seed, end),
  ) as [{ token: number; probability: number; removedMass: number }, Float64Array, Float64Array][];
  const context = Array.from(prompt);
  const wide = core.options.dtype === "float64";
  const tensor = (cells: Float64Array) =>
    new Tensor(wide ? cells : calling(() => Float32Array.from(cells)), [cells.length], ["vocabulary"]);
  return steps.map(([{ token: tokenId, probability, removedMass }, before, after]) => {
    const [distribution, filtered] = [tensor(before), tensor(after)];
    const step = { context: [...context], distribution, filtered, removedMass, tokenId, probability };
    context.push(tokenId);
    return step;
  });
}

/** The best continuations that a beam search finds. */
export function beams(core: Core, ids: unknown, options: unknown): Beam[] {
  const prompt = readPrompt(core, ids);
  const given = readOptions("beams", options, SEARCH);
  const width = whole("width", given.width, 1, MOST_BEAMS);
  const count = whole("maxNewTokens", given.maxNewTokens, 0, 0xffffffff);
  const penalty = given.lengthPenalty === undefined ? 0 : number("lengthPenalty", given.lengthPenalty);
  const end = readEnd(core, given.endId);
  return core.weights.lend((model) => model.beams(prompt, width, count, end, penalty)) as Beam[];
}

/** The log-probability of a sequence's end after its beginning. */
export function sequenceLogProbability(core: Core, ids: unknown, from: unknown): number {
  // Its last token is not read, so that the sequence may be longer than what the model reads by one.
  const prompt = readPrompt(core, ids, 1);
  const start = from === undefined ? 1 : from;
  if (typeof start !== "number" || !Number.isInteger(start)) {
    const value = inWords(start);
    const message = `from must be a whole number, got ${value}`;
    throw new GlassformerError("not_an_integer", message, { what: "from", value });
  }
  const size = prompt.length;
  if (size > 0 && (start < 1 || start >= size)) {
    const message = `from is ${start}; a sequence of ${size} tokens can be asked about from 1 to ${size - 1}`;
    throw new GlassformerError("index_out_of_range", message, { what: "from", index: start, size });
  }
  return core.weights.lend((model) => model.sequence_log_probability(prompt, start));
}

function readPrompt(core: Core, ids: unknown, more = 0): Float64Array {
  core.check();
  const most = (core.options.maxContext as number) + more;
  const { batched, numbers, lengths } = readPrompts({ what: "the prompt", most }, ids);
  if (batched)
    throw mismatch("the prompt, one at a time,", [lengths[0] ?? 0], [lengths.length, lengths[0] ?? 0]);
  return numbers[0];
}

function whole(name: string, value: unknown, least: number, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalidOption(name, inWords(value), `it must be a whole number from ${least} to ${most}`);
}

function number(name: string, value: unknown): number {
  if (typeof value === "number") return value;
  throw invalidOption(name, inWords(value), "it must be a number");
}

function readSeed(seed: unknown): bigint {
  if (seed === undefined) return 0n;
  const isWhole = typeof seed === "number" && Number.isSafeInteger(seed);
  const own = typeof seed === "bigint" ? seed : isWhole ? BigInt(seed) : -1n;
  if (own >= 0n && own < 1n << 64n) return own;
  const reason = "it must be a whole number from 0 to 2^53-1, or a BigInt up to 2^64-1";
  throw invalidOption("seed", inWords(seed), reason);
}

function readEnd(core: Core, id: unknown): number | undefined {
  if (id === undefined) return undefined;
  const vocabulary = core.options.nVocab as number;
  if (typeof id !== "number" || !Number.isInteger(id)) {
    const value = inWords(id);
    const message = `endId must be a whole number, got ${value}`;
    throw new GlassformerError("not_an_integer", message, { what: "endId", value });
  }
  if (id >= 0 && id < vocabulary) return id;
  const message = `endId ${id} is outside the vocabulary of ${vocabulary}`;
  throw new GlassformerError("token_out_of_range", message, { id, vocabulary });
}
