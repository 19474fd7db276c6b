/** Memory: what is freed, when, and what stays readable. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { CausalLanguageModel, memory, Trace } from "glassformer";
import { refusal } from "./support.mjs";

const LARGE = { nVocab: 50, nModel: 64, nBlocks: 4 };

test("a model that was freed says so, freeing twice is harmless, its traces stay", () => {
  const model = new CausalLanguageModel({ nVocab: 7 });
  const trace = model.respondTo([0, 1, 2]);
  const want = trace.logits.data;
  model.free();
  model.free();
  const calls = [
    () => model.respondTo([0]),
    () => model.respondToRows([[1, 2, 3, 4]]),
    () => model.parameter("head"),
    () => model.setParameter("head", []),
    () => model.parameters,
    () => model.toJSON(),
  ];
  for (const call of calls) {
    const error = refusal(call);
    assert.equal(error.code, "freed");
    assert.match(error.message, /model freed/);
  }
  assert.deepEqual(trace.logits.data, want);
  assert.equal(model.options.nVocab, 7);
});

test("small and large traces outlive their model until their own free()", () => {
  for (const options of [{ nVocab: 7 }, LARGE]) {
    const model = new CausalLanguageModel(options);
    const trace = model.respondTo([0, 1, 2, 3, 4, 5, 6]);
    const { hidden } = trace;
    model.free();
    assert.deepEqual(trace.hidden, hidden);
    trace.free();
    trace.free();
    for (const call of [
      () => trace.hidden,
      () => trace.toPlain(),
      () => trace.toJSON(),
      () => trace.diff(trace),
    ]) {
      assert.equal(refusal(call).code, "freed");
    }
    assert.equal(hidden.at(0, 0), hidden.data[0]);
  }
});

test("`using` frees at the end of the scope", () => {
  const model = new CausalLanguageModel({ nVocab: 7 });
  const trace = model.respondTo([0]);
  const dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");
  trace[dispose]();
  model[dispose]();
  assert.equal(refusal(() => trace.hidden).code, "freed");
  assert.equal(refusal(() => model.respondTo([0])).code, "freed");
});

test("ten thousand models made and freed leave the memory flat", () => {
  const round = () => {
    const model = new CausalLanguageModel({ nVocab: 7, nModel: 8 });
    model.respondTo([0, 1, 2]).free();
    model.free();
  };
  for (let i = 0; i < 100; i++) round();
  const { wasmBytes, liveModels, liveTraces } = memory();
  for (let i = 0; i < 10_000; i++) round();
  assert.deepEqual(memory(), { wasmBytes, liveModels, liveTraces });
});

test("large traces made and freed leave it flat, and are counted while they live", () => {
  const model = new CausalLanguageModel(LARGE);
  const ids = Array.from({ length: 50 }, (_, i) => i);
  const { liveTraces } = memory();
  const round = () => {
    const trace = model.respondTo(ids);
    assert.equal(memory().liveTraces, liveTraces + 1);
    Trace.fromPlain(trace.toPlain()).diff(trace);
    trace.free();
  };
  round();
  const { wasmBytes } = memory();
  for (let i = 0; i < 200; i++) round();
  assert.deepEqual([memory().wasmBytes, memory().liveTraces], [wasmBytes, liveTraces]);
  model.free();
});

test("what nobody can reach any more is freed by itself", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const { liveModels, liveTraces } = memory();
  const many = () => {
    for (let i = 0; i < 50; i++) new CausalLanguageModel(LARGE).respondTo([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  };
  many();
  assert.equal(memory().liveModels, liveModels + 50);
  for (let i = 0; i < 20 && memory().liveModels > liveModels; i++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.ok(memory().liveModels <= liveModels && memory().liveTraces <= liveTraces, JSON.stringify(memory()));
});

test("a size that cannot be had is refused, and the next model is made", () => {
  const model = new CausalLanguageModel({ nVocab: 7, nModel: 64, nBlocks: 8, maxContext: 60_000 });
  const ids = new Uint8Array(60_000);
  const error = refusal(() => model.respondTo(ids));
  assert.equal(error.code, "out_of_memory");
  assert.ok(error.bytes > 2 ** 32);
  assert.equal(model.respondTo([0, 1]).length, 2);
});
