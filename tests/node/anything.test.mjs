/** Thousands of random options and prompts: only results or GlassformerErrors come back. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  BatchTrace,
  CausalLanguageModel,
  EncoderDecoderModel,
  EncoderModel,
  GlassformerError,
  memory,
  randomStream,
  Trace,
} from "glassformer";

const NAMES = [
  ...Object.keys(new CausalLanguageModel({ nVocab: 2 }).options),
  ...["words", "window", "rotary", "alibiSlopes", "n_heads", "__proto__", "constructor", "toString", ""],
];

const small = (min, max) => fc.integer({ min, max });
/** Mostly a size that may do, so that many options make a model; now and then anything a number can be. */
const size = (min, max) =>
  fc.oneof(
    { weight: 20, arbitrary: small(min, max) },
    fc.constantFrom(0, -1, 1.5, Number.NaN, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53, 1e300, -0),
  );
/** A value that runs code of its own, or lies about what it is; made last, because the generator looks at values too. */
class Hostile {
  constructor(make) {
    this.make = make;
  }
}

/** What a generated value stands for. */
function real(value) {
  if (value instanceof Hostile) return value.make();
  return Array.isArray(value) ? value.map((item) => (item instanceof Hostile ? item.make() : item)) : value;
}

const hostile = fc
  .constantFrom(
    ...["has", "get", "ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor"].map(
      (trap) => () =>
        new Proxy(
          {},
          {
            [trap]() {
              throw new Error("mine");
            },
          },
        ),
    ),
    () => {
      const { proxy, revoke } = Proxy.revocable([], {});
      revoke();
      return proxy;
    },
    () => Object.create(Float64Array.prototype),
    () => Object.defineProperty(new Float64Array(9), "length", { value: 2 }),
    () => Object.defineProperty(new Float64Array(2), "length", { value: 9 }),
    () => new (class extends Float64Array {})(4),
    () => ({
      get data() {
        throw new Error("mine");
      },
      get length() {
        throw new (class extends Error {
          get message() {
            throw new Error("again");
          }
        })();
      },
    }),
  )
  .map((make) => new Hostile(make));
const anything = fc.oneof(
  hostile,
  { weight: 4, arbitrary: size(0, 12) },
  fc.constantFrom(
    "lesson",
    "rustlab",
    "gpt2",
    "relu",
    "gelu",
    "silu",
    "layer",
    "causal",
    "random",
    "float32",
    "dense",
  ),
  fc.anything({
    withBigInt: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
    maxDepth: 2,
  }),
  fc.double(),
  fc.bigInt(),
  fc.constant(Symbol("s")),
  fc.constant(() => 3),
);
const sizes = fc.record(
  {
    nVocab: size(1, 12),
    nModel: size(1, 12),
    nHeads: size(1, 3),
    nBlocks: size(1, 3),
    nHidden: size(1, 12),
    maxContext: size(4, 12),
  },
  { requiredKeys: ["nVocab"] },
);
const oddities = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string()), anything), {
  maxLength: 3,
});
const rest = fc.oneof(fc.constant([]), oddities);
const id = fc.oneof({ weight: 8, arbitrary: fc.integer({ min: -1, max: 8 }) }, anything);
const prompt = fc.oneof({ weight: 8, arbitrary: fc.array(id, { maxLength: 9 }) }, anything);

/** The result of a call, or undefined where it was refused; anything else that is thrown fails the test. */
function attempt(call) {
  try {
    return call();
  } catch (error) {
    if (error instanceof GlassformerError) return undefined;
    throw error;
  }
}

function isAnswer(trace) {
  // A list of lists is a batch, of which each prompt is an answer.
  if (trace instanceof BatchTrace) {
    for (let b = 0; b < trace.size; b++) isAnswer(trace.prompt(b));
    return;
  }
  assert.ok(trace instanceof Trace);
  assert.ok(trace.length > 0 && trace.length === trace.tokens.length);
  for (const name of trace.stages) {
    const { data, shape } = trace.get(name);
    assert.equal(
      data.length,
      shape.reduce((product, n) => product * n, 1),
    );
    for (const x of data)
      assert.ok(Number.isFinite(x) || (x === Number.NEGATIVE_INFINITY && name.endsWith("scores")));
  }
}

