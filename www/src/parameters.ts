/** The model's parameters: what there is, and every number. */

import type { Parameter } from "glassformer";
import { byId, element } from "./dom.js";
import { partOf } from "./parts.js";
import type { Model } from "./spec.js";
import type { Store } from "./store.js";
import { table } from "./table.js";
import { SOURCE_WORDS, WORDS } from "./words.js";

/** More than so many are shown by the parts they belong to. */
const FEW = 12;
/** A table of positions may have a thousand rows. */
const ROWS = 64;

const LAYOUTS: Readonly<Record<Parameter["layout"], string>> = {
  "row per token": "one row per token",
  "row per position": "one row per position",
  "out,in": "y = x Wᵀ",
  "in,out": "y = x W",
  vector: "one number for each",
};

export function parameters(store: Store): void {
  let shown: Model | undefined;
  store.follow(({ model }) => {
    if (model === shown) return;
    shown = model;
    show(store);
  });
}

function show(store: Store): void {
  const root = byId("parameters");
  const { model } = store.state;
  const list = model.parameters;
  const open = new Set(
    [...root.querySelectorAll<HTMLElement>("details[open]")].map((panel) => keyOf(panel.dataset)),
  );
  const panels = list.map((parameter) => ({
    part: partOf(parameter.name).title,
    ...panelOf(parameter, store),
  }));
  const parts = new Map<string, HTMLElement[]>();
  for (const { part, node } of panels) parts.set(part, [...(parts.get(part) ?? []), node]);
  const grouped = [...parts].map(([title, nodes]) => {
    const numbers = list.filter(({ name }) => partOf(name).title === title);
    return groupOf(title, total(numbers), nodes);
  });
  root.replaceChildren(
    element("h2", { id: "parameters-title" }, `Parameters: ${total(list)} in all`),
    element(
      "p",
      {},
      "What the stages above were computed with. Matrices and tables are random, drawn from the seed: " +
        "nothing was learned.",
    ),
    ...(list.length > FEW ? grouped : panels.map(({ node }) => node)),
  );
  for (const panel of root.querySelectorAll("details")) panel.open = open.has(keyOf(panel.dataset));
}

function keyOf({ parameter, part }: DOMStringMap): string {
  return parameter ?? `part ${part}`;
}

function total(list: readonly Parameter[]): number {
  return list.reduce((sum, { count }) => sum + count, 0);
}

function groupOf(title: string, numbers: number, nodes: readonly HTMLElement[]): HTMLElement {
  const many = nodes.length === 1 ? "1 parameter" : `${nodes.length} parameters`;
  const heading = element("h3", {}, `${title} · ${many}, ${numbers} numbers`);
  return element(
    "details",
    { "data-part": title },
    element("summary", {}, heading),
    element("div", { class: "body" }, ...nodes),
  );
}

function panelOf(parameter: Parameter, store: Store): { node: HTMLElement } {
  const { name, shape, count } = parameter;
  const { model } = store.state;
  const size = shape.length === 1 ? `${count}` : `${shape.join(" × ")} = ${count}`;
  const tied = model.options.tiedHead && /^(decoder\.)?embedding$/.test(name) ? ", the head too" : "";
  const heading = element("h3", {}, element("code", {}, name), ` · ${size}${tied}`);
  const body = element("div", { class: "body" });
  const node = element("details", { "data-parameter": name }, element("summary", {}, heading), body);
  // Made when it is first looked at.
  node.addEventListener("toggle", () => {
    if (!node.open || body.childElementCount > 0 || store.state.model !== model) return;
    body.append(...tableOf(parameter, model));
  });
  return { node };
}

function tableOf({ name, shape, layout }: Parameter, model: Model): HTMLElement[] {
  const values = model.parameter(name);
  const range = Array.from(values.data).reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const words = name.startsWith("encoder.") && "sourceWords" in model.options ? SOURCE_WORDS : WORDS;
  const label = (axis: string, i: number) => (axis === "vocabulary" ? `${i} ${words[i]}` : String(i));
  const [from, to] =
    shape.length === 1 ? ["", values.axes[0] ?? ""] : [values.axes[0] ?? "", values.axes[1] ?? ""];
  const [all, width] = shape.length === 1 ? [1, shape[0]] : [shape[0], shape[1] ?? 1];
  const rows = Math.min(all, ROWS);
  const made = table({
    name,
    caption: LAYOUTS[layout],
    corner: [from, to].filter((axis) => axis !== "").join(" \\ "),
    rows: Array.from({ length: rows }, (_, i) => (from === "" ? "number" : label(from, i))),
    columns: Array.from({ length: width }, (_, i) => label(to, i)),
    cell: (row, column) => values.data[row * width + column] ?? Number.NaN,
    range,
  });
  const rest = element("p", { class: "quiet" }, `The first ${rows} of ${all} rows.`);
  return rows < all ? [made, rest] : [made];
}
