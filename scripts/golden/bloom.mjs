/** Bloom (ALiBi, a norm behind the embedding) and GPT-NeoX (partial rotary, parallel branches): queries, keys and values fused per head. */

import { Unsupported } from "./draft.mjs";
import { blocksOf, common, head, maskOf, moduleOutputs, tokensRun, weights } from "./huggingface.mjs";
import { parallelIn } from "./llama.mjs";
import { rotaryOf } from "./rotary.mjs";
import { activationOf, normOf } from "./words.mjs";

const BLOOM = {
  blocks: "transformer.h",
  attention: "self_attention",
  embedding: "transformer.word_embeddings",
  embeddingNorm: "transformer.word_embeddings_layernorm",
  finalNorm: "transformer.ln_f",
  head: "lm_head",
};

const NEOX = {
  blocks: "gpt_neox.layers",
  attention: "attention",
  embedding: "gpt_neox.embed_in",
  finalNorm: "gpt_neox.final_layer_norm",
  head: "embed_out",
};

export function bloom(draft, config) {
  const text = config.text("positions", "position scheme");
  if (text !== undefined) {
    if (text.take(/\bALiBi\b/) === null) text.refuse();
    text.takeAll(/slope_h \* (?:key position|\(key position - query position\))|-slope_h \* distance/);
    text.takeAll(/\b(?:added|scores?|softmax|cannot|tell|from|slopes?|distance|key|query|position|bias)\b/);
    text.end();
  }
  return fused(draft, config, BLOOM, () => ({ position: "alibi" }));
}

export function neox(draft, config) {
  return fused(draft, config, NEOX, (headWidth) => {
    const frequencies = draft.has("rope_inv_freq") ? draft.tensor("rope_inv_freq").data : undefined;
    const rotary = rotaryOf(config, headWidth, frequencies);
    if (frequencies !== undefined) {
      draft.call({
        fn: "rotaryFrequencies",
        args: [rotary.width ?? headWidth],
        options: { base: rotary.base, scaling: rotary.scaling },
        expect: [{ tensor: "rope_inv_freq" }],
      });
    }
    return { position: "rotary", rotary, parallel: parallelIn(config, !saysSequential(draft)) };
  });
}

/** Whether what is told beside the configuration takes back the library's default, which is parallel. */
function saysSequential(draft) {
  return draft.remarks.some((text) =>
    /use_parallel_residual\W+false|\b(?:not|no) parallel\b|\bsequential\b/i.test(text),
  );
}

function fused(draft, config, names, positionOf) {
  config.get("model");
  const blocks = blocksOf(draft, config, names.blocks);
  const [vocabulary, width] = draft.shape(`${names.embedding}.weight`);
  const nHeads = config.count("H", "n_head", "num_attention_heads");
  const first = `${names.blocks}.0.`;
  const headWidth = draft.shape(`${first}${names.attention}.query_key_value.weight`)[0] / nHeads / 3;
  if (!Number.isInteger(headWidth))
    throw new Unsupported(`query_key_value does not divide by 3 and ${nHeads} heads`);
  const told = config.get("d", "head size");
  if (told !== undefined && told !== headWidth)
    throw new Unsupported(`config's d is ${told}, the weights' ${headWidth}`);
  config.told("V", "D", "F", "B", "T", "H_kv", "biases", "bias", "dropout", "MLP");
  const { norm, epsilon, gainOffset, afterEmbedding } = normOf(config.text("norm"));
  const embeddingNorm = names.embeddingNorm !== undefined && draft.has(`${names.embeddingNorm}.weight`);
  if (afterEmbedding && !embeddingNorm)
    throw new Unsupported("config names a norm behind the embedding, and there is none");
  const isPostResidual = config.get("apply_residual_connection_post_layernorm");
  if (isPostResidual === true) throw new Unsupported("config says apply_residual_connection_post_layernorm");
  const { isTied, hasBias, parameters: headParameters } = head(draft, config, names.head);
  const has = (name) => draft.has(`${first}${name}`);
  const options = {
    nVocab: vocabulary,
    nModel: width,
    nHeads,
    headWidth,
    nBlocks: blocks,
    nHidden: draft.shape(`${first}mlp.dense_h_to_4h.weight`)[0],
    maxContext: Math.max(1024, draft.shape("input_ids")[1]),
    norm,
    normPlacement: "pre",
    normAffine: true,
    epsilon,
    gainOffset,
    finalNorm: true,
    embeddingNorm,
    activation: activationOf(config.text("activation", "hidden_act")),
    feedForward: "dense",
    ...positionOf(headWidth),
    ...maskOf(config),
    bias: {
      attention: has(`${names.attention}.query_key_value.bias`),
      feedForward: has("mlp.dense_h_to_4h.bias"),
      norm: has("input_layernorm.bias"),
      head: hasBias,
    },
    tiedHead: isTied,
  };
  const parameters = [
    { name: "embedding", from: `${names.embedding}.weight` },
    ...(embeddingNorm ? norms(draft, "embedding.norm", names.embeddingNorm) : []),
    ...Array.from({ length: blocks }, (_, n) => block(draft, names, n, nHeads, headWidth)).flat(),
    ...norms(draft, "final.norm", names.finalNorm),
    ...headParameters,
  ];
  const run = tokensRun(draft, { relative: true });
  const model = draft.model({ model: "causal", options, parameters, run, expect: [] });
  expectations(draft, model, names, blocks);
}

