/** Equations alone: norms, activations, gated units, softmax and cross-entropy. */

import { Unsupported } from "./draft.mjs";
import { bareBranch } from "./moe.mjs";

export function norms(draft, config) {
  const epsilon = config.get("eps");
  config.told("D", "rows");
  if (typeof epsilon !== "number") throw new Unsupported(`config names eps ${JSON.stringify(epsilon)}`);
  const gain = { tensor: "weight" };
  const bias = { tensor: "bias" };
  const known = {
    layer_norm: ["layerNorm", { gain, bias: draft.has("bias") ? bias : undefined }],
    layer_norm_plain: ["layerNorm", {}],
    layer_norm_no_bias: ["layerNorm", { gain }],
    rms_norm: ["rmsNorm", { gain }],
    rms_norm_plain: ["rmsNorm", {}],
    rms_norm_gemma: ["rmsNorm", { gain, gainOffset: 1 }],
  };
  for (const [tensor, [fn, options]] of Object.entries(known)) {
    if (!draft.has(tensor)) continue;
    const expect = [{ tensor, toleranceRows: true }];
    draft.call({ fn, args: [{ tensor: "x" }], options: { epsilon, ...options }, expect });
  }
  for (const tensor of draft.names(/^(?:mean|variance)$/)) {
    draft.skip(tensor, "no function gives it alone; the norms that are made with it are compared");
  }
  skipUpstream(draft);
}

function skipUpstream(draft) {
  for (const tensor of draft.names(/^upstream/))
    draft.skip(tensor, "goes into gradients, which are later work");
}

const FUNCTIONS = {
  relu: "relu",
  sigmoid: "sigmoid",
  tanh: "tanh",
  silu: "silu",
  swish: "silu",
  gelu: "gelu",
  gelu_exact: "gelu",
  gelu_tanh: "geluTanh",
  gelu_new: "geluTanh",
  quick_gelu: "quickGelu",
  softplus: "softplus",
};

export function activations(draft, config) {
  config.told("inputs");
  const { data } = draft.tensor("x");
  for (const tensor of draft.names()) {
    const fn = FUNCTIONS[tensor.replace(/_precise$/, "")];
    if (fn === undefined) continue;
    const expect = { tensor };
    // torch's softplus gives x itself above 20, up to 2e-9 off.
    if (tensor === "softplus") {
      const rows = [...data.keys()].filter((i) => data[i] <= 20);
      if (rows.length < data.length) expect.rows = rows;
    }
    draft.call({ fn, args: [{ tensor: "x" }], expect: [expect] });
  }
  skipUpstream(draft);
}

/** Name of a gated unit: our option and the function on the gate. */
const UNITS = {
  glu: ["glu", "sigmoid"],
  swiglu: ["swiglu", "silu"],
  geglu: ["geglu", "gelu"],
  geglu_tanh: ["geglu", "gelu_tanh"],
  reglu: ["glu", "relu"],
  bilinear: ["glu", "identity"],
};

export function gatedUnits(draft, config) {
  config.told("R", "D", "F", "biases");
  const [hidden, width] = draft.shape("W_gate");
  const [outputs] = draft.shape("W_down");
  if (outputs !== width) throw new Unsupported(`W_down gives rows of ${outputs}, and a block's are ${width}`);
  const branch = "blocks.0.feed_forward.";
  const matrices = { expand: "up", gate: "gate", contract: "down" };
  const hasBias = Object.values(matrices).map((name) => draft.has(`b_${name}`));
  if (new Set(hasBias).size > 1)
    throw new Unsupported("some of the three matrices have a bias and some have none");
  for (const [unit, [feedForward, activation]] of Object.entries(UNITS)) {
    const outputsOfUnit = { [`${unit}_hidden`]: "activated", [`${unit}_out`]: "output" };
    const there = Object.entries(outputsOfUnit).filter(([tensor]) => draft.has(tensor));
    if (there.length === 0) continue;
    const bias = { attention: false, feedForward: hasBias[0], norm: false, head: false };
    const bare = bareBranch(width, hidden, { feedForward, activation, bias });
    const before = Object.entries({ gate_pre: "gate", up: "pre" }).filter(([tensor]) => draft.has(tensor));
    const parameters = Object.entries(matrices).flatMap(([name, from]) => [
      { name: `${branch}${name}`, from: `W_${from}`, transpose: true },
      ...(hasBias[0] ? [{ name: `${branch}${name}_bias`, from: `b_${from}` }] : []),
    ]);
    draft.model({
      model: "encoder",
      options: bare.options,
      parameters: [...bare.parameters, ...parameters],
      run: { start: "rows", target: { tensor: "x" }, single: true },
      expect: [...before, ...there].map(([tensor, stage]) => ({ stage: `${branch}${stage}`, tensor })),
    });
    if (draft.has(`${unit}_hidden`) && draft.has("gate_pre") && draft.has("up")) {
      const args = [{ tensor: "up" }, { tensor: "gate_pre" }, activation];
      draft.call({ fn: "gated", args, expect: [{ tensor: `${unit}_hidden` }] });
    }
  }
  if (draft.has("torch_glu")) {
    draft.call({ fn: "glu", args: [{ concat: ["up", "gate_pre"] }], expect: [{ tensor: "torch_glu" }] });
  }
}

/** Rows that a meaning names: `rows 0,1,2`, `rows 0, 1, 3`, `rows 0..3`; all where it names none. */
function rowsIn(meaning, count) {
  const range = meaning.match(/\brows (\d+)\.\.(\d+)/);
  if (range !== null) {
    const [from, to] = range.slice(1).map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  }
  const list = meaning.match(/\brows (\d+(?:(?:, ?| and )\d+)*)/);
  if (list !== null) return list[1].split(/, ?| and /).map(Number);
  return Array.from({ length: count }, (_, i) => i);
}

export function softmaxes(draft, config) {
  config.told("V", "rows");
  const [count] = draft.shape("logits");
  const logits = { tensor: "logits" };
  // A row of -Infinity has no softmax; torch gives NaN, we give zeros.
  const known = {
    softmax: ["softmax", "zeros"],
    log_softmax: ["logSoftmax", "-Infinity"],
    logsumexp: ["logSumExp", undefined],
  };
  for (const [tensor, [fn, nan]] of Object.entries(known)) {
    if (!draft.has(tensor)) continue;
    const hasNaN = draft.tensor(tensor).data.some(Number.isNaN);
    draft.call({ fn, args: [logits], expect: [{ tensor, nan: hasNaN ? nan : undefined }] });
  }
  for (const tensor of draft.names(/^nll(?:_mean|_smooth)?$/)) {
    const { meaning } = draft.about(tensor);
    const rows = rowsIn(meaning, count);
    const smoothing = Number(meaning.match(/label_smoothing ([\d.]+)/)?.[1] ?? 0);
    const isMean =
      draft.shape(tensor).join() !== String(rows.length) || /\bmean\b/.test(meaning.split(":")[0]);
    draft.call({
      fn: "crossEntropy",
      args: [
        { tensor: "logits", rows },
        { tensor: "labels", rows },
      ],
      options: { ignore: -100, smoothing },
      expect: [{ output: isMean ? "mean" : "losses", tensor }],
    });
  }
  skipUpstream(draft);
}
