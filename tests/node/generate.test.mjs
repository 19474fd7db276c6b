/** Continuing a prompt: the lesson's runs, filters, beams, probabilities of sequences. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, math } from "glassformer";
import { golden, refusal } from "./support.mjs";

const model = new CausalLanguageModel({ nVocab: 7, nModel: 4, nHeads: 2 });

test("the lesson's runs come out token by token", () => {
  for (const { prompt, seed, greedy, temperature, max_new, steps } of golden("lessons/generation.json")
    .runs) {
    const run = model.generate(prompt, { maxNewTokens: max_new, seed, greedy, temperature, endId: 6 });
    assert.deepEqual(
      run.map(({ tokenId }) => tokenId),
      steps.map(({ token }) => token),
    );
    for (const [i, { p }] of steps.entries()) assert.ok(Math.abs(run[i].probability - p) < 1e-13);
  }
});

test("a step has its context, both distributions and what was removed", () => {
  const [first, second] = model.generate([0, 1, 2], { maxNewTokens: 2, topK: 3, topP: 0.8, seed: 4 });
  assert.deepEqual(first.context, [0, 1, 2]);
  assert.deepEqual(second.context, [0, 1, 2, first.tokenId]);
  assert.deepEqual(first.distribution.data, model.respondTo([0, 1, 2]).probabilities.row(2).data);
  const kept = [...first.filtered.data].filter((p) => p > 0);
  assert.ok(kept.length <= 3 && Math.abs(kept.reduce((sum, p) => sum + p) - 1) < 1e-15);
  const left = [...first.distribution.data].filter((_, id) => first.filtered.data[id] === 0);
  assert.ok(Math.abs(left.reduce((sum, p) => sum + p, 0) - first.removedMass) < 1e-15);
  assert.equal(first.probability, first.filtered.at(first.tokenId));
  const { filtered } = math.filterLogits(model.respondTo([0, 1, 2]).logits.row(2), { topK: 3, topP: 0.8 });
  assert.deepEqual(filtered.data, first.filtered.data);
});

test("a run is a seed's own, and one stream's", () => {
  const tokens = (seed) => model.generate([0], { maxNewTokens: 12, seed }).map(({ tokenId }) => tokenId);
  assert.deepEqual(tokens(5), tokens(5n));
  assert.notDeepEqual(tokens(5), tokens(6));
  assert.deepEqual(tokens(undefined), tokens(0));
  const float32 = new CausalLanguageModel({ nVocab: 7, dtype: "float32" });
  const [step] = float32.generate([0, 1], { maxNewTokens: 1 });
  assert.ok(step.distribution.data instanceof Float32Array);
});

test("the smallest temperature takes the most probable token", () => {
  for (const dtype of ["float64", "float32"]) {
    const own = new CausalLanguageModel({ nVocab: 7, dtype });
    const [greedy] = own.generate([0, 1, 2], { maxNewTokens: 1, greedy: true });
    const [step] = own.generate([0, 1, 2], { maxNewTokens: 1, temperature: 5e-324 });
    assert.deepEqual([step.tokenId, step.probability], [greedy.tokenId, 1]);
  }
});

test("the context bound ends a run quietly", () => {
  const short = new CausalLanguageModel({ nVocab: 7, maxContext: 5 });
  assert.equal(short.generate([0, 1, 2], { maxNewTokens: 50 }).length, 3);
  assert.equal(
    refusal(() => short.generate([0, 1, 2, 3, 4, 5], { maxNewTokens: 1 })).code,
    "context_exceeded",
  );
  assert.deepEqual(short.generate([0], { maxNewTokens: 0 }), []);
});

test("beams are the golden ones: narrow ones miss what the widest finds", () => {
  const widest = model.beams([0, 1, 2], { width: 343, maxNewTokens: 4 });
  for (const width of [1, 2, 4]) {
    const narrow = model.beams([0, 1, 2], { width, maxNewTokens: 4 });
    assert.equal(narrow.length, width);
    const all = widest.slice(0, width);
    assert.notDeepEqual(
      narrow.map(({ tokens }) => tokens),
      all.map(({ tokens }) => tokens),
    );
  }
  const [best] = widest;
  const whole = [0, 1, 2, ...best.tokens];
  assert.ok(Math.abs(model.sequenceLogProbability(whole, 3) - best.logProbability) < 1e-14);
  assert.ok(Math.abs(model.sequenceProbability(whole, 3) - Math.exp(best.logProbability)) < 1e-15);
});

test("a sequence's probability is the product of its tokens'", () => {
  const trace = model.respondTo([0, 1, 2]);
  const product = trace.probabilities.at(0, 1) * trace.probabilities.at(1, 2);
  assert.ok(Math.abs(model.sequenceProbability([0, 1, 2]) - product) < 1e-16);
  assert.ok(Math.abs(model.sequenceProbability([0, 1, 2], 2) - trace.probabilities.at(1, 2)) < 1e-16);
  // Without a mask a row sees the token that it is asked about, unless each beginning is read by itself.
  const open = new CausalLanguageModel({ nVocab: 7, mask: "none" });
  const [step] = open.generate([0, 1, 2], { maxNewTokens: 1, seed: 3 });
  const own = open.sequenceProbability([0, 1, 2, step.tokenId], 3);
  assert.ok(Math.abs(own - step.probability) < 1e-16);
  const beginnings = [[0], [0, 1], [0, 1, 2]].map((ids) => open.respondTo(ids).probabilities.row(-1));
  const each = beginnings.reduce((all, row, i) => all * row.at([1, 2, 3][i]), 1);
  assert.ok(Math.abs(open.sequenceProbability([0, 1, 2, 3]) - each) < 1e-16);
  const short = new CausalLanguageModel({ nVocab: 7, maxContext: 2 });
  assert.ok(short.sequenceProbability([0, 1, 2]) > 0);
});

test("what cannot be continued is refused, and the model answers as before", () => {
  const code = (options, ids = [0]) => refusal(() => model.generate(ids, options)).code;
  const one = { maxNewTokens: 1 };
  assert.equal(code(undefined), "invalid_option");
  assert.equal(code({}), "invalid_option");
  assert.equal(code({ maxNewTokens: 1.5 }), "invalid_option");
  assert.equal(code({ ...one, temperature: 0 }), "invalid_option");
  assert.equal(code({ ...one, temperature: -1e308 }), "invalid_option");
  assert.equal(code({ ...one, temperature: "1" }), "invalid_option");
  assert.equal(code({ ...one, topK: 0 }), "invalid_option");
  assert.equal(code({ ...one, topP: 1.1 }), "invalid_option");
  assert.equal(code({ ...one, seed: -1 }), "invalid_option");
  assert.equal(code({ ...one, seed: "x" }), "invalid_option");
  assert.equal(code({ ...one, greedy: 1 }), "invalid_option");
  assert.equal(code({ ...one, endId: 7 }), "token_out_of_range");
  assert.equal(code({ ...one, endId: 0.5 }), "not_an_integer");
  assert.equal(code({ ...one, topk: 1 }), "invalid_option");
  assert.equal(code(one, []), "empty_prompt");
  assert.equal(code(one, [7]), "token_out_of_range");
  assert.equal(code(one, [[0]]), "shape_mismatch");
  const beams = (options) => refusal(() => model.beams([0], options)).code;
  assert.equal(beams({ width: 0, maxNewTokens: 1 }), "invalid_option");
  assert.equal(beams({ width: 1 }), "invalid_option");
  assert.equal(beams({ width: 1, maxNewTokens: 1, lengthPenalty: Number.NaN }), "invalid_option");
  assert.equal(beams({ width: 1, maxNewTokens: 2, lengthPenalty: -1e308 }), "invalid_option");
  const from = (ids, start) => refusal(() => model.sequenceProbability(ids, start)).code;
  assert.equal(from([0, 1], 0), "index_out_of_range");
  assert.equal(from([0, 1], 2), "index_out_of_range");
  assert.equal(from([0, 1], 0.5), "not_an_integer");
  assert.equal(from([], 1), "empty_prompt");
  const bare = new CausalLanguageModel({ nVocab: 0 });
  assert.ok(["config_conflict", "token_out_of_range"].includes(refusal(() => bare.generate([0], one)).code));
  assert.equal(refusal(() => math.filterLogits([1, Number.NaN])).code, "not_finite");
  assert.deepEqual(model.generate([0, 1, 2], { ...one, greedy: true })[0].tokenId, 3);
});
