/** Every stage of the trace, in the order of the pass: a panel each, under the parts of the model. */

import type { StageDescription, Tensor } from "glassformer";
import { byId, element } from "./dom.js";
import { partOf } from "./parts.js";
import type { State, Store } from "./store.js";
import { table } from "./table.js";
import { tablesOf } from "./views.js";

/** A stage of more cells is closed until somebody opens it. */
const LARGE = 400;
/** So is one of a later block: blocks are alike. */
const BLOCKS = 2;

interface StagePanel {
  readonly node: HTMLDetailsElement;
  readonly update: () => void;
}

export function stages(store: Store): void {
  /** What somebody, or the page, opened and closed: a stage that another model has too stays as it is. */
  const opened = new Map<string, boolean>();
  let panels: StagePanel[] = [];
  let shown: State["model"] | undefined;
  store.follow((state) => {
    if (state.model !== shown) {
      shown = state.model;
      panels = build(store, opened);
    }
    for (const { update } of panels) update();
  });
  for (const [id, open] of [
    ["open-all", true],
    ["close-all", false],
  ] as const) {
    byId(id).addEventListener("click", () => {
      for (const { node } of panels) node.open = open;
    });
  }
}

/** Makes the panels of the present model. */
function build(store: Store, opened: Map<string, boolean>): StagePanel[] {
  const { trace } = store.state;
  const parts: HTMLElement[] = [];
  const links: HTMLElement[] = [];
  const panels = trace.stages.map((name) => {
    const { id, title } = partOf(name);
    if (parts.at(-1)?.id !== id) {
      const heading = element("h2", { id: `${id}-title` }, title);
      parts.push(element("section", { class: "part", id, "aria-labelledby": heading.id }, heading));
      links.push(element("li", {}, element("a", { href: `#${id}` }, title)));
    }
    const cells = trace.get(name).size;
    const later = Number(name.match(/blocks\.(\d+)/)?.[1] ?? 0) >= BLOCKS;
    const open = opened.get(name) ?? (cells <= LARGE && !later);
    opened.set(name, open);
    const panel = stagePanel(trace.describe(name), store, opened);
    panel.node.open = open;
    parts.at(-1)?.append(panel.node);
    return panel;
  });
  links.push(element("li", {}, element("a", { href: "#parameters" }, "Parameters")));
  byId("stages").replaceChildren(...parts);
  byId("contents").replaceChildren(...links);
  return panels;
}

function stagePanel(stage: StageDescription, store: Store, opened: Map<string, boolean>): StagePanel {
  const tables = element("div", { class: "tables" });
  const legend = element("p", { class: "legend" });
  const heading = element("h3", {}, `${stage.symbol} · `, element("code", {}, stage.name));
  const node = element(
    "details",
    { "data-stage": stage.name },
    element("summary", {}, heading),
    element(
      "div",
      { class: "body" },
      element("p", {}, stage.meaning),
      element("p", { class: "quiet" }, element("code", {}, stage.formula), ` · from ${from(stage)}`),
      tables,
      legend,
      copyButton(() => store.state.trace.get(stage.name)),
    ),
  );
  let drawn: State | undefined;
  // Tables are made where somebody sees them.
  const update = () => {
    const { state } = store;
    if (!node.open || drawn === state) return;
    drawn = state;
    const views = tablesOf(stage, state);
    legend.textContent = views.legend;
    tables.replaceChildren(...views.tables.map(table));
  };
  node.addEventListener("toggle", () => {
    if (!node.isConnected) return;
    opened.set(stage.name, node.open);
    update();
  });
  return { node, update };
}

function from({ inputs, kind }: StageDescription): string {
  if (inputs.length > 0) return inputs.join(", ");
  return kind === "draw" ? "the seed of the noise alone" : "the position alone";
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
