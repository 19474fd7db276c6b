/** The equations alone: worked numbers, float32, shapes, refusals. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, math, Tensor } from "glassformer";
import { refusal } from "./support.mjs";

/** Numbers as a person writes them down. */
function close(got, want, within = 5e-7) {
  const [a, b] = [[got].flat(9), [want].flat(9)];
  assert.equal(a.length, b.length);
  a.forEach((x, i) => {
    assert.ok(Object.is(x, b[i]) || Math.abs(x - b[i]) <= within, `${x} for ${b[i]} at ${i}`);
  });
}

test("norms of two rows", () => {
  close(
    math
      .layerNorm([
        [2, 4],
        [1, 3],
      ])
      .tolist(),
    [-1, 1, -1, 1],
    1e-5,
  );
  close(math.layerNorm([2, 4], { epsilon: 0 }).tolist(), [-1, 1], 0);
  close(math.rmsNorm([3, 4], { epsilon: 0 }).tolist(), [0.848528, 1.131371]);
  const gained = math.layerNorm([2, 4], { epsilon: 0, gain: [2, 3], bias: [10, 20] });
  close(gained.tolist(), [8, 23], 0);
  close(math.rmsNorm([3, -3], { epsilon: 0, gain: [1, 0.5], gainOffset: 1 }).tolist(), [2, -1.5], 0);
  close(math.layerNorm([1e200, -1e200]).tolist(), [Number.NaN, Number.NaN]);
});

test("activations of one number and of many", () => {
  close(math.gelu(1).item(), 0.841345);
  close(math.geluTanh([1, -1]).tolist(), [0.841192, -0.158808]);
  close(math.gelu([-1]).item(), -0.158655);
  close(math.quickGelu(1).item(), 0.845796);
  close(math.silu([0, 1]).tolist(), [0, 0.731059]);
  close(math.sigmoid([0, -Infinity]).tolist(), [0.5, 0]);
  close(math.tanh(Infinity).item(), 1);
  close(math.softplus([0, 1000, -Infinity]).tolist(), [Math.LN2, 1000, 0]);
  assert.deepEqual(
    math
      .relu([
        [1, -2],
        [-0, 4],
      ])
      .tolist(),
    [
      [1, 0],
      [0, 4],
    ],
  );
  assert.deepEqual(math.relu(-3).shape, []);
});

test("gated units: which half is the gate", () => {
  assert.equal(math.glu([2, 0]).item(), 1);
  assert.equal(math.gated(2, 0, "silu").item(), 0);
  assert.equal(math.gated([3], [-2], "identity").item(), -6);
  assert.deepEqual(math.glu([[2, 4, 0, 0]]).tolist(), [[1, 2]]);
});

test("softmax, its logarithm and the cross-entropy", () => {
  const hidden = [-Infinity, -Infinity];
  assert.deepEqual(math.softmax([[1, 1], hidden]).tolist(), [
    [0.5, 0.5],
    [0, 0],
  ]);
  assert.deepEqual(math.logSoftmax([[1000, 0], hidden]).tolist(), [[0, -1000], hidden]);
  assert.deepEqual(math.logSumExp([[1000, 1000], hidden]).tolist(), [1000 + Math.LN2, -Infinity]);
  const { losses, mean } = math.crossEntropy(
    [
      [0, 0],
      [9, 1],
      [3, 3],
    ],
    [1, -100, 0],
  );
  assert.deepEqual(losses.tolist(), [Math.LN2, 0, Math.LN2]);
  assert.equal(mean.item(), Math.LN2);
  close(
    math.crossEntropy([0, Math.log(3)], 1, { smoothing: 0.5 }).mean.item(),
    0.75 * Math.log(4 / 3) + 0.25 * Math.log(4),
  );
  assert.ok(Number.isNaN(math.crossEntropy([[1, 2]], [7], { ignore: 7 }).mean.item()));
});

