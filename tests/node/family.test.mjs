/** The family, as a user of the package meets it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, EncoderDecoderModel, EncoderModel, Trace } from "glassformer";
import { refusal } from "./support.mjs";

const STYLES = {
  gpt2: {
    position: "learned",
    activation: "gelu_tanh",
    normAffine: true,
    bias: true,
    tiedHead: true,
    init: "gpt2",
  },
  llama: {
    norm: "rms",
    normAffine: true,
    position: "rotary",
    rotary: { pairing: "half" },
    feedForward: "swiglu",
  },
  grouped: { nModel: 8, nHeads: 4, nKeyValueHeads: 2, headWidth: 6, position: "alibi", window: 3 },
  mixture: { feedForward: { experts: 3, selected: 2, expert: "swiglu", capacity: 3, overflow: "reroute" } },
  original: { normPlacement: "post", normAffine: true, bias: true },
  neox: { parallel: true, position: "rotary", rotary: { width: 2, pairing: "half" }, headWidth: 4 },
};

test("every style answers, gives its options back, and is the same model from its JSON", () => {
  for (const [name, style] of Object.entries(STYLES)) {
    const model = new CausalLanguageModel({ nVocab: 7, ...style });
    const trace = model.respondTo([0, 1, 2, 3]);
    const same = new CausalLanguageModel(model.options).respondTo([0, 1, 2, 3]);
    const revived = CausalLanguageModel.fromJSON(JSON.parse(JSON.stringify(model.toJSON())));
    const plain = Trace.fromPlain(structuredClone(trace.toPlain()));
    for (const other of [same, revived.respondTo([0, 1, 2, 3]), plain]) {
      assert.equal(trace.diff(other).partsFrom, null, name);
    }
    for (const stage of trace.stages) {
      const { axes, formula, meaning } = trace.describe(stage);
      assert.deepEqual(trace.get(stage).axes, axes);
      assert.ok(formula.length > 5 && meaning.length > 10 && !/[{}?|]/.test(meaning), `${stage}: ${meaning}`);
      assert.ok(!/\?|\{=|\|/.test(formula), `${stage}: ${formula}`);
    }
  }
});

test("a prompt of a batch has the bits that it has alone, on either side of the padding", () => {
  const prompts = [[0, 1, 2], [3], [4, 5, 6, 0, 1]];
  for (const style of Object.values(STYLES)) {
    const model = new CausalLanguageModel({ nVocab: 7, ...style });
    for (const padding of ["right", "left"]) {
      const batch = model.respondTo(prompts, { padding });
      assert.deepEqual(batch.lengths, [3, 1, 5]);
      const logits = batch.get("logits");
      assert.deepEqual([...logits.shape], [3, 5, 7]);
      prompts.forEach((ids, b) => {
        const alone = model.respondTo(ids);
        assert.equal(alone.diff(batch.prompt(b)).partsFrom, null);
        const shift = padding === "left" ? 5 - ids.length : 0;
        for (let t = 0; t < 5; t++) {
          const own = t - shift;
          const cell = logits.at(b, t, 3);
          if (own >= 0 && own < ids.length) assert.equal(cell, alone.logits.at(own, 3));
          else assert.ok(Number.isNaN(cell));
        }
        assert.deepEqual(batch.lastLogits.row(b).tolist(), alone.logits.row(-1).tolist());
      });
    }
  }
});

test("a query that may see nothing has weights of 0 and an output of the bias alone", () => {
  const model = new EncoderModel({ nVocab: 0, bias: { attention: true } });
  const bias = [1, 2, 3, 4];
  model.setParameter("blocks.0.attention.output_bias", bias);
  const rows = [
    [1, 0, 0, 2],
    [0, 1, 3, 0],
  ];
  const attention = [
    [false, true],
    [true, true],
  ];
  const trace = model.respondToRows(rows, { masks: { attention } });
  assert.deepEqual(trace.attention.tolist()[0], [
    [1, 0],
    [0, 0],
  ]);
  assert.deepEqual(trace.get("blocks.0.attention.output").tolist()[1], bias);
  assert.equal(
    refusal(() => model.respondToRows(rows, { masks: { attention: [[true]] } })).code,
    "shape_mismatch",
  );
});

test("an encoder-decoder has both towers' stages, and a source of another length", () => {
  const model = new EncoderDecoderModel({ nVocab: 7, nSourceVocab: 9, nEncoderBlocks: 2 });
  const trace = model.respondTo([8, 1, 4, 4], [0, 1, 2]);
  assert.deepEqual([...trace.get("decoder.blocks.0.cross_attention.weights").shape], [2, 3, 4]);
  assert.deepEqual([...trace.get("encoder.blocks.1.hidden").shape], [4, 4]);
  assert.deepEqual([...trace.logits.shape], [3, 7]);
  const other = model.respondTo([8, 1, 4, 4], [0, 1, 3]);
  assert.deepEqual(
    trace.diff(other).rows.map((row) => row.identical),
    [true, true, false],
  );
  const memory = trace.get("encoder.final.normalized");
  const again = model.respondToRows({ memory, target: trace.get("decoder.positioned") });
  assert.deepEqual(again.logits.tolist(), trace.logits.tolist());
});

test("a full expert is an error where that was chosen, and the model answers on", () => {
  const mixture = { experts: 2, selected: 2, capacity: 2, overflow: "error" };
  const model = new CausalLanguageModel({ nVocab: 7, feedForward: mixture });
  const error = refusal(() => model.respondTo([0, 1, 2]));
  assert.deepEqual([error.code, error.position, error.capacity], ["capacity_exceeded", 2, 2]);
  const { selected, load } = Object.fromEntries(
    ["selected", "load"].map((name) => [name, model.respondTo([0, 1]).get(`blocks.0.feed_forward.${name}`)]),
  );
  assert.deepEqual([selected.dtype, load.tolist()], ["int32", [2, 2]]);
});

test("the counts of the textbook", () => {
  const count = (options) =>
    new CausalLanguageModel(options).parameters.reduce((sum, parameter) => sum + parameter.count, 0);
  const stack = { nVocab: 0, finalNorm: false };
  const bias = { feedForward: true };
  assert.equal(count({ ...stack, nModel: 8, nHidden: 32, bias }), 808);
  const norms = { normAffine: true, bias: { feedForward: true, norm: true } };
  assert.equal(count({ ...stack, nModel: 8, nHidden: 32, ...norms }), 840);
  assert.equal(count({ ...stack, nModel: 16, nHidden: 64, bias }), 3152);
  assert.equal(count({ ...stack, nModel: 16, nHidden: 64, ...norms }), 3216);
  const wide = { ...stack, nModel: 768, nHeads: 12, nHidden: 3072, dtype: "float32" };
  assert.equal(count(wide), 7_077_888);
});

test("heads are columns of each row: B,T,D becomes B,H,T,K, which no reshape gives", () => {
  const model = new EncoderModel({ nVocab: 0, nModel: 8, nHeads: 2, norm: "none" });
  const rows = Array.from({ length: 2 }, (_, b) =>
    Array.from({ length: 4 }, (_, t) => Array.from({ length: 8 }, (_, d) => 100 * b + 10 * t + d)),
  );
  model.setParameter(
    "blocks.0.attention.value",
    Array.from({ length: 8 }, (_, i) => Array.from({ length: 8 }, (_, j) => (i === j ? 1 : 0))),
  );
  const heads = model.respondToRows(rows).get("blocks.0.attention.value");
  assert.deepEqual([...heads.shape], [2, 2, 4, 4]);
  assert.deepEqual(heads.row(0).row(0).row(0).tolist(), [0, 1, 2, 3]);
  assert.deepEqual(heads.row(0).row(1).row(0).tolist(), [4, 5, 6, 7]);
  assert.notDeepEqual(Array.from(heads.data), rows.flat(2));
});
