/** Options that have options of their own, models from JSON, and parameters of one and two axes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, EncoderDecoderModel, EncoderModel, Trace } from "glassformer";
import { refusal } from "./support.mjs";

/** Options with parts, as they are given, and what the parts are filled in with. */
const PARTS = [
  [
    { feedForward: { experts: 3, selected: 2 } },
    "feedForward",
    { experts: 3, selected: 2, expert: "dense", renormalize: true, overflow: "drop", noise: 0, noiseSeed: 0 },
  ],
  [{ position: "rotary" }, "rotary", { base: 10000, pairing: "adjacent", width: 2 }],
  [
    { position: "rotary", rotary: { scaling: { kind: "linear", factor: 4 } } },
    "rotary",
    { base: 10000, pairing: "adjacent", width: 2, scaling: { kind: "linear", factor: 4 } },
  ],
  [{ position: "alibi" }, "alibiSlopes", [1 / 16, 1 / 256]],
  [{ position: "alibi", alibiSlopes: [1, 0.5] }, "alibiSlopes", [1, 0.5]],
  [{ bias: true, normAffine: true }, "bias", { attention: true, feedForward: true, norm: true, head: true }],
  [
    { bias: { attention: "qkv" } },
    "bias",
    { attention: "qkv", feedForward: false, norm: false, head: false },
  ],
  [{ bias: {} }, "bias", false],
];

function isFrozen(value) {
  return typeof value !== "object" || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
}

test("parts are filled in, frozen to their ends, and make the same model again", () => {
  for (const [given, name, want] of PARTS) {
    const model = new CausalLanguageModel({ nVocab: 7, ...given });
    assert.deepEqual(model.options[name], want);
    assert.ok(isFrozen(model.options), name);
    const trace = model.respondTo([0, 1, 2]);
    for (const again of [
      new CausalLanguageModel(model.options),
      CausalLanguageModel.fromJSON(JSON.parse(JSON.stringify(model))),
    ]) {
      assert.deepEqual(again.options, model.options);
      assert.equal(again.respondTo([0, 1, 2]).diff(trace).partsFrom, null);
    }
    const plain = Trace.fromPlain(structuredClone(trace.toPlain()));
    assert.deepEqual([plain.stages, plain.logits], [trace.stages, trace.logits]);
    assert.deepEqual(metadataOf(trace.toSafetensors()).options, model.toJSON().options);
    assert.deepEqual(metadataOf(model.toSafetensors()).options, model.toJSON().options);
  }
});

function metadataOf(bytes) {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const { __metadata__: metadata } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  return { ...metadata, options: JSON.parse(metadata.options) };
}

test("what the caller's parts become afterwards changes nothing", () => {
  const rotary = { base: 100, scaling: { kind: "linear", factor: 2 } };
  const alibiSlopes = [1, 2];
  const turning = new CausalLanguageModel({ nVocab: 7, position: "rotary", rotary });
  const sloping = new CausalLanguageModel({ nVocab: 7, position: "alibi", alibiSlopes });
  rotary.base = 1;
  rotary.scaling.factor = 9;
  alibiSlopes[0] = 9;
  assert.deepEqual([turning.options.rotary.base, turning.options.rotary.scaling.factor], [100, 2]);
  assert.deepEqual(sloping.options.alibiSlopes, [1, 2]);
  assert.throws(() => {
    turning.options.rotary.scaling.factor = 3;
  }, TypeError);
});

test("models that differ in a part alone have stages of their own", () => {
  const stages = (feedForward) => new CausalLanguageModel({ nVocab: 7, feedForward }).respondTo([0]).stages;
  assert.equal(stages({ experts: 2, selected: 1 }).includes("blocks.0.feed_forward.overflow"), false);
  assert.equal(
    stages({ experts: 2, selected: 1, capacity: 1 }).includes("blocks.0.feed_forward.overflow"),
    true,
  );
  const shape = (experts) =>
    new CausalLanguageModel({ nVocab: 7, feedForward: { experts, selected: 1 } })
      .respondTo([0])
      .get("blocks.0.feed_forward.router").shape;
  assert.deepEqual(
    [shape(2), shape(5)],
    [
      [1, 2],
      [1, 5],
    ],
  );
});

const cyclic = { base: 10 };
cyclic.scaling = cyclic;
const deep = {};
deep.scaling = { kind: { kind: { kind: {} } } };
const slopes = [1];
slopes.push(slopes);
const throwing = new Proxy(
  {},
  {
    ownKeys() {
      throw new Error("mine");
    },
  },
);

