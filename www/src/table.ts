/** A table of numbers: headers on both sides, four decimals, shaded by value. */

import { element } from "./dom.js";
import { four } from "./format.js";

/** What a row's last column says. */
export interface RowNote {
  readonly mark: string;
  readonly text: string;
  readonly kind: "kept" | "moved";
}

export interface TableOf {
  /** The stage or parameter it shows. */
  readonly name: string;
  readonly caption: string;
  /** What the rows and the columns are, for the corner. */
  readonly corner: string;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly cell: (row: number, column: number) => number;
  /** The value at full colour; the same for all tables of a stage, so that they can be compared. */
  readonly range: number;
  /** Why a cell is hidden, where it is. */
  readonly hidden?: (row: number, column: number) => string | undefined;
  /** Whether its numbers are whole. */
  readonly integer?: boolean;
  readonly notes?: readonly RowNote[];
  /** The header of the notes. */
  readonly noted?: string;
}

export function table(of: TableOf): HTMLElement {
  const headers = of.columns.map((column) => element("th", { scope: "col" }, column));
  const note =
    of.notes === undefined ? [] : [element("th", { scope: "col", class: "noted" }, of.noted ?? "")];
  const head = element("tr", {}, element("th", { scope: "col" }, of.corner), ...headers, ...note);
  const rows = of.rows.map((label, row) => {
    const cells = of.columns.map((_, column) => cell(of, row, column));
    const told = of.notes?.[row];
    if (told === undefined) return element("tr", {}, element("th", { scope: "row" }, label), ...cells);
    // The mark stands beside the row's name too: on a phone the words at the row's end are out of sight.
    const mark = element("span", { class: `mark ${told.kind}`, "aria-hidden": "true" }, told.mark);
    const header = element("th", { scope: "row" }, label, mark);
    // On a phone the words stand here instead, where they are in sight.
    header.append(element("span", { class: `note ${told.kind}` }, told.text));
    return element("tr", { class: `${told.kind}-row` }, header, ...cells, noted(told));
  });
  const made = element(
    "table",
    {},
    element("caption", {}, of.caption),
    element("thead", {}, head),
    element("tbody", {}, ...rows),
  );
  const frame = element("div", { class: "scroll" }, made);
  watched.observe(frame);
  labels.set(frame, `${of.name}, ${of.caption}`);
  return frame;
}

const labels = new WeakMap<Element, string>();

/** What scrolls must be reachable by keyboard and have a name; what does not scroll must not be in the way. */
const watched = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const scrolls = target.scrollWidth > target.clientWidth;
    for (const [name, value] of [
      ["tabindex", "0"],
      ["role", "region"],
      ["aria-label", labels.get(target) ?? ""],
    ] as const) {
      if (scrolls) target.setAttribute(name, value);
      else target.removeAttribute(name);
    }
  }
});

function cell(of: TableOf, row: number, column: number): HTMLTableCellElement {
  const value = of.cell(row, column);
  const why = of.hidden?.(row, column);
  if (why !== undefined) {
    const hint = `hidden: ${why}`;
    return element(
      "td",
      { class: "forbidden", title: hint },
      four(value),
      element("span", { class: "hidden-text" }, ` (${hint})`),
    );
  }
  const shade = of.range > 0 && Number.isFinite(value) ? Math.min(1, Math.abs(value) / of.range) : 0;
  return element(
    "td",
    { "data-sign": value < 0 ? "-" : "+", style: `--shade:${shade.toFixed(3)}`, title: String(value) },
    of.integer ? String(value) : four(value),
  );
}

function noted(note: RowNote): HTMLTableCellElement {
  const mark = element("span", { "aria-hidden": "true" }, `${note.mark} `);
  return element("td", { class: "change" }, element("span", { class: note.kind }, mark, note.text));
}
