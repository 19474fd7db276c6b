/** Masks of a call: what they may be, what they hide, and what is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, EncoderModel, Trace } from "glassformer";
import { refusal } from "./support.mjs";

const HIDES = Number.NEGATIVE_INFINITY;
const model = new EncoderModel({ nVocab: 7 });
const ids = [0, 1, 2];
const plain = model.respondTo(ids);

const GRID = [
  [false, true, false],
  [false, false, true],
  [true, false, false],
];
const numbers = GRID.map((row) => row.map(Number));
const added = GRID.map((row) => row.map((hidden) => (hidden ? HIDES : 0)));

/** Where scores are hidden, H,T,S. */
const hidden = (trace, stage = "blocks.0.attention.scores") =>
  Array.from(trace.get(stage).data, (score) => score === HIDES);

test("one mask, however it is written, hides the same and gives the same bits", () => {
  const want = model.respondTo(ids, { masks: { attention: GRID } });
  assert.deepEqual(hidden(want), [...GRID.flat(), ...GRID.flat()]);
  const all = [0, 1].map(() => GRID);
  const flat = numbers.flat();
  for (const attention of [
    numbers,
    numbers.map((row) => Uint8Array.from(row)),
    added,
    added.map((row) => Float32Array.from(row)),
    { data: GRID.flat(), shape: [3, 3] },
    { data: Uint8Array.from(flat), shape: [3, 3] },
    { data: Int32Array.from(flat), shape: [3, 3] },
    { data: Float64Array.from(added.flat()), shape: [3, 3] },
    all,
    [all],
    { data: Uint8Array.from([...flat, ...flat]), shape: [2, 3, 3] },
    { data: [...flat, ...flat], shape: [1, 2, 3, 3] },
  ]) {
    const trace = model.respondTo(ids, { masks: { attention } });
    for (const name of trace.stages) assert.deepEqual(trace.get(name), want.get(name), name);
  }
});

test("the scores that are left are those of a pass without masks, and their weights sum to 1", () => {
  const trace = model.respondTo(ids, { masks: { attention: GRID } });
  const scores = plain.get("blocks.0.attention.scores").data;
  trace.get("blocks.0.attention.scores").data.forEach((score, i) => {
    if (score !== HIDES) assert.equal(score, scores[i]);
    else assert.ok(Object.is(trace.attention.data[i], 0));
  });
  for (const head of trace.attention.tolist()) {
    for (const row of head) assert.ok(Math.abs(row.reduce((sum, w) => sum + w) - 1) < 1e-15);
  }
});

test("floats are added, even where all are 0 or 1; other numbers are where one is neither", () => {
  const scores = plain.get("blocks.0.attention.scores").data;
  const plus = (attention) =>
    model.respondTo(ids, { masks: { attention } }).get("blocks.0.attention.scores").data;
  const want = scores.map((score, i) => score + numbers.flat()[i % 9]);
  assert.deepEqual(plus({ data: Float64Array.from(numbers.flat()), shape: [3, 3] }), want);
  assert.deepEqual(plus(numbers.map((row) => Float64Array.from(row))), want);
  const half = numbers.map((row) => row.map((x) => x / 2));
  assert.deepEqual(
    plus(half),
    scores.map((score, i) => score + half.flat()[i % 9]),
  );
  const whole = { data: Int32Array.from(numbers.flat(), (x) => -5 * x), shape: [3, 3] };
  assert.deepEqual(
    plus(whole),
    scores.map((score, i) => score + whole.data[i % 9]),
  );
});

test("masks come on top of the model's own", () => {
  const causal = new CausalLanguageModel({ nVocab: 7 });
  const trace = causal.respondTo(ids, { masks: { attention: GRID, padding: [true, false, false] } });
  const want = GRID.flatMap((row, t) => row.map((hides, s) => hides || s > t || s === 0));
  assert.deepEqual(hidden(trace), [...want, ...want]);
  // The first row may see nothing: weights of 0, and nothing that is no number.
  assert.deepEqual(Array.from(trace.attention.slice(null, 0).data), [0, 0, 0, 0, 0, 0]);
  assert.ok(trace.logits.data.every(Number.isFinite));
});

