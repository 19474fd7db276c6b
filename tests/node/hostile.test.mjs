/** Arguments that run code of their own while they are read, or lie about themselves. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, memory, randomStream, Tensor, Trace } from "glassformer";
import { refusal } from "./support.mjs";

const fresh = () => new CausalLanguageModel({ nVocab: 7 });

test("an array that lies about its length is taken for what it is", () => {
  const model = fresh();
  const before = model.parameter("head").data;
  const lying = (length, says) => Object.defineProperty(new Float64Array(length).fill(0.5), "length", says);
  assert.equal(
    refusal(() => model.setParameter("head", lying(20_000, { value: 28 }))).code,
    "shape_mismatch",
  );
  assert.deepEqual(model.parameter("head").data, before);
  let calls = 0;
  const changing = {
    get() {
      calls += 1;
      model.respondTo([0]);
      return calls;
    },
  };
  model.setParameter("head", lying(28, changing));
  assert.deepEqual(model.parameter("head").data, new Float64Array(28).fill(0.5));
  const throwing = lying(28, {
    get() {
      throw new Error("mine");
    },
  });
  model.setParameter("head", throwing);
  assert.equal(model.respondTo([0, 1]).length, 2);
});

test("an argument that frees the model while it is read finds it freed", () => {
  const freeing = (model, value) => ({
    length: 1,
    get 0() {
      model.free();
      return value;
    },
  });
  for (const call of [
    (model) => model.respondTo(freeing(model, 0)),
    (model) => model.respondToRows(freeing(model, [1, 2, 3, 4])),
    (model) => model.setParameter("head", { data: { ...freeing(model, 0), length: 28 } }),
  ]) {
    const model = fresh();
    const error = refusal(() => call(model));
    assert.ok(["freed", "not_finite"].includes(error.code), error.message);
  }
  assert.ok(memory().liveModels >= 0);
});

test("errors of an argument's own are told, whatever they are", () => {
  const model = fresh();
  const traps = ["has", "get", "ownKeys", "getPrototypeOf"];
  const proxies = traps.map((trap) => {
    const handler = {
      [trap]() {
        throw new Error("mine");
      },
    };
    return new Proxy({}, handler);
  });
  const { proxy: revoked, revoke } = Proxy.revocable([], {});
  revoke();
  for (const value of [...proxies, revoked]) {
    for (const call of [
      () => new CausalLanguageModel(value),
      () => new CausalLanguageModel({ nVocab: 7, seed: value }),
      () => new CausalLanguageModel({ nVocab: 1, words: value }),
      () => model.respondTo(value),
      () => model.respondTo([value]),
      () => model.respondToRows(value),
      () => model.setParameter("head", value),
      () => Trace.fromPlain(value),
      () => CausalLanguageModel.fromJSON(value),
      () => randomStream("numpy", 7).normal(value),
    ]) {
      refusal(call);
    }
  }
  assert.equal(model.respondTo([0, 1]).length, 2);
});

test("a plain trace is checked, however it was made", () => {
  const good = fresh().respondTo([0, 1]).toPlain();
  const options = (changes) => ({ ...good, options: { ...good.options, ...changes } });
  const cases = [
    [options({ words: [1n] }), "config_conflict"],
    [options({ words: Array(7).fill(() => 1) }), "invalid_option"],
    [options({ words: "xyz" }), "invalid_option"],
    [options({ seed: { a: 1n } }), "invalid_option"],
    [options({ maxContext: 1 }), "invalid_option"],
    [{ ...good, tokens: [0, 100] }, "token_out_of_range"],
    [{ ...good, tokens: [0, 2 ** 40] }, "token_out_of_range"],
    [{ ...good, tokens: [0] }, "shape_mismatch"],
    [{ ...good, data: Object.create(Float64Array.prototype) }, "invalid_option"],
    [{ ...good, data: good.data.slice(1) }, "shape_mismatch"],
    [{ ...good, data: new Float32Array(good.data) }, "invalid_option"],
    [{ ...good, more: 1 }, "invalid_option"],
  ];
  for (const [plain, code] of cases) assert.equal(refusal(() => Trace.fromPlain(plain)).code, code);
  // Options left out have their defaults here too.
  const { data, tokens, length, start, format } = good;
  const again = Trace.fromPlain({ data, tokens, length, start, format, options: { nVocab: 7 } });
  assert.deepEqual(again.hidden, fresh().respondTo([0, 1]).hidden);
});

test("numbers that a recipe makes too large are refused before there is a model", () => {
  const stream = randomStream("numpy", 7);
  const before = stream.position();
  const tooLarge = { nVocab: 7, dtype: "float32", branchScale: 1e39 };
  assert.equal(refusal(() => new CausalLanguageModel(tooLarge)).code, "not_finite");
  assert.equal(refusal(() => new CausalLanguageModel({ ...tooLarge, seed: stream })).code, "not_finite");
  assert.deepEqual(stream.position(), before);
  for (const option of ["epsilon", "scoreScale", "embeddingScale", "gainOffset"]) {
    const large = { nVocab: 7, normAffine: true, [option]: 1e300 };
    assert.ok(new CausalLanguageModel(large));
    const error = refusal(() => new CausalLanguageModel({ ...large, dtype: "float32" }));
    assert.deepEqual([error.code, error.option], ["invalid_option", option]);
  }
});

test("sizes that fit no memory are refused also in a prompt, a printed tensor, and a list of words", () => {
  const model = new CausalLanguageModel({ nVocab: 7, maxContext: 2 ** 32 - 1 });
  assert.equal(refusal(() => model.respondTo({ length: 2 ** 32 - 1 })).code, "out_of_memory");
  assert.match(String(randomStream("numpy", 1).normal(Array(18).fill(2))), /^\[/);
  const words = Object.assign([], { length: 2 ** 32 - 1 });
  assert.equal(refusal(() => new CausalLanguageModel({ nVocab: 7, words })).code, "config_conflict");
  assert.equal(refusal(() => new CausalLanguageModel({ nVocab: 7, nModel: words })).code, "invalid_option");
  assert.equal(
    refusal(() => new CausalLanguageModel({ nVocab: 1, words: ["\ud800"] })).code,
    "invalid_option",
  );
  for (const call of [
    () => model.parameter("x".repeat(1e6)),
    () => model.respondTo([0]).get("x".repeat(1e6)),
  ]) {
    assert.ok(refusal(call).message.length < 200);
  }
  assert.ok(refusal(() => new CausalLanguageModel({ nVocab: 7, nModel: 10n ** 5000n })).message.length < 300);
});

test("where wasm has no room left, calls are refused and traces can still be freed", () => {
  const model = new CausalLanguageModel({ nVocab: 7, maxContext: 2000 });
  const ids = new Uint8Array(1500);
  const traces = [];
  for (;;) {
    try {
      traces.push(model.respondTo(ids));
    } catch (error) {
      assert.equal(error.code, "out_of_memory");
      break;
    }
  }
  assert.ok(traces.length > 10);
  const call = (work) => {
    try {
      work();
    } catch (error) {
      assert.equal(error.code, "out_of_memory", error.stack);
    }
  };
  call(() => traces[0].diff(traces[1]));
  call(() => new CausalLanguageModel({ nVocab: 20_000, words: Array(20_000).fill("a word") }));
  call(() => new CausalLanguageModel({ nVocab: 7, nBlocks: 10_000 }).respondTo([0]));
  call(() => traces[0].get("blocks.0.attention.scores"));
  for (const trace of traces) trace.free();
  assert.equal(model.respondTo(ids).length, 1500);
  assert.equal(memory().liveTraces, 1);
});

test("lists that claim any length, or iterate as they please, are read by index and length alone", () => {
  const claiming = Object.assign([], { length: 2 ** 32 - 1 });
  const plain = fresh().respondTo([0]).toPlain();
  const model = { format: "glassformer-model-1", options: { nVocab: 7 } };
  const calls = [
    () => new CausalLanguageModel({ nVocab: "7", words: claiming }),
    () => new CausalLanguageModel({ words: claiming }),
    () => new CausalLanguageModel({ nVocab: 2 ** 32 - 1, words: claiming }),
    () => Trace.fromPlain({ ...plain, options: { words: claiming } }),
    () => CausalLanguageModel.fromJSON({ ...model, parameters: { head: claiming } }),
    () => new CausalLanguageModel({ nVocab: 7, nModel: 1n << 100_000n }),
    () => new CausalLanguageModel({ nVocab: 7, seed: 1n << 100_000n }),
  ];
  for (const call of calls) refusal(call);
  const iterating = Object.assign(["a"], {
    *[Symbol.iterator]() {
      for (;;) yield "b";
    },
  });
  assert.deepEqual(new CausalLanguageModel({ nVocab: 1, words: iterating }).options.words, ["a"]);
});

test("arrays behind proxies, and those that own methods, are refused or read, never thrown from", () => {
  const throwing = new Proxy([], {
    get() {
      throw new Error("mine");
    },
  });
  const own = Object.assign(["a"], {
    map() {
      throw new Error("mine");
    },
  });
  const plain = fresh().respondTo([0]).toPlain();
  const model = { format: "glassformer-model-1", options: { nVocab: 7 } };
  for (const call of [
    () => new CausalLanguageModel({ words: throwing }),
    () => new CausalLanguageModel({ nVocab: 2, words: throwing }),
    () => Trace.fromPlain({ ...plain, options: { nVocab: 7, words: throwing } }),
    () => CausalLanguageModel.fromJSON({ ...model, options: { nVocab: 7, words: throwing } }),
    () => CausalLanguageModel.fromJSON({ ...model, parameters: { head: throwing } }),
    () => fresh().setParameter("head", throwing),
    () => fresh().respondTo([0]).hidden.slice(throwing),
    () => new Tensor(Float64Array.of(1, 2), [0.5, 4], ["a", "b"]),
    () => new Tensor(Object.create(Float64Array.prototype), [1], ["a"]),
  ]) {
    refusal(call);
  }
  assert.deepEqual(new CausalLanguageModel({ nVocab: 1, words: own }).options.words, ["a"]);
});

test("an array that was sent away has no numbers left, and is refused", () => {
  const plain = fresh().respondTo([0]).toPlain();
  structuredClone(plain, { transfer: [plain.data.buffer] });
  refusal(() => Trace.fromPlain(plain));
  const sent = new Float64Array(8);
  structuredClone(sent, { transfer: [sent.buffer] });
  for (const call of [
    () => fresh().setParameter("head", sent),
    () => new CausalLanguageModel({ nVocab: 0 }).respondToRows({ data: sent, shape: [2, 4] }),
    () => randomStream("numpy", 7).choice(8, sent),
  ]) {
    refusal(call);
  }
});

test("what a model or trace is made of cannot be put in its place", () => {
  class Mine extends CausalLanguageModel {
    get options() {
      return { nModel: 2, nBlocks: 2, maxContext: 99 };
    }
  }
  const want = fresh().respondTo([0, 1, 2]).logits;
  assert.deepEqual(new Mine({ nVocab: 7 }).respondTo([0, 1, 2]).logits, want);
  const trace = fresh().respondTo([0, 1, 2]);
  for (const name of ["tokens", "words", "length", "stages"]) {
    assert.throws(() => {
      trace[name] = 1;
    }, TypeError);
  }
  assert.throws(() => {
    fresh().options = {};
  }, TypeError);
  assert.equal(randomStream("numpy", 7).lend, undefined);
});

test("a plain trace with numbers that no trace has is refused", () => {
  const plain = fresh().respondTo([0, 1]).toPlain();
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY]) {
    const error = refusal(() => Trace.fromPlain({ ...plain, data: plain.data.with(5, wrong) }));
    assert.equal(error.code, "not_finite");
  }
  assert.equal(
    refusal(() => Trace.fromPlain({ ...plain, options: Object.create({ nVocab: 7 }) })).code,
    "invalid_option",
  );
});

test("a long text leaves no memory behind", () => {
  const { wasmBytes } = memory();
  for (const option of ["activation", "init", "nVocab", "x".repeat(1e6)]) {
    const error = refusal(() => new CausalLanguageModel({ nVocab: 7, [option]: "あ".repeat(1e7) }));
    assert.ok(error.message.length < 500);
  }
  assert.equal(memory().wasmBytes, wasmBytes);
});
