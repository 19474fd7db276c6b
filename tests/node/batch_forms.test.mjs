/** Batches in the forms that other tools read, and back. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { BatchTrace, CausalLanguageModel, Trace } from "glassformer";
import { refusal } from "./support.mjs";

const WORDS = ["<start>", "the", "cat", "dog", "sat", "slept", "<end>"];
const PROMPTS = [[0, 1, 2], [3], [4, 5, 6, 0, 1]];
const LARGE = { nVocab: 50, nModel: 64, nBlocks: 4 };
const model = new CausalLanguageModel({ nVocab: 7, nBlocks: 2, words: WORDS });
const mixture = new CausalLanguageModel({ nVocab: 7, feedForward: { experts: 3, selected: 2, capacity: 2 } });

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
