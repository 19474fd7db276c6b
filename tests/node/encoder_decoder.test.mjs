/** The encoder-decoder: two sides of different length, their stages, masks and labels. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { inspect } from "node:util";
import Ajv from "ajv/dist/2020.js";
import { BatchTrace, CausalLanguageModel, EncoderDecoderModel, EncoderModel, Trace } from "glassformer";
import { refusal } from "./support.mjs";

const WORDS = ["<start>", "the", "cat", "dog", "sat", "slept", "<end>"];
const SOURCE_WORDS = ["der", "die", "Hund", "Katze", "saß"];
const OPTIONS = {
  nVocab: 7,
  nSourceVocab: 5,
  nBlocks: 2,
  nEncoderBlocks: 3,
  words: WORDS,
  sourceWords: SOURCE_WORDS,
};
const model = new EncoderDecoderModel(OPTIONS);
const source = [1, 3, 4, 0];
const target = [0, 1, 2];
const trace = model.respondTo(source, target);
const CROSS = "decoder.blocks.1.cross_attention";

test("both towers' stages are there, each with its own length", () => {
  const shapes = {
    "encoder.embedding": [4, 4],
    "encoder.blocks.2.attention.weights": [2, 4, 4],
    "encoder.final.normalized": [4, 4],
    "decoder.positioned": [3, 4],
    "decoder.blocks.1.attention.weights": [2, 3, 3],
    [`${CROSS}.query`]: [2, 3, 2],
    [`${CROSS}.key`]: [2, 4, 2],
    [`${CROSS}.scores`]: [2, 3, 4],
    [`${CROSS}.weights`]: [2, 3, 4],
    "decoder.blocks.1.after_cross_attention": [3, 4],
    "decoder.logits": [3, 7],
  };
  for (const [name, shape] of Object.entries(shapes)) assert.deepEqual(trace.get(name).shape, shape, name);
  assert.equal(trace.has("encoder.logits"), false);
  assert.equal(trace.has("logits"), true);
  assert.equal(trace.has("blocks.0.hidden"), false);
  assert.ok(refusal(() => trace.get("blocks.0.hidden")).nearest.length > 0);
  assert.equal(trace.describe(`${CROSS}.key`).side, "source");
  assert.equal(trace.describe(`${CROSS}.weights`).side, "target");
  assert.match(inspect(trace), /^Trace of 3 positions, a source of 4, /);
});

test("the short names are the decoder's last block's", () => {
  assert.deepEqual(trace.positioned, trace.get("decoder.positioned"));
  assert.deepEqual(trace.attention, trace.get("decoder.blocks.1.attention.weights"));
  assert.deepEqual(trace.afterAttention, trace.get("decoder.blocks.1.after_attention"));
  assert.deepEqual(trace.feedForward, trace.get("decoder.blocks.1.feed_forward.output"));
  assert.deepEqual(trace.hidden, trace.get("decoder.blocks.1.hidden"));
  assert.deepEqual(trace.logits, trace.get("decoder.logits"));
  assert.deepEqual(trace.probabilities, trace.get("decoder.probabilities"));
  assert.deepEqual(trace.averageWeights(), trace.averageWeights("decoder.blocks.1.attention.weights"));
  assert.deepEqual(trace.averageWeights(`${CROSS}.weights`).shape, [3, 4]);
});

test("source and target have their own tokens and labels", () => {
  assert.deepEqual([trace.tokens, trace.sourceTokens], [target, source]);
  assert.deepEqual(trace.words, ["<start>", "the", "cat"]);
  assert.deepEqual(trace.sourceWords, ["die", "Katze", "saß", "der"]);
  assert.deepEqual([trace.length, trace.sourceLength], [3, 4]);
  const bare = new EncoderDecoderModel({ nVocab: 7, nSourceVocab: 5 }).respondTo(source, target);
  assert.deepEqual(bare.sourceWords, ["1", "3", "4", "0"]);
  const decoder = new CausalLanguageModel({ nVocab: 7 }).respondTo(target);
  assert.deepEqual([decoder.sourceTokens, decoder.sourceWords, decoder.sourceLength], [[], [], 0]);
});

test("tidy rows of the source's side have the source's words", () => {
  for (const { stage, position, key, token } of trace.toRows()) {
    const words = trace.describe(stage).side === "source" ? trace.sourceWords : trace.words;
    assert.equal(token, words[position]);
    if (key !== null) {
      const keys = stage.startsWith("encoder.") || stage.includes("cross_attention") ? 4 : 3;
      assert.ok(key < keys);
    }
  }
});

test("the encoder is an encoder's, to the bit, with its parameters", () => {
  const { nSourceVocab, nEncoderBlocks, words: _words, sourceWords: _sourceWords, ...shared } = model.options;
  const encoder = new EncoderModel({
    ...shared,
    nVocab: nSourceVocab,
    nBlocks: nEncoderBlocks,
    mask: "none",
  });
  for (const { name } of model.parameters) {
    if (name.startsWith("encoder.")) encoder.setParameter(name, model.parameter(name));
  }
  const own = encoder.respondTo(source);
  for (const stage of trace.stages.filter((name) => name.startsWith("encoder."))) {
    assert.deepEqual(trace.get(stage), own.get(stage), stage);
  }
});

test("rows and memory start a pass where tokens would have come to", () => {
  const rows = { source: trace.get("encoder.positioned"), target: trace.positioned };
  const fromRows = model.respondToRows(rows);
  assert.deepEqual(fromRows.logits, trace.logits);
  assert.deepEqual([fromRows.tokens, fromRows.sourceTokens, fromRows.sourceLength], [[], [], 4]);
  assert.equal(fromRows.has("encoder.embedding"), false);
  const memory = trace.get("encoder.final.normalized");
  const decoded = model.respondToRows({ memory, target: trace.positioned.tolist() });
  assert.deepEqual(decoded.logits, trace.logits);
  assert.equal(decoded.stages[0], "memory");
  assert.deepEqual(decoded.get("memory"), memory);
  assert.equal(decoded.describe("memory").side, "source");
  assert.equal(decoded.has("encoder.positioned"), false);
  const bare = new EncoderDecoderModel({ nVocab: 0 });
  assert.equal(bare.respondToRows({ memory: [[1, 2, 3, 4]], target: [[4, 3, 2, 1]] }).sourceLength, 1);
});

const SOURCES = [[1, 3, 4, 0], [2], [0, 4, 1]];
const TARGETS = [[0, 1], [3, 4, 5, 6, 0], [2]];

test("in a batch both sides may differ in length, and each pair's bits are its own", () => {
  const alone = SOURCES.map((ids, b) => model.respondTo(ids, TARGETS[b]));
  for (const padding of ["right", "left"]) {
    const batch = model.respondTo(SOURCES, TARGETS, { padding });
    assert.deepEqual([batch.length, batch.lengths], [5, [2, 5, 1]]);
    assert.deepEqual([batch.sourceLength, batch.sourceLengths], [4, [4, 1, 3]]);
    assert.deepEqual([batch.tokens, batch.sourceTokens], [TARGETS, SOURCES]);
    assert.deepEqual(batch.sourceWords[1], ["Hund"]);
    const weights = batch.get(`${CROSS}.weights`);
    assert.deepEqual(weights.shape, [3, 2, 5, 4]);
    alone.forEach((own, b) => {
      assert.equal(batch.prompt(b).diff(own).partsFrom, null);
      const [t, s] = padding === "left" ? [5 - own.length, 4 - own.sourceLength] : [0, 0];
      for (let i = 0; i < 5; i++) {
        for (let j = 0; j < 4; j++) {
          const isOwn = i >= t && i < t + own.length && j >= s && j < s + own.sourceLength;
          const want = isOwn ? own.get(`${CROSS}.weights`).at(1, i - t, j - s) : Number.NaN;
          assert.ok(Object.is(weights.at(b, 1, i, j), want));
        }
      }
      assert.deepEqual(batch.lastLogits.row(b), own.logits.row(-1));
    });
    const copy = BatchTrace.fromPlain(structuredClone(batch.toPlain()));
    for (const stage of batch.stages) assert.deepEqual(copy.get(stage), batch.get(stage), stage);
    assert.deepEqual(copy.sourceTokens, batch.sourceTokens);
  }
  const rows = (length) => Array.from({ length }, (_, i) => [i, 1, -i, 2]);
  const batch = model.respondToRows({ memory: [rows(3), rows(3)], target: [rows(2), rows(2)] });
  assert.deepEqual(batch.get(`${CROSS}.weights`).shape, [2, 2, 2, 3]);
});

const hides = (of, stage) => Array.from(of.get(stage).data, (score) => score === Number.NEGATIVE_INFINITY);

test("each side has its own padding; the source's is the memory's unless that is chosen", () => {
  const marks = [false, true, false, true];
  const encoder = "encoder.blocks.0.attention.scores";
  const times = (n, row) => Array.from({ length: n }, () => row).flat();
  const none = [false, false, false, false];
  for (const [masks, ofSource, ofMemory] of [
    [{ sourcePadding: marks }, marks, marks],
    [{ sourcePadding: [3] }, [false, false, false, true], [false, false, false, true]],
    [{ sourcePadding: marks, memoryPadding: none }, marks, none],
    [{ sourcePadding: marks, memoryPadding: [4] }, marks, none],
    [{ memoryPadding: marks }, none, marks],
  ]) {
    const own = model.respondTo(source, target, { masks });
    assert.deepEqual(hides(own, encoder), times(8, ofSource));
    assert.deepEqual(hides(own, `${CROSS}.scores`), times(6, ofMemory));
    assert.equal(Trace.fromPlain(own.toPlain()).diff(own).partsFrom, null);
  }
  const padded = model.respondTo(source, target, { masks: { padding: [false, true, false] } });
  assert.deepEqual(hides(padded, "decoder.blocks.0.attention.scores").slice(6, 9), [false, true, false]);
  assert.deepEqual(hides(padded, `${CROSS}.scores`), times(6, none));
  const memory = [marks, none, marks];
  const crossed = model.respondTo(source, target, { masks: { memory } });
  assert.deepEqual(hides(crossed, `${CROSS}.scores`), [...memory.flat(), ...memory.flat()]);
  const blind = model.respondTo(source, target, { masks: { memoryPadding: [0] } });
  assert.ok(blind.get(`${CROSS}.weights`).data.every((weight) => weight === 0));
  assert.ok(blind.logits.data.every(Number.isFinite));
});

test("masks of a batch are cut on both sides", () => {
  const [B, H, T, S] = [3, 2, 5, 4];
  const data = Float64Array.from({ length: B * H * T * S }, (_, i) => Math.sin(i));
  for (const padding of ["right", "left"]) {
    const batch = model.respondTo(SOURCES, TARGETS, {
      padding,
      masks: { memory: { data, shape: [B, H, T, S] }, sourcePadding: [4, 1, 2] },
    });
    SOURCES.forEach((ids, b) => {
      const [t, s] = [TARGETS[b].length, ids.length];
      const [fromT, fromS] = padding === "left" ? [T - t, S - s] : [0, 0];
      const memory = [0, 1].map((h) =>
        Array.from({ length: t }, (_, i) =>
          Float64Array.from({ length: s }, (_, j) => data[((b * H + h) * T + fromT + i) * S + fromS + j]),
        ),
      );
      const hidden = ids.map((_, j) =>
        padding === "left" ? fromS + j < S - [4, 1, 2][b] : j >= [4, 1, 2][b],
      );
      const alone = model.respondTo(ids, TARGETS[b], { masks: { memory, sourcePadding: hidden } });
      assert.equal(batch.prompt(b).diff(alone).partsFrom, null);
    });
  }
});

/** Calls that are refused, with the code and what the error carries. */
const REFUSED = [
  [() => model.respondTo(source), "not_an_integer", {}],
  [() => model.respondTo(3, target), "invalid_option", {}],
  [() => model.respondTo(source, 3), "invalid_option", {}],
  [() => model.respondTo([], target), "empty_prompt", { what: "the source" }],
  [() => model.respondTo(source, []), "empty_prompt", { what: "the target" }],
  [
    () => model.respondTo([0, 5], target),
    "token_out_of_range",
    { of: "the source", position: 1, vocabulary: 5 },
  ],
  [
    () => model.respondTo(source, [0, 7]),
    "token_out_of_range",
    { of: "the target", position: 1, vocabulary: 7 },
  ],
  [() => model.respondTo([0, 0.5], target), "not_an_integer", { of: "the source" }],
  [() => model.respondTo(source, [Number.NaN]), "not_an_integer", { of: "the target", position: 0 }],
  [() => model.respondTo(new Uint8Array(2000), target), "context_exceeded", { length: 2000 }],
  [() => model.respondTo(source, { length: 1e9 }), "context_exceeded", { length: 1e9 }],
  [() => model.respondTo(SOURCES, target), "shape_mismatch", { expected: [], actual: [3] }],
  [() => model.respondTo(source, TARGETS), "shape_mismatch", { expected: [3], actual: [] }],
  [() => model.respondTo(SOURCES, TARGETS.slice(1)), "shape_mismatch", { expected: [2], actual: [3] }],
  [() => model.respondTo([[0], []], [[0], [1]]), "empty_prompt", { what: "the source", prompt: 1 }],
  [() => model.respondTo([[0], [5]], [[0], [1]]), "token_out_of_range", { of: "the source", prompt: 1 }],
  [() => model.respondTo([[0], [4]], [[0], [7]]), "token_out_of_range", { of: "the target", prompt: 1 }],
  [() => model.respondTo(source, target, { logits: "last" }), "invalid_option", { option: "logits" }],
  [() => model.respondTo(source, target, { masks: { source: [] } }), "invalid_option", { option: "source" }],
  [
    () => model.respondTo(source, target, { masks: { memory: [[true]] } }),
    "shape_mismatch",
    { expected: [3, 4] },
  ],
  [
    () => model.respondTo(source, target, { masks: { sourcePadding: [5] } }),
    "index_out_of_range",
    { size: 4 },
  ],
  [
    () => model.respondTo(source, target, { masks: { sourcePadding: Float64Array.of(0, 1, 0, 0) } }),
    "invalid_option",
    { option: "masks.sourcePadding" },
  ],
  [() => model.respondToRows([[1, 2, 3, 4]]), "invalid_option", { option: "rows" }],
  [() => model.respondToRows({ target: [[1, 2, 3, 4]] }), "invalid_option", { option: "rows" }],
  [() => model.respondToRows({ source: [[1, 2, 3, 4]] }), "not_an_integer", {}],
  [() => model.respondToRows({ source: [], memory: [], target: [] }), "invalid_option", { option: "rows" }],
  [() => model.respondToRows({ memory: [], target: [[1, 2, 3, 4]] }), "empty_prompt", { what: "the memory" }],
  [() => model.respondToRows({ memory: [[1, 2, 3]], target: [[1, 2, 3, 4]] }), "shape_mismatch", {}],
  [() => model.respondToRows({ memory: [[1, 2, 3, 4]], target: [[[1, 2, 3, 4]]] }), "shape_mismatch", {}],
  [() => model.respondToRows({ memory: [[1, 2, 3, 4]], rows: [] }), "invalid_option", { option: "rows" }],
  [
    () =>
      model.respondToRows(
        { memory: [[1, 2, 3, 4]], target: [[1, 2, 3, 4]] },
        { masks: { sourcePadding: [[true]] } },
      ),
    "invalid_option",
    { option: "sourcePadding" },
  ],
];

