/** A cell says what it was computed from, all the way down. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, EncoderDecoderModel, Trace } from "glassformer";
import { refusal } from "./support.mjs";

const model = new CausalLanguageModel({ nVocab: 7, nModel: 4, nHeads: 2 });
const trace = model.respondTo([0, 1, 2]);

test("an attention score has its product, a hidden one its mask", () => {
  const score = trace.explain("blocks.0.attention.scores", [0, 2, 0]);
  assert.equal(score.op, "sum");
  assert.equal(score.value, trace.get("blocks.0.attention.scores").at(0, 2, 0));
  const [product, scale] = score.terms[0].factors;
  assert.deepEqual(
    product.from.terms.map((term) => term.factors.map((factor) => factor.stage)),
    [
      ["blocks.0.attention.query", "blocks.0.attention.key"],
      ["blocks.0.attention.query", "blocks.0.attention.key"],
    ],
  );
  assert.equal(scale.constant, "c");
  assert.equal(scale.value, 1 / Math.SQRT2);
  const hidden = trace.explain("blocks.0.attention.scores", [0, 1, 2]);
  assert.deepEqual([hidden.op, hidden.value, hidden.check], ["given", Number.NEGATIVE_INFINITY, 0]);
  assert.match(hidden.note, /causal mask: key 2 comes after query 1/);
});

test("questions lead from the last probability down to the table, and every answer adds up", () => {
  const asked = [["probabilities", [2, 3]]];
  const seen = new Set();
  const ends = new Set();
  const follow = (explained) => {
    assert.equal(explained.check, 0, explained.numbers);
    for (const factor of explained.terms.flatMap((term) => term.factors)) {
      if (factor.from !== undefined) follow(factor.from);
      else if (factor.stage !== undefined) {
        assert.equal(factor.value, trace.get(factor.stage).at(...factor.index));
        asked.push([factor.stage, factor.index]);
      } else if (factor.parameter !== undefined) {
        assert.equal(factor.value, model.parameter(factor.parameter).at(...factor.index));
        ends.add(factor.parameter);
      }
    }
  };
  while (asked.length > 0) {
    const [stage, index] = asked.pop();
    const key = `${stage} ${index}`;
    if (seen.has(key)) continue;
    seen.add(key);
    follow(trace.explain(stage, index));
  }
  assert.equal(ends.size, model.parameters.length);
  assert.ok(seen.size > 120, `only ${seen.size} cells`);
});

test("formulas stand in letters and in numbers", () => {
  const cell = trace.explain("blocks.0.after_attention", [2, 0]);
  assert.equal(cell.symbols, "y[t,d] = x[t,d] + o[t,d]");
  assert.equal(cell.numbers, "0.6632 + 0.1897 = 0.8529");
  assert.deepEqual(trace.explain("hidden", [-1, -1]), trace.explain("blocks.0.hidden", [2, 3]));
});

test("edits are explained as edits", () => {
  const stage = "blocks.0.hidden";
  const edits = [
    { stage, index: [2, 0], add: 0.5 },
    { stage, index: [1, 0], set: 3 },
  ];
  const edited = model.respondTo([0, 1, 2], { edits });
  const added = edited.explain(stage, [2, 0]);
  assert.equal(added.note, "added to by an edit");
  assert.equal(added.terms[0].factors[0].from.value, trace.hidden.at(2, 0));
  assert.equal(edited.explain(stage, [1, 0]).note, "set by an edit");
  assert.equal(edited.explain(stage, [0, 0]).note, undefined);
});

test("a trace speaks of the parameters it was computed with", () => {
  const own = new CausalLanguageModel({ nVocab: 7 });
  const before = own.respondTo([0, 1, 2]);
  const asked = before.explain("logits", [2, 0]);
  own.setParameter("head", Array(28).fill(0));
  assert.deepEqual(before.explain("logits", [2, 0]), asked);
  own.free();
  assert.deepEqual(before.explain("logits", [2, 0]), asked);
});

test("an encoder-decoder, float32 and a batch's prompts are explained too", () => {
  const both = new EncoderDecoderModel({ nVocab: 7, nSourceVocab: 9, dtype: "float32" });
  const pair = both.respondTo([8, 1, 4], [0, 1, 2]);
  const weight = pair.explain("decoder.blocks.0.cross_attention.weights", [0, 1, 2]);
  assert.equal(weight.check, 0);
  const batch = model.respondTo([[0, 1, 2], [3]]);
  assert.deepEqual(batch.prompt(0).explain("logits", [2, 0]), trace.explain("logits", [2, 0]));
});

test("what cannot be explained is refused", () => {
  const code = (stage, index) => refusal(() => trace.explain(stage, index)).code;
  assert.equal(code("hiden", [0, 0]), "unknown_stage");
  assert.equal(code("hidden", [0]), "shape_mismatch");
  assert.equal(code("hidden", [0, 4]), "index_out_of_range");
  assert.equal(code("hidden", [0, 0.5]), "not_an_integer");
  assert.equal(code("hidden", [0, "0"]), "not_an_integer");
  assert.equal(code("hidden", undefined), "not_an_integer");
  const alone = Trace.fromPlain(trace.toPlain());
  assert.equal(refusal(() => alone.explain("hidden", [0, 0])).code, "invalid_option");
  const gone = model.respondTo([0, 1, 2]);
  gone.free();
  assert.equal(refusal(() => gone.explain("hidden", [0, 0])).code, "freed");
});
