/** Reference data of PyTorch, transformers and NumPy through the package, and the mapping from its configurations. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import * as glass from "glassformer";
import { projectRoot } from "./support.mjs";

const ROOT = projectRoot();
const GOLDEN = join(ROOT, "tests", "golden");
const load = (name) => import(pathToFileURL(join(ROOT, "scripts", "golden", `${name}.mjs`)).href);
const { DEFERRED, findCases, readCase } = await load("cases");
const { check, DTYPES } = await load("check");
const { mapCase } = await load("map");
const { written } = await load("recipes");

const { ask, INSTRUMENT } = await load("instrument/index");

const all = findCases(GOLDEN).map(readCase);
const cases = all.filter(({ family }) => !(family in INSTRUMENT));

/** How many cases there are of each family, so that none is left out without a word. */
const COUNTS = { decoder: 10, encoder: 25, gpt2: 9, llama: 11, moe: 9, pointwise: 10, positions: 16 };

test("every case of the reference data is there", () => {
  const counts = {};
  for (const { family } of cases) counts[family] = (counts[family] ?? 0) + 1;
  assert.deepEqual(Object.fromEntries(Object.entries(counts).sort()), COUNTS);
  assert.ok(cases.every(({ family }) => !(family in DEFERRED)));
  assert.equal(all.length - cases.length, 4, "hooked and generation have two each");
});

test("every recipe is what the mapping makes of its case, and accounts for every tensor", () => {
  for (const golden of cases) {
    const recipe = mapCase(golden);
    assert.equal(recipe.unsupported, undefined, golden.title);
    const stored = readFileSync(join(golden.folder, "recipe.json"), "utf8");
    assert.equal(stored, written(recipe), `${golden.title}: node scripts/golden/recipes.mjs writes it anew`);
    const skipped = new Set(recipe.skipped.map(({ tensor }) => tensor));
    const unknown = recipe.skipped.find(({ reason }) => reason.startsWith("unknown: "));
    assert.equal(unknown, undefined, golden.title);
    const compared = [...recipe.models, ...recipe.calls].flatMap(({ expect, losses = [] }) => [
      ...expect,
      ...losses,
    ]);
    const expected = new Set(compared.map(({ tensor }) => tensor));
    for (const { name, role } of golden.tensors) {
      if (role === "gradient") assert.ok(skipped.has(name), `${golden.title}: ${name}`);
      if (role !== "output" && role !== "intermediate") continue;
      const isSizeOnly = name.startsWith("capacity_");
      assert.ok(isSizeOnly || expected.has(name) !== skipped.has(name), `${golden.title}: ${name}`);
    }
  }
});

for (const golden of all.filter(({ family }) => family in INSTRUMENT)) {
  test(`${golden.title} agrees with its reference`, () => {
    for (const dtype of DTYPES) {
      const { whole } = ask(glass, golden, dtype);
      assert.ok(whole.cells > 500);
      assert.equal(whole.wrong, 0, `${dtype}: ${JSON.stringify(whole.worst)}`);
    }
  });
}

for (const golden of cases) {
  test(`${golden.title} agrees with its reference`, () => {
    for (const dtype of DTYPES) {
      const { whole, parts } = check(glass, golden, mapCase(golden), dtype);
      assert.ok(parts.length > 0 && whole.cells > 0);
      assert.equal(whole.wrong, 0, `${dtype}: ${JSON.stringify(whole.worst)}`);
    }
  });
}

/** A case with changes to its configuration. */
function changed(title, change, edit = (golden) => golden) {
  const golden = readCase(cases.find((one) => one.title === title).folder);
  const config = { ...golden.config, ...change };
  for (const key of Object.keys(config)) if (config[key] === undefined) delete config[key];
  const { family, tensors, data } = golden;
  return edit({ family, tensors, data, config, title });
}