test("options of any kind make a model or are refused", () => {
  const counts = { models: 0, refused: 0 };
  fc.assert(
    fc.property(sizes, rest, prompt, (base, more, ids) => {
      const options = { ...base };
      for (const [name, value] of more) {
        Object.defineProperty(options, name, {
          value: real(value),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
      const model = attempt(() => new CausalLanguageModel(options));
      if (model === undefined) {
        counts.refused += 1;
        return;
      }
      counts.models += 1;
      const trace = attempt(() => model.respondTo(real(ids)));
      if (trace !== undefined) isAnswer(trace);
      model.free();
    }),
    { numRuns: 4000 },
  );
  // A generator that made only one kind would prove nothing.
  assert.ok(counts.models > 100 && counts.refused > 100, JSON.stringify(counts));
});

test("one model answers or refuses any prompt, and a refusal leaves it as it was", () => {
  const model = new CausalLanguageModel({ nVocab: 7, maxContext: 8 });
  const before = model.respondTo([0, 1, 2]).logits.data;
  const scratch = new CausalLanguageModel({ nVocab: 3 });
  let answers = 0;
  fc.assert(
    fc.property(prompt, fc.array(anything, { maxLength: 3 }), (ids, others) => {
      for (const other of others.map(real)) {
        attempt(() => model.respondToRows(other));
        attempt(() => model.setParameter("nothing", other));
        attempt(() => model.parameter(other));
        // An axis of 0, because billions of draws are no refusal and take their time.
        attempt(() => randomStream("numpy", 7).normal([0, other]));
        attempt(() => randomStream("rand", other).choice(other, other));
        attempt(() => model.respondTo([0]).get(other));
        attempt(() => model.respondTo([0]).hidden.slice(other, other));
        attempt(() => model.respondTo([0]).diff(other));
        attempt(() => scratch.setParameter("head", other));
      }
      const trace = attempt(() => model.respondTo(real(ids)));
      if (trace !== undefined) {
        isAnswer(trace);
        answers += 1;
      }
      assert.deepEqual(model.respondTo([0, 1, 2]).logits.data, before);
    }),
    { numRuns: 4000 },
  );
  assert.ok(answers > 100, String(answers));
});

test("anything at all is a trace to read, or refused", () => {
  const good = new CausalLanguageModel({ nVocab: 3 }).respondTo([0, 1]).toPlain();
  const field = fc.constantFrom(...Object.keys(good));
  fc.assert(
    fc.property(field, anything, (name, generated) => {
      const value = real(generated);
      const trace = attempt(() => Trace.fromPlain({ ...good, [name]: value }));
      if (trace !== undefined) attempt(() => trace.toJSON());
      attempt(() =>
        CausalLanguageModel.fromJSON({
          format: "glassformer-model-1",
          options: { nVocab: 3 },
          [name]: value,
        }),
      );
      attempt(() => CausalLanguageModel.fromJSON(value));
      attempt(() => Trace.fromPlain(value));
    }),
    { numRuns: 3000 },
  );
});

/** Options of the family, most of which can stand together. */
const family = fc.record(
  {
    nVocab: fc.constant(7),
    nModel: fc.constantFrom(4, 8),
    headWidth: small(1, 4),
    nKeyValueHeads: small(1, 2),
    norm: fc.constantFrom("layer", "rms", "none"),
    normPlacement: fc.constantFrom("pre", "post"),
    normAffine: fc.boolean(),
    residual: fc.boolean(),
    parallel: fc.boolean(),
    position: fc.constantFrom("sinusoidal", "learned", "rotary", "alibi", "none"),
    feedForward: fc.oneof(
      fc.constantFrom("dense", "glu", "swiglu", "geglu"),
      fc.record(
        {
          experts: small(1, 4),
          selected: small(1, 3),
          expert: fc.constantFrom("dense", "swiglu"),
          capacity: small(1, 4),
          overflow: fc.constantFrom("drop", "reroute", "error"),
          noise: fc.constantFrom(0, 0.1),
        },
        { requiredKeys: ["experts", "selected"] },
      ),
    ),
    mask: fc.constantFrom("causal", "none"),
    window: small(1, 4),
    bias: fc.oneof(fc.boolean(), fc.record({ attention: fc.constantFrom(true, "qkv"), head: fc.boolean() })),
    tiedHead: fc.boolean(),
    dtype: fc.constantFrom("float64", "float32"),
    maxContext: fc.constant(8),
  },
  { requiredKeys: ["nVocab", "maxContext"] },
);
const parts = fc.array(
  fc.tuple(fc.constantFrom("feedForward", "rotary", "alibiSlopes", "bias", "words", "sourceWords"), anything),
  { maxLength: 1 },
);
const ids = fc.array(small(0, 6), { minLength: 1, maxLength: 6 });
const grid = (rows, columns) =>
  fc.array(
    fc.array(fc.oneof(fc.boolean(), fc.constantFrom(0, 1, -0.5, Number.NEGATIVE_INFINITY)), {
      minLength: columns,
      maxLength: columns,
    }),
    { minLength: rows, maxLength: rows },
  );
const mask = fc.oneof(
  grid(3, 3),
  grid(6, 6),
  fc.array(fc.boolean(), { maxLength: 6 }),
  fc.array(small(-1, 7), { maxLength: 3 }),
  anything,
);
const masks = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      { attention: mask, padding: mask, memory: mask, sourcePadding: mask },
      { requiredKeys: [] },
    ),
  },
  anything,
);

