/** Traces in the forms that other tools read. */

import type { BatchTidyRow, JsonBatch, JsonStage, JsonTrace, TidyRow } from "./glassformer.js";
import type { PaddingSide } from "./masks.js";
import { padded } from "./padding.js";
import type { Plan } from "./plan.js";
import type { Prompt, Recording } from "./recording.js";
import { safetensors } from "./safetensors.js";
import { type Tensor, toJsonNumber } from "./tensor.js";

/** Name the layouts of `toJSON`; the schema itself is `glassformer/trace.schema.json`. */
export const SCHEMA = "glassformer-trace-1";
export const BATCH_SCHEMA = "glassformer-batch-1";

export function jsonOf(recording: Recording): JsonTrace {
  const { plan } = recording;
  return { ...headOf(recording), stages: stagesOf(plan, (slot) => recording.tensor(slot)) };
}

export function jsonOfBatch(recordings: readonly Recording[], padding: PaddingSide): JsonBatch {
  const [{ plan }] = recordings;
  const stages = stagesOf(plan, (slot) => padded(recordings, slot, padding));
  return { ...headOfBatch(recordings, padding), stages };
}

/** What is said of a trace besides its numbers. */
function headOf({ plan, prompt, words, sourceWords }: Recording): Omit<JsonTrace, "stages"> {
  return {
    schema: SCHEMA,
    model: plan.model,
    options: jsonOptions(plan.options),
    tokens: [...prompt.tokens],
    words: [...words],
    ...(plan.hasSource ? { source: [...prompt.source], sourceWords: [...sourceWords] } : {}),
    ...changesOf(prompt),
  };
}

/** What the call changed, where it changed anything. */
function changesOf({ changes: { masks, edits } }: Prompt): Pick<JsonTrace, "masks" | "edits"> {
  const list = (values: Float64Array) => Array.from(values, toJsonNumber);
  const own = Object.entries(masks).map(([name, values]) => [name, list(values)] as const);
  const made = edits.map(({ stage, index, change, values }) => {
    return { stage, index: Array.from(index), change, values: list(values) };
  });
  return {
    ...(own.length > 0 ? { masks: Object.fromEntries(own) } : {}),
    ...(made.length > 0 ? { edits: made } : {}),
  };
}

function headOfBatch(recordings: readonly Recording[], padding: PaddingSide): Omit<JsonBatch, "stages"> {
  const [{ plan }] = recordings;
  const each = <T>(of: (recording: Recording) => readonly T[]) => recordings.map((own) => [...of(own)]);
  const source = {
    sourceLengths: recordings.map(({ prompt }) => prompt.sourceLength),
    source: each(({ prompt }) => prompt.source),
    sourceWords: each((recording) => recording.sourceWords),
  };
  return {
    schema: BATCH_SCHEMA,
    model: plan.model,
    options: jsonOptions(plan.options),
    padding,
    lengths: recordings.map(({ prompt }) => prompt.length),
    tokens: each(({ prompt }) => prompt.tokens),
    words: each((recording) => recording.words),
    ...(plan.hasSource ? source : {}),
  };
}

function stagesOf(plan: Plan, tensorOf: (slot: number) => Tensor): JsonStage[] {
  return plan.names.map((name, slot) => {
    const { axes, shape, data } = tensorOf(slot);
    return { name, axes: [...axes], shape: [...shape], data: Array.from(data, toJsonNumber) };
  });
}

/** Options as JSON can hold them: a BigInt seed as its digits. */
export function jsonOptions(options: Record<string, unknown>): Record<string, unknown> {
  const { seed, ...rest } = options;
  return { ...rest, ...(seed === undefined ? {} : { seed: typeof seed === "bigint" ? String(seed) : seed }) };
}

/** The axes of which a row names the index, and the axis that stands in each of its columns. */
const COLUMNS = {
  head: ["head"],
  expert: ["expert"],
  position: ["position", "query"],
  key: ["key"],
  choice: ["choice"],
  coordinate: ["coordinate", "unit", "vocabulary"],
} as const;

export function rowsOf(recording: Recording): TidyRow[] {
  const rows: TidyRow[] = [];
  const { plan, words, sourceWords } = recording;
  plan.stages.forEach(({ name: stage, side }, slot) => {
    const { axes, shape, data } = recording.tensor(slot);
    const own = side === "source" ? sourceWords : words;
    const places = Object.values(COLUMNS).map((names) =>
      axes.findIndex((axis) => names.includes(axis as never)),
    );
    const index = shape.map(() => 0);
    for (const value of data) {
      const [head, expert, position, key, choice, coordinate] = places.map((axis) => index[axis] ?? null);
      const token = position === null ? null : (own[position] ?? null);
      rows.push({ stage, head, expert, position, key, choice, token, coordinate, value });
      advance(index, shape);
    }
  });
  return rows;
}

/** Every prompt's own cells; positions count its own tokens, so there are none of padding. */
export function batchRowsOf(recordings: readonly Recording[]): BatchTidyRow[] {
  return recordings.flatMap((recording, batch) => rowsOf(recording).map((row) => ({ batch, ...row })));
}

function advance(index: number[], shape: readonly number[]): void {
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index[axis] += 1;
    if (index[axis] < shape[axis]) return;
    index[axis] = 0;
  }
}

export function safetensorsOf(recording: Recording): Uint8Array {
  return fileOf(headOf(recording), recording.plan, (slot) => recording.tensor(slot));
}

export function safetensorsOfBatch(recordings: readonly Recording[], padding: PaddingSide): Uint8Array {
  const [{ plan }] = recordings;
  return fileOf(headOfBatch(recordings, padding), plan, (slot) => padded(recordings, slot, padding));
}

/** A file whose metadata is what is said of the trace: texts as they are, everything else as JSON. */
function fileOf(
  { schema: format, ...head }: Omit<JsonTrace, "stages"> | Omit<JsonBatch, "stages">,
  plan: Plan,
  tensorOf: (slot: number) => Tensor,
): Uint8Array {
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const metadata = Object.fromEntries(Object.entries(head).map(([name, value]) => [name, text(value)]));
  const tensors = plan.names.map((name, slot) => ({ name, tensor: tensorOf(slot) }));
  return safetensors({ format, ...metadata }, tensors);
}