test("a word or a key that is not understood makes a case unsupported, by its name", () => {
  const refused = [
    ["encoder/post_relu_nomask", { activation: "leaky ReLU" }, "leaky"],
    ["encoder/post_relu_nomask", { "norm placement": "sandwich-norm: x" }, "sandwich"],
    ["encoder/post_relu_nomask", { norm: "BatchNorm, eps 1e-5" }, "BatchNorm"],
    ["encoder/post_relu_nomask", { "relative positions": "T5" }, "relative positions"],
    ["gpt2/hf_tied_gelu_new", { activation: "GELU squared" }, "squared"],
    ["gpt2/hf_tied_gelu_new", { positions: "sinusoidal" }, "sinusoidal"],
    ["gpt2/hf_tied_gelu_new", { head: "untied" }, "untied"],
    ["llama/llama_gqa", { "logit softcapping": 30 }, "logit softcapping"],
    ["llama/llama_gqa", { mask: "causal, sliding window 3 in every second block" }, "second"],
    ["llama/llama_gqa", { model: "transformers MambaForCausalLM" }, "Mamba"],
    ["llama/gemma_headdim", { MLP: "mish(gate) * up" }, "mish"],
    ["moe/block_top2of4", { router: "logits = x W_r^T, sigmoid over all E" }, "sigmoid"],
    ["positions/rope_d8", { half: "pair (j, j + 2)" }, "half"],
    ["pointwise/norms_eps1e-5", { eps: "none" }, "eps"],
  ];
  for (const [title, change, word] of refused) {
    const { unsupported } = mapCase(changed(title, change));
    assert.ok(unsupported?.includes(word), `${title} ${JSON.stringify(change)}: ${unsupported}`);
  }
});

test("an input or an output that is not known makes a case unsupported, an intermediate is listed", () => {
  const add = (role) => (golden) => {
    const tensors = [...golden.tensors, { name: "extra", role, shape: [1], meaning: "something else" }];
    const data = new Map(golden.data).set("extra", { dtype: "F64", shape: [1], data: Float64Array.of(1) });
    return { ...golden, tensors, data };
  };
  for (const role of ["weight", "input", "output"]) {
    const { unsupported } = mapCase(changed("llama/llama_gqa", {}, add(role)));
    assert.match(unsupported, /extra/);
  }
  const { skipped } = mapCase(changed("llama/llama_gqa", {}, add("intermediate")));
  assert.deepEqual(skipped, [{ tensor: "extra", reason: "unknown: something else" }]);
});

test("options are read from plain words, however they are put", () => {
  const optionsOf = (title, change, edit) => {
    const { models, unsupported } = mapCase(changed(title, change, edit));
    assert.equal(unsupported, undefined, `${title} ${JSON.stringify(change)}`);
    return models[0].options;
  };
  // Without the stored frequencies, so that the words alone decide.
  const alone = (golden) => ({
    ...golden,
    tensors: golden.tensors.filter(({ name }) => name !== "rope_inv_freq"),
    data: new Map([...golden.data].filter(([name]) => name !== "rope_inv_freq")),
  });
  const rotary = (positions, more = {}) => optionsOf("llama/llama_gqa", { positions, ...more }, alone).rotary;
  const base = { base: 10000, pairing: "half" };
  const llama3 = {
    kind: "llama3",
    factor: 8,
    lowFrequencyFactor: 1,
    highFrequencyFactor: 4,
    originalContext: 32,
  };
  const half = "RoPE, base 10000.0, half-split pairing (j, j + d/2), on";
  assert.deepEqual(rotary(`${half} every head dimension`), base);
  assert.deepEqual(rotary(`${half} the first 2 of 4 head dimensions`), { ...base, width: 2 });
  assert.deepEqual(rotary(`${half} 50% of the head dimensions`), { ...base, width: 2 });
  assert.deepEqual(rotary("RoPE, base 500000.0, interleaved pairing (2j, 2j+1), on every head dimension"), {
    base: 500000,
    pairing: "adjacent",
  });
  for (const words of [
    "linear scaling, factor 2.5",
    "linear scaling by 2.5",
    "linear scaling (frequencies divided by 2.5)",
  ]) {
    const scaling = { kind: "linear", factor: 2.5 };
    assert.deepEqual(rotary(`${half} every head dimension, ${words}`), { ...base, scaling }, words);
  }
  for (const words of [
    "llama3 scaling (factor 8, low_freq_factor 1, high_freq_factor 4, original_max_position_embeddings 32)",
    "Llama 3 scaling: factor 8.0, low frequency factor 1.0, high frequency factor 4.0, original context 32",
    "scaling {'rope_type': 'llama3', 'factor': 8.0, 'low_freq_factor': 1.0, 'high_freq_factor': 4.0, 'original_max_position_embeddings': 32}",
  ]) {
    assert.deepEqual(rotary(`${half} every head dimension, ${words}`), { ...base, scaling: llama3 }, words);
  }
  const given = { rope_type: "llama3", factor: 8, low_freq_factor: 1, high_freq_factor: 4 };
  const rope_scaling = { ...given, original_max_position_embeddings: 32 };
  assert.deepEqual(rotary(`${half} every head dimension`, { rope_scaling }), { ...base, scaling: llama3 });
  for (const mask of [
    "causal, sliding window 3",
    "causal with a sliding window of 3 (itself and 2 before)",
    "causal, window 3",
  ]) {
    assert.equal(optionsOf("llama/llama_gqa", { mask }).window, 3, mask);
  }
  assert.equal(optionsOf("llama/llama_gqa", { sliding_window: 5 }).window, 5);
  const activation = (text) => optionsOf("encoder/post_relu_nomask", { activation: text }).activation;
  for (const [text, name] of [
    ["ReLU", "relu"],
    ["GELU, exact (erf)", "gelu"],
    ["GELU", "gelu"],
    ["GELU tanh form (gelu_new)", "gelu_tanh"],
    ["GELU, tanh approximation", "gelu_tanh"],
    ["gelu_pytorch_tanh", "gelu_tanh"],
    ["SiLU", "silu"],
    ["quick GELU: x sigmoid(1.702 x)", "quick_gelu"],
    ["tanh", "tanh"],
    ["sigmoid", "sigmoid"],
  ]) {
    assert.equal(activation(text), name, text);
  }
});

