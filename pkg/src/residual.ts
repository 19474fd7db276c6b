/** The residual stream taken apart, and bumped. */

import { ask } from "./asking.js";
import type { Core } from "./core.js";
import { calling, GlassformerError, inWords } from "./errors.js";
import type { Bump, LensLayer, LogitContributions, ResidualPart, Responses } from "./glassformer.js";
import { invalidOption, readCallOptions, readOptions } from "./input.js";
import { type Prompts, readPrompts, readPromptsOfRows, rowsAreGiven } from "./prompts.js";
import type { Recording } from "./recording.js";
import { Tensor } from "./tensor.js";

const ROWS = ["position", "coordinate"];

/** Numbers from wasm as a tensor of the trace's type. */
function tensorOf({ plan }: Recording, wide: Float64Array, shape: number[], axes: readonly string[]): Tensor {
  const data = plan.dtype === "float64" ? wide : calling(() => Float32Array.from(wide));
  return new Tensor(data, shape, axes);
}

function flag(name: string, value: unknown, usual: boolean): boolean {
  if (value === undefined) return usual;
  if (typeof value === "boolean") return value;
  throw invalidOption(name, inWords(value), "it must be true or false");
}

export function residualParts(recording: Recording, options: unknown): ResidualPart[] {
  const { heads } = readCallOptions("residualParts", options, ["heads"]);
  const byHead = flag("heads", heads, true);
  const list = ask(recording, "residualParts", (model, trace) => model.residual_parts(trace, byHead)) as [
    Omit<ResidualPart, "values">,
    Float64Array,
  ][];
  const { length } = recording.prompt;
  return list.map(([part, cells]) => {
    const values = tensorOf(recording, cells, [length, cells.length / length], ROWS);
    return { ...part, values };
  });
}

export function headResults(recording: Recording, stage: unknown): Tensor {
  const { plan, prompt } = recording;
  const last = plan.stages.map(({ name }) => name).filter((name) => name.endsWith(".attention.output"));
  const { name, side } = plan.stages[plan.slot(stage === undefined ? last.at(-1) : stage)];
  const cells = ask(recording, "headResults", (model, trace) => model.head_results(trace, name));
  const heads = plan.options.nHeads as number;
  const rows = side === "source" ? prompt.sourceLength : prompt.length;
  const shape = [heads, rows, cells.length / heads / rows];
  return tensorOf(recording, cells, shape, ["head", ...ROWS]);
}

export function logitLens(recording: Recording, options: unknown): LensLayer[] {
  const { frozen } = readCallOptions("logitLens", options, ["frozen"]);
  const isFrozen = flag("frozen", frozen, false);
  const layers = ask(recording, "logitLens", (model, trace) => model.logit_lens(trace, isFrozen)) as [
    string,
    Float64Array,
    Float64Array,
  ][];
  const { length } = recording.prompt;
  const axes = ["position", "vocabulary"];
  return layers.map(([stage, logits, probabilities]) => {
    const shape = [length, logits.length / length];
    const [a, b] = [logits, probabilities].map((cells) => tensorOf(recording, cells, shape, axes));
    return { stage, logits: a, probabilities: b };
  });
}

export function logitContributions(
  recording: Recording,
  position: unknown,
  id: unknown,
  against: unknown,
): LogitContributions {
  const { length } = recording.prompt;
  const at = whole("position", position);
  const [own, other] = [
    token(recording, at, id),
    against === undefined ? undefined : token(recording, at, against),
  ];
  const place = at < 0 ? length + at : at;
  if (place < 0 || place >= length) {
    const message = `position ${at} is out of range; the trace has ${length}`;
    throw new GlassformerError("index_out_of_range", message, { what: "position", index: at, size: length });
  }
  return ask(recording, "logitContributions", (model, trace) =>
    model.logit_contributions(trace, place, own, other),
  );
}

function whole(what: string, value: unknown): number {
  if (typeof value === "number" && Number.isInteger(value)) return value;
  const text = inWords(value);
  throw new GlassformerError("not_an_integer", `the ${what} must be a whole number, got ${text}`, {
    what,
    value: text,
  });
}

function token({ plan }: Recording, position: number, id: unknown): number {
  const own = whole("token id", id);
  const vocabulary = plan.options.nVocab as number;
  if (own >= 0 && own < Math.max(1, vocabulary)) return own;
  const message = `token id ${own} is outside the vocabulary of ${vocabulary}`;
  throw new GlassformerError("token_out_of_range", message, { position, id: own, vocabulary });
}

/** What a bump changes, in the branches that read it and in all that comes behind. */
export function perturb(core: Core, bump: unknown, asked: readonly unknown[]): Responses {
  core.check();
  const {
    stage,
    position,
    coordinate,
    amount = 1,
  } = readOptions("bump", bump, ["stage", "position", "coordinate", "amount"]) as Partial<
    Record<keyof Bump, unknown>
  >;
  if (typeof amount !== "number" || !Number.isFinite(amount)) {
    throw new GlassformerError("not_finite", `the amount must be a finite number, got ${inWords(amount)}`, {
      what: "amount",
      value: inWords(amount),
    });
  }
  const { maxContext: most, nModel } = core.options as { maxContext: number; nModel: number };
  const isOfRows = rowsAreGiven(asked[0]);
  const read = asked.map((value, i): Prompts => {
    const what = asked.length === 1 ? "the prompt" : ["the source", "the target"][i];
    return isOfRows ? readPromptsOfRows({ what, most }, value, nModel) : readPrompts({ what, most }, value);
  });
  const batch = read.find(({ batched }) => batched);
  if (batch !== undefined) throw invalidOption("prompt", "a batch", "a bump is looked at in one prompt");
  const plan = core.plan(isOfRows ? "rows" : "tokens");
  const { name } = plan.stages[plan.slot(stage)];
  const target = read[read.length - 1].numbers[0];
  const source = read.length > 1 ? read[0].numbers[0] : undefined;
  const place = (what: string, value: unknown, size: number) => {
    const i = whole(what, value);
    const own = i < 0 ? size + i : i;
    if (own >= 0 && own < size) return own;
    const message = `the ${what} ${i} is out of range; there are ${size}`;
    throw new GlassformerError("index_out_of_range", message, { what, index: i, size });
  };
  const lengths = read.map((own) => own.lengths[0]);
  const rows = plan.stages[plan.slot(stage)].side === "source" ? lengths[0] : lengths[lengths.length - 1];
  const cell = [place("position", position, rows), place("coordinate", coordinate, nModel)] as const;
  return core.weights.lend((model) => model.perturb(plan.start, source, target, name, ...cell, amount));
}
