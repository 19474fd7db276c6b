/** The encoder: no mask, names with and without their tower, averages over heads, stages of whole numbers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, EncoderModel, Trace } from "glassformer";
import { refusal } from "./support.mjs";

const model = new EncoderModel({ nVocab: 7, nBlocks: 2 });
const trace = model.respondTo([0, 1, 2]);

test("every row sees every other, and a causal mask makes it the decoder, to the bit", () => {
  assert.equal(model.options.mask, "none");
  assert.ok(trace.attention.data.every((weight) => weight > 0));
  const causal = new EncoderModel({ nVocab: 7, nBlocks: 2, mask: "causal" }).respondTo([0, 1, 2]);
  const decoder = new CausalLanguageModel({ nVocab: 7, nBlocks: 2 }).respondTo([0, 1, 2]);
  assert.equal(causal.diff(decoder).partsFrom, null);
  assert.equal(trace.diff(model.respondTo([0, 1, 3])).rows[0].identical, false);
});

test("names may have a leading tower, in the model and in its traces", () => {
  for (const name of trace.stages) {
    assert.ok(trace.has(`encoder.${name}`));
    assert.deepEqual(trace.get(`encoder.${name}`), trace.get(name));
    assert.equal(trace.describe(`encoder.${name}`).name, name);
  }
  for (const { name } of model.parameters) {
    assert.deepEqual(model.parameter(`encoder.${name}`), model.parameter(name));
  }
  assert.deepEqual(trace.averageWeights("encoder.blocks.1.attention.weights"), trace.averageWeights());
  assert.equal(trace.has("encoder.encoder.logits"), false);
  assert.equal(trace.has("encoder."), false);
  assert.equal(trace.has("encoder.attention"), false);
  const own = new EncoderModel({ nVocab: 7 });
  own.setParameter("encoder.head", new Float64Array(28).fill(2));
  assert.equal(own.parameter("head").at(0, 0), 2);
  assert.deepEqual(Object.keys(own.toJSON().parameters), ["head"]);
  assert.deepEqual(EncoderModel.fromJSON(own.toJSON()).parameter("head"), own.parameter("head"));
  const decoder = new CausalLanguageModel({ nVocab: 7 });
  assert.equal(decoder.respondTo([0]).has("encoder.hidden"), false);
  assert.equal(refusal(() => decoder.parameter("encoder.head")).code, "unknown_parameter");
  assert.equal(refusal(() => trace.get("encoder.blocks.0.hiden")).nearest[0], "blocks.0.hidden");
});

test("a plain copy and JSON say which model it was", () => {
  const plain = structuredClone(trace.toPlain());
  assert.equal(plain.model, "EncoderModel");
  assert.ok(Trace.fromPlain(plain).has("encoder.logits"));
  assert.equal(trace.toJSON().model, "EncoderModel");
});

test("plain traces of before there were other models are still read", () => {
  const own = new CausalLanguageModel({ nVocab: 7 }).respondTo([0, 1]);
  const { format, options, start, tokens, length, data } = own.toPlain();
  const again = Trace.fromPlain({ format, options, start, tokens, length, data });
  assert.equal(again.diff(own).partsFrom, null);
  assert.deepEqual([again.sourceTokens, again.sourceWords, again.sourceLength], [[], [], 0]);
});

test("weights are averaged over heads as their sum divided by their number", () => {
  for (const dtype of ["float64", "float32"]) {
    const own = new EncoderModel({ nVocab: 7, nBlocks: 2, nModel: 6, nHeads: 3, dtype }).respondTo([
      0, 1, 2, 3,
    ]);
    const average = own.averageWeights();
    assert.deepEqual([average.shape, average.axes, average.dtype], [[4, 4], ["query", "key"], dtype]);
    const round = dtype === "float32" ? Math.fround : Number;
    for (let t = 0; t < 4; t++) {
      for (let s = 0; s < 4; s++) {
        const heads = [0, 1, 2].map((h) => own.attention.at(h, t, s));
        assert.equal(average.at(t, s), round(round(round(heads[0] + heads[1]) + heads[2]) / 3));
      }
    }
    assert.deepEqual(own.averageWeights("blocks.1.attention.weights"), average);
    assert.deepEqual(own.averageWeights("blocks.1.attn.hook_pattern"), average);
    assert.deepEqual(own.averageWeights("attention"), average);
    assert.notDeepEqual(own.averageWeights("blocks.0.attention.weights"), average);
  }
  for (const stage of ["blocks.0.attention.scores", "hidden", "logits"]) {
    assert.equal(refusal(() => trace.averageWeights(stage)).code, "invalid_option");
  }
  for (const stage of [null, 3, "weights", "blocks.2.attention.weights"]) {
    assert.equal(refusal(() => trace.averageWeights(stage)).code, "unknown_stage");
  }
});

const mixture = new CausalLanguageModel({
  nVocab: 7,
  feedForward: { experts: 3, selected: 2, capacity: 2, noise: 0.1 },
});

test("indices and counts are whole numbers, in every form", () => {
  const own = mixture.respondTo([0, 1, 2, 3]);
  const stage = (name) => `blocks.0.feed_forward.${name}`;
  for (const name of ["selected", "load", "overflow"]) {
    assert.ok(own.get(stage(name)).data instanceof Int32Array, name);
    assert.equal(own.describe(stage(name)).integer, true);
  }
  assert.equal(own.describe(stage("gates")).integer, false);
  assert.deepEqual(own.get(stage("importance_cv2")).shape, []);
  assert.equal(
    own.get(stage("load")).data.reduce((sum, n) => sum + n),
    8,
  );
  const overflowing = own.get(stage("overflow")).data.reduce((sum, n) => sum + n);
  const dropped = own.get(stage("selected")).data.filter((e) => e === -1).length;
  assert.ok(dropped > 0 && dropped === overflowing);
  assert.deepEqual(Trace.fromPlain(own.toPlain()).get(stage("selected")), own.get(stage("selected")));
  assert.match(String(own.get(stage("selected"))), /^\[\[ ?-?\d/);
  const bytes = own.toSafetensors();
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  assert.deepEqual([header[stage("load")].dtype, header[stage("load")].shape], ["I32", [3]]);
  assert.deepEqual(
    [header[stage("importance_cv2")].dtype, header[stage("importance_cv2")].shape],
    ["F64", []],
  );
});

test("tidy rows have columns for experts and choices, and no position where a stage has none", () => {
  const own = mixture.respondTo([0, 1, 2, 3]);
  const rows = own.toRows();
  const size = own.stages.reduce((sum, name) => sum + own.get(name).size, 0);
  assert.equal(rows.length, size);
  for (const { stage, value, token, ...place } of rows) {
    const { axes } = own.get(stage);
    const columns = { query: "position", unit: "coordinate", vocabulary: "coordinate" };
    const index = axes.map((axis) => place[columns[axis] ?? axis]);
    assert.ok(Object.is(own.get(stage).at(...index), value), stage);
    assert.equal(Object.values(place).filter((i) => i !== null).length, axes.length, stage);
    assert.equal(token, place.position === null ? null : String(own.tokens[place.position]));
  }
});