test("a key padding hides its keys from every query, however it is written", () => {
  const marks = [false, false, true];
  const want = [0, 1, 2, 3, 4, 5].flatMap(() => marks);
  for (const padding of [
    marks,
    [marks],
    [0, 0, 1],
    [[0, 0, 1]],
    Uint8Array.of(0, 0, 1),
    Float64Array.of(0, 0, HIDES),
    [0, 0, HIDES],
    { data: [0, 0, 1], shape: [3] },
    { data: Uint8Array.of(0, 0, 1), shape: [1, 3] },
    [2],
    Int32Array.of(2),
  ]) {
    assert.deepEqual(hidden(model.respondTo(ids, { masks: { padding } })), want, JSON.stringify(padding));
  }
  const rows = plain.positioned;
  assert.deepEqual(hidden(model.respondToRows(rows, { masks: { padding: marks } })), want);
  // Queries at hidden positions are computed all the same.
  const trace = model.respondTo(ids, { masks: { padding: marks } });
  assert.ok(trace.hidden.row(2).data.every(Number.isFinite));
  assert.deepEqual(hidden(model.respondTo(ids, { masks: { padding: [0] } })), Array(18).fill(true));
  assert.deepEqual(hidden(model.respondTo(ids, { masks: { padding: [3] } })), Array(18).fill(false));
});

test("a finite number that is too large for the model's type is refused, never taken for a hidden key", () => {
  const narrow = new CausalLanguageModel({ nVocab: 7, dtype: "float32" });
  for (const name of ["attention", "padding"]) {
    const values = (x) => (name === "padding" ? [0, x, 0] : [0, 1, 2].map(() => [0, x, 0]));
    const error = refusal(() => narrow.respondTo(ids, { masks: { [name]: values(-1e39) } }));
    assert.deepEqual([error.code, error.position], ["not_finite", 1]);
    assert.match(error.message, new RegExp(`masks.${name} .*in float32`));
    assert.ok(narrow.respondTo(ids, { masks: { [name]: values(-1e38) } }));
  }
});

test("a key padding of finite numbers is added, with the mask that there is beside it", () => {
  const scores = plain.get("blocks.0.attention.scores").data;
  const padding = Float64Array.of(0, -0.5, 2);
  const got = model.respondTo(ids, { masks: { padding } }).get("blocks.0.attention.scores").data;
  assert.deepEqual(
    got,
    scores.map((score, i) => score + padding[i % 3]),
  );
  const both = model.respondTo(ids, { masks: { padding, attention: GRID } });
  assert.deepEqual(hidden(both), [...GRID.flat(), ...GRID.flat()]);
  assert.equal(both.get("blocks.0.attention.scores").at(0, 0, 2), scores[2] + 2);
});

test("one mark alone and a length of one are not taken for each other", () => {
  const one = (padding) => model.respondTo([3], { masks: { padding } }).attention.at(0, 0, 0);
  assert.deepEqual([one([true]), one([false]), one([[1]]), one([[0]])], [0, 1, 0, 1]);
  assert.deepEqual([one(Uint8Array.of(1)), one(Uint8Array.of(0))], [0, 1]);
  assert.equal(refusal(() => one([1])).option, "masks.padding");
});

