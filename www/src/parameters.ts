/** The model's parameters: what there is, and every number. */

import type { CausalLanguageModel, Parameter } from "glassformer";
import { byId, element } from "./dom.js";
import { table } from "./table.js";

export function parameters(model: CausalLanguageModel, words: readonly string[]): void {
  const list = model.parameters;
  const total = list.reduce((sum, { count }) => sum + count, 0);
  byId("parameters").append(
    element("h2", { id: "parameters-title" }, `Parameters: ${total} in all`),
    element(
      "p",
      {},
      "What the stages above were computed with. They are random, drawn from the seed: nothing was learned.",
    ),
    ...list.map((parameter) => parameterPanel(model, parameter, words)),
  );
}

function parameterPanel(
  model: CausalLanguageModel,
  parameter: Parameter,
  words: readonly string[],
): HTMLElement {
  const { name, shape, layout, count } = parameter;
  const heading = element("h3", {}, element("code", {}, name), ` · ${shape.join(" × ")} = ${count}`);
  const body = element("div", { class: "body" });
  const panel = element("details", { "data-parameter": name }, element("summary", {}, heading), body);
  const how = {
    "row per token": "one row per token",
    "row per position": "one row per position",
    "out,in": "y = x Wᵀ",
    "in,out": "y = x W",
    vector: "one number per coordinate",
  }[layout];
  // Made when it is first looked at.
  panel.addEventListener("toggle", () => {
    if (!panel.open || body.childElementCount > 0) return;
    const values = model.parameter(name);
    const range = Array.from(values.data).reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    // A vector is shown as a row.
    const [from = "", to = ""] = values.axes.length === 1 ? ["", ...values.axes] : values.axes;
    const [height, width] = shape.length === 1 ? [1, shape[0]] : shape;
    const label = (axis: string, i: number) => (axis === "vocabulary" ? `${i} ${words[i]}` : String(i));
    const made = table({
      name,
      caption: how,
      corner: `${from} \\ ${to}`,
      rows: Array.from({ length: height }, (_, i) => label(from, i)),
      columns: Array.from({ length: width }, (_, i) => label(to, i)),
      cell: (row, column) => (shape.length === 1 ? values.at(column) : values.at(row, column)),
      range,
    });
    body.append(made);
  });
  return panel;
}