test("refused calls have their code, and the model then answers as before", () => {
  for (const [call, code, fields] of REFUSED) {
    const error = refusal(call);
    const what = `${call}: ${error.code}: ${error.message}`;
    assert.equal(error.code, code, what);
    for (const [name, value] of Object.entries(fields)) assert.deepEqual(error[name], value, what);
    assert.equal(model.respondTo(source, target).diff(trace).partsFrom, null);
  }
});

test("arguments that run code of their own are refused with what they threw", () => {
  const thrower = () => {
    throw new Error("mine");
  };
  const { proxy: revoked, revoke } = Proxy.revocable([], {});
  revoke();
  const traps = ["has", "get", "ownKeys", "getPrototypeOf"];
  for (const value of [...traps.map((trap) => new Proxy({}, { [trap]: thrower })), revoked]) {
    for (const call of [
      () => model.respondTo(value, target),
      () => model.respondTo(source, value),
      () => model.respondTo(source, target, { masks: { memory: value } }),
      () => model.respondToRows(value),
      () => model.respondToRows({ source: value, target: value }),
      () => model.respondToRows({ memory: value, target: value }),
      () => new EncoderDecoderModel({ nVocab: 7, sourceWords: value }),
    ]) {
      refusal(call);
    }
  }
  const own = new EncoderDecoderModel({ nVocab: 7 });
  const freeing = {
    length: 1,
    get 0() {
      own.free();
      return 0;
    },
  };
  assert.equal(refusal(() => own.respondTo([0], freeing)).code, "freed");
});