/** Masks that are refused, with the code and what the error carries. */
const REFUSED = [
  [{ attention: [[true]] }, "shape_mismatch", { what: "masks.attention", expected: [3, 3], actual: [1, 1] }],
  [{ attention: [GRID] }, "shape_mismatch", { actual: [1, 3, 3] }],
  [{ attention: [GRID, GRID, GRID] }, "shape_mismatch", { actual: [3, 3, 3] }],
  [{ attention: [[false, true, false], [true], [true]] }, "shape_mismatch", {}],
  [{ attention: [[], [], []] }, "shape_mismatch", { actual: [3, 0] }],
  [{ attention: [] }, "shape_mismatch", { actual: [0] }],
  [{ attention: new Uint8Array(9) }, "shape_mismatch", { actual: [9] }],
  [{ attention: { data: new Uint8Array(9), shape: [9] } }, "shape_mismatch", {}],
  [{ attention: { data: new Uint8Array(8), shape: [3, 3] } }, "shape_mismatch", {}],
  [{ attention: { length: 2 ** 32 - 1, 0: { length: 1e9 } } }, "shape_mismatch", {}],
  [{ attention: Object.assign([], { length: 2 ** 32 - 1 }) }, "shape_mismatch", {}],
  [{ attention: { data: [], shape: Object.assign([], { length: 2 ** 32 - 1 }) } }, "shape_mismatch", {}],
  [{ attention: { data: [], shape: [1e9, 1e9] } }, "shape_mismatch", {}],
  [{ attention: { data: [], shape: [3, -3] } }, "not_an_integer", {}],
  [{ attention: added.map((row) => row.map((x) => x + Number.NaN)) }, "not_finite", { position: 0 }],
  [{ attention: added.map((row) => row.map((x) => -x)) }, "not_finite", { position: 1, value: Infinity }],
  [{ attention: GRID.map((row) => row.map(String)) }, "not_finite", { what: "masks.attention", position: 0 }],
  [{ attention: new Array(3).fill(new Array(3)) }, "not_finite", { position: 0, value: "undefined" }],
  [{ attention: [[0n, 1n, 0n], [], []] }, "not_finite", { value: "0n" }],
  [{ attention: [new BigInt64Array(3), new BigInt64Array(3), new BigInt64Array(3)] }, "not_finite", {}],
  [{ attention: [[true, 1, 0], GRID[1], GRID[2]] }, "invalid_option", { option: "masks.attention" }],
  [{ attention: [GRID[0], numbers[1], GRID[2]] }, "invalid_option", { option: "masks.attention" }],
  [{ attention: true }, "not_an_integer", { what: "masks.attention" }],
  [{ attention: null }, "not_an_integer", { what: "masks.attention" }],
  [{ attention: "010" }, "not_an_integer", { what: "masks.attention" }],
  [{ attention: () => {} }, "not_an_integer", {}],
  [{ padding: [true, false] }, "shape_mismatch", { what: "masks.padding", expected: [3], actual: [2] }],
  [{ padding: [[true], [false], [true]] }, "shape_mismatch", { actual: [3, 1] }],
  [{ padding: [true] }, "shape_mismatch", {}],
  [{ padding: 2 }, "not_an_integer", { what: "masks.padding" }],
  [{ padding: [4] }, "index_out_of_range", { what: "masks.padding", index: 4, size: 3 }],
  [{ padding: [-1] }, "index_out_of_range", { index: -1 }],
  [{ padding: [1.5] }, "not_an_integer", { position: 0, value: "1.5" }],
  [{ padding: [Number.NaN] }, "not_an_integer", { value: "NaN" }],
  [{ padding: ["2"] }, "not_finite", {}],
  [{ padding: Float64Array.of(0, Number.POSITIVE_INFINITY, 0) }, "not_finite", { position: 1 }],
  [{ memory: GRID }, "invalid_option", { option: "memory" }],
  [{ sourcePadding: [3] }, "invalid_option", { option: "sourcePadding" }],
  [{ memoryPadding: [3] }, "invalid_option", { option: "memoryPadding" }],
  [{ Attention: GRID }, "invalid_option", { option: "Attention" }],
  [GRID, "invalid_option", { option: "masks" }],
  [new Map([["attention", GRID]]), "invalid_option", { option: "masks" }],
  [true, "invalid_option", { option: "masks" }],
  [null, "invalid_option", { option: "masks" }],
];