test("positions: sinusoids, rotations, ALiBi", () => {
  close(math.sinusoid(2, 4).row(1).tolist(), [0.841471, 0.540302, 0.01, 0.99995], 1e-6);
  close(
    math.sinusoid(2, 4, { concatenated: true }).row(1).tolist(),
    [0.841471, 0.01, 0.540302, 0.99995],
    1e-6,
  );
  close(math.rotaryFrequencies(8).tolist(), [1, 0.1, 0.01, 0.001], 1e-15);
  const quarter = { positions: [Math.PI / 2] };
  close(math.rotate([[1, 0]], quarter).tolist(), [0, 1], 1e-15);
  const row = [1, 2, 3, 4];
  const [adjacent, half] = ["adjacent", "half"].map((pairing) => math.rotate([row, row], { pairing }));
  assert.deepEqual([adjacent.row(0).tolist(), half.row(0).tolist()], [row, row]);
  assert.notDeepEqual(adjacent.tolist(), half.tolist());
  assert.deepEqual(math.rotate([row, row], { width: 2 }).tolist()[1].slice(2), [3, 4]);
  assert.ok(Object.is(math.rotate([[-0, -1]]).at(0, 0), -0));
  assert.deepEqual(math.alibiSlopes(6).tolist(), [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]);
  close(math.alibiBias([0.1], 4).at(0, 3, 0), -0.3, 1e-15);
  // As the models have it without a mask: later keys are as far away as earlier ones.
  close(math.alibiBias([0.1], 4).at(0, 0, 3), -0.3, 1e-15);
  assert.deepEqual(math.alibiBias(2, 2, 3).shape, [2, 2, 3]);
});

test("rotary scaling divides long waves alone, or all of them", () => {
  const plain = math.rotaryFrequencies(64, { base: 500000 }).tolist();
  const linear = math.rotaryFrequencies(64, { base: 500000, scaling: { kind: "linear", factor: 4 } });
  assert.deepEqual(
    linear.tolist(),
    plain.map((f) => f / 4),
  );
  const long = { factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalContext: 8192 };
  const llama = math.rotaryFrequencies(64, { base: 500000, scaling: { kind: "llama3", ...long } }).tolist();
  assert.equal(llama[0], plain[0]);
  assert.equal(llama[31], plain[31] / 8);
  assert.ok(llama.some((f, j) => f < plain[j] && f > plain[j] / 8));
});

/** Logits whose softmax these probabilities are. */
const logits = (rows) => rows.map((row) => row.map(Math.log));

test("experts: gates, ties, variation and overflow", () => {
  const { selected, gates, router } = math.route(logits([[0.56, 0.24, 0.2]]), { selected: 2 });
  assert.deepEqual([selected.tolist(), selected.dtype], [[[0, 1]], "int32"]);
  close(gates.tolist(), [0.7, 0.3]);
  close(router.tolist(), [0.56, 0.24, 0.2]);
  close(gates.at(0, 0) * 2 + gates.at(0, 1) * 5, 2.9);
  assert.deepEqual(math.route([[1, 1, 1]], { selected: 2 }).selected.tolist(), [[0, 1]]);
  assert.equal(math.squaredVariation([3, 1]).item(), 0.25);
  assert.equal(math.squaredVariation([2, 2]).item(), 0);

  const rows = logits([
    [0.9, 0.1],
    [0.8, 0.2],
    [0.3, 0.7],
    [0.6, 0.4],
  ]);
  const dropped = math.route(rows, { selected: 1, capacity: 2 });
  assert.deepEqual(dropped.load.tolist(), [3, 1]);
  assert.deepEqual(dropped.overflow.tolist(), [1, 0]);
  assert.deepEqual(dropped.selected.tolist(), [[0], [0], [1], [-1]]);
  assert.deepEqual(dropped.kept.tolist(), [[1], [1], [1], [0]]);
  assert.deepEqual(dropped.importance.tolist(), [3, 1]);
  assert.equal(dropped.importanceCv2.item(), 0.25);
  assert.equal(dropped.loadCv2.item(), 0.25);
  const rerouted = math.route(rows, { selected: 1, capacity: 2, overflow: "reroute", renormalize: false });
  assert.deepEqual(rerouted.selected.tolist(), [[0], [0], [1], [1]]);
  close(rerouted.gates.at(3, 0), 0.4);
  const error = refusal(() => math.route(rows, { selected: 1, capacity: 2, overflow: "error" }));
  assert.deepEqual(
    [error.code, error.position, error.expert, error.capacity],
    ["capacity_exceeded", 3, 0, 2],
  );
});

