/** A trace in the forms that other tools read. */

import type { JsonTrace, TidyRow } from "./glassformer.js";
import type { Plan } from "./plan.js";
import { safetensors } from "./safetensors.js";
import { type Tensor, toJsonNumber } from "./tensor.js";

/** The part of a trace that is exported. */
interface Exportable {
  readonly tokens: readonly number[];
  readonly words: readonly string[];
  readonly stages: readonly string[];
  get(name: string): Tensor;
}

/** Names the layout of `toJSON`; the schema itself is `glassformer/trace.schema.json`. */
export const SCHEMA = "glassformer-trace-1";

export function jsonOf(trace: Exportable, plan: Plan): JsonTrace {
  return {
    schema: SCHEMA,
    options: jsonOptions(plan.options),
    tokens: [...trace.tokens],
    words: [...trace.words],
    stages: trace.stages.map((name) => {
      const { axes, shape, data } = trace.get(name);
      return { name, axes: [...axes], shape: [...shape], data: Array.from(data, toJsonNumber) };
    }),
  };
}

/** Options as JSON can hold them: a BigInt seed as its digits. */
export function jsonOptions(options: Record<string, unknown>): Record<string, unknown> {
  const { seed, ...rest } = options;
  return { ...rest, ...(seed === undefined ? {} : { seed: typeof seed === "bigint" ? String(seed) : seed }) };
}

export function rowsOf(trace: Exportable): TidyRow[] {
  const rows: TidyRow[] = [];
  for (const stage of trace.stages) {
    const { axes, shape, data } = trace.get(stage);
    const [head, position, key] = ["head", "position", "key"].map((axis) => axes.indexOf(axis));
    const row = position >= 0 ? position : axes.indexOf("query");
    const coordinate = axes.findIndex((axis) => ["coordinate", "unit", "vocabulary"].includes(axis));
    const index = shape.map(() => 0);
    for (const value of data) {
      const at = index[row];
      rows.push({
        stage,
        head: head < 0 ? null : index[head],
        position: at,
        key: key < 0 ? null : index[key],
        token: trace.words[at] ?? null,
        coordinate: coordinate < 0 ? null : index[coordinate],
        value,
      });
      advance(index, shape);
    }
  }
  return rows;
}

function advance(index: number[], shape: readonly number[]): void {
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index[axis] += 1;
    if (index[axis] < shape[axis]) return;
    index[axis] = 0;
  }
}

export function safetensorsOf(trace: Exportable, plan: Plan): Uint8Array {
  const metadata = {
    format: SCHEMA,
    options: JSON.stringify(jsonOptions(plan.options)),
    tokens: JSON.stringify(trace.tokens),
    words: JSON.stringify(trace.words),
  };
  return safetensors(
    metadata,
    trace.stages.map((name) => ({ name, tensor: trace.get(name) })),
  );
}