test("models of the family answer any prompts and masks, alone and in batches, or refuse them", () => {
  const counts = { models: 0, traces: 0, batches: 0 };
  const { liveTraces, liveModels } = memory();
  const kinds = fc.constantFrom(CausalLanguageModel, EncoderModel, EncoderDecoderModel);
  fc.assert(
    fc.property(
      kinds,
      family,
      parts,
      fc.array(ids, { minLength: 1, maxLength: 3 }),
      masks,
      anything,
      (Model, base, more, prompts, given, side) => {
        const options = { ...base, ...Object.fromEntries(more.map(([name, value]) => [name, real(value)])) };
        const model = attempt(() => new Model(options));
        if (model === undefined) return;
        counts.models += 1;
        const ask = (target, call) => {
          const source = Array.isArray(target[0]) ? [...target].reverse() : [0, 1, 2];
          const answer = () =>
            Model === EncoderDecoderModel
              ? model.respondTo(source, target, call)
              : model.respondTo(target, call);
          return attempt(answer);
        };
        for (const target of [prompts, prompts[0]]) {
          const call = { masks: real(given), padding: real(side) };
          for (const trace of [
            ask(target, call),
            ask(target, { masks: real(given) }),
            ask(target, { padding: "left" }),
          ]) {
            if (trace === undefined) continue;
            const isBatch = Array.isArray(target[0]);
            assert.ok(trace instanceof (isBatch ? BatchTrace : Trace));
            counts[isBatch ? "batches" : "traces"] += 1;
            const Form = isBatch ? BatchTrace : Trace;
            const copy = Form.fromPlain(structuredClone(trace.toPlain()));
            for (const stage of trace.stages) assert.deepEqual(copy.get(stage), trace.get(stage));
            for (const { value } of trace.toRows()) {
              assert.ok(Number.isFinite(value) || value === Number.NEGATIVE_INFINITY);
            }
            trace.free();
            copy.free();
          }
        }
        model.free();
      },
    ),
    { numRuns: 1500 },
  );
  assert.ok(
    Object.values(counts).every((n) => n > 100),
    JSON.stringify(counts),
  );
  assert.deepEqual([memory().liveTraces, memory().liveModels], [liveTraces, liveModels]);
});
