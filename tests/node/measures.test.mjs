/** Norms, entropies, gains and counts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CausalLanguageModel, EncoderDecoderModel, EncoderModel, Trace } from "glassformer";
import { golden, RUSTLAB, refusal } from "./support.mjs";

const lesson = () => new CausalLanguageModel({ nVocab: 7, nModel: 4, nHeads: 2 });

function close(got, want, relative, what) {
  assert.equal(got.length, want.length, what);
  for (const [i, x] of want.entries()) {
    assert.ok(
      Math.abs(got[i] - x) <= 1e-12 + relative * Math.abs(x),
      `${what}[${i}]: ${got[i]} and not ${x}`,
    );
  }
}

const together = (norms) => Math.hypot(...norms.data);

test("the block lesson's norms and entropies come out", () => {
  const want = golden("lessons/rustlab_block.json");
  const model = new CausalLanguageModel({ ...RUSTLAB, seed: 13 });
  // The lesson draws its rows from the same stream first: its weights are set.
  for (const [name, rows] of Object.entries(want.weights)) {
    const turned = rows[0].map((_, j) => rows.map((row) => row[j]));
    const isAttention = !["expand", "contract"].includes(name);
    const full = `blocks.0.${isAttention ? "attention" : "feed_forward"}.${name}`;
    model.setParameter(full, isAttention ? turned : rows);
  }
  const trace = model.respondToRows(want.h_in);
  const norms = trace.norms();
  assert.deepEqual(
    norms.map(({ stage, kind }) => [stage, kind]),
    [
      ["positioned", "stream"],
      ["blocks.0.attention.output", "branch"],
      ["blocks.0.after_attention", "stream"],
      ["blocks.0.feed_forward.output", "branch"],
      ["blocks.0.hidden", "stream"],
    ],
  );
  const keys = ["h_in", "attention", "h_mid", "feed_forward", "h_out"];
  close(
    norms.map((own) => together(own.norms)),
    keys.map((key) => want.norms[key]),
    1e-11,
    "norms",
  );
  const [{ stage, bits, bound }] = trace.entropies();
  assert.equal(stage, "blocks.0.attention.weights");
  close(bits.tolist().flat(), want.entropy_bits.flat(), 1e-11, "entropies");
  const most = [1, 2, 3, 4].map(Math.log2);
  close(bound.tolist().flat(), [...most, ...most], 1e-15, "bounds");
  assert.deepEqual(
    [bits.axes, bits.shape],
    [
      ["head", "query"],
      [2, 4],
    ],
  );
});

test("the stacks' gains come out to six digits, plain and scaled", () => {
  const want = golden("lessons/rustlab_block.json");
  for (const { blocks, branches, gains } of want.stack_seed_1300) {
    const branchScale = branches === "scaled" ? 1 / Math.sqrt(2 * blocks) : 1;
    const model = new CausalLanguageModel({ ...RUSTLAB, nBlocks: blocks, branchScale, seed: 1300 });
    const got = gains.map((_, block) => model.gain(want.h_in, block));
    close(got, gains, 1e-6, `${blocks} blocks, ${branches}`);
  }
});

test("a branch's ratio is to the stream it is added to", () => {
  const [stream, attention, after, forward] = lesson().respondTo([0, 1, 2]).norms();
  for (const t of [0, 1, 2]) {
    assert.equal(attention.ratios.at(t), attention.norms.at(t) / stream.norms.at(t));
    assert.equal(forward.ratios.at(t), forward.norms.at(t) / after.norms.at(t));
  }
  assert.ok(!("ratios" in stream) && !("ratios" in after));
  assert.deepEqual(attention.norms.axes, ["position"]);
});

test("an encoder-decoder has norms and entropies of both towers", () => {
  const model = new EncoderDecoderModel({ nVocab: 7, nSourceVocab: 9 });
  const trace = model.respondTo([8, 1], [0, 1, 2]);
  const branches = trace.norms().filter(({ kind }) => kind === "branch");
  assert.deepEqual(
    branches.map(({ stage, norms }) => [stage, norms.size]),
    [
      ["encoder.blocks.0.attention.output", 2],
      ["encoder.blocks.0.feed_forward.output", 2],
      ["decoder.blocks.0.attention.output", 3],
      ["decoder.blocks.0.cross_attention.output", 3],
      ["decoder.blocks.0.feed_forward.output", 3],
    ],
  );
  const bounds = trace.entropies().map(({ stage, bound }) => [stage, bound.tolist()[1]]);
  assert.deepEqual(bounds, [
    ["encoder.blocks.0.attention.weights", [1, 1]],
    ["decoder.blocks.0.attention.weights", [0, 1, Math.log2(3)]],
    ["decoder.blocks.0.cross_attention.weights", [1, 1, 1]],
  ]);
});

test("the bound counts the keys that windows, masks and edits leave", () => {
  const model = new CausalLanguageModel({ nVocab: 7, window: 2 });
  const bound = (options) => model.respondTo([0, 1, 2, 3], options).entropies()[0].bound.tolist();
  assert.deepEqual(bound(), [
    [0, 1, 1, 1],
    [0, 1, 1, 1],
  ]);
  const stage = "blocks.0.attention.scores";
  const edits = [{ stage, index: [1, 3, 2], set: Number.NEGATIVE_INFINITY }];
  assert.deepEqual(bound({ edits })[1], [0, 1, 1, 0]);
  const hidden = model.respondTo([0, 1], { masks: { padding: [true, false] } }).entropies()[0];
  // The first query sees nothing.
  assert.deepEqual(hidden.bits.tolist()[0], [0, 0]);
  assert.deepEqual(hidden.bound.tolist()[0], [0, 0]);
});

test("measures of a trace that came from elsewhere, of a large one, and of one that was freed", () => {
  const model = lesson();
  const trace = model.respondTo([0, 1, 2]);
  const copy = Trace.fromPlain(structuredClone(trace.toPlain()));
  assert.deepEqual(copy.norms(), trace.norms());
  assert.deepEqual(copy.entropies(), trace.entropies());
  const wide = new CausalLanguageModel({ nVocab: 50, nModel: 32, nHeads: 4, nBlocks: 3, dtype: "float32" });
  const ids = Array.from({ length: 60 }, (_, i) => (i * 7) % 50);
  const long = wide.respondTo(ids);
  assert.equal(long.norms().length, 13);
  assert.equal(long.norms()[12].norms.dtype, "float64");
  // A trace that took rows over has keys of different numbers in its rows.
  const last = long.withLastToken(3);
  assert.ok(last.computedRows < 60);
  assert.deepEqual(last.entropies(), wide.respondTo([...ids.slice(0, -1), 3]).entropies());
  long.free();
  assert.equal(refusal(() => long.norms()).code, "freed");
  assert.equal(refusal(() => long.entropies()).code, "freed");
});

test("a gain is asked of ids or rows, in any form", () => {
  const model = new CausalLanguageModel({ nVocab: 7, nBlocks: 2 });
  const { positioned } = model.respondTo([0, 1, 2]);
  const gain = model.gain([0, 1, 2], 1);
  assert.ok(gain > 0.1 && gain < 10);
  assert.equal(model.gain(Uint8Array.of(0, 1, 2), 1), gain);
  assert.equal(model.gain(positioned, 1), gain);
  assert.equal(model.gain(positioned.tolist(), 1), gain);
  assert.equal(model.gain({ data: positioned.data, shape: [3, 4] }, 1), gain);
  // Without a branch's last matrix the block is the identity.
  for (const name of ["attention.output", "feed_forward.contract"]) {
    const zeros = new Float64Array(model.parameter(`blocks.1.${name}`).size);
    model.setParameter(`blocks.1.${name}`, zeros);
  }
  assert.equal(model.gain([0, 1, 2], 1), 1);
  assert.equal(model.gain(positioned, 0), model.gain([0, 1, 2], 0));
  assert.ok(new EncoderModel({ nVocab: 7 }).gain([0, 1, 2], 0) > 0);
});

test("what has no gain is refused, and the model answers as before", () => {
  const model = lesson();
  const before = model.gain([0, 1, 2], 0);
  const code = (...given) => refusal(() => model.gain(...given)).code;
  assert.equal(code([0, 1, 2], 1), "index_out_of_range");
  assert.equal(code([0, 1, 2], -1), "index_out_of_range");
  assert.equal(code([0, 1, 2], 1e300), "index_out_of_range");
  for (const block of [0.5, Number.NaN, "0", undefined, null, {}]) {
    assert.equal(code([0, 1, 2], block), "not_an_integer");
  }
  assert.equal(code([], 0), "empty_prompt");
  assert.equal(code([0, 7], 0), "token_out_of_range");
  assert.equal(code([0, 1.5], 0), "not_an_integer");
  assert.equal(code(undefined, 0), "not_an_integer");
  assert.equal(code([[0, 1, 2]], 0), "shape_mismatch");
  assert.equal(code([[0, 1, 2, Number.NaN]], 0), "not_finite");
  assert.equal(code([[[0, 1, 2, 3]]], 0), "invalid_option");
  assert.equal(code(new Array(1025).fill(0), 0), "context_exceeded");
  assert.equal(refusal(() => new CausalLanguageModel(RUSTLAB).gain([0], 0)).code, "token_out_of_range");
  const both = new EncoderDecoderModel({ nVocab: 7 });
  assert.equal(refusal(() => both.gain([0], 0)).code, "invalid_option");
  assert.equal(model.gain([0, 1, 2], 0), before);
  model.free();
  assert.equal(code([0, 1, 2], 0), "freed");
  assert.equal(refusal(() => model.count()).code, "freed");
});

test("the lesson's model counts as the lesson says", () => {
  assert.deepEqual(lesson().count(), {
    parameters: {
      total: 184,
      embedding: 28,
      position: 0,
      attention: 64,
      feedForward: 64,
      norms: 0,
      head: 28,
      perBlock: { total: 128, attention: 64, feedForward: 64, norms: 0 },
    },
    flops: { projections: 128, scoresAndMixing: 16, feedForward: 128, head: 56 },
    crossovers: { scoresAndMixing: 8, withProjections: 0 },
  });
});

test("a block of GPT-2 small has 7,077,888 weights", () => {
  const wide = { nVocab: 0, nModel: 768, nHeads: 12, nHidden: 3072, nBlocks: 1, position: "none" };
  const model = new CausalLanguageModel({ ...wide, dtype: "float32", finalNorm: false });
  const { parameters, crossovers } = model.count();
  assert.equal(parameters.perBlock.total, 7_077_888);
  assert.equal(parameters.total, 7_077_888);
  assert.deepEqual(crossovers, { scoresAndMixing: 3072, withProjections: 1536 });
  model.free();
});

test("parts sum to the total, for a mixture, an encoder-decoder, and with every bias", () => {
  const mixture = { experts: 4, selected: 2, expert: "swiglu" };
  const options = { nVocab: 7, nBlocks: 2, normAffine: true, bias: true, position: "learned" };
  const models = [
    new CausalLanguageModel({ ...options, feedForward: mixture }),
    new EncoderModel({ ...options, tiedHead: true, embeddingNorm: true }),
    new EncoderDecoderModel({ ...options, nSourceVocab: 9, nEncoderBlocks: 3 }),
  ];
  for (const model of models) {
    const { total, perBlock: _, perEncoderBlock: __, ...parts } = model.count().parameters;
    assert.equal(
      total,
      model.parameters.reduce((sum, { count }) => sum + count, 0),
    );
    assert.equal(
      total,
      Object.values(parts).reduce((sum, count) => sum + count),
    );
  }
  const { parameters, flops } = models[2].count();
  assert.ok(parameters.crossAttention > 0 && flops.crossAttention.memoryProjections > 0);
  assert.equal(flops.encoder.feedForward, (flops.feedForward / 2) * 3);
  assert.equal(models[1].count().parameters.head, 7);
  const windowed = new CausalLanguageModel({ nVocab: 7, window: 3 }).count();
  assert.deepEqual(windowed.crossovers, { scoresAndMixing: null, withProjections: 0 });
});
