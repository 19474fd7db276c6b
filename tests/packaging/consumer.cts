/** What a strict TypeScript user of CommonJS writes; compiled, not run. */

import glassformer = require("glassformer");

const model = new glassformer.CausalLanguageModel({ nVocab: 7 });
const logits: glassformer.Tensor = model.respondTo([0, 1, 2]).logits;
console.log(logits.size);
