/** The residual stream taken apart, and bumped. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, EncoderDecoderModel, randomStream } from "glassformer";
import { golden, RUSTLAB, refusal } from "./support.mjs";

const model = new CausalLanguageModel({ nVocab: 7, nModel: 4, nHeads: 2, nBlocks: 2 });
const trace = model.respondTo([0, 1, 2]);

test("parts sum to what leaves the last block", () => {
  for (const heads of [true, false]) {
    const parts = trace.residualParts({ heads });
    const sum = trace.hidden.data.map((_, i) =>
      parts.reduce((total, { values }) => total + values.data[i], 0),
    );
    for (const [i, x] of sum.entries()) assert.ok(Math.abs(x - trace.hidden.data[i]) < 1e-14);
  }
  const parts = trace.residualParts();
  assert.deepEqual(parts.map(({ name }) => name).slice(0, 5), [
    "embedding",
    "position",
    "blocks.0.attention.output.head.0",
    "blocks.0.attention.output.head.1",
    "blocks.0.feed_forward.output",
  ]);
  assert.deepEqual([parts[2].stage, parts[2].head], ["blocks.0.attention.output", 0]);
  const results = trace.headResults("blocks.0.attention.output");
  assert.deepEqual(results.shape, [2, 3, 4]);
  assert.deepEqual(results.tolist()[1], parts[3].values.tolist());
  assert.deepEqual(trace.headResults().tolist()[0], parts[5].values.tolist());
});

test("the last layer of the lens is the logits, to the bit", () => {
  const lens = trace.logitLens();
  assert.deepEqual(
    lens.map(({ stage }) => stage),
    ["positioned", "blocks.0.hidden", "blocks.1.hidden"],
  );
  assert.deepEqual(lens[2].logits.data, trace.logits.data);
  assert.deepEqual(lens[2].probabilities.data, trace.probabilities.data);
  assert.notDeepEqual(trace.logitLens({ frozen: true })[0].logits.data, lens[0].logits.data);
});

test("contributions sum to a logit, and to a difference of two", () => {
  const one = trace.logitContributions(-1, 3);
  assert.equal(one.logit, trace.logits.at(2, 3));
  assert.ok(Math.abs(one.check) < 1e-14);
  const two = trace.logitContributions(2, 3, 5);
  assert.equal(two.logit, trace.logits.at(2, 3) - trace.logits.at(2, 5));
  const sum = two.parts.reduce((total, { value }) => total + value, two.constant);
  assert.ok(Math.abs(sum - two.logit) < 1e-14);
});

test("a bump at row 2 of the rustlab block moves the branches by the lesson's numbers", () => {
  const lesson = golden("lessons/rustlab_block.json").perturb_token3_channel1_by_1;
  const stream = randomStream("rand", 13);
  const rows = stream.normal([4, 8]);
  const block = new CausalLanguageModel({ ...RUSTLAB, seed: stream });
  const bump = { position: 2, coordinate: 0, amount: 1 };
  for (const [branch, stage, cells] of [
    ["attention", "positioned", [0, 0, 8, 8]],
    ["feed_forward", "blocks.0.after_attention", [0, 0, 8, 0]],
  ]) {
    const [response] = block.perturb({ stage, ...bump }, rows).branch;
    assert.equal(response.stage, `blocks.0.${branch}.output`);
    response.rows.forEach(({ sumAbs, cells: changed }, t) => {
      assert.ok(Math.abs(sumAbs - lesson[branch][t]) < 1e-11, `${branch} ${t}: ${sumAbs}`);
      assert.equal(changed, cells[t]);
    });
    assert.deepEqual(
      response.rows.map(({ sumAbs }) => sumAbs.toFixed(6)),
      lesson[branch].map((x) => x.toFixed(6)),
    );
  }
  const first = block.perturb({ ...bump, stage: "positioned", position: 0 }, rows);
  assert.ok(
    first.model.at(-1).rows.every(({ sumAbs }) => sumAbs > 0),
    "the first row moves every row",
  );
  const last = block.perturb({ ...bump, stage: "positioned", position: -1 }, rows);
  assert.deepEqual(
    last.model.at(-1).rows.map(({ sumAbs }) => sumAbs > 0),
    [false, false, false, true],
  );
});

test("values that are all 0.7 come out of any head as 0.7", () => {
  const edits = [{ stage: "blocks.0.attention.value", set: 0.7 }];
  const mixed = model.respondTo([0, 1, 2], { edits }).get("blocks.0.attention.mixed");
  assert.ok([...mixed.data].every((x) => Math.abs(x - 0.7) < 1e-15));
});

test("an encoder-decoder is bumped on either side", () => {
  const both = new EncoderDecoderModel({ nVocab: 7, nSourceVocab: 9 });
  const bump = { stage: "encoder.final.normalized", position: 1, coordinate: 0 };
  const { branch } = both.perturb(bump, [8, 1, 4], [0, 1, 2]);
  assert.deepEqual(
    branch.map(({ stage }) => stage),
    ["decoder.blocks.0.cross_attention.output"],
  );
  assert.ok(
    both
      .respondTo([8, 1], [0])
      .residualParts()
      .some(({ name }) => name.includes("cross_attention.output.head.1")),
  );
});

test("what cannot be taken apart is refused", () => {
  const post = new CausalLanguageModel({ nVocab: 7, normPlacement: "post", finalNorm: false }).respondTo([0]);
  assert.equal(refusal(() => post.residualParts()).code, "config_conflict");
  const bare = new CausalLanguageModel({ nVocab: 0 }).respondToRows([[1, 2, 3, 4]]);
  assert.equal(refusal(() => bare.logitLens()).code, "config_conflict");
  assert.equal(refusal(() => bare.logitContributions(0, 0)).code, "config_conflict");
  const code = (call) => refusal(call).code;
  assert.equal(
    code(() => trace.residualParts({ head: true })),
    "invalid_option",
  );
  assert.equal(
    code(() => trace.residualParts({ heads: 1 })),
    "invalid_option",
  );
  assert.equal(
    code(() => trace.headResults("logits")),
    "invalid_option",
  );
  assert.equal(
    code(() => trace.logitContributions(3, 0)),
    "index_out_of_range",
  );
  assert.equal(
    code(() => trace.logitContributions(0.5, 0)),
    "not_an_integer",
  );
  assert.equal(
    code(() => trace.logitContributions(0, 7)),
    "token_out_of_range",
  );
  const bump = (own, ids = [0, 1, 2]) => code(() => model.perturb(own, ids));
  assert.equal(bump({ stage: "positioned", position: 3, coordinate: 0 }), "index_out_of_range");
  assert.equal(bump({ stage: "positioned", position: 0, coordinate: 4 }), "index_out_of_range");
  assert.equal(bump({ stage: "positioned", position: 0, coordinate: 0.5 }), "not_an_integer");
  assert.equal(bump({ stage: "nothing", position: 0, coordinate: 0 }), "unknown_stage");
  assert.equal(bump({ stage: "logits", position: 0, coordinate: 0 }), "invalid_option");
  assert.equal(bump({ stage: "positioned", position: 0, coordinate: 0, amount: Number.NaN }), "not_finite");
  assert.equal(bump({ stage: "positioned", position: 0, coordinate: 0, by: 1 }), "invalid_option");
  assert.equal(bump({ stage: "positioned", position: 0, coordinate: 0 }, [9]), "token_out_of_range");
  assert.equal(bump({ stage: "positioned", position: 0, coordinate: 0 }, [[0, 1]]), "shape_mismatch");
});
