/** Bad input: a coded error that names the value, and a model that then answers as before. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, memory, randomStream, Tensor, Trace } from "glassformer";
import { refusal } from "./support.mjs";

/** Options that are refused: the options, the code, and what the error must carry. */
const OPTIONS = [
  [{ nVocab: 7, nHeads: 3 }, "config_conflict", { options: ["nHeads", "nModel"], values: [3, 4] }],
  [{ nVocab: 7, words: ["a"] }, "config_conflict", { options: ["words", "nVocab"], values: [1, 7] }],
  [{ nVocab: 7, nModel: 0 }, "invalid_option", { option: "nModel", value: "0" }],
  [{ nVocab: 7, nHeads: 0 }, "invalid_option", { option: "nHeads", value: "0" }],
  [{ nVocab: 7, nBlocks: 0 }, "invalid_option", { option: "nBlocks", value: "0" }],
  [{ nVocab: 7, nHidden: 0 }, "invalid_option", { option: "nHidden", value: "0" }],
  [{ nVocab: 7, maxContext: 0 }, "invalid_option", { option: "maxContext", value: "0" }],
  [{ nVocab: 7, nModel: -4 }, "invalid_option", { option: "nModel", value: "-4" }],
  [{ nVocab: 7, nModel: 4.5 }, "invalid_option", { option: "nModel", value: "4.5" }],
  [{ nVocab: 7, nModel: "4" }, "invalid_option", { option: "nModel", value: '"4"' }],
  [{ nVocab: 7, nModel: 4n }, "invalid_option", { option: "nModel", value: "4n" }],
  [{ nVocab: 7, nModel: Number.NaN }, "invalid_option", { option: "nModel", value: "NaN" }],
  [{ nVocab: 7, nModel: null }, "invalid_option", { option: "nModel" }],
  [{ nVocab: 7, nModel: [4] }, "invalid_option", { option: "nModel" }],
  [{ nVocab: 7, nModel: 2 ** 32 }, "invalid_option", { option: "nModel", value: "4294967296" }],
  [{}, "invalid_option", { option: "nVocab" }],
  [{ nVocab: 7, n_heads: 2 }, "invalid_option", { option: "n_heads", nearest: ["nHeads"] }],
  [{ nVocab: 7, ["__proto__"]: 1 }, "invalid_option", { option: "__proto__" }],
  [{ nVocab: 7, seed: -1 }, "invalid_option", { option: "seed", value: "-1" }],
  [{ nVocab: 7, seed: 1.5 }, "invalid_option", { option: "seed", value: "1.5" }],
  [{ nVocab: 7, seed: 2n ** 64n }, "invalid_option", { option: "seed", value: "18446744073709551616n" }],
  [{ nVocab: 7, seed: -1n }, "invalid_option", { option: "seed", value: "-1n" }],
  [{ nVocab: 7, seed: 2 ** 64 }, "invalid_option", { option: "seed", value: "18446744073709552000" }],
  [{ nVocab: 7, seed: "7" }, "invalid_option", { option: "seed", value: '"7"' }],
  [{ nVocab: 7, seed: {} }, "invalid_option", { option: "seed" }],
  [{ nVocab: 7, epsilon: -1e-5 }, "invalid_option", { option: "epsilon" }],
  [{ nVocab: 7, epsilon: Number.POSITIVE_INFINITY }, "invalid_option", { option: "epsilon" }],
  [{ nVocab: 7, activation: "Relu" }, "invalid_option", { option: "activation", value: '"Relu"' }],
  [{ nVocab: 7, init: "torch" }, "invalid_option", { option: "init" }],
  [{ nVocab: 7, init: "GPT2" }, "invalid_option", { option: "init", nearest: ["gpt2"] }],
  [{ nVocab: 7, dtype: "float16" }, "invalid_option", { option: "dtype" }],
  [{ nVocab: 7, finalNorm: 1 }, "invalid_option", { option: "finalNorm", value: "1" }],
  [{ nVocab: 7, branchScale: Number.NaN }, "invalid_option", { option: "branchScale" }],
  [{ nVocab: 7, words: "abcdefg" }, "invalid_option", { option: "words" }],
  [{ nVocab: 2, words: ["a", 1] }, "invalid_option", { option: "words", value: "1" }],
  [{ nVocab: 7, nBlocks: 10_001 }, "invalid_option", { option: "nBlocks", value: "10001" }],
  [{ nVocab: 7, nEncoderBlocks: 1 }, "invalid_option", { option: "nEncoderBlocks" }],
  [{ nVocab: 7, norm: "RMS" }, "invalid_option", { option: "norm", value: '"RMS"' }],
  [{ nVocab: 7, window: 0 }, "invalid_option", { option: "window", value: "0" }],
  [{ nVocab: 7, position: "rotary", rotary: { bases: 10 } }, "invalid_option", { option: "rotary.bases" }],
  [{ nVocab: 7, feedForward: { experts: 4 } }, "invalid_option", { option: "feedForward.selected" }],
  [{ nVocab: 7, bias: { attention: "q" } }, "invalid_option", { option: "bias.attention", value: '"q"' }],
  // Each right alone, but not together.
  [{ nVocab: 7, rotary: { base: 10 } }, "config_conflict", { options: ["rotary", "position"] }],
  [{ nVocab: 7, alibiSlopes: [1, 2] }, "config_conflict", { options: ["alibiSlopes", "position"] }],
  [{ nVocab: 7, norm: "none", normAffine: true }, "config_conflict", { options: ["normAffine", "norm"] }],
  [{ nVocab: 7, norm: "none", finalNorm: true }, "config_conflict", { options: ["finalNorm", "norm"] }],
  [
    { nVocab: 7, nKeyValueHeads: 3 },
    "config_conflict",
    { options: ["nKeyValueHeads", "nHeads"], values: [3, 2] },
  ],
  [{ nVocab: 7, parallel: true, normPlacement: "post" }, "config_conflict", { values: [true, "post"] }],
  [
    { nVocab: 7, feedForward: "swiglu", activation: "relu" },
    "config_conflict",
    { values: ["relu", "swiglu"] },
  ],
  [{ nVocab: 0, tiedHead: true }, "config_conflict", { options: ["tiedHead", "nVocab"] }],
  [{ nVocab: 7, feedForward: { experts: 2, selected: 3 } }, "config_conflict", { values: [3, 2] }],
  [
    { nVocab: 7, feedForward: { experts: 2, selected: 1, overflow: "error" } },
    "config_conflict",
    { options: ["feedForward.overflow", "feedForward.capacity"] },
  ],
  // Sizes that nobody has the memory for.
  [{ nVocab: 4e9, nModel: 1000, nHeads: 1 }, "out_of_memory", {}],
  [{ nVocab: 7, nModel: 4294967295, nHeads: 1 }, "out_of_memory", {}],
  [{ nVocab: 200_000, nModel: 4096, dtype: "float32" }, "out_of_memory", {}],
];