test("attention of plain rows, with groups, masks and slopes", () => {
  const two = math.attention([[1]], [[2], [2]], [[3], [5]]);
  assert.deepEqual([two.weights.tolist(), two.output.tolist()], [[[[0.5, 0.5]]], [[4]]]);
  const rows = [
    [0.3, -1, 2, 0.5],
    [1, 0, -0.7, 0.2],
    [0.1, 0.9, -1.5, 0.4],
  ];
  const causal = math.attention(rows, rows, rows, { nHeads: 2, mask: "causal" });
  assert.deepEqual(causal.weights.shape, [2, 3, 3]);
  assert.equal(causal.weights.at(0, 0, 1), 0);
  assert.equal(causal.scores.at(1, 1, 2), -Infinity);
  const upper = [0, 1, 2].map((t) => [0, 1, 2].map((s) => s > t));
  const masked = math.attention(rows, rows, rows, { nHeads: 2, masks: { attention: upper } });
  assert.deepEqual(masked.output.tolist(), causal.output.tolist());
  const slopes = math.attention([[0]], [[0], [0], [0], [0]], [[0], [0], [0], [0]], { alibiSlopes: [0.1] });
  close(slopes.scores.tolist(), [0, -0.1, -0.2, -0.3], 1e-15);
  const narrow = rows.map((row) => row.slice(0, 2));
  const shared = math.attention(rows, narrow, narrow, { nHeads: 2, nKeyValueHeads: 1 });
  const twice = narrow.map((row) => [...row, ...row]);
  assert.deepEqual(shared.output.tolist(), math.attention(rows, twice, twice, { nHeads: 2 }).output.tolist());
  assert.deepEqual(
    shared.averageWeights.at(0, 0),
    (shared.weights.at(0, 0, 0) + shared.weights.at(1, 0, 0)) / 2,
  );
});

test("a query that may see nothing gives the output's bias alone", () => {
  const options = {
    parameters: { output: [[1, 2]], output_bias: [7] },
    masks: { padding: [true, true, true] },
  };
  const rows = [
    [1, 2],
    [3, 4],
    [5, 6],
  ];
  const { weights, output } = math.attention(rows, rows, rows, options);
  assert.ok(weights.data.every((x) => x === 0));
  assert.deepEqual(output.tolist(), [[7], [7], [7]]);
});

test("attention of a batch is that of each prompt, to the bit", () => {
  const prompts = [1, -2].map((f) => [0, 1, 2].map((t) => [f * t, f + t, 0.5 * f]));
  const parameters = {
    query: [
      [1, 0.5, -1],
      [0, 2, 1],
    ],
    key: [
      [0.1, 1, 0],
      [1, 0, 1],
    ],
  };
  const options = { parameters, mask: "causal" };
  const batch = math.attention(prompts, prompts, prompts, { ...options, masks: { padding: [3, 2] } });
  assert.deepEqual(batch.scores.axes, ["batch", "head", "query", "key"]);
  const masks = [
    [false, false, false],
    [false, false, true],
  ];
  prompts.forEach((rows, b) => {
    const one = math.attention(rows, rows, rows, { ...options, masks: { padding: masks[b] } });
    for (const name of Object.keys(one)) assert.deepEqual(batch[name].row(b).tolist(), one[name].tolist());
  });
});

