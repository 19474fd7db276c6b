/** The lesson's numbers, through the package. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, randomStream } from "glassformer";
import { golden, RUSTLAB } from "./support.mjs";

const four = (numbers) => Array.from(numbers, (x) => x.toFixed(4)).join(" ");
const lastRow = (tensor) => four(tensor.row(-1).data);

test("the printed numbers come out", () => {
  const model = new CausalLanguageModel({ nVocab: 7 });
  const cat = model.respondTo([0, 1, 2]);
  const dog = model.respondTo([0, 1, 3]);
  assert.equal(lastRow(cat.positioned), "0.6632 -0.7264 0.2649 1.1782");
  assert.equal(lastRow(cat.afterAttention), "0.8529 -0.8269 0.1632 0.9271");
  assert.equal(lastRow(cat.feedForward), "-0.5318 -0.1214 -0.1309 0.3195");
  assert.equal(lastRow(cat.hidden), "0.3210 -0.9483 0.0323 1.2465");
  assert.equal(lastRow(cat.get("blocks.0.attention.output")), "0.1897 -0.1005 -0.1018 -0.2512");
  assert.equal(four(cat.attention.slice(0, 2).data), "0.3988 0.3307 0.2705");
  assert.equal(four(dog.attention.slice(0, 2).data), "0.1624 0.4041 0.4335");

  const diff = cat.diff(dog);
  const hidden = diff.stages.find((s) => s.stage === "blocks.0.hidden");
  assert.equal(hidden.rows[2].maxAbs.toFixed(4), "0.3249");
  assert.deepEqual(hidden.rows[2].where.slice(0, 1), [2]);
  assert.equal(diff.stages.length, 20);
  for (const { stage, rows } of diff.stages) {
    for (const position of [0, 1]) {
      assert.deepEqual(
        rows[position],
        { position, identical: true, changedCells: 0, maxAbs: 0, where: null },
        stage,
      );
    }
  }
  assert.deepEqual(
    diff.rows.map((row) => row.identical),
    [true, true, false],
  );
  assert.equal(diff.partsFrom, "embedding");
});

test("every published trace agrees, stage by stage, to the golden file's own tolerance", () => {
  const model = new CausalLanguageModel({ nVocab: 7 });
  const stages = {
    embedding: "emb",
    positioned: "positioned",
    "blocks.0.attention.normalized": "norm1",
    "blocks.0.attention.weights": "attention",
    "blocks.0.after_attention": "after_attention",
    "blocks.0.feed_forward.normalized": "norm2",
    "blocks.0.feed_forward.pre": "ff_pre",
    "blocks.0.feed_forward.activated": "ff_act",
    "blocks.0.feed_forward.output": "feed_forward",
    "blocks.0.hidden": "hidden",
    "final.normalized": "final_norm",
    logits: "logits",
    probabilities: "p",
  };
  for (const name of ["trace_012", "trace_013", "trace_014", "trace_015", "trace_01231005"]) {
    const want = golden(`lessons/${name}.json`);
    const trace = model.respondTo(want.ids);
    for (const [stage, key] of Object.entries(stages)) {
      const flat = want[key].flat(3);
      const got = trace.get(stage).data;
      assert.equal(got.length, flat.length);
      for (const [i, x] of flat.entries()) {
        assert.ok(
          Math.abs(got[i] - x) <= 1e-12 + 1e-11 * Math.abs(x),
          `${name} ${stage}[${i}]: ${got[i]} and not ${x}`,
        );
      }
    }
  }
});

test("the parameters have the lesson's names, shapes and number", () => {
  const model = new CausalLanguageModel({ nVocab: 7 });
  assert.deepEqual(
    model.parameters.map(({ name, shape, layout, count }) => [name, shape, layout, count]),
    [
      ["embedding", [7, 4], "row per token", 28],
      ["blocks.0.attention.query", [4, 4], "out,in", 16],
      ["blocks.0.attention.key", [4, 4], "out,in", 16],
      ["blocks.0.attention.value", [4, 4], "out,in", 16],
      ["blocks.0.attention.output", [4, 4], "out,in", 16],
      ["blocks.0.feed_forward.expand", [4, 8], "in,out", 32],
      ["blocks.0.feed_forward.contract", [8, 4], "in,out", 32],
      ["head", [4, 7], "in,out", 28],
    ],
  );
  assert.equal(
    model.parameters.reduce((sum, { count }) => sum + count, 0),
    184,
  );
  const lesson = golden("lessons/model.json");
  assert.deepEqual(model.parameter("embedding").tolist(), lesson.E);
  assert.deepEqual(model.parameter("head").tolist(), lesson.O);
});

test("the rustlab block goes on drawing from the stream that gave its rows", () => {
  const norm = (tensor) => Math.sqrt(tensor.data.reduce((sum, x) => sum + x * x, 0));
  const close = (got, want) => assert.ok(Math.abs(got - want) <= 1e-14 * want, `${got} and not ${want}`);
  const stream = randomStream("rand", 13);
  const rows = stream.normal([4, 8]);
  const trace = new CausalLanguageModel({ ...RUSTLAB, seed: stream }).respondToRows(rows);
  close(norm(rows), 6.069769106017517);
  close(norm(trace.afterAttention), 9.195808939486904);
  close(norm(trace.hidden), 10.544696449259169);
  close(
    norm(new CausalLanguageModel({ ...RUSTLAB, seed: 14 }).respondToRows(trace.hidden).hidden),
    14.851626305639892,
  );
});

test("a row does not change by a bit when tokens are appended, in either element type", () => {
  for (const dtype of ["float64", "float32"]) {
    const model = new CausalLanguageModel({ nVocab: 7, nModel: 12, nHeads: 3, nBlocks: 3, dtype });
    const long = Array.from({ length: 70 }, (_, i) => (i * 5) % 7);
    const whole = model.respondTo(long);
    for (const length of [1, 2, 33, 69]) {
      const diff = model.respondTo(long.slice(0, length)).diff(whole);
      assert.equal(diff.rows.length, length);
      assert.ok(diff.rows.every((row) => row.identical && row.maxAbs === 0));
      assert.equal(diff.partsFrom, null);
    }
  }
});

test("a float32 model agrees with the float64 one to float32's precision", () => {
  const [wide, narrow] = ["float64", "float32"].map((dtype) =>
    new CausalLanguageModel({ nVocab: 7, dtype }).respondTo([0, 1, 2]),
  );
  assert.ok(narrow.hidden.data instanceof Float32Array);
  for (const [i, x] of wide.probabilities.data.entries()) {
    assert.ok(Math.abs(narrow.probabilities.data[i] - x) < 8 * 2 ** -24);
  }
});

test("two models of equal options are equal to the bit, whatever way the seed is written", () => {
  const bits = (seed) => new CausalLanguageModel({ nVocab: 7, seed }).respondTo([4, 5, 6]).logits.data;
  assert.deepEqual(bits(42), bits(42n));
  assert.notDeepEqual(bits(42), bits(43));
  assert.deepEqual(bits(2n ** 64n - 1n), bits(2n ** 64n - 1n));
});

test("a random seed is told, and repeats the model", () => {
  const model = new CausalLanguageModel({ nVocab: 7, seed: "random" });
  const { seed } = model.options;
  assert.ok(typeof seed === "bigint" || Number.isSafeInteger(seed));
  assert.notEqual(new CausalLanguageModel({ nVocab: 7, seed: "random" }).options.seed, seed);
  const again = new CausalLanguageModel(model.options);
  assert.deepEqual(again.parameter("head").data, model.parameter("head").data);
});
