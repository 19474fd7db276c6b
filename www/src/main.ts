/** The page: a model, a prompt, and every stage. It begins with the lesson's decoder. */

import { about } from "./about.js";
import { byId } from "./dom.js";
import { optionsPanel } from "./options/panel.js";
import { parameters } from "./parameters.js";
import { prompts } from "./prompt.js";
import { stages } from "./stages.js";
import { Store } from "./store.js";
import { summary } from "./summary.js";

function start(): void {
  const store = new Store();
  about(store);
  prompts(store);
  summary(store);
  stages(store);
  parameters(store);
  optionsPanel(store);
  (document.querySelector("main") as HTMLElement).hidden = false;
}

try {
  start();
} catch (problem) {
  // A page that stays blank tells nobody anything.
  const box = byId("problem");
  box.hidden = false;
  box.textContent = `The model could not be started: ${problem instanceof Error ? problem.message : String(problem)}`;
}
