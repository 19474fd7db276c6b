/** Llama and what is built like it: Qwen2, Gemma, Mistral, and Mixtral with its experts. */

import { Unsupported } from "./draft.mjs";
import { blocksOf, common, head, maskOf, moduleOutputs, tokensRun, weights } from "./huggingface.mjs";
import { rotaryOf } from "./rotary.mjs";
import { normOf, takeActivation } from "./words.mjs";

export function llama(draft, config) {
  config.get("model");
  const blocks = blocksOf(draft, config, "model.layers");
  const first = "model.layers.0.";
  const [vocabulary, width] = draft.shape("model.embed_tokens.weight");
  const nHeads = config.count("H", "n_heads", "num_attention_heads");
  const headWidth = draft.shape(`${first}self_attn.q_proj.weight`)[0] / nHeads;
  const groups = draft.shape(`${first}self_attn.k_proj.weight`)[0] / headWidth;
  for (const [key, value] of [
    ["d", headWidth],
    ["H_kv", groups],
  ]) {
    const told = config.get(key);
    if (told !== undefined && told !== value)
      throw new Unsupported(`config's ${key} is ${told}, the weights' ${value}`);
  }
  config.told("V", "D", "F", "B", "T", "biases", "bias", "dropout");
  const { norm, epsilon, gainOffset } = normOf(config.text("norm"));
  const { isTied, hasBias, parameters: headParameters } = head(draft, config, "lm_head");
  const frequencies = draft.has("rope_inv_freq") ? draft.tensor("rope_inv_freq").data : undefined;
  const rotary = rotaryOf(config, headWidth, frequencies);
  const branch = feedForwardOf(draft, config, first);
  const isParallel = parallelIn(config);
  const qkv = draft.has(`${first}self_attn.q_proj.bias`);
  const options = {
    nVocab: vocabulary,
    nModel: width,
    nHeads,
    headWidth,
    nKeyValueHeads: groups,
    nBlocks: blocks,
    nHidden: branch.hidden,
    maxContext: Math.max(1024, draft.shape("input_ids")[1]),
    norm,
    normPlacement: "pre",
    normAffine: draft.has(`${first}input_layernorm.weight`),
    epsilon,
    gainOffset,
    finalNorm: true,
    embeddingScale: embeddingScaleOf(config, width),
    parallel: isParallel,
    activation: branch.activation,
    feedForward: branch.feedForward,
    position: "rotary",
    rotary,
    ...maskOf(config),
    bias: {
      attention: draft.has(`${first}self_attn.o_proj.bias`) ? true : qkv ? "qkv" : false,
      feedForward: branch.hasBias,
      norm: draft.has(`${first}input_layernorm.bias`),
      head: hasBias,
    },
    tiedHead: isTied,
  };
  const parameters = [
    { name: "embedding", from: "model.embed_tokens.weight" },
    ...Array.from({ length: blocks }, (_, n) => block(draft, n, options)).flat(),
    ...gains(draft, options, "final.norm", "model.norm"),
    ...headParameters,
  ];
  const run = tokensRun(draft, { relative: true });
  const model = draft.model({ model: "causal", options, parameters, run, expect: [] });
  expectations(draft, model, blocks);
  if (draft.has("rope_inv_freq")) {
    draft.call({
      fn: "rotaryFrequencies",
      args: [rotary.width ?? headWidth],
      options: { base: rotary.base, scaling: rotary.scaling },
      expect: [{ tensor: "rope_inv_freq" }],
    });
  }
}

