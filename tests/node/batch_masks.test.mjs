/** Masks of a batch: given in its padded size, each prompt takes what is its own. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, EncoderModel, randomStream } from "glassformer";
import { refusal } from "./support.mjs";

const PROMPTS = [[0, 1, 2], [3], [4, 5, 6, 0, 1]];
const model = new CausalLanguageModel({ nVocab: 7, nBlocks: 2 });

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
