/** `torch.nn.TransformerEncoderLayer`, stacks of it, and `torch.nn.MultiheadAttention` alone. */

import { Unsupported } from "./draft.mjs";
import { attention, finalNormOf, keyless, layer, layerOptions, layersOf, mask, nanPolicy } from "./torch.mjs";

export function encoder(draft, config) {
  config.get("model");
  const isStack = !draft.has("self_attn.in_proj_weight");
  const blocks = isStack ? layersOf(draft, "layers.") : 1;
  const options = layerOptions(draft, config, isStack ? "layers.0." : "");
  const layers = config.get("layers");
  if (layers !== undefined && layers !== blocks)
    throw new Unsupported(`${layers} layers, and weights of ${blocks}`);
  config.told("lengths");
  const [finalNorm] = finalNormOf(draft, config, [""]);
  const isCausal = masksOf(draft, config, ["attn_mask"]);
  const parameters = Array.from({ length: blocks }, (_, n) =>
    layer(draft, `blocks.${n}.`, isStack ? `layers.${n}.` : "", options.nModel, false),
  ).flat();
  if (finalNorm) parameters.push(...finalNormParameters(draft, "", ""));
  const model = draft.model({
    model: "encoder",
    options: { ...options, nBlocks: blocks, finalNorm, mask: isCausal ? "causal" : "none" },
    parameters,
    run: {
      start: "rows",
      target: { tensor: "x" },
      masks: { attention: mask(draft, "attn_mask"), padding: mask(draft, "key_padding_mask") },
    },
    expect: [],
  });
  const [batch, length] = draft.shape("x");
  const sizes = { batch, heads: options.nHeads, queries: length, keys: length };
  const without = keyless(draft, sizes, "attn_mask", "key_padding_mask");
  const last = finalNorm ? "final.normalized" : `blocks.${blocks - 1}.hidden`;
  for (const name of draft.names()) {
    const expectation = stageOf(name, last);
    if (expectation !== undefined)
      model.expect.push(finishExpectation(draft, name, expectation, without, isStack));
  }
  if (draft.has("x_tbd")) draft.skip("x_tbd", "the input x once more, with its axes in another order");
}

export function finalNormParameters(draft, tower, prefix) {
  const parameters = [{ name: `${tower}final.norm.gain`, from: `${prefix}norm.weight` }];
  if (draft.has(`${prefix}norm.bias`)) {
    parameters.push({ name: `${tower}final.norm.bias`, from: `${prefix}norm.bias` });
  }
  return parameters;
}

/** Whether masks are named that only the model's own option can apply: their tensors hold all others. */
export function masksOf(draft, config, tensors) {
  const named = config.get("masks", "mask");
  return JSON.stringify(named ?? "").includes("causal") && !tensors.some((name) => draft.has(name));
}

const STAGES = {
  norm1_out: "attention.normalized",
  q: "attention.query",
  k: "attention.key",
  v: "attention.value",
  scores: "attention.scores",
  attn_weights: "attention.weights",
  attn_out: "attention.output",
  mha_out_need_weights: "attention.output",
  mha_out_sdpa: "attention.output",
  mha_out_no_grad: "attention.output",
  x_mid: "after_attention",
  norm2_out: "feed_forward.normalized",
  ff_pre: "feed_forward.pre",
  ff_act: "feed_forward.activated",
  ff_out: "feed_forward.output",
};

/** The stage that a tensor holds, or undefined. */
function stageOf(name, last) {
  const numbered = name.match(/^(.+)_(\d+)$/);
  if (name in STAGES) return { stage: `blocks.0.${STAGES[name]}` };
  if (name === "attn_context") return { stage: "blocks.0.attention.mixed", arrange: "merge heads" };
  if (name === "attn_weights_avg") return { stage: "blocks.0.attention.weights", arrange: "mean of heads" };
  if (["output", "output_sdpa", "output_no_grad"].includes(name)) return { stage: last };
  if (name === "output_tbd") return { stage: last, arrange: "time first" };
  const layer = name.match(/^layer_(\d+)_out$/);
  if (layer !== null) return { stage: `blocks.${layer[1]}.hidden` };
  if (numbered !== null && numbered[1] in STAGES)
    return { stage: `blocks.${numbered[2]}.${STAGES[numbered[1]]}` };
  return undefined;
}

