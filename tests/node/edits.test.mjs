/** Edits, reuse, and traces that know the parameters they were computed with. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, EncoderDecoderModel, Trace } from "glassformer";
import { refusal } from "./support.mjs";

const lesson = () => new CausalLanguageModel({ nVocab: 7, nModel: 4, nHeads: 2 });
const wide = () => new CausalLanguageModel({ nVocab: 50, nModel: 32, nHeads: 4, nBlocks: 3 });
const long = Array.from({ length: 60 }, (_, i) => (i * 7) % 50);
const same = (a, b) => assert.ok(a.diff(b).rows.every((row) => row.identical));

test("a head is ablated, a cell set, a row scaled; earlier stages stay", () => {
  const model = lesson();
  const plain = model.respondTo([0, 1, 2]);
  const mixed = "blocks.0.attention.mixed";
  const edits = [{ stage: mixed, index: [1, null, null], scale: 0 }];
  const ablated = model.respondTo([0, 1, 2], { edits });
  assert.deepEqual(ablated.get(mixed).tolist()[1].flat().map(Math.abs), [0, 0, 0, 0, 0, 0]);
  const { partsFrom } = plain.diff(ablated);
  assert.equal(partsFrom, mixed);
  const set = model.respondTo([0, 1, 2], { edits: [{ stage: "hidden", index: [2, 1], set: 0.5 }] });
  assert.equal(set.hidden.at(2, 1), 0.5);
  const row = [1, 2, 3, 4];
  const rows = model.respondTo([0, 1, 2], { edits: [{ stage: "hidden", index: [0, null], set: row }] });
  assert.deepEqual(rows.hidden.tolist()[0], row);
  const added = model.respondTo([0, 1, 2], { edits: [{ stage: "positioned", add: plain.positioned }] });
  assert.equal(added.positioned.at(1, 1), 2 * plain.positioned.at(1, 1));
});

test("a patch from another trace, whole, by head and by cell", () => {
  const model = lesson();
  const [cat, dog] = [model.respondTo([0, 1, 2]), model.respondTo([0, 1, 3])];
  const patched = model.respondTo([0, 1, 3], { edits: [{ stage: "positioned", from: cat }] });
  const rows = model.respondToRows(cat.positioned);
  for (const name of rows.stages) assert.deepEqual(patched.get(name), rows.get(name), name);
  const stage = "blocks.0.attention.mixed";
  const head = model.respondTo([0, 1, 3], { edits: [{ stage, index: [0, 2, null], from: cat }] });
  assert.deepEqual(head.get(stage).tolist()[0], cat.get(stage).tolist()[0]);
  assert.deepEqual(head.get(stage).tolist()[1], dog.get(stage).tolist()[1]);
  const short = model.respondTo([0]);
  const error = refusal(() => model.respondTo([0, 1, 3], { edits: [{ stage, from: short }] }));
  assert.equal(error.code, "shape_mismatch");
});

test("in a batch the first index is the prompt's", () => {
  const model = lesson();
  const edits = [{ stage: "hidden", index: [1, null, 0], set: 0 }];
  const batch = model.respondTo(
    [
      [0, 1, 2],
      [3, 4],
    ],
    { edits },
  );
  same(batch.prompt(0), model.respondTo([0, 1, 2]));
  same(batch.prompt(1), model.respondTo([3, 4], { edits: [{ stage: "hidden", index: [null, 0], set: 0 }] }));
  const whole = model.respondTo([
    [0, 1, 2],
    [3, 4],
  ]);
  const back = model.respondTo(
    [
      [2, 1, 0],
      [4, 3],
    ],
    { edits: [{ stage: "positioned", from: whole }] },
  );
  assert.deepEqual(back.logits.toString(), whole.logits.toString());
});

test("what does not fit is refused with a code, and the model answers as before", () => {
  const model = lesson();
  const before = model.respondTo([0, 1, 2]);
  const edit = (own) => () => model.respondTo([0, 1, 2], { edits: [own] });
  const code = (own) => refusal(edit(own)).code;
  assert.equal(code({ stage: "hiden", set: 0 }), "unknown_stage");
  assert.equal(code({ stage: "hidden" }), "invalid_option");
  assert.equal(code({ stage: "hidden", set: 0, add: 1 }), "invalid_option");
  assert.equal(code({ stage: "hidden", set: "0" }), "not_an_integer");
  assert.equal(code({ stage: "hidden", set: Number.NaN }), "not_finite");
  assert.equal(code({ stage: "hidden", set: [1, 2] }), "shape_mismatch");
  assert.equal(code({ stage: "hidden", index: [3, 0], set: 1 }), "index_out_of_range");
  assert.equal(code({ stage: "hidden", index: [-1, 0], set: 1 }), "index_out_of_range");
  assert.equal(code({ stage: "hidden", index: [0.5, 0], set: 1 }), "not_an_integer");
  assert.equal(code({ stage: "hidden", index: [0], set: 1 }), "shape_mismatch");
  assert.equal(code({ stage: "blocks.0.attn.hook_z", set: 0 }), "invalid_option");
  assert.equal(code({ stage: "hidden", from: {} }), "invalid_option");
  assert.equal(code({ stage: "hidden", sett: 0 }), "invalid_option");
  assert.equal(refusal(() => model.respondTo([0], { edits: 3 })).code, "not_an_integer");
  assert.equal(refusal(() => model.respondTo([0], { reuse: 3 })).code, "invalid_option");
  assert.equal(refusal(() => model.respondTo([[0]], { reuse: before })).code, "invalid_option");
  assert.equal(refusal(() => wide().respondTo([0], { reuse: before })).code, "invalid_option");
  const float32 = new CausalLanguageModel({ nVocab: 7, dtype: "float32" });
  const large = refusal(() => float32.respondTo([0], { edits: [{ stage: "hidden", set: 1e300 }] }));
  assert.equal(large.code, "not_finite");
  same(before, model.respondTo([0, 1, 2]));
});

test("only rows behind the shared prefix are computed, to the bit, small traces and large", () => {
  for (const [model, ids] of [
    [lesson(), [0, 1, 2, 3, 4, 5, 6]],
    [wide(), long],
  ]) {
    const first = model.respondTo(ids);
    assert.equal(first.computedRows, ids.length);
    const other = [...ids.slice(0, -1), (ids.at(-1) + 1) % 7];
    const changed = first.withLastToken(other.at(-1));
    assert.equal(changed.computedRows, 1);
    same(changed, model.respondTo(other));
    assert.deepEqual(changed.tokens, other);
    const longer = model.respondTo([...ids, 3, 4], { reuse: first });
    assert.equal(longer.computedRows, 2);
    same(longer, model.respondTo([...ids, 3, 4]));
    const from = model.respondTo([...ids.slice(0, 4), 0, 0, 0], { reuse: longer });
    assert.equal(from.computedRows, 3);
  }
});

test("where rows look ahead, or a parameter was set, everything is computed", () => {
  const open = new CausalLanguageModel({ nVocab: 7, mask: "none" });
  const first = open.respondTo([0, 1, 2]);
  const changed = first.withLastToken(3);
  assert.equal(changed.computedRows, 3);
  same(changed, open.respondTo([0, 1, 3]));
  const model = lesson();
  const before = model.respondTo([0, 1, 2]);
  model.setParameter("head", Array(28).fill(0.5));
  const reused = model.respondTo([0, 1, 3], { reuse: before });
  assert.equal(reused.computedRows, 3);
  same(reused, model.respondTo([0, 1, 3]));
  // The old trace goes on with the parameters it was computed with.
  same(before.withLastToken(3), lesson().respondTo([0, 1, 3]));
  model.free();
  same(before.withLastToken(3), lesson().respondTo([0, 1, 3]));
  same(reused.withLastToken(2).withLastToken(3), reused);
});

test("masks and edits of a trace go with its last token", () => {
  const model = lesson();
  const options = {
    masks: { padding: [[true, false, false]] },
    edits: [{ stage: "hidden", index: [0, null], scale: 2 }],
  };
  const trace = model.respondTo([0, 1, 2], options);
  same(trace.withLastToken(3), model.respondTo([0, 1, 3], options));
});

test("an encoder-decoder's source is kept with its target's rows", () => {
  const model = new EncoderDecoderModel({ nVocab: 7, nSourceVocab: 9 });
  const first = model.respondTo([8, 1, 4], [0, 1, 2]);
  const changed = first.withLastToken(5);
  assert.equal(changed.computedRows, 1);
  same(changed, model.respondTo([8, 1, 4], [0, 1, 5]));
  const other = model.respondTo([8, 1, 5], [0, 1, 2], { reuse: first });
  assert.equal(other.computedRows, 3);
});

test("edits survive plain copies and JSON; a plain copy gets its parameters from its model", () => {
  const model = lesson();
  const edits = [{ stage: "blocks.0.attention.scores", index: [0, 2, 0], set: Number.NEGATIVE_INFINITY }];
  const trace = model.respondTo([0, 1, 2], { edits });
  const json = JSON.parse(JSON.stringify(trace));
  assert.deepEqual(json.edits, [
    { stage: "blocks.0.attention.scores", index: [0, 2, 0], change: "set", values: ["-Infinity"] },
  ]);
  const plain = structuredClone(trace.toPlain());
  const alone = Trace.fromPlain(plain);
  same(alone, trace);
  assert.equal(refusal(() => alone.withLastToken(3)).code, "invalid_option");
  const owned = Trace.fromPlain(plain, { model });
  same(owned.withLastToken(3), model.respondTo([0, 1, 3], { edits }));
  model.setParameter("head", Array(28).fill(0.5));
  assert.equal(refusal(() => Trace.fromPlain(plain, { model })).code, "invalid_option");
  assert.equal(refusal(() => Trace.fromPlain(plain, { model: {} })).code, "invalid_option");
  const wrong = { ...plain, edits: [{ ...plain.edits[0], stage: "nothing" }] };
  assert.equal(refusal(() => Trace.fromPlain(wrong)).code, "unknown_stage");
});

test("bad last tokens are refused", () => {
  const trace = lesson().respondTo([0, 1, 2]);
  assert.equal(refusal(() => trace.withLastToken(7)).code, "token_out_of_range");
  assert.equal(refusal(() => trace.withLastToken(1.5)).code, "not_an_integer");
  assert.equal(refusal(() => trace.withLastToken("3")).code, "not_an_integer");
  const rows = lesson().respondToRows([[1, 2, 3, 4]]);
  assert.equal(refusal(() => rows.withLastToken(3)).code, "invalid_option");
});