test("the equations give the bits that a model's stages have", () => {
  const model = new CausalLanguageModel({ nVocab: 7, activation: "gelu" });
  const trace = model.respondTo([0, 1, 2, 3]);
  const at = (name) => trace.get(`blocks.0.${name}`);
  const same = (made, stage) => assert.deepEqual(made.tolist(), at(stage).tolist());
  const normalized = math.layerNorm(trace.positioned);
  same(normalized, "attention.normalized");
  same(math.gelu(at("feed_forward.pre")), "feed_forward.activated");
  same(math.softmax(at("attention.scores")), "attention.weights");
  assert.deepEqual(math.softmax(trace.logits).tolist(), trace.probabilities.tolist());
  const names = ["query", "key", "value", "output"];
  const parameters = Object.fromEntries(
    names.map((name) => [name, model.parameter(`blocks.0.attention.${name}`)]),
  );
  const options = { nHeads: 2, mask: "causal", parameters };
  const attended = math.attention(normalized, normalized, normalized, options);
  for (const name of ["query", "key", "value", "scores", "weights", "mixed", "output"]) {
    same(attended[name], `attention.${name}`);
  }
});

test("float32 stays float32, and anything else is float64", () => {
  const single = Float32Array.of(0.1, -2, 3, 0.7);
  const results = [
    math.gelu(single),
    math.layerNorm(single, { gain: [1, 2, 3, 4] }),
    math.softmax({ data: single, shape: [2, 2] }),
    math.glu(single),
    math.crossEntropy(single, 2).mean,
    math.route({ data: single, shape: [2, 2] }, { selected: 1 }).gates,
    math.attention({ data: single, shape: [2, 2] }, [[1, 2]], [[3]]).output,
    math.rotate({ data: single, shape: [2, 2] }),
    math.gelu(math.gelu(single)),
  ];
  for (const result of results) {
    assert.ok(result instanceof Tensor);
    assert.equal(result.dtype, "float32");
  }
  close(math.gelu(single).tolist(), math.gelu([0.1, -2, 3, 0.7]).tolist(), 1e-6);
  for (const value of [[1], Int32Array.of(1), Float64Array.of(1), 1]) {
    assert.equal(math.gelu(value).dtype, "float64");
  }
  assert.deepEqual(
    Array.from(single),
    Array.from(Float32Array.of(0.1, -2, 3, 0.7)),
    "arguments stay as they were",
  );
});

test("a tensor keeps its axes", () => {
  const trace = new CausalLanguageModel({ nVocab: 7 }).respondTo([0, 1]);
  assert.deepEqual(math.softmax(trace.logits).axes, ["position", "vocabulary"]);
  assert.deepEqual(math.logSumExp(trace.attention).axes, ["head", "query"]);
});

