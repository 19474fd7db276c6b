/** How a stage's tensor is laid out: tables, their rows and columns, and what is hidden. */

import type { StageDescription, Tensor, Trace } from "glassformer";
import { four, size } from "./format.js";
import { type State, seesLater } from "./store.js";
import type { RowNote, TableOf } from "./table.js";
import { WORDS } from "./words.js";

/** What tables are numbered by, where there are several. */
const GROUPS: Readonly<Record<string, readonly [string, string]>> = {
  head: ["Head", "change, all heads"],
  expert: ["Expert", "change, all experts"],
};

/** One table; or one per head, or per expert. */
export function tablesOf(stage: StageDescription, state: State): { tables: TableOf[]; legend: string } {
  const { trace } = state;
  const tensor = trace.get(stage.name);
  const range = rangeOf(stage, tensor);
  const [group, rowAxis, columnAxis] = axesOf(stage.axes);
  const rows = labels(rowAxis, tensor.shape.at(-2) ?? 1, trace, stage.side, "whole prompt");
  const columns = labels(columnAxis, tensor.shape.at(-1) ?? 1, trace, keySide(stage, trace), "value");
  const [named = "", noted = "change"] = (group !== undefined && GROUPS[group]) || [];
  const notes = notesOf(stage, state, rowAxis, rows.length);
  const why = hiddenIn(stage, state);
  const common = {
    name: stage.name,
    corner: [rowAxis, columnAxis].filter((axis) => axis !== "").join(" \\ "),
    rows,
    columns,
    range,
    integer: stage.integer,
    ...(notes && { notes, noted }),
  };
  const tables =
    group === undefined
      ? [
          {
            ...common,
            caption: captionOf(stage, state, rowAxis, rows),
            cell: (row: number, column: number) => tensor.data[row * columns.length + column] ?? Number.NaN,
            ...(why && { hidden: (row: number, column: number) => why(0, row, column) }),
          },
        ]
      : Array.from({ length: tensor.shape[0] ?? 0 }, (_, at) => ({
          ...common,
          caption: `${named} ${at}`,
          cell: (row: number, column: number) => tensor.at(at, row, column),
          ...(why && { hidden: (row: number, column: number) => why(at, row, column) }),
        }));
  return { tables, legend: legendOf(stage, range, reasons(tables)) };
}

/** What tables, rows and columns are; a stage of the whole prompt has no rows, or not even columns. */
function axesOf(axes: readonly string[]): [string | undefined, string, string] {
  return [axes.at(-3), axes.at(-2) ?? "", axes.at(-1) ?? ""];
}

function labels(
  axis: string,
  count: number,
  trace: Trace,
  side: "target" | "source",
  none: string,
): string[] {
  const words = side === "source" ? trace.sourceWords : trace.words;
  return Array.from({ length: count }, (_, i) => {
    if (axis === "position" || axis === "query" || axis === "key") return `${i} ${words[i] ?? ""}`;
    if (axis === "vocabulary") return `${i} ${WORDS[i] ?? ""}`;
    if (axis === "expert") return `expert ${i}`;
    return axis === "" ? none : String(i);
  });
}

/** Whose positions a stage's keys are: those of the keys it was computed with. */
function keySide(stage: StageDescription, trace: Trace): "target" | "source" {
  const keys = stage.name.replace(/[^.]+$/, "key");
  return stage.axes.at(-1) === "key" && trace.has(keys) ? trace.describe(keys).side : stage.side;
}

function captionOf(
  stage: StageDescription,
  { model }: State,
  rowAxis: string,
  rows: readonly string[],
): string {
  if (rowAxis === "") return `${stage.symbol}, of the whole prompt`;
  if (!stage.name.endsWith("probabilities")) return `${stage.symbol}, row by row`;
  // Without a mask a row has seen the token after it.
  if (seesLater(model)) return `${stage.symbol}, row by row: the words each row speaks for`;
  return `Each row predicts the token after it; row ${rows.at(-1)} predicts what comes next`;
}

/** Why a score or a weight is hidden: where the score is -Infinity, in the words of what hides it. */
function hiddenIn(
  stage: StageDescription,
  { trace, model }: State,
): ((head: number, query: number, key: number) => string | undefined) | undefined {
  if (stage.axes.at(-1) !== "key") return undefined;
  const scores = trace.get(stage.name.replace(/[^.]+$/, "scores"));
  const causal =
    model.options.mask === "causal" && stage.side === "target" && !stage.name.includes("cross_attention");
  return (head, query, key) => {
    if (scores.at(head, query, key) !== Number.NEGATIVE_INFINITY) return undefined;
    return causal && key > query ? "a later token" : "outside the window";
  };
}

function reasons(tables: readonly TableOf[]): string[] {
  const found = new Set<string>();
  for (const { hidden, rows, columns } of tables) {
    if (hidden === undefined) continue;
    for (const row of rows.keys()) {
      for (const column of columns.keys()) found.add(hidden(row, column) ?? "");
    }
  }
  found.delete("");
  return [...found].sort();
}

/** What each row did in this stage: a mark and words. */
function notesOf(
  stage: StageDescription,
  state: State,
  rowAxis: string,
  rows: number,
): RowNote[] | undefined {
  if (state.before === undefined) return undefined;
  const changes = state.before.diff.stages.find((each) => each.stage === stage.name)?.rows ?? [];
  return Array.from({ length: rows }, (_, position): RowNote => {
    const change = rowAxis === "" ? changes[0] : changes.find((row) => row.position === position);
    if (change === undefined) {
      return { mark: "+", text: rowAxis === "" ? "of another length" : "new row", kind: "moved" };
    }
    if (change.identical) return { mark: "=", text: "identical to the bit", kind: "kept" };
    return { mark: "≠", text: `moved by at most ${size(change.maxAbs)}`, kind: "moved" };
  });
}

/** Weights and probabilities are shaded up to 1, indices not at all, everything else up to its own largest. */
function rangeOf(stage: StageDescription, tensor: Tensor): number {
  if (stage.kind === "softmax") return 1;
  if (stage.integer && stage.kind === "selection") return 0;
  return Array.from(tensor.data).reduce(
    (most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most),
    0,
  );
}

function legendOf(stage: StageDescription, range: number, hidden: readonly string[]): string {
  if (stage.integer && stage.kind === "selection") {
    return "Whole numbers: the chosen experts, the most probable first; -1 where a choice was dropped.";
  }
  const hatched = hidden.length === 0 ? "" : ` Hatched: hidden, ${hidden.join(" or ")}.`;
  const scale =
    stage.kind === "softmax"
      ? "0 to 1"
      : stage.integer
        ? `0 to ${range}`
        : `blue ${four(-range)} to orange ${four(range)}`;
  return `Shading: ${scale}.${hatched} All digits: by the button, or in a cell's tooltip.`;
}
