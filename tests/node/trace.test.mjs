/** Traces: stages, TransformerLens names, and the forms other tools read. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { CausalLanguageModel, Trace } from "glassformer";
import { refusal } from "./support.mjs";

const WORDS = ["<start>", "the", "cat", "dog", "sat", "slept", "<end>"];
const model = new CausalLanguageModel({ nVocab: 7, words: WORDS });
const trace = model.respondTo([0, 1, 2]);

/** Every stage that this model has, with its shape for T = 3, in execution order: the documentation's table. */
const STAGES = {
  embedding: [3, 4],
  position: [3, 4],
  positioned: [3, 4],
  "blocks.0.attention.normalized": [3, 4],
  "blocks.0.attention.query": [2, 3, 2],
  "blocks.0.attention.key": [2, 3, 2],
  "blocks.0.attention.value": [2, 3, 2],
  "blocks.0.attention.scores": [2, 3, 3],
  "blocks.0.attention.weights": [2, 3, 3],
  "blocks.0.attention.mixed": [2, 3, 2],
  "blocks.0.attention.output": [3, 4],
  "blocks.0.after_attention": [3, 4],
  "blocks.0.feed_forward.normalized": [3, 4],
  "blocks.0.feed_forward.pre": [3, 8],
  "blocks.0.feed_forward.activated": [3, 8],
  "blocks.0.feed_forward.output": [3, 4],
  "blocks.0.hidden": [3, 4],
  "final.normalized": [3, 4],
  logits: [3, 7],
  probabilities: [3, 7],
};

test("every stage is there, in execution order, with its shape", () => {
  assert.deepEqual(trace.stages, Object.keys(STAGES));
  for (const [name, shape] of Object.entries(STAGES)) {
    assert.ok(trace.has(name));
    assert.deepEqual(trace.get(name).shape, shape, name);
    const { symbol, axes, kind, meaning, formula, inputs } = trace.describe(name);
    assert.deepEqual(axes, trace.get(name).axes);
    assert.ok(symbol && kind && meaning.endsWith(".") && formula.includes("="), name);
    const symbols = trace.stages
      .slice(0, trace.stages.indexOf(name))
      .map((earlier) => trace.describe(earlier).symbol);
    assert.ok(!symbols.includes(symbol) && formula.startsWith(symbol), formula);
    for (const input of inputs) {
      assert.ok(
        /^(tokens|parameter .+)$/.test(input) || trace.stages.indexOf(input) < trace.stages.indexOf(name),
        input,
      );
    }
  }
});

test("the short names are those of the last block", () => {
  const deep = new CausalLanguageModel({ nVocab: 7, nBlocks: 3 }).respondTo([1, 2]);
  assert.equal(deep.stages.length, 5 + 3 * 14 + 1);
  assert.deepEqual(deep.hidden, deep.get("blocks.2.hidden"));
  assert.deepEqual(deep.attention, deep.get("blocks.2.attention.weights"));
  assert.deepEqual(deep.afterAttention, deep.get("blocks.2.after_attention"));
  assert.deepEqual(deep.feedForward, deep.get("blocks.2.feed_forward.output"));
  for (const name of [
    "positioned",
    "attention",
    "afterAttention",
    "feedForward",
    "hidden",
    "logits",
    "probabilities",
  ]) {
    assert.ok(deep.has(name));
    assert.deepEqual(deep.get(name), deep[name]);
  }
});

test("scores are -Infinity and weights exactly 0 where a later token is hidden; each row sums to 1", () => {
  const { attention } = trace;
  const scores = trace.get("blocks.0.attention.scores");
  for (let h = 0; h < 2; h++) {
    for (let t = 0; t < 3; t++) {
      let sum = 0;
      for (let s = 0; s < 3; s++) {
        assert.equal(scores.at(h, t, s) === Number.NEGATIVE_INFINITY, s > t);
        if (s > t) assert.ok(Object.is(attention.at(h, t, s), 0));
        sum += attention.at(h, t, s);
      }
      assert.ok(Math.abs(sum - 1) < 1e-15);
    }
  }
});

