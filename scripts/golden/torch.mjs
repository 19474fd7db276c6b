/** What PyTorch's attention and transformer layers have in common: names of weights, masks, rows without a key. */

import { Unsupported } from "./draft.mjs";
import { activationOf, normOf, placementOf } from "./words.mjs";

/** Parameters of one attention: `to` is the name up to `query`, `from` PyTorch's prefix up to `in_proj_weight`. */
export function attention(draft, to, from, width) {
  const parameters = [];
  const projections = ["query", "key", "value"];
  if (draft.has(`${from}in_proj_weight`)) {
    for (const [i, name] of projections.entries()) {
      const rows = [[i * width, (i + 1) * width]];
      parameters.push({ name: `${to}${name}`, from: `${from}in_proj_weight`, rows });
    }
  } else {
    for (const name of projections) {
      parameters.push({ name: `${to}${name}`, from: `${from}${name[0]}_proj_weight` });
    }
  }
  if (draft.has(`${from}in_proj_bias`)) {
    for (const [i, name] of projections.entries()) {
      const rows = [[i * width, (i + 1) * width]];
      parameters.push({ name: `${to}${name}_bias`, from: `${from}in_proj_bias`, rows });
    }
  }
  parameters.push({ name: `${to}output`, from: `${from}out_proj.weight` });
  if (draft.has(`${from}out_proj.bias`)) {
    parameters.push({ name: `${to}output_bias`, from: `${from}out_proj.bias` });
  }
  return parameters;
}

/** Gain, and bias where there is one, of a norm. */
export function norm(draft, to, from) {
  const parameters = [{ name: `${to}.gain`, from: `${from}.weight` }];
  if (draft.has(`${from}.bias`)) parameters.push({ name: `${to}.bias`, from: `${from}.bias` });
  return parameters;
}

/** A Linear, out,in, as our in,out matrix of the feed-forward branch or the head. */
export function linear(draft, to, from) {
  const parameters = [{ name: to, from: `${from}.weight`, transpose: true }];
  if (draft.has(`${from}.bias`)) parameters.push({ name: `${to}_bias`, from: `${from}.bias` });
  return parameters;
}

/** All parameters of one layer; a decoder's has cross-attention and a third norm. */
export function layer(draft, to, from, width, isDecoder) {
  return [
    ...norm(draft, `${to}attention.norm`, `${from}norm1`),
    ...attention(draft, `${to}attention.`, `${from}self_attn.`, width),
    ...(isDecoder ? norm(draft, `${to}cross_attention.norm`, `${from}norm2`) : []),
    ...(isDecoder ? attention(draft, `${to}cross_attention.`, `${from}multihead_attn.`, width) : []),
    ...norm(draft, `${to}feed_forward.norm`, `${from}norm${isDecoder ? 3 : 2}`),
    ...linear(draft, `${to}feed_forward.expand`, `${from}linear1`),
    ...linear(draft, `${to}feed_forward.contract`, `${from}linear2`),
  ];
}

/** How many layers there are under a prefix such as `encoder.layers.`. */
export function layersOf(draft, prefix) {
  let count = 0;
  while (draft.names().some((name) => name.startsWith(`${prefix}${count}.`))) count += 1;
  return count;
}

/** Options that the text and the shapes of a layer's weights give; `first` is the prefix of some layer. */
export function layerOptions(draft, config, first) {
  const { norm, epsilon, gainOffset } = normOf(config.text("norm"));
  const placement = placementOf(config.text("norm placement"));
  const activation = activationOf(config.text("activation"));
  const width = config.count("D");
  const [hidden] = draft.shape(`${first}linear1.weight`);
  const flags = {
    attention: draft.has(`${first}self_attn.in_proj_bias`),
    feedForward: draft.has(`${first}linear1.bias`),
    norm: draft.has(`${first}norm1.bias`),
    head: false,
  };
  config.told("d", "head size", "F", "T", "B", "S", "L", "biases");
  const position = config.get("position scheme", "positions");
  if (position !== undefined && position !== "none") {
    throw new Unsupported(`config names the position scheme "${position}" of a layer that is given its rows`);
  }
  const dropout = config.get("dropout");
  if (dropout !== undefined && !/^0(\.0)?\b|\beval\b/.test(String(dropout))) {
    throw new Unsupported(`config names dropout ${dropout}`);
  }
  return {
    nVocab: 0,
    nModel: width,
    nHeads: config.count("H"),
    nHidden: hidden,
    norm,
    normPlacement: placement,
    normAffine: draft.has(`${first}norm1.weight`),
    epsilon,
    gainOffset,
    activation,
    feedForward: "dense",
    position: "none",
    bias: flags,
    residual: true,
  };
}

