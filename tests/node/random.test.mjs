/** The random streams, through the package. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, memory, randomStream } from "glassformer";
import { golden, refusal } from "./support.mjs";

test("draws are NumPy's, seed by seed", () => {
  const file = golden("numpy/streams.json");
  const seeds = Object.values(file).filter((value) => value.seed !== undefined);
  assert.ok(seeds.length >= 5);
  for (const want of seeds) {
    const fresh = () => randomStream("numpy", BigInt(want.seed));
    assert.deepEqual(Array.from(fresh().normal(want.normal.length).data), want.normal);
    assert.deepEqual(Array.from(fresh().random(want.random.length).data), want.random);
    const small = want.integers_0_1000;
    assert.deepEqual(Array.from(fresh().integers(0, 1000, small.length).data), small);
    const wide = want.integers_0_2p40.map(Number);
    assert.deepEqual(Array.from(fresh().integers(0, 2 ** 40, wide.length).data), wide);
    assert.deepEqual(Array.from(fresh().choice(7, file.p, want.choice_7_p.length).data), want.choice_7_p);
    assert.deepEqual(fresh().normal([2, 3]).tolist(), [want.normal.slice(0, 3), want.normal.slice(3, 6)]);
  }
});

test("drawing one by one is drawing all at once", () => {
  const [one, all] = [randomStream("rand", 13), randomStream("rand", 13)];
  assert.deepEqual(
    Array.from({ length: 20 }, () => one.normal()),
    Array.from(all.normal(20).data),
  );
});

test("a model made from a stream tells where the stream stood, and is made again from that", () => {
  for (const kind of ["numpy", "rand"]) {
    const stream = randomStream(kind, 2n ** 62n);
    stream.integers(0, 10, 3);
    // A half word waits here, in NumPy's stream, while whole words are drawn.
    stream.normal(5);
    const first = new CausalLanguageModel({ nVocab: 7, seed: stream });
    const second = new CausalLanguageModel({ nVocab: 7, seed: stream });
    assert.notDeepEqual(first.parameter("head").data, second.parameter("head").data);
    for (const own of [first, second]) {
      const again = CausalLanguageModel.fromJSON(JSON.parse(JSON.stringify(own)));
      for (const { name } of own.parameters) assert.deepEqual(again.parameter(name), own.parameter(name));
      assert.deepEqual(new CausalLanguageModel(own.options).options, own.options);
    }
    const { half, ...position } = stream.position();
    assert.equal(half === null, kind === "rand");
    for (const wrong of [
      { half: 0.5 },
      { half: -1 },
      { half: 2 ** 32 },
      { half: true },
      { words: -1 },
      { more: 1 },
    ]) {
      const call = () => new CausalLanguageModel({ nVocab: 7, seed: { ...position, half, ...wrong } });
      assert.equal(refusal(call).code, "invalid_option");
    }
  }
});

test("a model of a seed is the model of a fresh stream of that seed", () => {
  const [seeded, streamed] = [7, randomStream("numpy", 7)].map(
    (seed) => new CausalLanguageModel({ nVocab: 7, seed }),
  );
  for (const { name } of seeded.parameters)
    assert.deepEqual(streamed.parameter(name), seeded.parameter(name));
});

test("streams hold nothing in wasm: a hundred thousand leave its memory as it was", () => {
  randomStream("rand", 0).normal(1000);
  const { wasmBytes } = memory();
  for (let seed = 0; seed < 100_000; seed++) randomStream(seed % 2 ? "rand" : "numpy", seed).normal();
  assert.equal(memory().wasmBytes, wasmBytes);
});

test("a float32 model's own probabilities can be drawn from, as in NumPy", () => {
  const model = new CausalLanguageModel({ nVocab: 7, dtype: "float32" });
  const stream = randomStream("numpy", 7);
  for (let id = 0; id < 49; id++) {
    const p = model.respondTo([id % 7, Math.floor(id / 7)]).probabilities.row(-1);
    assert.ok(stream.choice(7, p) < 7);
    assert.ok(stream.choice(7, p.data) < 7);
  }
  // np.random.default_rng(7).choice(5, p=p), p float32 and p[0] less by 1e-7
  const p = Float32Array.of(0.1, 0.2, 0.3, 0.15, 0.25);
  p[0] -= Math.fround(1e-7);
  assert.equal(randomStream("numpy", 7).choice(5, p), 3);
  assert.equal(refusal(() => stream.choice(5, Array.from(p))).code, "invalid_option");
});

test("draws are prompts, and streams go on from a position", () => {
  const model = new CausalLanguageModel({ nVocab: 7 });
  const stream = randomStream("numpy", 3);
  assert.equal(model.respondTo(stream.integers(0, 7, 5)).length, 5);
  const again = randomStream("numpy", JSON.parse(JSON.stringify(stream.position())));
  assert.equal(again.normal(), stream.normal());
  assert.equal(refusal(() => randomStream("rand", stream.position())).code, "invalid_option");
});

test("arguments that NumPy has and this does not are refused, not swallowed", () => {
  const stream = randomStream("numpy", 7);
  const before = stream.position();
  for (const call of [
    () => stream.normal(0, 1, [3]),
    () => stream.random(2, 3),
    () => stream.integers(0, 5, 2, "int64"),
    () => stream.choice(3, null, 2, true),
  ]) {
    assert.equal(refusal(call).code, "invalid_option");
  }
  assert.deepEqual(stream.position(), before);
});