test("TransformerLens hook names give its axis order with a leading batch axis", () => {
  const hooks = {
    hook_embed: "embedding",
    hook_pos_embed: "position",
    "blocks.0.hook_resid_pre": "positioned",
    "blocks.0.attn.hook_attn_scores": "blocks.0.attention.scores",
    "blocks.0.attn.hook_pattern": "blocks.0.attention.weights",
    "blocks.0.hook_attn_out": "blocks.0.attention.output",
    "blocks.0.hook_resid_mid": "blocks.0.after_attention",
    "blocks.0.mlp.hook_pre": "blocks.0.feed_forward.pre",
    "blocks.0.mlp.hook_post": "blocks.0.feed_forward.activated",
    "blocks.0.hook_mlp_out": "blocks.0.feed_forward.output",
    "blocks.0.hook_resid_post": "blocks.0.hidden",
    "ln_final.hook_normalized": "final.normalized",
  };
  for (const [hook, name] of Object.entries(hooks)) {
    assert.ok(trace.has(hook), hook);
    assert.deepEqual(trace.get(hook).shape, [1, ...trace.get(name).shape], hook);
    assert.deepEqual(trace.get(hook).data, trace.get(name).data, hook);
  }
  const deep = new CausalLanguageModel({ nVocab: 7, nBlocks: 3 }).respondTo([0, 1, 2]);
  for (const n of [1, 2]) {
    assert.deepEqual(deep.get(`blocks.${n}.hook_resid_pre`).data, deep.get(`blocks.${n - 1}.hidden`).data);
  }
  assert.equal(deep.has("blocks.3.hook_resid_pre"), false);
  const { nearest } = refusal(() => trace.get("blocks.0.attn.hook_patern"));
  assert.equal(nearest[0], "blocks.0.attn.hook_pattern");
  const query = trace.get("blocks.0.attn.hook_q");
  assert.deepEqual(
    [query.shape, query.axes],
    [
      [1, 3, 2, 2],
      ["batch", "position", "head", "coordinate"],
    ],
  );
  assert.equal(query.at(0, 2, 1, 0), trace.get("blocks.0.attention.query").at(1, 2, 0));
});

test("tidy rows hold every cell once, with its coordinates and token", () => {
  const rows = trace.toRows();
  const cells = Object.values(STAGES).reduce(
    (sum, shape) => sum + shape.reduce((product, n) => product * n, 1),
    0,
  );
  assert.equal(rows.length, cells);
  for (const { stage, head, position, key, token, coordinate, value } of rows) {
    const index = [head, position, key, coordinate].filter((i) => i !== null);
    assert.ok(Object.is(trace.get(stage).at(...index), value));
    assert.equal(token, WORDS[position]);
  }
});

test("a plain copy passes through structured cloning and gives the same trace", () => {
  for (const options of [
    { nVocab: 7, words: WORDS },
    { nVocab: 7, dtype: "float32", seed: 2n ** 60n },
    { nVocab: 7, nModel: 64, nBlocks: 4 },
  ]) {
    const own = new CausalLanguageModel(options).respondTo([0, 1, 2, 3, 4, 5, 6]);
    const copy = Trace.fromPlain(structuredClone(own.toPlain()));
    assert.deepEqual([copy.tokens, copy.words, copy.stages], [own.tokens, own.words, own.stages]);
    for (const name of own.stages) assert.deepEqual(copy.get(name), own.get(name));
    assert.ok(copy.diff(own).rows.every((row) => row.identical));
  }
  const rows = new CausalLanguageModel({ nVocab: 0 }).respondToRows([[1, 2, 3, 4]]);
  assert.deepEqual(Trace.fromPlain(structuredClone(rows.toPlain())).hidden, rows.hidden);
});

test("JSON follows the published schema and loses no bit", () => {
  const schema = JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve("glassformer/trace.schema.json"), "utf8"),
  );
  const validate = new Ajv({ strict: true }).compile(schema);
  const rows = new CausalLanguageModel({ nVocab: 0, seed: 2n ** 63n }).respondToRows([[1, 2, 3, 4]]);
  for (const own of [trace, rows]) {
    const json = JSON.parse(JSON.stringify(own));
    assert.ok(validate(json), JSON.stringify(validate.errors));
    for (const { name, axes, shape, data } of json.stages) {
      const tensor = own.get(name);
      assert.deepEqual([axes, shape], [tensor.axes, tensor.shape]);
      assert.ok(data.every((x, i) => Object.is(Number(x), tensor.data[i])));
    }
  }
  assert.equal(validate({ ...JSON.parse(JSON.stringify(trace)), more: 1 }), false);
});