function finishExpectation(draft, name, { stage, arrange }, without, isStack) {
  const average = arrange === "mean of heads" ? "average" : "weights";
  const kind = stage.endsWith(".weights") ? average : undefined;
  const perHead = /\.(weights|scores|query|key|value)$/.test(stage) && arrange === undefined;
  const nan = arrange === "time first" ? undefined : nanPolicy(draft, name, without, kind, perHead);
  // Under no_grad a stack leaves padded positions out and gives 0 there.
  const rows = isStack && name.endsWith("_no_grad") ? rowsInside(draft) : undefined;
  return { stage, tensor: name, arrange, nan, rows };
}

/** Rows (batch, position) that are no padding, or undefined where none is. */
function rowsInside(draft) {
  if (!draft.has("key_padding_mask")) return undefined;
  const { shape, data, dtype } = draft.tensor("key_padding_mask");
  const [batch, length] = shape;
  const hidden = (i) => (/^F/.test(dtype) ? data[i] !== 0 : data[i] === 1);
  const rows = [];
  for (let b = 0; b < batch; b++) {
    for (let t = 0; t < length; t++) if (!hidden(b * length + t)) rows.push([b, t]);
  }
  return rows.length < batch * length ? rows : undefined;
}

/** Attention alone, whose keys and values may have widths of their own. */
export function multihead(draft, config) {
  config.get("model");
  const width = config.count("D");
  const heads = config.count("H");
  config.told("d", "head size", "B", "L", "S", "T", "kdim", "vdim", "biases", "lengths");
  const dropout = config.get("dropout");
  if (dropout !== undefined && !/^0(\.0)?\b|\beval\b/.test(String(dropout))) {
    throw new Unsupported(`config names dropout ${dropout}`);
  }
  const isCausal = masksOf(draft, config, ["attn_mask"]);
  const input = (...names) => names.find((name) => draft.has(name));
  const query = input("query", "x");
  const key = input("key", "memory") ?? query;
  const value = input("value") ?? key;
  const parameters = {};
  for (const { name, from, rows } of attention(draft, "", "", width))
    parameters[name] = { tensor: from, rows };
  const masks = { attention: mask(draft, "attn_mask"), padding: mask(draft, "key_padding_mask") };
  const [batch, queries] = draft.shape(query);
  const without = keyless(
    draft,
    { batch, heads, queries, keys: draft.shape(key)[1] },
    "attn_mask",
    "key_padding_mask",
  );
  const outputs = {
    q: "query",
    k: "key",
    v: "value",
    scores: "scores",
    attn_weights: "weights",
    attn_weights_avg: "averageWeights",
    output: "output",
    output_sdpa: "output",
    output_no_grad: "output",
    output_need_weights: "output",
    mha_out_need_weights: "output",
    mha_out_sdpa: "output",
    mha_out_no_grad: "output",
  };
  const expect = draft
    .names()
    .filter((name) => name in outputs)
    .map((name) => {
      const output = outputs[name];
      const perHead = ["query", "key", "value", "scores", "weights"].includes(output);
      const kind = { weights: "weights", averageWeights: "average" }[output];
      return { output, tensor: name, nan: nanPolicy(draft, name, without, kind, perHead) };
    });
  if (draft.has("attn_context"))
    expect.push({ output: "mixed", tensor: "attn_context", arrange: "merge heads" });
  draft.call({
    fn: "attention",
    args: [{ tensor: query }, { tensor: key }, { tensor: value }],
    options: { nHeads: heads, parameters, masks, mask: isCausal ? "causal" : undefined },
    expect,
  });
}
