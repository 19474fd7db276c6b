/** `torch.nn.TransformerDecoderLayer`, stacks of it, and `torch.nn.Transformer`. */

import { Unsupported } from "./draft.mjs";
import { finalNormParameters } from "./encoder.mjs";
import { finalNormOf, keyless, layer, layerOptions, layersOf, mask, nanPolicy } from "./torch.mjs";

/** A decoder that is given its memory. */
export function decoder(draft, config) {
  config.get("model");
  const isStack = !draft.has("self_attn.in_proj_weight");
  const prefix = isStack ? "layers." : undefined;
  const blocks = isStack ? layersOf(draft, "layers.") : 1;
  const options = layerOptions(draft, config, isStack ? "layers.0." : "");
  const layers = config.get("layers", "decoder layers");
  if (layers !== undefined && layers !== blocks)
    throw new Unsupported(`${layers} layers, and weights of ${blocks}`);
  const [finalNorm] = finalNormOf(draft, config, [""]);
  const tower = { options, blocks, finalNorm, prefix, norm: "" };
  decoderModel(
    draft,
    tower,
    { start: "memory", target: { tensor: "x" }, source: { tensor: "memory" } },
    causal(draft, config),
  );
}

/** Whether the target's causal mask is the model's own: it is where no tensor holds it. */
function causal(draft, config) {
  config.told("memory mask", "tgt_lengths", "mem_lengths", "src_lengths", "masks", "source mask");
  return config.get("causal target mask") === true && !draft.has("tgt_mask");
}

function decoderParameters(draft, { blocks, options, finalNorm, prefix, norm }) {
  const parameters = Array.from({ length: blocks }, (_, n) => {
    const from = prefix === undefined ? "" : `${prefix}${n}.`;
    return layer(draft, `decoder.blocks.${n}.`, from, options.nModel, true);
  }).flat();
  if (finalNorm) parameters.push(...finalNormParameters(draft, "decoder.", norm));
  return parameters;
}

function decoderModel(draft, tower, run, isCausal, encoderParameters = [], nEncoderBlocks = 1) {
  const { options, blocks, finalNorm } = tower;
  const masks = {
    attention: mask(draft, "tgt_mask"),
    padding: mask(draft, "tgt_key_padding_mask"),
    memory: mask(draft, "memory_mask"),
    memoryPadding: mask(draft, "memory_key_padding_mask"),
  };
  if (run.start !== "memory") {
    masks.sourcePadding = mask(draft, "src_key_padding_mask");
    // PyTorch hides nothing of the memory unless it is told to; ours would take the source's padding.
    if (masks.sourcePadding !== undefined && masks.memoryPadding === undefined) {
      const [batch, keys] = draft.shape(run.source.tensor);
      masks.memoryPadding = { kind: "lengths", lengths: new Array(batch).fill(keys) };
    }
  }
  const model = draft.model({
    model: "encoder_decoder",
    options: {
      ...options,
      nSourceVocab: 0,
      nBlocks: blocks,
      nEncoderBlocks,
      finalNorm,
      mask: isCausal ? "causal" : "none",
    },
    parameters: [...encoderParameters, ...decoderParameters(draft, tower)],
    run: { ...run, masks },
    expect: [],
  });
  const [batch, queries] = draft.shape(run.target.tensor);
  const heads = options.nHeads;
  const self = keyless(draft, { batch, heads, queries, keys: queries }, "tgt_mask", "tgt_key_padding_mask");
  const keys = draft.shape(run.source.tensor)[1];
  const cross = keyless(draft, { batch, heads, queries, keys }, "memory_mask", "memory_key_padding_mask");
  const either = { some: new Set([...self.some, ...cross.some]), every: new Set() };
  const last = finalNorm ? "decoder.final.normalized" : `decoder.blocks.${blocks - 1}.hidden`;
  for (const tensor of draft.names()) {
    const found = tensor === "output" || tensor === "output_sdpa" ? { stage: last } : decoderStage(tensor);
    if (found === undefined) continue;
    const isCross = found.stage.includes("cross_attention");
    const average = found.arrange === "mean of heads" ? "average" : "weights";
    const kind = found.stage.endsWith(".weights") ? average : undefined;
    const without = kind === undefined ? either : isCross ? cross : self;
    const perHead = /\.(weights|scores|query|key|value)$/.test(found.stage) && found.arrange === undefined;
    model.expect.push({ ...found, tensor, nan: nanPolicy(draft, tensor, without, kind, perHead) });
  }
  return model;
}

