/** Tensors: indices, slices, printing; copies that outlive everything. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { CausalLanguageModel, randomStream, Tensor } from "glassformer";
import { refusal } from "./support.mjs";

const model = new CausalLanguageModel({ nVocab: 7 });
const trace = model.respondTo([0, 1, 2]);

test("a tensor has data, shape, dtype, axes and their aliases", () => {
  const { attention } = trace;
  assert.ok(attention instanceof Tensor);
  assert.ok(attention.data instanceof Float64Array);
  assert.deepEqual(attention.shape, [2, 3, 3]);
  assert.equal(attention.dims, attention.shape);
  assert.deepEqual([attention.dtype, attention.type, attention.size], ["float64", "float64", 18]);
  assert.deepEqual(attention.axes, ["head", "query", "key"]);
  const axes = Object.fromEntries(trace.stages.map((name) => [name, trace.get(name).axes.join()]));
  assert.equal(axes["blocks.0.attention.mixed"], "head,position,coordinate");
  assert.equal(axes["blocks.0.feed_forward.pre"], "position,unit");
  assert.equal(axes.logits, "position,vocabulary");
});

test("at, row, slice, item and tolist agree with the flat data", () => {
  const { attention } = trace;
  for (let h = 0; h < 2; h++) {
    for (let t = 0; t < 3; t++) {
      for (let s = 0; s < 3; s++) {
        const x = attention.data[(h * 3 + t) * 3 + s];
        assert.equal(attention.at(h, t, s), x);
        assert.equal(attention.at(h - 2, t - 3, s - 3), x);
        assert.equal(attention.row(h).row(t).at(s), x);
        assert.equal(attention.slice(h, t, s).item(), x);
        assert.equal(attention.tolist()[h][t][s], x);
        assert.equal(attention.slice(null, [t, t + 1], [s, s + 1]).at(h, 0, 0), x);
      }
    }
  }
  assert.deepEqual(attention.slice(undefined, [1], [0, -1]).shape, [2, 2, 2]);
  assert.deepEqual(attention.slice(0).axes, ["query", "key"]);
  assert.deepEqual(attention.slice(0, [2, 1]).shape, [0, 3]);
});

test("wrong indices are refused, naming the axis", () => {
  const { attention } = trace;
  const cases = [
    [() => attention.at(0, 3, 0), "index_out_of_range"],
    [() => attention.at(0, -4, 0), "index_out_of_range"],
    [() => attention.at(0, 0), "shape_mismatch"],
    [() => attention.at(0, 0, 0, 0), "shape_mismatch"],
    [() => attention.at(0, 0.5, 0), "not_an_integer"],
    [() => attention.at(0, "1", 0), "not_an_integer"],
    [() => attention.row(2), "index_out_of_range"],
    [() => attention.row(), "not_an_integer"],
    [() => attention.slice(0, 0, 0, 0), "shape_mismatch"],
    [() => attention.slice([0, 9]), "index_out_of_range"],
    [() => attention.slice("0"), "invalid_option"],
    [() => attention.item(), "shape_mismatch"],
  ];
  for (const [call, code] of cases) assert.equal(refusal(call).code, code, String(call));
  assert.match(refusal(() => attention.at(0, 0, 7)).message, /axis key is 7; the axis has 3/);
});

test("printing is aligned, with four decimals", () => {
  const lines = String(trace.hidden).split("\n");
  assert.equal(lines.length, 3);
  assert.ok(lines.every((line) => line.replace(/\]+$/, "").length === lines[0].replace(/\]+$/, "").length));
  assert.match(lines[2], / 0\.3210 -0\.9483 +0\.0323 +1\.2465\]\]$/);
  assert.match(String(trace.get("blocks.0.attention.scores")), /-inf/i);
});

test("what is shown on a console says what it is", () => {
  assert.match(inspect(trace.hidden), /^Tensor position, coordinate \(3 × 4, float64\)\n\[\[/);
  assert.match(inspect(trace), /^Trace of 3 positions, 20 stages: embedding, /);
  assert.equal(CausalLanguageModel.name, "CausalLanguageModel");
});

test("JSON has infinities and NaN as texts", () => {
  const json = JSON.parse(JSON.stringify(trace.get("blocks.0.attention.scores")));
  assert.deepEqual(json.shape, [2, 3, 3]);
  assert.equal(json.data[1], "-Infinity");
  assert.equal(json.data[0], trace.get("blocks.0.attention.scores").data[0]);
});

test("tensors are copies: writing to one changes nothing else, and memory may grow", () => {
  const first = trace.get("blocks.0.hidden");
  const want = Array.from(first.data);
  first.data.fill(99);
  assert.deepEqual(Array.from(trace.hidden.data), want);
  const kept = trace.hidden;
  new CausalLanguageModel({ nVocab: 2000, nModel: 256 }).respondTo([0, 1, 2]).free();
  assert.deepEqual(Array.from(kept.data), want);
  const parameter = model.parameter("head");
  parameter.data.fill(0);
  assert.notEqual(model.parameter("head").at(0, 0), 0);
});

test("draws have the shape asked for; whole numbers come as Int32Array where they fit", () => {
  const stream = randomStream("numpy", 7);
  assert.equal(typeof stream.normal(), "number");
  assert.deepEqual(stream.normal([2, 3]).shape, [2, 3]);
  assert.deepEqual(stream.random(4).shape, [4]);
  assert.equal(stream.integers(0, 10, 3).dtype, "int32");
  assert.equal(stream.integers(0, 2 ** 40, 3).dtype, "float64");
  assert.equal(stream.choice(7, [0.05, 0.1, 0.15, 0.2, 0.25, 0.2, 0.05], 3).dtype, "int32");
  assert.equal(stream.normal([0]).size, 0);
});