test("safetensors bytes have the format's header, aligned offsets and the same numbers", () => {
  for (const dtype of ["float64", "float32"]) {
    const own = new CausalLanguageModel({ nVocab: 7, words: WORDS, dtype }).respondTo([0, 1, 2]);
    const bytes = own.toSafetensors();
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const length = Number(view.getBigUint64(0, true));
    assert.equal(length % 8, 0);
    const { __metadata__: metadata, ...tensors } = JSON.parse(
      new TextDecoder().decode(bytes.subarray(8, 8 + length)),
    );
    assert.ok(Object.values(metadata).every((value) => typeof value === "string"));
    assert.deepEqual(JSON.parse(metadata.words), ["<start>", "the", "cat"]);
    assert.deepEqual(Object.keys(tensors), [...own.stages]);
    let end = 0;
    for (const [name, { dtype: kind, shape, data_offsets: offsets }] of Object.entries(tensors)) {
      assert.equal(offsets[0], end);
      end = offsets[1];
      assert.deepEqual(shape, own.get(name).shape);
      const width = kind === "F64" ? 8 : 4;
      const read = (i) =>
        width === 8
          ? view.getFloat64(8 + length + offsets[0] + i * 8, true)
          : view.getFloat32(8 + length + offsets[0] + i * 4, true);
      for (const [i, x] of own.get(name).data.entries()) assert.ok(Object.is(read(i), x), `${name}[${i}]`);
    }
    assert.equal(8 + length + end, bytes.length);
  }
});

test("traces of different models or lengths are compared over what both have, or refused", () => {
  const longer = model.respondTo([0, 1, 2, 3]);
  const { rows, partsFrom } = trace.diff(longer);
  assert.deepEqual([rows.length, partsFrom], [3, null]);
  const narrow = new CausalLanguageModel({ nVocab: 7, dtype: "float32" }).respondTo([0, 1, 2]);
  assert.throws(() => trace.diff(narrow), { name: "GlassformerError" });
});

test("a model's safetensors file holds every parameter in its layout", () => {
  const own = new CausalLanguageModel({ nVocab: 7, dtype: "float32" });
  const bytes = own.toSafetensors();
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const length = Number(view.getBigUint64(0, true));
  const { __metadata__: metadata, ...tensors } = JSON.parse(
    new TextDecoder().decode(bytes.subarray(8, 8 + length)),
  );
  assert.deepEqual(
    Object.keys(tensors),
    own.parameters.map(({ name }) => name),
  );
  assert.equal(JSON.parse(metadata.layouts).head, "in,out");
  for (const { name, shape } of own.parameters) {
    assert.deepEqual([tensors[name].dtype, tensors[name].shape], ["F32", shape]);
    const [start, end] = tensors[name].data_offsets;
    const { data } = own.parameter(name);
    assert.equal(end - start, 4 * data.length);
    for (const [i, x] of data.entries()) assert.equal(view.getFloat32(8 + length + start + 4 * i, true), x);
  }
});

test("a model's JSON carries options, seed and the parameters that were set", () => {
  const own = new CausalLanguageModel({ nVocab: 7, seed: 2n ** 63n, words: WORDS });
  own.setParameter(
    "head",
    own.parameter("head").data.map((x, i) => (i === 3 ? -0 : 2 * x)),
  );
  const json = JSON.parse(JSON.stringify(own));
  assert.deepEqual(Object.keys(json.parameters), ["head"]);
  const again = CausalLanguageModel.fromJSON(json);
  assert.deepEqual(again.options, own.options);
  assert.ok(Object.is(again.parameter("head").data[3], -0));
  assert.deepEqual(again.respondTo([1, 2]).logits, own.respondTo([1, 2]).logits);
});

test("setting a parameter changes later traces and no earlier one", () => {
  const own = new CausalLanguageModel({ nVocab: 7 });
  const before = own.respondTo([0, 1]);
  const kept = before.logits.data;
  const head = own.parameter("head");
  own.setParameter(
    "head",
    head.tolist().map((row) => row.map((x) => -x)),
  );
  assert.deepEqual(
    own.respondTo([0, 1]).logits.data,
    kept.map((x) => -x),
  );
  assert.deepEqual(before.logits.data, kept);
  own.setParameter("head", head);
  assert.deepEqual(own.respondTo([0, 1]).logits.data, kept);
});