/** Parts that are refused, each with the option that the error names. */
const REFUSED = [
  [{ feedForward: { experts: 2, selected: 1, expertz: 3 } }, "feedForward.expertz"],
  [{ feedForward: { experts: 2 } }, "feedForward.selected"],
  [{ feedForward: { experts: 2, selected: 0 } }, "feedForward.selected"],
  [{ feedForward: { experts: 2, selected: 1.5 } }, "feedForward.selected"],
  [{ feedForward: { experts: 2, selected: 1, noiseSeed: -1 } }, "feedForward.noiseSeed"],
  [{ feedForward: [] }, "feedForward"],
  [{ feedForward: new Map([["experts", 2]]) }, "feedForward"],
  [{ feedForward: () => 3 }, "feedForward"],
  [{ feedForward: throwing }, "feedForward"],
  [{ feedForward: { experts: 10n ** 5000n, selected: 1 } }, "feedForward.experts"],
  [{ position: "rotary", rotary: { Base: 2 } }, "rotary.Base"],
  [{ position: "rotary", rotary: { ["__proto__"]: 2 } }, "rotary.__proto__"],
  [{ position: "rotary", rotary: 10000 }, "rotary"],
  [{ position: "rotary", rotary: new (class Rotary {})() }, "rotary"],
  [{ position: "rotary", rotary: { scaling: { kind: "linear" } } }, "rotary.scaling.factor"],
  [{ position: "rotary", rotary: { scaling: { kind: "linear", factor: 2, low: 1 } } }, "rotary.scaling.low"],
  [{ position: "rotary", rotary: { scaling: throwing } }, "rotary.scaling"],
  [{ position: "rotary", rotary: cyclic }, "rotary.scaling.base"],
  [{ position: "rotary", rotary: deep }, "rotary.scaling.kind"],
  [{ position: "alibi", alibiSlopes: [1, "2"] }, "alibiSlopes"],
  [{ position: "alibi", alibiSlopes: [1, Number.NaN] }, "alibiSlopes"],
  [{ position: "alibi", alibiSlopes: slopes }, "alibiSlopes"],
  [{ position: "alibi", alibiSlopes: new Array(2) }, "alibiSlopes"],
  [{ position: "alibi", alibiSlopes: Object.assign([], { length: 2 ** 32 - 1 }) }, "alibiSlopes"],
  [{ position: "alibi", alibiSlopes: { 0: 1, 1: 2, length: 2 } }, "alibiSlopes"],
  [{ bias: "all" }, "bias"],
  [{ bias: { attention: "kv" } }, "bias.attention"],
  [{ bias: { heads: true } }, "bias.heads"],
  [{ nSourceVocab: 7 }, "nSourceVocab"],
  [{ nEncoderBlocks: 1 }, "nEncoderBlocks"],
  [{ sourceWords: ["a"] }, "sourceWords"],
];

test("parts that are none are refused by their whole name, in every model", () => {
  for (const Model of [CausalLanguageModel, EncoderModel]) {
    for (const [given, option] of REFUSED) {
      const error = refusal(() => new Model({ nVocab: 7, ...given }));
      assert.deepEqual([error.code, error.option], ["invalid_option", option], error.message);
    }
  }
  const part = { nVocab: 7, position: "rotary", rotary: { bse: 1 } };
  assert.deepEqual(refusal(() => new EncoderDecoderModel(part)).nearest, ["base"]);
  const slopes = { nVocab: 7, position: "alibi", alibiSlopes: [1] };
  assert.equal(refusal(() => new CausalLanguageModel(slopes)).code, "config_conflict");
});

test("a list of slopes is read by index and length alone, once", () => {
  let reads = 0;
  const alibiSlopes = [1, 2];
  Object.defineProperty(alibiSlopes, 0, {
    enumerable: true,
    get() {
      reads += 1;
      return reads;
    },
  });
  alibiSlopes[Symbol.iterator] = () => {
    throw new Error("mine");
  };
  const { options } = new CausalLanguageModel({ nVocab: 7, position: "alibi", alibiSlopes });
  assert.deepEqual(options.alibiSlopes, [1, 2]);
  assert.equal(reads, 1);
});

test("an encoder-decoder's source is as its target unless it is chosen; no other model has one", () => {
  const { nSourceVocab, nEncoderBlocks } = new EncoderDecoderModel({ nVocab: 7, nBlocks: 2 }).options;
  assert.deepEqual([nSourceVocab, nEncoderBlocks], [7, 2]);
  assert.equal(new EncoderDecoderModel({ nVocab: 7 }).options.nEncoderBlocks, 1);
  assert.equal("nSourceVocab" in new CausalLanguageModel({ nVocab: 7 }).options, false);
  const undefinedCounts = {
    nVocab: 7,
    nSourceVocab: undefined,
    nEncoderBlocks: undefined,
    sourceWords: undefined,
  };
  assert.equal(new EncoderModel(undefinedCounts).options.mask, "none");
  assert.equal(new EncoderModel({ nVocab: 7, mask: "causal" }).options.mask, "causal");
  for (const [given, option] of [
    [{ nSourceVocab: null }, "nSourceVocab"],
    [{ nEncoderBlocks: 0 }, "nEncoderBlocks"],
    [{ nBlocks: "2" }, "nBlocks"],
    [{ nSourceVocab: 3, sourceWords: ["a", "b", 1] }, "sourceWords"],
    [{ nSourceVocab: 3, sourceWords: "abc" }, "sourceWords"],
    [{ mask: null }, "mask"],
  ]) {
    assert.equal(refusal(() => new EncoderDecoderModel({ nVocab: 7, ...given })).option, option);
  }
  assert.equal(refusal(() => new EncoderModel({ nVocab: 7, mask: null })).option, "mask");
  assert.equal(refusal(() => new EncoderDecoderModel({})).option, "nVocab");
  const words = { nVocab: 7, nSourceVocab: 3, sourceWords: ["a"] };
  const error = refusal(() => new EncoderDecoderModel(words));
  assert.deepEqual([error.code, error.options], ["config_conflict", ["sourceWords", "nSourceVocab"]]);
});