test("refused options have their code, and name the option and its value", () => {
  for (const [options, code, fields] of OPTIONS) {
    const error = refusal(() => new CausalLanguageModel(options));
    const what = `${error.code}: ${error.message}`;
    assert.equal(error.code, code, what);
    for (const [name, value] of Object.entries(fields)) assert.deepEqual(error[name], value, what);
  }
  class Options {
    nVocab = 7;
  }
  const inherited = Object.assign(Object.create({ nHeads: 3 }), { nVocab: 7 });
  const others = [new Options(), new Map([["nVocab", 7]]), inherited, { nVocab: 7, [Symbol("nHeads")]: 3 }];
  for (const options of [undefined, null, 7, "nVocab", [], () => {}, Symbol("x"), ...others]) {
    assert.equal(refusal(() => new CausalLanguageModel(options)).code, "invalid_option");
  }
});

test("an option of undefined counts as not given", () => {
  const { nModel, words } = new CausalLanguageModel({
    nVocab: 7,
    nModel: undefined,
    words: undefined,
    window: undefined,
  }).options;
  assert.deepEqual([nModel, words], [4, undefined]);
});

/** Prompts that are refused, for a vocabulary of 7. */
const PROMPTS = [
  [[0, -1], "token_out_of_range", { position: 1, id: -1, vocabulary: 7 }],
  [[0, 1, 7], "token_out_of_range", { position: 2, id: 7, vocabulary: 7 }],
  [[2 ** 32], "token_out_of_range", { position: 0, id: 2 ** 32 }],
  [[2 ** 32 + 1], "token_out_of_range", { position: 0, id: 2 ** 32 + 1 }],
  [[1e300], "token_out_of_range", { position: 0, id: 1e300 }],
  [[1.5], "not_an_integer", { position: 0, value: "1.5" }],
  [[0, Number.NaN], "not_an_integer", { position: 1, value: "NaN" }],
  [[Number.POSITIVE_INFINITY], "not_an_integer", { position: 0 }],
  [["3"], "not_an_integer", { position: 0, value: '"3"' }],
  [[0, 3n], "not_an_integer", { position: 1, value: "3n" }],
  [[true], "not_an_integer", { position: 0, value: "true" }],
  [[null], "not_an_integer", { position: 0, value: "null" }],
  [[undefined], "not_an_integer", { position: 0, value: "undefined" }],
  [[0, {}], "not_an_integer", { position: 1 }],
  [new Array(3), "not_an_integer", { position: 0 }],
  [BigInt64Array.of(1n), "not_an_integer", { position: 0, value: "1n" }],
  [Float64Array.of(0.5), "not_an_integer", { position: 0, value: "0.5" }],
  ["012", "not_an_integer", {}],
  [3, "not_an_integer", {}],
  [null, "not_an_integer", {}],
  [undefined, "not_an_integer", {}],
  [{}, "not_an_integer", {}],
  [{ length: -1 }, "not_an_integer", {}],
  [{ length: 1e9 }, "context_exceeded", { length: 1e9, maxContext: 16 }],
  [[], "empty_prompt", {}],
  [new Uint8Array(0), "empty_prompt", {}],
  [new Array(17).fill(0), "context_exceeded", { length: 17, maxContext: 16 }],
];