const STAGES = {
  self_attn_weights: "attention.weights",
  self_attn_out: "attention.output",
  x_after_self: "after_attention",
  cross_attn_weights: "cross_attention.weights",
  cross_attn_out: "cross_attention.output",
  x_after_cross: "after_cross_attention",
  norm1_out: "attention.normalized",
  norm2_out: "cross_attention.normalized",
  norm3_out: "feed_forward.normalized",
  ff_pre: "feed_forward.pre",
  ff_act: "feed_forward.activated",
  ff_out: "feed_forward.output",
  layer_out: "hidden",
  out: "hidden",
};
for (const [side, branch] of [
  ["self", "attention"],
  ["cross", "cross_attention"],
]) {
  STAGES[`${side}_q`] = `${branch}.query`;
  STAGES[`${side}_k`] = `${branch}.key`;
  STAGES[`${side}_v`] = `${branch}.value`;
  STAGES[`${side}_scores`] = `${branch}.scores`;
}

/** The stage of a decoder that a tensor holds: `NAME`, `decoder_layer_N_NAME`, `layer_N_NAME` or `NAME_N`. */
function decoderStage(tensor) {
  const layered = tensor.match(/^(?:decoder_)?layer_(\d+)_(\w+)$/);
  const numbered = tensor.match(/^(.+)_(\d+)$/);
  const [name, block] = layered !== null ? [layered[2], layered[1]] : (numbered?.slice(1) ?? [tensor, "0"]);
  const average = name.match(/^(self|cross)_attn_weights_avg$/);
  if (average !== null) {
    const branch = average[1] === "self" ? "attention" : "cross_attention";
    return { stage: `decoder.blocks.${block}.${branch}.weights`, arrange: "mean of heads" };
  }
  if (!(name in STAGES) || (layered === null && ["out", "layer_out"].includes(name))) return undefined;
  return { stage: `decoder.blocks.${block}.${STAGES[name]}` };
}

/** Encoder and decoder; where the two differ in what one model has in common, each is a model of its own. */
export function transformer(draft, config) {
  config.get("model");
  const blocks = layersOf(draft, "decoder.layers.");
  const nEncoderBlocks = layersOf(draft, "encoder.layers.");
  for (const [key, count] of [
    ["encoder layers", nEncoderBlocks],
    ["decoder layers", blocks],
  ]) {
    const told = config.get(key);
    if (told !== undefined && told !== count)
      throw new Unsupported(`${told} ${key}, and weights of ${count}`);
  }
  const options = layerOptions(draft, config, "encoder.layers.0.");
  const [encoderNorm, decoderNorm] = finalNormOf(draft, config, ["encoder.", "decoder."]);
  const tower = { options, blocks, finalNorm: decoderNorm, prefix: "decoder.layers.", norm: "decoder." };
  const isCausal = causal(draft, config);
  const encoderParameters = (to) => [
    ...Array.from({ length: nEncoderBlocks }, (_, n) =>
      layer(draft, `${to}blocks.${n}.`, `encoder.layers.${n}.`, options.nModel, false),
    ).flat(),
    ...(encoderNorm ? finalNormParameters(draft, to, "encoder.") : []),
  ];
  const memoryStage = encoderNorm ? "final.normalized" : `blocks.${nEncoderBlocks - 1}.hidden`;
  const together = encoderNorm === decoderNorm && !draft.has("src_mask");
  let model;
  if (together) {
    const run = { start: "rows", source: { tensor: "src" }, target: { tensor: "tgt" } };
    model = decoderModel(draft, tower, run, isCausal, encoderParameters("encoder."), nEncoderBlocks);
  } else {
    model = draft.model({
      model: "encoder",
      options: { ...options, nBlocks: nEncoderBlocks, finalNorm: encoderNorm, mask: "none" },
      parameters: encoderParameters(""),
      run: {
        start: "rows",
        target: { tensor: "src" },
        masks: { attention: mask(draft, "src_mask"), padding: mask(draft, "src_key_padding_mask") },
      },
      expect: [],
    });
    decoderModel(
      draft,
      tower,
      { start: "memory", source: { tensor: "memory" }, target: { tensor: "tgt" } },
      isCausal,
    );
  }
  const side = together ? "encoder." : "";
  const [batch, length] = draft.shape("src");
  const sizes = { batch, heads: options.nHeads, queries: length, keys: length };
  const without = keyless(draft, sizes, "src_mask", "src_key_padding_mask");
  for (const tensor of draft.names(/^encoder_layer_\d+_|^memory$/)) {
    const [, block, name] = tensor.match(/^encoder_layer_(\d+)_(\w+)$/) ?? [];
    const stages = {
      out: "hidden",
      attn_weights: "attention.weights",
      self_attn_weights: "attention.weights",
    };
    const stage = tensor === "memory" ? memoryStage : name in stages && `blocks.${block}.${stages[name]}`;
    if (!stage) continue;
    const isWeights = stage.endsWith(".weights");
    const nan = nanPolicy(draft, tensor, without, isWeights ? "weights" : undefined, isWeights);
    model.expect.push({ stage: `${side}${stage}`, tensor, nan });
  }
}
