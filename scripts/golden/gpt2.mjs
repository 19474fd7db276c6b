/** GPT-2, in Hugging Face's layout (Conv1D, in,out) and in nanoGPT's (Linear, out,in). */

import { Unsupported } from "./draft.mjs";
import { blocksOf, common, head, loss, maskOf, moduleOutputs, tokensRun, weights } from "./huggingface.mjs";
import { activationOf, normOf } from "./words.mjs";

export function gpt2(draft, config) {
  config.get("model");
  const blocks = blocksOf(draft, config, "transformer.h");
  const [vocabulary, width] = draft.shape("transformer.wte.weight");
  const [inputs, outputs] = draft.shape("transformer.h.0.attn.c_attn.weight");
  const isConv = inputs === width && outputs === 3 * width;
  if (!isConv && !(outputs === width && inputs === 3 * width)) {
    throw new Unsupported(`c_attn has shape [${inputs}, ${outputs}]`);
  }
  const fc = draft.shape("transformer.h.0.mlp.c_fc.weight");
  checkPositionsText(config);
  config.told(
    "V",
    "D",
    "d",
    "F",
    "n_positions",
    "block_size",
    "B",
    "T",
    "biases",
    "bias",
    "dropout",
    "n_ctx",
  );
  const { norm, epsilon, gainOffset } = normOf(config.text("norm"));
  const { isTied, hasBias, parameters: headParameters } = head(draft, config, "lm_head");
  const options = {
    nVocab: vocabulary,
    nModel: width,
    nHeads: config.count("H", "n_head"),
    nBlocks: blocks,
    nHidden: isConv ? fc[1] : fc[0],
    maxContext: draft.shape("transformer.wpe.weight")[0],
    norm,
    normPlacement: "pre",
    normAffine: true,
    epsilon,
    gainOffset,
    finalNorm: true,
    activation: activationOf(config.text("activation", "activation_function")),
    feedForward: "dense",
    position: "learned",
    ...maskOf(config),
    scaleByLayer: config.get("scale_attn_by_inverse_layer_idx") === true,
    bias: {
      attention: draft.has("transformer.h.0.attn.c_attn.bias"),
      feedForward: draft.has("transformer.h.0.mlp.c_fc.bias"),
      norm: draft.has("transformer.h.0.ln_1.bias"),
      head: hasBias,
    },
    tiedHead: isTied,
  };
  if (config.get("scale_attn_weights") === false) options.scoreScale = 1;
  config.told("reorder_and_upcast_attn");

  const parameters = [
    { name: "embedding", from: "transformer.wte.weight" },
    { name: "position", from: "transformer.wpe.weight" },
    ...Array.from({ length: blocks }, (_, n) => block(draft, n, width, isConv)).flat(),
    ...weightsOfNorm(draft, "final.norm", "transformer.ln_f"),
    ...headParameters,
  ];
  const model = draft.model({ model: "causal", options, parameters, run: tokensRun(draft, {}), expect: [] });
  expectations(draft, model, blocks, width);
}

function checkPositionsText(config) {
  const text = config.text("positions", "position scheme");
  if (text === undefined) return;
  if (text.take(/\blearned\b/) === null) text.refuse();
  text.takeAll(/\b(?:absolute|added|token|embedding|embeddings|table|positions?)\b/);
  text.end();
}

const weightsOfNorm = (draft, ours, theirs) => [
  { name: `${ours}.gain`, from: `${theirs}.weight` },
  ...(draft.has(`${theirs}.bias`) ? [{ name: `${ours}.bias`, from: `${theirs}.bias` }] : []),
];

function block(draft, n, width, isConv) {
  const [ours, theirs] = [`blocks.${n}.`, `transformer.h.${n}.`];
  // Attention's matrices are out,in with us, the feed-forward branch's in,out.
  const part = (i) => ({ [isConv ? "columns" : "rows"]: [[i * width, (i + 1) * width]] });
  return [
    ...weightsOfNorm(draft, `${ours}attention.norm`, `${theirs}ln_1`),
    ...["query", "key", "value"].flatMap((name, i) =>
      weights(draft, `${ours}attention.${name}`, `${theirs}attn.c_attn`, isConv, part(i)),
    ),
    ...weights(draft, `${ours}attention.output`, `${theirs}attn.c_proj`, isConv),
    ...weightsOfNorm(draft, `${ours}feed_forward.norm`, `${theirs}ln_2`),
    ...weights(draft, `${ours}feed_forward.expand`, `${theirs}mlp.c_fc`, !isConv),
    ...weights(draft, `${ours}feed_forward.contract`, `${theirs}mlp.c_proj`, !isConv),
  ];
}

function expectations(draft, model, blocks, width) {
  const third = (name, i) => ({
    stage: `attention.${name}`,
    arrange: "merge heads",
    columns: [i * width, (i + 1) * width],
  });
  const modules = {
    ln_1: { stage: "attention.normalized" },
    attn: { stage: "attention.output" },
    "attn.c_attn": ["query", "key", "value"].map(third),
    "attn.c_proj": { stage: "attention.output" },
    ln_2: { stage: "feed_forward.normalized" },
    mlp: { stage: "feed_forward.output" },
    "mlp.c_fc": { stage: "feed_forward.pre" },
    "mlp.act": { stage: "feed_forward.activated" },
    "mlp.c_proj": { stage: "feed_forward.output" },
  };
  const whole = { "transformer.ln_f": "final.normalized", lm_head: "logits", "transformer.wte": "embedding" };
  moduleOutputs(draft, model, "transformer.h", modules, whole);
  common(draft, model, blocks, {});
  const numbered = {
    attention: "attention.weights",
    after_attention: "after_attention",
    after_block: "hidden",
  };
  for (const tensor of draft.names()) {
    const [, name, i] = tensor.match(/^(attention|after_attention|after_block)_(\d+)$/) ?? [];
    if (name !== undefined) model.expect.push({ stage: `blocks.${i}.${numbered[name]}`, tensor });
  }
  if (draft.has("embedding")) model.expect.push({ stage: "positioned", tensor: "embedding" });
  if (draft.has("final_norm")) model.expect.push({ stage: "final.normalized", tensor: "final_norm" });
  if (draft.has("targets") && draft.has("loss")) loss(draft, model, "targets", { shift: 0, ignore: -1 });
}
