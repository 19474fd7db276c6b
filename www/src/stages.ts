/** Every stage of the forward pass as tables, in execution order. */

import type { Diff, StageDescription, Tensor, Trace } from "glassformer";
import { byId, element } from "./dom.js";
import { four, size } from "./format.js";
import type { State, Store } from "./store.js";
import { type RowNote, type TableOf, table } from "./table.js";

interface Part {
  readonly id: string;
  readonly title: string;
}

/** The part of the page a stage stands in. */
function partOf(stage: string): Part {
  const [blocks, block, branch] = stage.split(".");
  if (blocks === "blocks") {
    const isAttention = branch === "attention" || branch === "after_attention";
    const title = `Block ${block}: ${isAttention ? "attention" : "feed-forward"}`;
    return { id: `block-${block}-${isAttention ? "attention" : "feed-forward"}`, title };
  }
  const isOutput = ["final", "logits", "probabilities"].includes(blocks ?? "");
  return isOutput ? { id: "output", title: "Output" } : { id: "input", title: "Input" };
}

export function stages(store: Store, words: readonly string[]): void {
  const root = byId("stages");
  const contents = byId("contents");
  const updates: ((state: State) => void)[] = [];
  let part: HTMLElement | undefined;
  for (const name of store.state.trace.stages) {
    const { id, title } = partOf(name);
    if (part?.id !== id) {
      const heading = element("h2", { id: `${id}-title` }, title);
      part = element("section", { class: "part", id, "aria-labelledby": heading.id }, heading);
      root.append(part);
      contents.append(element("li", {}, element("a", { href: `#${id}` }, title)));
    }
    const { panel, update } = stagePanel(store.state.trace.describe(name), () => store.state.trace, words);
    part.append(panel);
    updates.push(update);
  }
  contents.append(element("li", {}, element("a", { href: "#parameters" }, "Parameters")));
  store.follow((state) => {
    for (const update of updates) update(state);
  });
}

function stagePanel(
  stage: StageDescription,
  trace: () => Trace,
  words: readonly string[],
): { panel: HTMLElement; update: (state: State) => void } {
  const tables = element("div", { class: "tables" });
  const legend = element("p", { class: "legend" });
  const heading = element("h3", {}, `${stage.symbol} · `, element("code", {}, stage.name));
  const panel = element(
    "details",
    { open: true, "data-stage": stage.name },
    element("summary", {}, heading),
    element(
      "div",
      { class: "body" },
      element("p", {}, stage.meaning),
      element("p", { class: "quiet" }, element("code", {}, stage.formula), ` · from ${from(stage)}`),
      tables,
      legend,
      copyButton(() => trace().get(stage.name)),
    ),
  );
  const update = (state: State) => {
    const shown = state.trace.get(stage.name);
    const range = rangeOf(stage, shown);
    legend.textContent = legendOf(stage, range);
    tables.replaceChildren(...tablesOf(stage, shown, state, words, range).map(table));
  };
  return { panel, update };
}

function from(stage: StageDescription): string {
  return stage.inputs.length === 0 ? "the position alone" : stage.inputs.join(", ");
}

/** One table, or one per head. */
function tablesOf(
  stage: StageDescription,
  tensor: Tensor,
  state: State,
  words: readonly string[],
  range: number,
): TableOf[] {
  const notes = state.before && notesOf(stage, state.before.diff, state.trace);
  const rows = state.trace.words.map((word, position) => `${position} ${word}`);
  const lastAxis = stage.axes.at(-1) ?? "";
  const columns = Array.from({ length: tensor.shape.at(-1) ?? 0 }, (_, i) => {
    if (lastAxis === "key") return rows[i] ?? "";
    return lastAxis === "vocabulary" ? `${i} ${words[i]}` : String(i);
  });
  const common = {
    name: stage.name,
    corner: `${lastAxis === "key" ? "query" : "position"} \\ ${lastAxis}`,
    rows,
    columns,
    range,
    // A stage's row is that of all its heads, and its change the largest in any of them.
    ...(notes ? { notes, noted: stage.axes[0] === "head" ? "change, all heads" : "change" } : {}),
    ...(lastAxis === "key" ? { forbidden: (query: number, key: number) => key > query } : {}),
  };
  if (stage.axes[0] !== "head") {
    const caption = stage.name === "probabilities" ? predicts(rows) : `${stage.symbol}, row by row`;
    return [{ ...common, caption, cell: (row, column) => tensor.at(row, column) }];
  }
  return Array.from({ length: tensor.shape[0] ?? 0 }, (_, head) => ({
    ...common,
    caption: `Head ${head}`,
    cell: (row: number, column: number) => tensor.at(head, row, column),
  }));
}

function predicts(rows: readonly string[]): string {
  return `Each row predicts the token after it; row ${rows.at(-1)} predicts what comes next`;
}

/** What each row did in this stage: a mark and words. */
function notesOf(stage: StageDescription, diff: Diff, trace: Trace): RowNote[] {
  const changes = diff.stages.find((s) => s.stage === stage.name)?.rows ?? [];
  return Array.from({ length: trace.length }, (_, position): RowNote => {
    const change = changes.find((row) => row.position === position);
    if (change === undefined) return { mark: "+", text: "new row", kind: "moved" };
    if (change.identical) return { mark: "=", text: "identical to the bit", kind: "kept" };
    return { mark: "≠", text: `moved by at most ${size(change.maxAbs)}`, kind: "moved" };
  });
}

/** Weights and probabilities are shaded up to 1, everything else up to its own largest. */
function rangeOf(stage: StageDescription, tensor: Tensor): number {
  if (stage.kind === "softmax") return 1;
  return Array.from(tensor.data).reduce(
    (most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most),
    0,
  );
}

function legendOf(stage: StageDescription, range: number): string {
  const hatched = stage.axes.at(-1) === "key" ? " Hatched: hidden by the mask, a later token." : "";
  const scale = stage.kind === "softmax" ? "0 to 1" : `blue ${four(-range)} to orange ${four(range)}`;
  return `Shading: ${scale}.${hatched} All digits: by the button, or in a cell's tooltip.`;
}

const COPY = "Copy the numbers";

/** A button that copies all digits, one line per row, tab-separated: what spreadsheets and NumPy's loadtxt read. */
function copyButton(numbers: () => Tensor): HTMLElement {
  const button = element("button", { type: "button", class: "copy" }, COPY);
  const told = element("span", { class: "quiet", "aria-live": "polite" });
  let fading: ReturnType<typeof setTimeout> | undefined;
  button.addEventListener("click", async () => {
    const { data, shape, size } = numbers();
    const width = shape.at(-1) ?? 1;
    const lines: string[] = [];
    for (let i = 0; i < size; i += width) lines.push(Array.from(data.slice(i, i + width), String).join("\t"));
    try {
      await navigator.clipboard.writeText(`${lines.join("\n")}\n`);
      told.textContent = "Copied.";
    } catch {
      told.textContent = "The browser does not allow copying.";
    }
    clearTimeout(fading);
    fading = setTimeout(() => {
      told.textContent = "";
    }, 3000);
  });
  return element("p", {}, button, " ", told);
}
