/** Batches: each prompt's bits are its own, whatever stands beside it; NaN where a prompt has nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { BatchTrace, CausalLanguageModel, EncoderModel, memory, randomStream, Tensor } from "glassformer";
import { refusal } from "./support.mjs";

const WORDS = ["<start>", "the", "cat", "dog", "sat", "slept", "<end>"];
const PROMPTS = [[0, 1, 2], [3], [4, 5, 6, 0, 1]];
const LARGE = { nVocab: 50, nModel: 64, nBlocks: 4 };
const model = new CausalLanguageModel({ nVocab: 7, nBlocks: 2, words: WORDS });
const mixture = new CausalLanguageModel({ nVocab: 7, feedForward: { experts: 3, selected: 2, capacity: 2 } });

/** Every cell of a batch's stage, its index, and the cell of the prompt's own stage where it has one. */
function* cells(batch, alone, stage) {
  const whole = batch.get(stage);
  const index = whole.shape.map(() => 0);
  for (const value of whole.data) {
    const [b, ...place] = index;
    const own = alone[b].get(stage);
    const at = place.map((i, axis) =>
      batch.padding === "left" ? i - whole.shape[axis + 1] + own.shape[axis] : i,
    );
    const isThere = at.every((i, axis) => i >= 0 && i < own.shape[axis]);
    yield { value, own: isThere ? own.at(...at) : undefined, isWhole: own.dtype === "int32" };
    for (let axis = index.length - 1; axis >= 0; axis--) {
      index[axis] += 1;
      if (index[axis] < whole.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

test("every cell of every stage is the prompt's own to the bit, or padding", () => {
  for (const own of [model, mixture, new CausalLanguageModel(LARGE)]) {
    const alone = PROMPTS.map((ids) => own.respondTo(ids));
    for (const padding of ["right", "left"]) {
      const batch = own.respondTo(PROMPTS, { padding });
      assert.deepEqual(batch.stages, alone[0].stages);
      for (const stage of batch.stages) {
        assert.deepEqual(batch.get(stage).axes, ["batch", ...alone[0].get(stage).axes]);
        assert.equal(batch.get(stage).dtype, alone[0].get(stage).dtype);
        for (const { value, own: want, isWhole } of cells(batch, alone, stage)) {
          if (want === undefined) assert.ok(isWhole ? value === -1 : Number.isNaN(value), stage);
          else assert.ok(Object.is(value, want), stage);
        }
      }
      PROMPTS.forEach((_, b) => {
        assert.equal(batch.prompt(b).diff(alone[b]).partsFrom, null);
      });
      batch.free();
    }
  }
});

test("a batch says what it is of", () => {
  const batch = model.respondTo(PROMPTS, { padding: "left" });
  assert.ok(batch instanceof BatchTrace);
  assert.deepEqual([batch.size, batch.length, batch.lengths, batch.padding], [3, 5, [3, 1, 5], "left"]);
  assert.deepEqual(batch.tokens, PROMPTS);
  assert.deepEqual(batch.words[1], ["dog"]);
  assert.deepEqual([batch.sourceLength, batch.sourceLengths], [0, [0, 0, 0]]);
  assert.equal(model.respondTo(PROMPTS).padding, "right");
  assert.ok(batch.has("logits") && batch.has("attention") && !batch.has("nothing"));
  assert.equal(batch.describe("attention").name, "blocks.1.attention.weights");
  assert.deepEqual(batch.attention.shape, [3, 2, 5, 5]);
  for (const name of [
    "positioned",
    "attention",
    "afterAttention",
    "feedForward",
    "hidden",
    "logits",
    "probabilities",
  ]) {
    assert.deepEqual(batch[name], batch.get(name));
  }
  assert.match(inspect(batch), /^BatchTrace of 3 prompts \(3, 1, 5 positions\), 34 stages: embedding, /);
  assert.match(String(batch.logits), /NaN/);
  assert.equal(refusal(() => batch.get("hiden")).code, "unknown_stage");
});

test("one prompt in a list keeps its batch axis", () => {
  const batch = model.respondTo([[0, 1, 2]]);
  assert.deepEqual(batch.hidden.shape, [1, 3, 4]);
  assert.deepEqual(batch.hidden.row(0), model.respondTo([0, 1, 2]).hidden);
  assert.deepEqual(model.respondToRows([[[1, 2, 3, 4]]]).positioned.shape, [1, 1, 4]);
});

test("the last logits are those of each prompt's last position that is no padding", () => {
  for (const padding of ["right", "left"]) {
    const { lastLogits } = model.respondTo(PROMPTS, { padding });
    assert.deepEqual(
      [lastLogits.shape, lastLogits.axes],
      [
        [3, 7],
        ["batch", "vocabulary"],
      ],
    );
    PROMPTS.forEach((ids, b) => {
      assert.deepEqual(lastLogits.row(b), model.respondTo(ids).logits.row(-1));
    });
  }
  // A batch that is padded already, with a mask that says so.
  const padded = [
    [0, 1, 2, 6, 6],
    [4, 5, 6, 0, 1],
  ];
  const batch = model.respondTo(padded, { masks: { padding: [3, 5] } });
  assert.deepEqual(batch.lastLogits.row(0).data, model.respondTo([0, 1, 2]).logits.row(-1).data);
  assert.deepEqual(BatchTrace.fromPlain(batch.toPlain()).lastLogits, batch.lastLogits);
  const stack = new CausalLanguageModel({ nVocab: 0 }).respondToRows([[[1, 2, 3, 4]]]);
  assert.equal(refusal(() => stack.lastLogits).code, "unknown_stage");
});

test("weights are averaged over heads, padding stays NaN", () => {
  const batch = model.respondTo(PROMPTS);
  const average = batch.averageWeights();
  assert.deepEqual(
    [average.shape, average.axes],
    [
      [3, 5, 5],
      ["batch", "query", "key"],
    ],
  );
  PROMPTS.forEach((ids, b) => {
    const own = model.respondTo(ids).averageWeights();
    assert.deepEqual(average.slice(b, [0, ids.length], [0, ids.length]), own);
  });
  assert.ok(Number.isNaN(average.at(1, 1, 0)) && Number.isNaN(average.at(1, 0, 1)));
});

test("TransformerLens's names give its order of axes, the batch first", () => {
  const batch = model.respondTo(PROMPTS, { padding: "left" });
  const query = batch.get("blocks.1.attn.hook_q");
  assert.deepEqual(
    [query.shape, query.axes],
    [
      [3, 5, 2, 2],
      ["batch", "position", "head", "coordinate"],
    ],
  );
  const own = batch.get("blocks.1.attention.query");
  for (let t = 0; t < 5; t++) assert.ok(Object.is(query.at(0, t, 1, 0), own.at(0, 1, t, 0)));
  assert.deepEqual(batch.get("blocks.1.hook_resid_post"), batch.get("blocks.1.hidden"));
});

test("rows come as lists of lists, as tensors in a list, or with a shape of three", () => {
  const stack = new EncoderModel({ nVocab: 0 });
  const rows = randomStream("numpy", 7).normal([2, 3, 4]);
  const want = stack.respondToRows(rows);
  assert.deepEqual(want.positioned.data, rows.data);
  assert.deepEqual(
    [want.lengths, want.tokens],
    [
      [3, 3],
      [[], []],
    ],
  );
  for (const given of [
    rows.tolist(),
    [rows.row(0), rows.row(1)],
    [rows.row(0), rows.row(1).tolist()],
    rows.tolist().map((prompt) => prompt.map((row) => Float64Array.from(row))),
    { data: Array.from(rows.data), shape: [2, 3, 4] },
  ]) {
    assert.deepEqual(stack.respondToRows(given).hidden, want.hidden);
  }
  assert.deepEqual(want.prompt(1).hidden, stack.respondToRows(rows.row(1)).hidden);
  const cases = [
    [[rows.row(0), rows.row(1).slice([0, 2])], "shape_mismatch"],
    [{ data: rows.data, shape: [2, 4, 3] }, "shape_mismatch"],
    [{ data: rows.data, shape: [3, 3, 4] }, "shape_mismatch"],
    [{ data: rows.data, shape: [1, 2, 3, 4] }, "shape_mismatch"],
    [{ data: rows.data, shape: [1.5, 4, 4] }, "not_an_integer"],
    [{ data: rows.data, shape: [2, 1e9, 4] }, "context_exceeded"],
    [{ data: new Float64Array(0), shape: [2, 0, 4] }, "empty_prompt"],
    [{ data: new Float64Array(0), shape: [0, 3, 4] }, "empty_prompt"],
    [[rows.row(0), 3], "not_an_integer"],
    [[[[1, 2, 3, 4]], [[1, 2, 3]]], "shape_mismatch"],
    [[[[1, 2, 3, 4]], [[1, 2, 3, Number.NaN]]], "not_finite"],
  ];
  for (const [given, code] of cases) assert.equal(refusal(() => stack.respondToRows(given)).code, code);
  assert.equal(refusal(() => stack.respondToRows(rows, { padding: "left" })).option, "padding");
});

test("ids come as lists in lists, typed arrays in lists, or a tensor of two axes", () => {
  const ids = randomStream("numpy", 7).integers(0, 7, [2, 3]);
  const want = model.respondTo(ids.tolist());
  for (const given of [
    ids,
    [ids.row(0), ids.row(1)],
    [Uint8Array.from(ids.row(0).data), ids.tolist()[1]],
    { length: 2, 0: ids.tolist()[0], 1: { length: 3, ...ids.tolist()[1] } },
  ]) {
    assert.deepEqual(model.respondTo(given).logits, want.logits);
  }
  assert.deepEqual(model.respondTo(ids.row(0)).logits, want.logits.row(0));
  const cube = new Tensor(new Int32Array(8), [2, 2, 2], ["a", "b", "c"]);
  assert.equal(refusal(() => model.respondTo(cube)).code, "shape_mismatch");
});

/** Batches that are refused, with what the error carries. */
const REFUSED = [
  [[[0], [7]], "token_out_of_range", { prompt: 1, position: 0, id: 7, vocabulary: 7 }],
  [[[0], [0, 1.5]], "not_an_integer", { prompt: 1, position: 1 }],
  [[[0], []], "empty_prompt", { prompt: 1 }],
  [[[]], "empty_prompt", { prompt: 0 }],
  [[[0], 1], "not_an_integer", { prompt: 1 }],
  [[[0], null], "not_an_integer", { prompt: 1 }],
  [[[0], "12"], "not_an_integer", { prompt: 1 }],
  [[[0], [[1]]], "not_an_integer", { prompt: 1, position: 0 }],
  [[[0], new Array(17).fill(0)], "context_exceeded", { prompt: 1, length: 17, maxContext: 16 }],
  [[[0], { length: 2 ** 32 }], "context_exceeded", { prompt: 1 }],
  [{ length: 1e9, 0: [0] }, "invalid_option", {}],
  [Object.assign([[0]], { length: 2 ** 32 - 1 }), "invalid_option", {}],
  [Object.assign([[0]], { length: 3 }), "not_an_integer", { prompt: 1 }],
  [[], "empty_prompt", {}],
];

test("what is refused of a prompt names the prompt; no other is kept", () => {
  const own = new CausalLanguageModel({ nVocab: 7, maxContext: 16 });
  const { liveTraces } = memory();
  for (const [prompts, code, fields] of REFUSED) {
    const error = refusal(() => own.respondTo(prompts));
    assert.equal(error.code, code, error.message);
    for (const [name, value] of Object.entries(fields)) assert.equal(error[name], value, error.message);
    if (fields.prompt !== undefined)
      assert.match(error.message, new RegExp(`^prompt ${fields.prompt} of the batch`));
  }
  const large = new CausalLanguageModel({ ...LARGE, maxContext: 100 });
  const long = Array.from({ length: 60 }, (_, i) => i % 50);
  assert.equal(refusal(() => large.respondTo([long, [50]])).code, "token_out_of_range");
  assert.equal(memory().liveTraces, liveTraces);
  for (const padding of ["Left", "", null, 0, true, [1]]) {
    assert.equal(refusal(() => own.respondTo([[0]], { padding })).option, "padding");
    assert.equal(refusal(() => own.respondTo([0], { padding })).option, "padding");
  }
  assert.equal(own.respondTo([0], { padding: "left" }).length, 1);
});

test("prompts that run code of their own are taken for what they are, or refused", () => {
  const own = new CausalLanguageModel({ nVocab: 7 });
  const thrower = () => {
    throw new Error("mine");
  };
  for (const trap of ["has", "get", "getPrototypeOf"]) {
    for (const prompts of [
      [new Proxy([0], { [trap]: thrower })],
      [[0], new Proxy([0], { [trap]: thrower })],
    ]) {
      try {
        assert.deepEqual(own.respondTo(prompts).lengths.at(-1), 1);
      } catch (error) {
        assert.equal(error.name, "GlassformerError");
      }
    }
  }
  const sent = new Float64Array(2);
  structuredClone(sent, { transfer: [sent.buffer] });
  assert.equal(refusal(() => own.respondTo([[0], sent])).code, "empty_prompt");
  const nested = {
    length: 2,
    0: [0],
    get 1() {
      return own.respondTo([[1, 2]]).tokens[0];
    },
  };
  assert.deepEqual(own.respondTo(nested).tokens, [[0], [1, 2]]);
  const freeing = {
    length: 2,
    0: [0],
    get 1() {
      own.free();
      return [0];
    },
  };
  assert.equal(refusal(() => own.respondTo(freeing)).code, "freed");
});

test("a prompt's trace and its batch are freed each by itself", () => {
  for (const options of [{ nVocab: 50 }, LARGE]) {
    const own = new CausalLanguageModel(options);
    const { liveTraces } = memory();
    const batch = own.respondTo([Array.from({ length: 40 }, (_, i) => i), [1, 2]]);
    const [first, again] = [batch.prompt(0), batch.prompt(0)];
    const want = first.hidden;
    first.free();
    assert.equal(refusal(() => first.hidden).code, "freed");
    assert.deepEqual(batch.hidden.row(0), want);
    batch.free();
    batch.free();
    for (const call of [
      () => batch.hidden,
      () => batch.prompt(0),
      () => batch.lastLogits,
      () => batch.toPlain(),
      () => batch.toJSON(),
      () => batch.toRows(),
      () => batch.toSafetensors(),
      () => batch.diff(batch),
    ]) {
      assert.equal(refusal(call).code, "freed", String(call));
    }
    assert.deepEqual(again.hidden, want);
    again[Symbol.dispose ?? Symbol.for("Symbol.dispose")]();
    assert.equal(memory().liveTraces, liveTraces);
  }
});

test("large batches made and freed leave the memory flat", () => {
  const own = new CausalLanguageModel(LARGE);
  const prompts = [
    Array.from({ length: 50 }, (_, i) => i),
    [1, 2, 3],
    Array.from({ length: 40 }, (_, i) => i),
  ];
  const round = () => {
    const batch = own.respondTo(prompts);
    batch.prompt(2).free();
    batch.free();
  };
  round();
  const before = memory();
  for (let i = 0; i < 100; i++) round();
  assert.deepEqual(memory(), before);
});

test("a prompt is asked for by its index", () => {
  const batch = model.respondTo(PROMPTS);
  assert.deepEqual(batch.prompt(-1).tokens, [4, 5, 6, 0, 1]);
  for (const [b, code] of [
    [3, "index_out_of_range"],
    [-4, "index_out_of_range"],
    [2 ** 53, "index_out_of_range"],
    [0.5, "not_an_integer"],
    ["0", "not_an_integer"],
    [undefined, "not_an_integer"],
    [Symbol("x"), "not_an_integer"],
  ]) {
    assert.equal(refusal(() => batch.prompt(b)).code, code);
  }
});

test("batches are compared prompt by prompt", () => {
  const batch = model.respondTo(PROMPTS);
  const other = model.respondTo([[0, 1, 3], [3], [4, 5, 6, 0]], { padding: "left" });
  const diffs = batch.diff(other);
  assert.deepEqual(
    diffs.map(({ partsFrom, rows }) => [partsFrom, rows.length]),
    [
      ["embedding", 3],
      [null, 1],
      [null, 4],
    ],
  );
  assert.equal(refusal(() => batch.diff(model.respondTo([[0]]))).code, "shape_mismatch");
  for (const wrong of [undefined, {}, 3, model.respondTo([0])]) {
    assert.equal(refusal(() => batch.diff(wrong)).code, "invalid_option");
  }
  assert.equal(refusal(() => model.respondTo([0]).diff(batch)).code, "invalid_option");
});