/** Whether both branches read the block's input. */
export function parallelIn(config, otherwise = false) {
  const flag = config.get("use_parallel_residual", "parallel residual", "parallel", "parallel_residual");
  const text = config.text("block", "residual", "residuals");
  let isParallel = flag === undefined ? otherwise : flag === true || /^(?:true|yes)\b/i.test(String(flag));
  if (flag !== undefined && typeof flag !== "boolean" && !/^(?:true|yes|false|no|none)\b/i.test(flag)) {
    throw new Unsupported(`config says "parallel": "${flag}"`);
  }
  if (text !== undefined) {
    if (text.take(/\b(?:not|no) parallel\b|\bsequential\b/i) !== null) isParallel = false;
    else if (text.take(/\bparallel\b/i) !== null) isParallel = true;
    text.takeAll(
      /\b(?:x|parallel|residual|attn|attention|mlp|MLP|input_layernorm|post_attention_layernorm|ln\w*|LN\w*|branches|read|same|block|input|add|added|stream|use_parallel_residual|True|norm)\b/,
    );
    text.end();
  }
  return isParallel;
}

function embeddingScaleOf(config, width) {
  const text = config.text("embedding scale", "embedding_scale", "embedding multiplier");
  if (text === undefined) return 1;
  const root = text.take(/\bsqrt\((?:D|d_model|hidden_size)\)/);
  const number = root ?? text.take(/(\d+(?:\.\d+)?)/);
  if (number === null && text.take(/\bnone\b/) === null) text.refuse();
  text.takeAll(/\b(?:hidden|embeddings?|times|states?|token|multiplied|scaled)\b/);
  text.end();
  if (number === null) return 1;
  return root !== null ? Math.sqrt(width) : Number(number[1]);
}

/** The feed-forward branch's options, of the weights there are and the text under "MLP". */
function feedForwardOf(draft, config, first) {
  const text = config.text("MLP", "feed-forward", "feed forward");
  const has = (name) => draft.has(`${first}${name}`);
  if (has("block_sparse_moe.gate.weight")) return expertsOf(draft, config, text, `${first}block_sparse_moe.`);
  if (!has("mlp.up_proj.weight")) throw new Unsupported("there is no mlp.up_proj");
  const [hidden] = draft.shape(`${first}mlp.up_proj.weight`);
  const hasBias = has("mlp.up_proj.bias");
  const told = config.text("activation", "hidden_act");
  const activation = (told && takeActivation(told)) ?? (text && takeActivation(text));
  if (activation === undefined) (told ?? text)?.refuse();
  text?.takeAll(/\b(?:gate|up|down|then|SwiGLU|GeGLU|GEGLU|ReGLU|GLU|gated|MLP|tanh|approximation)\b/);
  text?.end();
  told?.takeAll(/\b(?:tanh|approximation|exact|erf)\b/);
  told?.end();
  if (!has("mlp.gate_proj.weight")) return { feedForward: "dense", activation, hidden, hasBias };
  const kinds = { silu: "swiglu", gelu: "geglu", gelu_tanh: "geglu" };
  return { feedForward: kinds[activation] ?? "glu", activation, hidden, hasBias };
}

function expertsOf(draft, config, text, first) {
  text?.takeAll(/\b(?:mixture|SwiGLU|experts?|sparse|MoE)\b/);
  text?.end();
  const [experts] = draft.shape(`${first}gate.weight`);
  const [hidden] = draft.shape(`${first}experts.0.w1.weight`);
  const routing = routingOf(config.text("experts"), experts, config.get("k", "top_k", "num_experts_per_tok"));
  const feedForward = { experts, expert: "swiglu", ...routing };
  return { feedForward, activation: "silu", hidden, hasBias: false };
}

/** How many experts a row takes and whether their gates are divided by their sum, of a text. */
export function routingOf(text, experts, given) {
  const options = { selected: given, renormalize: true };
  if (text === undefined) return options;
  const told = text.take(/\bE = (\d+)/);
  if (told !== null && Number(told[1]) !== experts) text.refuse(`E = ${told[1]} of ${experts}`);
  const top = text.take(/\btop[- ]?(\d+)\b/);
  if (top !== null) options.selected = Number(top[1]);
  if (options.selected === undefined) text.refuse("a routing without its k");
  if (text.take(/\b(?:as they are|not divided|not renormali[sz]ed|without renormali[sz]ation)\b/) !== null) {
    options.renormalize = false;
  }
  text.takeAll(/\((?:not divided by their sum|equal to a softmax over the (?:k|chosen|top k) logits)\)/);
  text.takeAll(
    /\b(?:softmax|E|k|top|take|takes|divided?|renormali[sz]ed?|by their sum|over|probabilities|probability|logits?|experts?|sum|gates?|x|W_r|T|ties|lower|index|lowest|first|their|switch|itself|not|selected|chosen)\b/i,
  );
  text.takeAll(/x W_r\^T/);
  text.end();
  return options;
}

