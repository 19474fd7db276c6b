/** What a strict TypeScript user writes; compiled, not run. */

import {
  CausalLanguageModel,
  GlassformerError,
  init,
  memory,
  type Options,
  randomStream,
  type Tensor,
  Trace,
} from "glassformer";

const options: Options = {
  nVocab: 7,
  nModel: 4,
  nHeads: 2,
  seed: 7n,
  words: ["<start>", "the", "cat", "dog", "sat", "slept", "<end>"],
};
const model = new CausalLanguageModel(options);
const cat: Trace = model.respondTo(Uint8Array.of(0, 1, 2));
const weight: number = cat.attention.at(0, 2, 0);
const hidden: Tensor = cat.hidden.slice(-1, [0, 2]);
const moved: boolean[] = cat.diff(model.respondTo([0, 1, 3])).rows.map((row) => !row.identical);
const one: number = randomStream("numpy", 7).normal();
const many: Tensor = randomStream("rand", 13).normal([4, 8]);
const again: Trace = Trace.fromPlain(cat.toPlain());
const bytes: Uint8Array = again.toSafetensors();
const seed: number | bigint | object = model.options.seed;
await init();
try {
  model.respondTo([9]);
} catch (error) {
  if (error instanceof GlassformerError && error.code === "token_out_of_range") console.log(error.position);
}
{
  using scoped = new CausalLanguageModel({ nVocab: 0, seed: randomStream("rand", 13), init: "rustlab" });
  scoped.respondToRows(many).free();
}
console.log(weight, hidden, moved, one, bytes, seed, memory().liveModels);

// @ts-expect-error nVocab is required
new CausalLanguageModel({});
// @ts-expect-error there is no such activation
new CausalLanguageModel({ nVocab: 7, activation: "tanhh" });
// @ts-expect-error a token id is a number
model.respondTo(["the"]);
// @ts-expect-error there is no such code
if (new GlassformerError("oops", "").message) console.log();