test("what cannot be computed is refused, with a code", () => {
  const refused = {
    not_finite: [
      () => math.gelu("1"),
      () => math.gelu(null),
      () => math.gelu([1, "2"]),
      () => math.gelu([[1], [undefined]]),
      () => math.gelu({}),
      () => math.gelu(5n),
      () => math.route([[Number.NaN, 1]], { selected: 1 }),
      () => math.rotate([[1, 2]], { positions: [Infinity] }),
      () => math.attention([[Number.NaN]], [[1]], [[1]]),
      () => math.attention([[1e200]], [[1e200]], [[1]]),
      () => math.attention([[1e200]], [[-1e200]], [[1]]),
    ],
    shape_mismatch: [
      () => math.softmax(1),
      () => math.softmax([]),
      () => math.softmax([[1, 2], [3]]),
      () => math.softmax([[1, 2], 3]),
      () => math.glu([1, 2, 3]),
      () => math.gated([1, 2], [1], "relu"),
      () => math.layerNorm([1, 2], { gain: [1] }),
      () => math.crossEntropy([[1, 2]], [1, 0]),
      () => math.rotate([1, 2]),
      () => math.route([1, 2], { selected: 1 }),
      () => math.softmax({ data: [1, 2, 3], shape: [2, 2] }),
      () => math.attention([[1, 2]], [[1]], [[1]]),
      () => math.attention([[1]], [[1], [2]], [[1]]),
      () => math.attention([[1]], [[1]], [[1]], { parameters: { query: [[1, 2]] } }),
    ],
    config_conflict: [
      () => math.attention([[1, 2, 3]], [[1]], [[1]], { nHeads: 2 }),
      () => math.attention([[1, 2, 3]], [[1, 2]], [[1, 2]], { nHeads: 3, nKeyValueHeads: 2 }),
      () => math.route([[1, 2]], { selected: 1, overflow: "reroute" }),
      () => math.route([[1, 2]], { selected: 1, overflow: "error" }),
    ],
    invalid_option: [
      () => math.softmax([1, 2], 0),
      () => math.layerNorm([1, 2], { eps: 1 }),
      () => math.layerNorm([1, 2], { epsilon: -1 }),
      () => math.layerNorm([1, 2], null),
      () => math.gated([1], [1], "swish"),
      () => math.gated([1], [1], 3),
      () => math.rotate([[1, 2, 3]]),
      () => math.rotate([[1, 2]], { width: 4 }),
      () => math.rotate([[1, 2]], { pairing: "interleaved" }),
      () => math.rotaryFrequencies(4, { base: 0 }),
      () => math.rotaryFrequencies(4, { scaling: { kind: "yarn" } }),
      () => math.rotaryFrequencies(4, { scaling: { kind: "linear", factor: 2, originalContext: 8 } }),
      () => math.crossEntropy([1, 2], 0, { smoothing: 2 }),
      () => math.route([[1, 2]], { selected: 3 }),
      () => math.route([[1, 2]], { selected: 1, overflow: "queue" }),
      () => math.route([[1, 2]], { selected: 1, renormalize: 1 }),
      () => math.attention([[1]], [[1]], [[1]], { mask: "future" }),
      () => math.attention([[1]], [[1]], [[1]], { window: 0 }),
    ],
    not_an_integer: [
      () => math.sinusoid(1.5, 4),
      () => math.alibiSlopes("8"),
      () => math.route([[1, 2]]),
      () => math.route([[1, 2]], {}),
      () => math.crossEntropy([[1, 2]], [0.5]),
    ],
    index_out_of_range: [() => math.crossEntropy([[1, 2]], [2]), () => math.crossEntropy([[1, 2]], [-1])],
    out_of_memory: [() => math.sinusoid(2 ** 32 - 1, 2 ** 20), () => math.alibiBias(2 ** 20, 2 ** 20)],
  };
  for (const [code, calls] of Object.entries(refused)) {
    for (const call of calls) assert.equal(refusal(call).code, code, String(call));
  }
  const rows = [[1], [2]];
  const narrow = refusal(() => math.attention([[1]], rows, rows, { masks: { padding: [true] } }));
  assert.equal(narrow.what, "masks.padding");
  const near = refusal(() => math.gated([1], [1], "gelu_tan"));
  assert.deepEqual(near.nearest.slice(0, 1), ["gelu_tanh"]);
  assert.equal(math.gelu(0).item(), 0, "the module stays usable");
});

test("hostile arguments are refused and nothing of theirs escapes", () => {
  const throwing = new Proxy([1, 2], {
    get() {
      throw new Error("boo");
    },
  });
  const cyclic = [];
  cyclic.push(cyclic);
  const claims = { length: 2 ** 53, 0: [1] };
  const detached = Float64Array.of(1, 2);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  const endless = new Proxy([], { get: (_, name) => (name === "length" ? 2 ** 31 : endless) });
  const liar = Object.defineProperty(Float64Array.of(1, 2), "length", { value: 5 });
  for (const value of [throwing, cyclic, claims, detached, proxy, endless, liar, () => {}, Symbol("x")]) {
    for (const f of [math.gelu, math.softmax, math.layerNorm, math.alibiBias]) refusal(() => f(value, 3));
    refusal(() => math.gated([1, 2], value, "relu"));
    refusal(() => math.layerNorm([1, 2], { gain: value }));
    refusal(() => math.layerNorm([1, 2], value));
    refusal(() => math.attention(value, value, value));
  }
});

test("empty batches of rows are empty, and no rows cost no memory", () => {
  const none = { data: [], shape: [0, 3] };
  assert.deepEqual(math.softmax(none).shape, [0, 3]);
  assert.deepEqual(math.logSumExp(none).shape, [0]);
  assert.deepEqual(math.sinusoid(0, 4).shape, [0, 4]);
  assert.deepEqual(math.route(none, { selected: 2 }).selected.shape, [0, 2]);
  assert.equal(math.route(none, { selected: 2 }).importanceCv2.item(), 0);
});