test("masks that do not fit are refused, and the model then answers as before", () => {
  for (const [masks, code, fields] of REFUSED) {
    const error = refusal(() => model.respondTo(ids, { masks }));
    const what = `${error.code}: ${error.message}`;
    assert.equal(error.code, code, what);
    for (const [name, value] of Object.entries(fields)) assert.deepEqual(error[name], value, what);
    assert.deepEqual(model.respondTo(ids).logits.data, plain.logits.data);
  }
  const { message, allowed } = refusal(() => model.respondTo(ids, { masks: { attention: [[true]] } }));
  assert.match(message, /\[1, 1\], expected \[3, 3\] or \[2, 3, 3\] or \[1, 2, 3, 3\]/);
  assert.deepEqual(allowed, [
    [3, 3],
    [2, 3, 3],
    [1, 2, 3, 3],
  ]);
  const none = { masks: { attention: undefined, padding: undefined, memory: undefined } };
  assert.equal(model.respondTo(ids, none).diff(plain).partsFrom, null);
  assert.deepEqual(model.respondTo(ids, { masks: {} }).toPlain().masks, {});
});

test("masks that run code of their own are read once, or refused with what they threw", () => {
  const thrower = () => {
    throw new Error("mine");
  };
  const traps = ["has", "get", "ownKeys", "getPrototypeOf"];
  const proxies = traps.map((trap) => new Proxy([], { [trap]: thrower }));
  const { proxy: revoked, revoke } = Proxy.revocable([], {});
  revoke();
  const sent = new Uint8Array(3);
  structuredClone(sent, { transfer: [sent.buffer] });
  for (const value of [...proxies, revoked, sent]) {
    for (const masks of [
      value,
      { attention: value },
      { padding: value },
      { attention: [value, value, value] },
    ]) {
      refusal(() => model.respondTo(ids, { masks }));
    }
    refusal(() => model.respondTo(ids, { masks: { attention: { data: value, shape: [3, 3] } } }));
    refusal(() => model.respondTo(ids, { masks: { attention: { data: [], shape: value } } }));
  }
  const own = new EncoderModel({ nVocab: 7 });
  const freeing = {
    length: 3,
    1: true,
    2: false,
    get 0() {
      own.free();
      return false;
    },
  };
  assert.equal(refusal(() => own.respondTo(ids, { masks: { padding: freeing } })).code, "freed");
  const lying = Object.defineProperty(Uint8Array.of(0, 1, 0), "length", { value: 1 });
  assert.deepEqual(hidden(model.respondTo(ids, { masks: { padding: lying } })).slice(0, 3), [
    false,
    true,
    false,
  ]);
  const changing = {
    length: 3,
    reads: 0,
    1: [false, false, false],
    2: [false, false, false],
    get 0() {
      this.reads += 1;
      return this.reads > 2 ? [true] : [false, false, true];
    },
  };
  refusal(() => model.respondTo(ids, { masks: { attention: Object.assign(changing, { reads: 5 }) } }));
  const cyclic = [];
  cyclic.push(cyclic, cyclic, cyclic);
  assert.equal(refusal(() => model.respondTo(ids, { masks: { attention: cyclic } })).code, "shape_mismatch");
});

test("what a mask becomes after the call changes nothing", () => {
  const attention = GRID.map((row) => Uint8Array.from(row));
  const trace = model.respondTo(ids, { masks: { attention } });
  const before = hidden(trace);
  for (const row of attention) row.fill(1);
  assert.deepEqual(hidden(trace), before);
});

test("a masked trace comes back from its plain copy; without its masks its hidden scores are refused", () => {
  const trace = model.respondTo(ids, { masks: { attention: GRID } });
  const copy = structuredClone(trace.toPlain());
  assert.deepEqual(Object.keys(copy.masks), ["attention"]);
  assert.equal(Trace.fromPlain(copy).diff(trace).partsFrom, null);
  const { masks: _masks, ...unmarked } = copy;
  assert.equal(refusal(() => Trace.fromPlain(unmarked)).code, "not_finite");
  // Traces of before masks were kept say only that there were some.
  assert.equal(Trace.fromPlain({ ...unmarked, masked: true }).diff(trace).partsFrom, null);
  assert.equal(refusal(() => Trace.fromPlain({ ...copy, masked: 1 })).option, "masked");
});
