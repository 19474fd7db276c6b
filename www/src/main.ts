/** The page: the lesson's decoder, its prompt, and every stage. */

import { CausalLanguageModel } from "glassformer";
import { byId } from "./dom.js";
import { parameters } from "./parameters.js";
import { promptControls } from "./prompt.js";
import { stages } from "./stages.js";
import { Store } from "./store.js";
import { summary } from "./summary.js";

const WORDS = ["<start>", "the", "cat", "dog", "sat", "slept", "<end>"];
const START = [0, 1, 2];

function start(): void {
  const model = new CausalLanguageModel({ nVocab: WORDS.length, words: WORDS });
  const store = new Store(model, START);
  promptControls(store, WORDS);
  summary(store, WORDS);
  stages(store, WORDS);
  parameters(model, WORDS);
  const { nModel, nHeads, nBlocks, nHidden, seed, dtype } = model.options;
  byId("model").textContent =
    `Model: vocabulary ${WORDS.length}, width ${nModel}, ${nHeads} heads, ${nBlocks} block, ` +
    `feed-forward width ${nHidden}, ${dtype}, seed ${seed}.`;
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