test("refused prompts have their code, and the model then answers as before", () => {
  const model = new CausalLanguageModel({ nVocab: 7, maxContext: 16 });
  const before = model.respondTo([0, 1, 2]).logits.data;
  for (const [prompt, code, fields] of PROMPTS) {
    const error = refusal(() => model.respondTo(prompt));
    const what = `${error.code}: ${error.message}`;
    assert.equal(error.code, code, what);
    for (const [name, value] of Object.entries(fields)) assert.deepEqual(error[name], value, what);
    assert.deepEqual(model.respondTo([0, 1, 2]).logits.data, before);
  }
});

test("ids are welcome in any list of numbers", () => {
  const model = new CausalLanguageModel({ nVocab: 7 });
  const want = model.respondTo([0, 1, 2]).logits.data;
  const lists = [Uint8Array, Int32Array, Uint32Array, Float32Array, Float64Array].map((List) =>
    List.of(0, 1, 2),
  );
  for (const ids of [...lists, { length: 3, 0: 0, 1: 1, 2: 2 }, [-0, 1, 2]]) {
    assert.deepEqual(model.respondTo(ids).logits.data, want);
  }
});

test("options of a call that this version does not have are refused", () => {
  const model = new CausalLanguageModel({ nVocab: 7 });
  const error = refusal(() => model.respondTo([0, 1], { logits: "last" }));
  assert.deepEqual([error.code, error.option], ["invalid_option", "logits"]);
  assert.equal(refusal(() => model.respondTo([0, 1], "x")).code, "invalid_option");
  assert.match(refusal(() => model.respondTo(0, 1, 2)).message, /one list: respondTo/);
  assert.equal(model.respondTo([0, 1], { logits: undefined }).length, 2);
});

