/** The panel of options: which model the page shows. */

import { GlassformerError } from "glassformer";
import { byId, element } from "../dom.js";
import { LESSON, line, type Spec, same, shortest } from "../spec.js";
import type { State, Store } from "../store.js";
import { tell } from "../summary.js";
import { ATTENTION, POSITION } from "./attention.js";
import type { Group } from "./control.js";
import { FEED_FORWARD } from "./feed_forward.js";
import { fieldOf, type Panel, sentence } from "./field.js";
import { DRAWS, MODEL, SIZES, STREAM } from "./model.js";
import { BIASES, NORM } from "./norm.js";
import { PRESETS } from "./presets.js";

const GROUPS = [MODEL, SIZES, NORM, FEED_FORWARD, POSITION, ATTENTION, BIASES, STREAM, DRAWS];

/** Shows a part of the panel for a new model; with `checking`, tries what else could be chosen. */
type Follow = (state: State, checking: boolean) => void;

export function optionsPanel(store: Store): void {
  const panel: Panel = {
    spec: () => store.state.spec,
    take: (spec, told) => {
      try {
        store.remodel(spec, `Now ${told}`);
        return undefined;
      } catch (problem) {
        if (problem instanceof GlassformerError) return problem.message;
        throw problem;
      }
    },
    refused: (why) => tell(`${sentence(why)} The model stays as it was.`),
  };
  const follows: Follow[] = [];
  byId("option-groups").append(...GROUPS.map((group) => groupOf(group, panel, follows)));
  follows.push(presets(panel), copyLine(panel));

  const details = byId("options") as HTMLDetailsElement;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const check = () => {
    clearTimeout(waiting);
    if (!details.open) return;
    details.setAttribute("aria-busy", "true");
    // After the new model is drawn: to try what else can be chosen makes some dozens of models.
    waiting = setTimeout(() => {
      for (const follow of follows) follow(store.state, true);
      details.setAttribute("aria-busy", "false");
    });
  };
  details.addEventListener("toggle", check);
  let shown: State["model"] | undefined;
  store.follow((state) => {
    if (state.model === shown) return;
    shown = state.model;
    for (const follow of follows) follow(state, false);
    check();
  });
}

function groupOf(group: Group, panel: Panel, follows: Follow[]): HTMLElement {
  const { title, controls, closed, inner = [] } = group;
  const instead = element("p", { class: "unavailable" });
  const fields = controls.map((control) => ({ ...fieldOf(control, panel), only: control.only }));
  const grid = element("div", { class: "controls" }, ...fields.map(({ node }) => node));
  follows.push(({ spec, model }, checking) => {
    const why = closed?.(spec, model.options);
    instead.textContent = why ?? "";
    grid.hidden = why !== undefined;
    for (const { node, only, show, check } of fields) {
      node.hidden = only !== undefined && !only(spec);
      if (grid.hidden || node.hidden) continue;
      (checking ? check : show)(spec, model.options);
    }
  });
  const legend = element("legend", {}, title);
  return element(
    "fieldset",
    {},
    legend,
    instead,
    grid,
    ...inner.map((each) => groupOf(each, panel, follows)),
  );
}

/** The models that have names, and the way back to the first. */
function presets(panel: Panel): Follow {
  const select = byId("preset") as HTMLSelectElement;
  const options = PRESETS.map(({ name }, i) => element("option", { value: String(i) }, name));
  select.append(...options, element("option", { value: "", disabled: true }, "a choice of your own"));
  const words = byId("preset-words");
  select.addEventListener("change", () => {
    const preset = PRESETS[Number(select.value)];
    if (preset === undefined) return;
    const why = panel.take(preset.spec, preset.name);
    if (why === undefined) return;
    words.textContent = sentence(why);
    panel.refused(why);
  });
  byId("lesson").addEventListener("click", () => {
    if (same(panel.spec(), LESSON)) return tell("This is the lesson's model.");
    const why = panel.take(LESSON, "the lesson's model");
    if (why !== undefined) panel.refused(why);
  });
  // In as few options as a model of the page is said in.
  const said = new Map<Spec, Spec>();
  return ({ spec }, checking) => {
    if (checking) return;
    const found = PRESETS.findIndex((preset) => {
      const short = said.get(preset.spec) ?? shortest(preset.spec);
      said.set(preset.spec, short);
      return same(short, spec);
    });
    select.value = found < 0 ? "" : String(found);
    words.textContent = PRESETS[found]?.words ?? "None of these: what differs is below.";
    byId("options-title").textContent = `The model: ${PRESETS[found]?.name ?? "a choice of your own"}`;
  };
}

/** The line that makes the model, to copy. */
function copyLine(panel: Panel): Follow {
  const told = byId("line-copied");
  byId("copy-line").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(line(panel.spec()));
      told.textContent = "Copied.";
    } catch {
      told.textContent = "The browser does not allow copying.";
    }
  });
  return ({ spec }, checking) => {
    if (checking) return;
    byId("line").textContent = line(spec);
    told.textContent = "";
  };
}