/** A stack's final norm: what the text says must be what the weights hold. */
export function finalNormOf(draft, config, prefixes) {
  const text = config.text("final norm", "final norms");
  const has = prefixes.map((prefix) => draft.has(`${prefix}norm.weight`));
  if (text === undefined) return has;
  const none = text.take(/^none$/) !== null;
  const layers = text.takeAll(
    /\bLayerNorm\b|\blast\b|\b(?:encoder|decoder)?\s?layers?\b|\bnn\.Transformer\b|\badds\b|\bpost-norm\b|\btoo\b|\bonly\b|\bstacks?\b|\bnone\b/,
  );
  layers.end();
  if (none && has.includes(true))
    throw new Unsupported(`config says that there is no final norm, but there is a weight`);
  return has;
}

/**
 * A mask as recipes name it: integers hide where they are 1, floats are added. A padding mask of floats must hide by
 * -Infinity and leave the rest.
 */
export function mask(draft, name) {
  if (!draft.has(name)) return undefined;
  const { dtype, data } = draft.tensor(name);
  if (/^F/.test(dtype)) {
    if (/padding/.test(name) && data.some((x) => x !== 0 && x !== Number.NEGATIVE_INFINITY)) {
      throw new Unsupported(`${name} adds finite numbers, and padding is hidden or not`);
    }
    return { tensor: name, kind: "add" };
  }
  return { tensor: name, kind: "hide" };
}

/** Whether a mask hides cell `i`. */
const hides = ({ dtype, data }, i) =>
  /^F/.test(dtype) ? data[i] === Number.NEGATIVE_INFINITY : data[i] !== 0;

/**
 * Which rows (batch, query) see no key, by the masks of these names (`T,S` or `B*H,T,S`, and `B,S`): in `some` head, and in
 * `every` head.
 */
export function keyless(draft, { batch, heads, queries, keys }, attentionName, paddingName) {
  const attention = draft.has(attentionName) ? draft.tensor(attentionName) : undefined;
  const padding = draft.has(paddingName) ? draft.tensor(paddingName) : undefined;
  const planes = attention?.shape.length === 3 ? attention.shape[0] : 1;
  const planeOf = (b, h) => (planes === 1 ? 0 : planes === batch ? b : b * heads + h);
  const sees = (b, h, t, s) =>
    !(attention !== undefined && hides(attention, (planeOf(b, h) * queries + t) * keys + s)) &&
    !(padding !== undefined && hides(padding, b * keys + s));
  const found = { some: new Set(), every: new Set() };
  const all = (count) => Array.from({ length: count }, (_, i) => i);
  for (let b = 0; b < batch; b++) {
    for (let t = 0; t < queries; t++) {
      const without = all(heads).filter((h) => !all(keys).some((s) => sees(b, h, t, s)));
      if (without.length > 0) found.some.add(`${b},${t}`);
      if (without.length === heads) found.every.add(`${b},${t}`);
    }
  }
  return found;
}

/** The rows (batch, position) of a `B,T,…` tensor that hold NaN. */
export function nanRows(draft, name, perHead = false) {
  const { shape, data } = draft.tensor(name);
  const [batch, queries] = perHead ? [shape[0], shape[2]] : shape;
  const rows = new Set();
  const width = data.length / (batch * queries * (perHead ? shape[1] : 1));
  data.forEach((x, i) => {
    if (!Number.isNaN(x)) return;
    const row = Math.floor(i / width);
    const b = Math.floor(row / (perHead ? shape[1] * queries : queries));
    rows.add(`${b},${row % queries}`);
  });
  return rows;
}

/**
 * How an expectation treats NaN. A row without any key is NaN in some of the references: weights are then 0 with us, and
 * what follows from them is promised by other tensors. NaN anywhere else must meet NaN. `kind` is "weights", their
 * "average" over heads, or undefined for what follows from them.
 */
export function nanPolicy(draft, name, without, kind, perHead = false) {
  const rows = [...nanRows(draft, name, perHead)];
  if (rows.length === 0 || rows.some((row) => !without.some.has(row))) return undefined;
  if (kind === "weights") return "zeros";
  return kind === "average" && rows.every((row) => without.every.has(row)) ? "zeros" : "skip";
}