/** The command on a folder: its code, and what it says. */
function command(...args) {
  const script = join(ROOT, "scripts", "golden", "run.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
  return { status, text: stdout + stderr };
}

test("the command tells what passed, failed and cannot be expressed, and ends accordingly", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "golden-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const copy = (title, name, change) => {
    const { folder: from } = cases.find((one) => one.title === title);
    const to = join(folder, name, "inside");
    cpSync(from, to, { recursive: true });
    const told = JSON.parse(readFileSync(join(to, "case.json"), "utf8"));
    writeFileSync(join(to, "case.json"), JSON.stringify(change(told)));
  };
  assert.deepEqual(command(join(folder, "nowhere")).status, 2);
  assert.match(command(join(folder, "nowhere")).text, /there is no folder/);
  assert.equal(command(folder).status, 2);
  assert.match(command(folder).text, /no case\.json/);
  assert.equal(command().status, 2);

  copy("positions/sinusoidal_d4_t16", "a", (told) => told);
  copy("positions/sinusoidal_d4_t16", "b", (told) => ({ ...told, family: "training" }));
  const good = command(folder);
  assert.equal(good.status, 0, good.text);
  assert.match(good.text, /^ok +positions\/sinusoidal_d4_t16 float64 \S+ .*float32 \S+/m);
  assert.match(good.text, /^DEFERRED training\//m);
  assert.match(good.text, /1 passed, 0 failed, 0 unsupported\n$/);

  copy("pointwise/norms_eps1e-5", "c", (told) => ({ ...told, config: { ...told.config, eps: 0.01 } }));
  const wrong = command(folder);
  assert.equal(wrong.status, 1);
  assert.match(wrong.text, /^FAIL pointwise\/norms_eps1e-5 .*math\.layerNorm at \[\d+,\d+\]/m);
  assert.match(wrong.text, /1 passed, 1 failed, 0 unsupported\n$/);

  copy("encoder/post_relu_nomask", "d", (told) => ({
    ...told,
    config: { ...told.config, activation: "mish" },
  }));
  const unknown = command(join(folder, "d"));
  assert.equal(unknown.status, 1);
  assert.match(unknown.text, /^UNSUPPORTED encoder\/post_relu_nomask .*"mish"/m);
  assert.match(unknown.text, /0 passed, 0 failed, 1 unsupported\n$/);
});