const norms = (draft, ours, theirs) => [
  { name: `${ours}.gain`, from: `${theirs}.weight` },
  ...(draft.has(`${theirs}.bias`) ? [{ name: `${ours}.bias`, from: `${theirs}.bias` }] : []),
];

/** Rows of query_key_value are ordered head by head: a head's queries, its keys, its values. */
function block(draft, names, n, heads, width) {
  const [ours, theirs] = [`blocks.${n}.`, `${names.blocks}.${n}.`];
  const rows = (i) => Array.from({ length: heads }, (_, h) => [(3 * h + i) * width, (3 * h + i + 1) * width]);
  const qkv = `${theirs}${names.attention}.query_key_value`;
  return [
    ...norms(draft, `${ours}attention.norm`, `${theirs}input_layernorm`),
    ...["query", "key", "value"].flatMap((name, i) =>
      weights(draft, `${ours}attention.${name}`, qkv, false, { rows: rows(i) }),
    ),
    ...weights(draft, `${ours}attention.output`, `${theirs}${names.attention}.dense`, false),
    ...norms(draft, `${ours}feed_forward.norm`, `${theirs}post_attention_layernorm`),
    ...weights(draft, `${ours}feed_forward.expand`, `${theirs}mlp.dense_h_to_4h`, true),
    ...weights(draft, `${ours}feed_forward.contract`, `${theirs}mlp.dense_4h_to_h`, true),
  ];
}

function expectations(draft, model, names, blocks) {
  // Some implementations add the residual inside the module; the tensor's meaning says so.
  const isAdded = (module) => {
    const tensor = `out:${names.blocks}.0.${module}`;
    return draft.has(tensor) && /residual already added/i.test(draft.about(tensor).meaning);
  };
  const attention = isAdded(names.attention) ? "after_attention" : "attention.output";
  const modules = {
    input_layernorm: { stage: "attention.normalized" },
    [names.attention]: { stage: attention },
    [`${names.attention}.dense`]: { stage: "attention.output" },
    post_attention_layernorm: { stage: "feed_forward.normalized" },
    mlp: { stage: isAdded("mlp") ? "hidden" : "feed_forward.output" },
    "mlp.dense_h_to_4h": { stage: "feed_forward.pre" },
    "mlp.act": { stage: "feed_forward.activated" },
    "mlp.gelu_impl": { stage: "feed_forward.activated" },
    "mlp.dense_4h_to_h": { stage: "feed_forward.output" },
  };
  const whole = { [names.finalNorm]: "final.normalized", [names.head]: "logits" };
  if (names.embeddingNorm !== undefined) whole[names.embeddingNorm] = "embedding.normalized";
  moduleOutputs(draft, model, names.blocks, modules, whole);
  common(draft, model, blocks, { cachedKey: model.options.position === "rotary" ? "key_rotated" : "key" });
}