test("a getter or proxy that throws becomes a refusal, and one that calls the model does no harm", () => {
  const model = new CausalLanguageModel({ nVocab: 7 });
  const thrower = {
    get length() {
      throw new Error("mine");
    },
  };
  assert.match(refusal(() => model.respondTo(thrower)).message, /mine/);
  const trap = new Proxy(
    {},
    {
      ownKeys() {
        throw "a text";
      },
    },
  );
  assert.equal(refusal(() => new CausalLanguageModel(trap)).code, "invalid_option");
  const nested = {
    length: 1,
    get 0() {
      return model.respondTo([0]).tokens[0];
    },
  };
  assert.deepEqual(model.respondTo(nested).tokens, [0]);
});

test("rows that do not fit are refused", () => {
  const model = new CausalLanguageModel({ nVocab: 0, nModel: 4 });
  const cases = [
    [[[1, 2, 3]], "shape_mismatch"],
    [
      [
        [1, 2, 3, 4],
        [1, 2, 3],
      ],
      "shape_mismatch",
    ],
    [[], "empty_prompt"],
    [[[1, 2, 3, Number.NaN]], "not_finite"],
    [[[1, 2, 3, "4"]], "not_finite"],
    [[1, 2, 3, 4], "not_an_integer"],
    [[[1e200, -1e200, 1, 0]], "not_finite"],
    [{ data: new Float64Array(8), shape: [8] }, "shape_mismatch"],
    [{ data: new Float64Array(8), shape: [1e9, 4] }, "context_exceeded"],
    [{ length: 1e9 }, "context_exceeded"],
    [{ data: new Float64Array(8), shape: [4, 2] }, "shape_mismatch"],
    [{ data: new Float64Array(7), shape: [2, 4] }, "shape_mismatch"],
    [undefined, "not_an_integer"],
  ];
  for (const [rows, code] of cases)
    assert.equal(refusal(() => model.respondToRows(rows)).code, code, JSON.stringify(rows));
  assert.equal(refusal(() => model.respondTo([0])).code, "token_out_of_range");
  assert.deepEqual(model.respondToRows([[1, 2, 3, 4]]).positioned.tolist(), [[1, 2, 3, 4]]);
});

test("numbers that leave the finite ones are refused where they do, not passed on", () => {
  const model = new CausalLanguageModel({ nVocab: 7 });
  model.setParameter("blocks.0.feed_forward.contract", new Float64Array(32).fill(1.7e308));
  const error = refusal(() => model.respondTo([0, 1, 2]));
  assert.equal(error.code, "not_finite");
  assert.match(error.what, /blocks\.0\.feed_forward\.output/);
});

test("parameters: unknown names, wrong sizes and numbers that are none change nothing", () => {
  const model = new CausalLanguageModel({ nVocab: 7 });
  const before = model.parameter("head").data;
  const unknown = refusal(() => model.parameter("blocks.0.attention.querry"));
  assert.deepEqual([unknown.code, unknown.nearest[0]], ["unknown_parameter", "blocks.0.attention.query"]);
  for (const name of [undefined, 3, Symbol("x"), {}])
    assert.equal(refusal(() => model.parameter(name)).code, "unknown_parameter");
  assert.equal(refusal(() => model.setParameter("hed", [1])).code, "unknown_parameter");
  assert.equal(refusal(() => model.setParameter("head", [1, 2])).code, "shape_mismatch");
  assert.equal(
    refusal(() => model.setParameter("head", { data: before, shape: [7, 4] })).code,
    "shape_mismatch",
  );
  assert.equal(refusal(() => model.setParameter("head", before.with(3, Number.NaN))).code, "not_finite");
  assert.equal(refusal(() => model.setParameter("head", "x")).code, "not_an_integer");
  assert.equal(refusal(() => model.setParameter("head", new Array(28).fill(null))).code, "not_finite");
  assert.deepEqual(model.parameter("head").data, before);
});