function gains(draft, options, ours, theirs) {
  if (!options.normAffine) return [];
  const bias = draft.has(`${theirs}.bias`) ? [{ name: `${ours}.bias`, from: `${theirs}.bias` }] : [];
  return [{ name: `${ours}.gain`, from: `${theirs}.weight` }, ...bias];
}

function block(draft, n, options) {
  const [ours, theirs] = [`blocks.${n}.`, `model.layers.${n}.`];
  const projections = { query: "q_proj", key: "k_proj", value: "v_proj", output: "o_proj" };
  const branch = `${ours}feed_forward.`;
  const parameters = [
    ...gains(draft, options, `${ours}attention.norm`, `${theirs}input_layernorm`),
    ...Object.entries(projections).flatMap(([name, proj]) =>
      weights(draft, `${ours}attention.${name}`, `${theirs}self_attn.${proj}`, false),
    ),
    ...gains(draft, options, `${branch}norm`, `${theirs}post_attention_layernorm`),
  ];
  const { feedForward } = options;
  if (typeof feedForward === "string") {
    const parts = { expand: "up_proj", gate: "gate_proj", contract: "down_proj" };
    if (feedForward === "dense") delete parts.gate;
    for (const [name, proj] of Object.entries(parts)) {
      parameters.push(...weights(draft, `${branch}${name}`, `${theirs}mlp.${proj}`, true));
    }
    return parameters;
  }
  parameters.push({ name: `${branch}router`, from: `${theirs}block_sparse_moe.gate.weight` });
  for (let e = 0; e < feedForward.experts; e++) {
    const from = `${theirs}block_sparse_moe.experts.${e}.`;
    for (const [name, w] of Object.entries({ expand: "w3", gate: "w1", contract: "w2" })) {
      parameters.push({ name: `${branch}experts.${e}.${name}`, from: `${from}${w}.weight`, transpose: true });
    }
  }
  return parameters;
}

function expectations(draft, model, blocks) {
  const merged = (name) => ({ stage: `attention.${name}`, arrange: "merge heads" });
  const modules = {
    input_layernorm: { stage: "attention.normalized" },
    "self_attn.q_proj": merged("query"),
    "self_attn.k_proj": merged("key"),
    "self_attn.v_proj": merged("value"),
    "self_attn.o_proj": { stage: "attention.output" },
    self_attn: { stage: "attention.output" },
    post_attention_layernorm: { stage: "feed_forward.normalized" },
    "mlp.up_proj": { stage: "feed_forward.pre" },
    "mlp.gate_proj": { stage: "feed_forward.gate" },
    "mlp.down_proj": { stage: "feed_forward.output" },
    mlp: { stage: "feed_forward.output" },
    "block_sparse_moe.gate": { stage: "feed_forward.router_logits", arrange: "flat" },
    block_sparse_moe: { stage: "feed_forward.output" },
  };
  const whole = { "model.norm": "final.normalized", lm_head: "logits" };
  moduleOutputs(draft, model, "model.layers", modules, whole);
  common(draft, model, blocks, { cachedKey: "key_rotated" });
  const numbered = {
    router_probs: "router",
    router_logits: "router_logits",
    selected: "selected",
    gate_weights: "gates",
  };
  for (const tensor of draft.names()) {
    const [, name, i] = tensor.match(/^(router_probs|router_logits|selected|gate_weights)_(\d+)$/) ?? [];
    if (name === undefined) continue;
    model.expect.push({ stage: `blocks.${i}.feed_forward.${numbered[name]}`, tensor, arrange: "flat" });
  }
  if (draft.has("aux_loss"))
    draft.skip("aux_loss", "a loss that balances experts in training, which is later work");
}