test("a model's JSON says which model it is, and only that one takes it", () => {
  const models = { CausalLanguageModel, EncoderModel, EncoderDecoderModel };
  for (const [name, Model] of Object.entries(models)) {
    const model = new Model({ nVocab: 7, bias: true, normAffine: true, seed: 2n ** 63n });
    const [gain] = model.parameters.filter((parameter) => parameter.name.endsWith("gain"));
    model.setParameter(gain.name, [1, 2, -0, 4]);
    const json = JSON.parse(JSON.stringify(model));
    assert.equal(json.model, name);
    const again = Model.fromJSON(json);
    assert.ok(again instanceof Model);
    assert.deepEqual(
      [again.options, again.parameter(gain.name)],
      [model.options, model.parameter(gain.name)],
    );
    for (const Other of Object.values(models)) {
      if (Other !== Model) assert.equal(refusal(() => Other.fromJSON(json)).option, "model");
    }
    assert.equal(metadataOf(model.toSafetensors()).model, name);
  }
  // As it was written when there was one model alone.
  const old = {
    format: "glassformer-model-1",
    options: { nVocab: 7, norm: "layer", mask: "causal", bias: false },
  };
  assert.equal(CausalLanguageModel.fromJSON(old).options.nModel, 4);
  for (const model of [null, 3, "Model", "__proto__"]) {
    assert.equal(refusal(() => CausalLanguageModel.fromJSON({ ...old, model })).option, "model");
  }
});

test("parameters of one axis are numbers alone, tables have rows per position", () => {
  const options = { nVocab: 7, position: "learned", maxContext: 5, bias: true, normAffine: true };
  const model = new CausalLanguageModel(options);
  const axes = Object.fromEntries(
    model.parameters.map(({ name }) => [name, model.parameter(name).axes.join()]),
  );
  assert.deepEqual(
    [
      "position",
      "blocks.0.attention.norm.gain",
      "blocks.0.attention.query_bias",
      "blocks.0.attention.output_bias",
      "blocks.0.feed_forward.expand_bias",
      "blocks.0.feed_forward.contract_bias",
      "head_bias",
    ].map((name) => axes[name]),
    ["position,coordinate", "coordinate", "out", "coordinate", "unit", "coordinate", "vocabulary"],
  );
  const layouts = new Map(model.parameters.map(({ name, layout, shape }) => [name, [layout, shape]]));
  assert.deepEqual(layouts.get("position"), ["row per position", [5, 4]]);
  assert.deepEqual(layouts.get("head_bias"), ["vector", [7]]);
  const gain = "blocks.0.attention.norm.gain";
  for (const values of [
    [1, 2, 3, 4],
    Float32Array.of(1, 2, 3, 4),
    { data: [1, 2, 3, 4], shape: [4] },
    { data: [1, 2, 3, 4] },
  ]) {
    model.setParameter(gain, values);
    assert.deepEqual(model.parameter(gain).tolist(), [1, 2, 3, 4]);
  }
  for (const [values, code] of [
    [[[1, 2, 3, 4]], "shape_mismatch"],
    [[1, 2, 3], "shape_mismatch"],
    [{ data: [1, 2, 3, 4], shape: [4, 1] }, "shape_mismatch"],
    [{ data: [1, 2, 3, 4], shape: [1, 4] }, "shape_mismatch"],
    [{ data: [1, 2, 3, 4], shape: [] }, "shape_mismatch"],
    [[1, 2, 3, Number.NaN], "not_finite"],
    [[1, 2, 3, [4]], "not_finite"],
    [{ data: [1, 2, 3, 4], shape: Object.assign([], { length: 2 ** 32 - 1 }) }, "shape_mismatch"],
  ]) {
    assert.equal(refusal(() => model.setParameter(gain, values)).code, code);
    assert.deepEqual(model.parameter(gain).tolist(), [1, 2, 3, 4]);
  }
});