test("stages: unknown names are refused with those close to them", () => {
  const trace = new CausalLanguageModel({ nVocab: 7 }).respondTo([0]);
  const error = refusal(() => trace.get("hiden"));
  assert.deepEqual([error.code, error.stage, error.nearest], ["unknown_stage", "hiden", ["blocks.0.hidden"]]);
  for (const name of ["", "blocks.1.hidden", "__proto__", undefined, 3, null, Symbol("x")]) {
    assert.equal(refusal(() => trace.get(name)).code, "unknown_stage");
    assert.equal(refusal(() => trace.describe(name)).code, "unknown_stage");
    assert.equal(trace.has(name), false);
  }
  for (const other of [undefined, {}, 3])
    assert.equal(refusal(() => trace.diff(other)).code, "invalid_option");
});

test("streams refuse what they cannot draw, and draw nothing then", () => {
  for (const [kind, seed] of [
    ["xx", 1],
    ["rand", -1],
    ["numpy", 1.5],
    ["numpy", "1"],
    ["numpy", 2n ** 64n],
    [undefined, 1],
  ]) {
    assert.equal(refusal(() => randomStream(kind, seed)).code, "invalid_option");
  }
  const stream = randomStream("numpy", 7);
  const before = stream.position();
  const bad = [
    [() => stream.normal([2, -1]), "not_an_integer"],
    [() => stream.normal("x"), "not_an_integer"],
    [() => stream.normal([1e9, 1e9]), "out_of_memory"],
    [() => stream.normal(4e9), "out_of_memory"],
    [() => stream.integers(5, 5), "invalid_option"],
    [() => stream.integers(5, 5, 0), "invalid_option"],
    [() => stream.integers(0, 1.5), "not_an_integer"],
    [() => stream.choice(2, [0.5, 0.6]), "invalid_option"],
    [() => stream.choice(2, [0.5, 0.6, 0]), "shape_mismatch"],
    [() => stream.choice(0), "invalid_option"],
    [() => stream.choice(2, { length: 1e9 }), "shape_mismatch"],
  ];
  for (const [call, code] of bad) assert.equal(refusal(call).code, code, String(call));
  assert.deepEqual(stream.position(), before);
});

test("arrays of any size are refused by their length, before they are copied, and leave the memory as it was", () => {
  const model = new CausalLanguageModel({ nVocab: 7 });
  const rows = new CausalLanguageModel({ nVocab: 0 });
  const huge = new Float64Array(3e8);
  const { wasmBytes } = memory();
  const calls = [
    [() => model.setParameter("head", huge), "shape_mismatch"],
    [() => model.setParameter("head", { data: huge }), "shape_mismatch"],
    [() => rows.respondToRows({ data: huge, shape: [huge.length / 4, 4] }), "context_exceeded"],
    [() => rows.respondToRows({ data: huge, shape: [2, 4] }), "shape_mismatch"],
    [() => model.respondTo(huge), "context_exceeded"],
    [() => randomStream("numpy", 7).choice(7, huge), "shape_mismatch"],
    [() => randomStream("numpy", 7).choice(huge.length, huge), "invalid_option"],
  ];
  for (const [call, code] of calls.slice(0, -1)) assert.equal(refusal(call).code, code, String(call));
  assert.equal(memory().wasmBytes, wasmBytes);
  const [call, code] = calls.at(-1);
  assert.ok([code, "out_of_memory"].includes(refusal(call).code));
  assert.equal(model.respondTo([0, 1]).length, 2);
});

test("classes that users are given are not made by hand", () => {
  for (const make of [
    () => new Tensor(),
    () => new Tensor([1], [1], ["x"]),
    () => new Trace(),
    () => new Trace({}, [], 1),
  ]) {
    assert.equal(refusal(make).code, "invalid_option");
  }
});
