/** Batches: each prompt's bits are its own, whatever stands beside it; NaN where a prompt has nothing. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { inspect } from "node:util";
import Ajv from "ajv/dist/2020.js";
import {
  BatchTrace,
  CausalLanguageModel,
  EncoderModel,
  memory,
  randomStream,
  Tensor,
  Trace,
} from "glassformer";
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

const HIDES = Number.NEGATIVE_INFINITY;
const scoresOf = (trace) => trace.get("blocks.0.attention.scores");
const hidden = (trace) => Array.from(scoresOf(trace).data, (score) => score === HIDES);

test("masks are given for the padded size, and each prompt takes what is its own", () => {
  const encoder = new EncoderModel({ nVocab: 7 });
  const [B, H, T] = [3, 2, 5];
  const stream = randomStream("numpy", 7);
  const whole = stream.normal([B, H, T, T]);
  for (const padding of ["right", "left"]) {
    const part = (grid, length) => {
      const range = padding === "left" ? [T - length, T] : [0, length];
      return grid.slice(...grid.shape.slice(0, -2).map(() => null), range, range);
    };
    const forms = [
      [whole, (b) => whole.row(b)],
      [whole.tolist(), (b) => whole.row(b)],
      [{ data: whole.data, shape: [B * H, T, T] }, (b) => whole.row(b)],
      [whole.row(1), () => whole.row(1)],
      [whole.row(1).row(0), () => whole.row(1).row(0)],
    ];
    for (const [attention, of] of forms) {
      const batch = encoder.respondTo(PROMPTS, { padding, masks: { attention } });
      PROMPTS.forEach((ids, b) => {
        const alone = encoder.respondTo(ids, { masks: { attention: part(of(b), ids.length) } });
        assert.equal(batch.prompt(b).diff(alone).partsFrom, null);
      });
    }
    const marks = [0, 1, 2].map((b) => [0, 1, 2, 3, 4].map((s) => (b + s) % 2 === 0));
    const cut = (row, length) => (padding === "left" ? row.slice(T - length) : row.slice(0, length));
    for (const [given, of] of [
      [marks, (b) => marks[b]],
      [marks.map((row) => Uint8Array.from(row)), (b) => marks[b]],
      [marks[0], () => marks[0]],
      [marks[0].map(Number), () => marks[0]],
      [
        [4, 5, 2],
        (b) => [0, 1, 2, 3, 4].map((s) => (padding === "left" ? s < [1, 0, 3][b] : s >= [4, 5, 2][b])),
      ],
      [
        Int32Array.of(4, 5, 2),
        (b) => [0, 1, 2, 3, 4].map((s) => (padding === "left" ? s < [1, 0, 3][b] : s >= [4, 5, 2][b])),
      ],
    ]) {
      const batch = encoder.respondTo(PROMPTS, { padding, masks: { padding: given } });
      PROMPTS.forEach((ids, b) => {
        const own = cut(of(b), ids.length);
        assert.deepEqual(hidden(batch.prompt(b)), Array.from({ length: H * ids.length }, () => own).flat());
      });
    }
  }
});

test("a list of one number for each prompt is lengths, and is refused where it could be marks", () => {
  const encoder = new EncoderModel({ nVocab: 7 });
  const square = [
    [0, 1],
    [2, 3],
  ];
  const first = (padding) =>
    square.map((_, b) => hidden(encoder.respondTo(square, { masks: { padding } }).prompt(b)).slice(0, 2));
  assert.deepEqual(first([1, 2]), [
    [false, true],
    [false, false],
  ]);
  assert.deepEqual(first([2, 0]), [
    [false, false],
    [true, true],
  ]);
  assert.deepEqual(first([false, true]), [
    [false, true],
    [false, true],
  ]);
  assert.deepEqual(first([[1, 0], Uint8Array.of(0, 1)]), [
    [true, false],
    [false, true],
  ]);
  for (const either of [[1, 0], [0, 0], Uint8Array.of(0, 1), Float64Array.of(HIDES, 0)]) {
    const error = refusal(() => first(either));
    assert.deepEqual([error.code, error.option], ["invalid_option", "masks.padding"]);
    assert.match(error.message, /marks or as lengths/);
  }
});

test("masks of another size are refused with every size there may be", () => {
  const refused = (masks) => refusal(() => model.respondTo(PROMPTS, { masks }));
  const error = refused({ attention: [[true]] });
  assert.deepEqual(error.allowed, [
    [5, 5],
    [2, 5, 5],
    [6, 5, 5],
    [3, 2, 5, 5],
  ]);
  for (const [masks, code] of [
    [{ padding: [[true]] }, "shape_mismatch"],
    [{ padding: [true, false, true] }, "shape_mismatch"],
    [{ padding: [1, 2] }, "shape_mismatch"],
    [{ padding: [1, 2, 6] }, "index_out_of_range"],
    [{ padding: [1, 2, -1] }, "index_out_of_range"],
    [{ padding: [1, 2, 2.5] }, "not_an_integer"],
    [{ padding: [1, 2, "3"] }, "not_finite"],
    [{ attention: { data: new Uint8Array(75), shape: [3, 5, 5] } }, "shape_mismatch"],
    [{ attention: { data: new Float64Array(25).fill(Number.NaN), shape: [5, 5] } }, "not_finite"],
  ]) {
    assert.equal(refused(masks).code, code, JSON.stringify(masks));
  }
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

test("tidy rows are each prompt's own, with its place in the batch", () => {
  const batch = model.respondTo(PROMPTS, { padding: "left" });
  const rows = batch.toRows();
  const want = PROMPTS.flatMap((ids, b) =>
    model
      .respondTo(ids)
      .toRows()
      .map((row) => ({ batch: b, ...row })),
  );
  assert.deepEqual(rows, want);
  assert.ok(rows.every(({ value }) => !Number.isNaN(value)));
});

test("a plain copy passes through structured cloning and gives the same batch", () => {
  for (const own of [model, mixture, new CausalLanguageModel({ ...LARGE, dtype: "float32" })]) {
    const batch = own.respondTo(PROMPTS, { padding: "left", masks: { padding: [2, 1, 5] } });
    const copy = BatchTrace.fromPlain(structuredClone(batch.toPlain()));
    assert.deepEqual([copy.tokens, copy.words, copy.padding], [batch.tokens, batch.words, batch.padding]);
    for (const stage of batch.stages) assert.deepEqual(copy.get(stage), batch.get(stage));
    assert.deepEqual(copy.lastLogits, batch.lastLogits);
    assert.ok(copy.diff(batch).every(({ partsFrom }) => partsFrom === null));
  }
});

test("a plain batch is checked, however it was made", () => {
  const good = model.respondTo(PROMPTS).toPlain();
  const second = (changes) => ({
    ...good,
    prompts: good.prompts.with(1, { ...good.prompts[1], ...changes }),
  });
  const cases = [
    [{ ...good, prompts: [] }, "invalid_option"],
    [{ ...good, prompts: 3 }, "not_an_integer"],
    [{ ...good, prompts: Object.assign([], { length: 2 ** 32 - 1 }) }, "invalid_option"],
    [{ ...good, prompts: [null] }, "invalid_option"],
    [{ ...good, padding: "up" }, "invalid_option"],
    [{ ...good, format: "glassformer-plain-1" }, "invalid_option"],
    [{ ...good, model: "EncoderDecoderModel" }, "invalid_option"],
    [{ ...good, start: "rows" }, "shape_mismatch"],
    [{ ...good, start: "memory" }, "invalid_option"],
    [{ ...good, more: 1 }, "invalid_option"],
    [second({ tokens: [7] }), "token_out_of_range"],
    [second({ length: 2 }), "shape_mismatch"],
    [second({ data: good.prompts[0].data }), "shape_mismatch"],
    [second({ last: 1 }), "invalid_option"],
    [second({ source: [1] }), "shape_mismatch"],
    [second({ sourceLength: 1 }), "invalid_option"],
    [second({ more: 1 }), "invalid_option"],
  ];
  for (const [plain, code] of cases) {
    const error = refusal(() => BatchTrace.fromPlain(plain));
    assert.equal(error.code, code, error.message);
  }
  assert.equal(refusal(() => BatchTrace.fromPlain(second({ tokens: [7] }))).prompt, 1);
  assert.equal(refusal(() => Trace.fromPlain(good)).code, "invalid_option");
  assert.equal(refusal(() => BatchTrace.fromPlain(model.respondTo([0]).toPlain())).code, "invalid_option");
  for (const make of [
    () => new BatchTrace(),
    () => new BatchTrace([]),
    () => new BatchTrace([{}], "right"),
  ]) {
    assert.equal(refusal(make).code, "invalid_option");
  }
});

test("JSON follows the published schema, safetensors hold the padded tensors", () => {
  const path = createRequire(import.meta.url).resolve("glassformer/trace.schema.json");
  const validate = new Ajv({ strict: true }).compile(JSON.parse(readFileSync(path, "utf8")));
  for (const own of [model, mixture]) {
    const batch = own.respondTo(PROMPTS, { padding: "left" });
    const json = JSON.parse(JSON.stringify(batch));
    assert.ok(validate(json), JSON.stringify(validate.errors));
    assert.equal(validate({ ...json, schema: "glassformer-trace-1" }), false);
    assert.ok(validate(JSON.parse(JSON.stringify(batch.prompt(0)))), JSON.stringify(validate.errors));
    assert.deepEqual([json.lengths, json.padding, json.tokens], [[3, 1, 5], "left", PROMPTS]);
    for (const { name, axes, shape, data } of json.stages) {
      const tensor = batch.get(name);
      assert.deepEqual([axes, shape], [tensor.axes, tensor.shape]);
      assert.ok(data.every((x, i) => Object.is(Number(x), tensor.data[i])));
    }
    const bytes = batch.toSafetensors();
    const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
    const { __metadata__: metadata, ...tensors } = JSON.parse(
      new TextDecoder().decode(bytes.subarray(8, 8 + length)),
    );
    assert.deepEqual(JSON.parse(metadata.lengths), [3, 1, 5]);
    assert.deepEqual([metadata.padding, metadata.model], ["left", "CausalLanguageModel"]);
    assert.deepEqual(Object.keys(tensors), [...batch.stages]);
    for (const [name, { shape }] of Object.entries(tensors)) assert.deepEqual(shape, batch.get(name).shape);
  }
});