test("plain copies, JSON and safetensors hold the source too", () => {
  const path = createRequire(import.meta.url).resolve("glassformer/trace.schema.json");
  const validate = new Ajv({ strict: true }).compile(JSON.parse(readFileSync(path, "utf8")));
  const memory = trace.get("encoder.final.normalized");
  const starts = [trace, model.respondToRows({ memory, target: trace.positioned })];
  for (const own of starts) {
    const copy = Trace.fromPlain(structuredClone(own.toPlain()));
    for (const stage of own.stages) assert.deepEqual(copy.get(stage), own.get(stage), stage);
    assert.deepEqual([copy.sourceTokens, copy.sourceWords], [own.sourceTokens, own.sourceWords]);
    assert.equal(copy.diff(own).partsFrom, null);
    const json = JSON.parse(JSON.stringify(own));
    assert.ok(validate(json), JSON.stringify(validate.errors));
    assert.deepEqual([json.source, json.sourceWords], [own.sourceTokens, own.sourceWords]);
    const bytes = own.toSafetensors();
    const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
    const { __metadata__: metadata } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
    assert.deepEqual(JSON.parse(metadata.source), own.sourceTokens);
    assert.equal(metadata.model, "EncoderDecoderModel");
  }
  const batch = model.respondTo(SOURCES, TARGETS);
  assert.ok(validate(JSON.parse(JSON.stringify(batch))), JSON.stringify(validate.errors));
  assert.deepEqual(batch.toJSON().sourceLengths, [4, 1, 3]);
  const good = trace.toPlain();
  for (const [plain, code] of [
    [{ ...good, source: [0, 1, 2] }, "shape_mismatch"],
    [{ ...good, source: [0, 1, 2, 5] }, "token_out_of_range"],
    [{ ...good, sourceLength: 3 }, "shape_mismatch"],
    [{ ...good, sourceLength: 0 }, "invalid_option"],
    [{ ...good, sourceLength: undefined }, "invalid_option"],
    [{ ...good, model: "CausalLanguageModel" }, "invalid_option"],
    [{ ...good, model: "EncoderModel" }, "invalid_option"],
    [{ ...good, start: "memory" }, "shape_mismatch"],
  ]) {
    assert.equal(refusal(() => Trace.fromPlain(plain)).code, code);
  }
  assert.equal(Trace.fromPlain({ ...good, model: undefined }).diff(trace).partsFrom, null);
});

test("a change of the target leaves the source's side as it was", () => {
  const { stages, rows, partsFrom } = trace.diff(model.respondTo(source, [0, 1, 3]));
  assert.equal(partsFrom, "decoder.embedding");
  assert.deepEqual(
    rows.map(({ identical }) => identical),
    [true, true, false],
  );
  for (const { stage, rows: changes } of stages) {
    const side = trace.describe(stage).side;
    assert.equal(changes.length, side === "source" ? 4 : 3, stage);
    if (side === "source")
      assert.ok(
        changes.every(({ identical }) => identical),
        stage,
      );
  }
});

test("a tied head is the decoder's embedding; a model comes back from its JSON", () => {
  const own = new EncoderDecoderModel({ ...OPTIONS, tiedHead: true });
  assert.ok(!own.parameters.some(({ name }) => name === "decoder.head"));
  own.setParameter("decoder.embedding", new Float64Array(28).fill(0.5));
  own.setParameter("encoder.embedding", new Float64Array(20).fill(0.25));
  const again = EncoderDecoderModel.fromJSON(JSON.parse(JSON.stringify(own)));
  assert.deepEqual(again.options, own.options);
  assert.equal(again.respondTo(source, target).diff(own.respondTo(source, target)).partsFrom, null);
});
