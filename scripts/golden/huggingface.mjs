/** What all language models from Hugging Face have in common: inputs, padding, hidden states, caches, the loss. */

import { Unsupported } from "./draft.mjs";

/**
 * The run of a batch of prompts. An attention mask says which tokens are a prompt's own; all stand at one end, and their
 * positions count from the first of them.
 */
export function tokensRun(draft, { relative }) {
  const [batch, length] = draft.shape("input_ids");
  const run = { start: "tokens", target: { tensor: "input_ids" } };
  if (draft.has("attention_mask")) {
    const { data } = draft.read("attention_mask");
    const row = (b) => [...data.subarray(b * length, (b + 1) * length)];
    const lengths = Array.from({ length: batch }, (_, b) => row(b).filter((x) => x === 1).length);
    const isSide = (side) =>
      lengths.every((n, b) =>
        row(b).every((x, t) => x === Number(side === "right" ? t < n : t >= length - n)),
      );
    const side = ["right", "left"].find(isSide);
    if (side === undefined) throw new Unsupported("attention_mask leaves out tokens inside a prompt");
    if (lengths.includes(0)) throw new Unsupported("attention_mask leaves a prompt without a token");
    Object.assign(run, { lengths, padding: side });
  }
  checkPositions(draft, run, batch, length, relative);
  return run;
}

/** Whether positions are what a prompt's own tokens count from 0; relative schemes cannot tell a shift of all. */
function checkPositions(draft, { lengths, padding }, batch, length, relative) {
  const given = draft.has("position_ids") ? draft.read("position_ids").data : undefined;
  const rows = given === undefined ? 0 : given.length / length;
  for (let b = 0; b < batch; b++) {
    const own = lengths?.[b] ?? length;
    const first = padding === "left" ? length - own : 0;
    const at = (t) => (given === undefined ? t : given[(b % rows) * length + t]);
    const shift = at(first);
    const inOrder = Array.from({ length: own }, (_, t) => at(first + t) === shift + t).every(Boolean);
    if (inOrder && (shift === 0 || relative)) continue;
    throw new Unsupported(
      given === undefined
        ? "positions count the padding at the left too, and ours count a prompt's own tokens"
        : "position_ids do not count a prompt's own tokens from 0",
    );
  }
}

/** Expectations about all that is not a module's output; `names` are its extra stages. */
export function common(draft, model, blocks, { embedded = "positioned", cachedKey = "key" }) {
  const expect = (stage, tensor, more = {}) => model.expect.push({ stage, tensor, ...more });
  const state = (i) => (i === 0 ? embedded : i === blocks ? "final.normalized" : `blocks.${i - 1}.hidden`);
  const numbered = {
    hidden_states: state,
    attentions: (i) => `blocks.${i}.attention.weights`,
    cache_key: (i) => `blocks.${i}.attention.${cachedKey}`,
    cache_value: (i) => `blocks.${i}.attention.value`,
  };
  for (const tensor of draft.names()) {
    const [, kind, i] = tensor.match(/^(hidden_states|attentions|cache_key|cache_value)_(\d+)$/) ?? [];
    if (kind === undefined) continue;
    const { length, lengths, padding } = { length: draft.shape("input_ids")[1], ...model.run };
    // A cache of a model with a window keeps only what may still be read.
    const isShort = kind.startsWith("cache") && draft.shape(tensor)[2] < length;
    const missing = isShort ? length - draft.shape(tensor)[2] : 0;
    const longest = lengths === undefined || padding === "left" ? length : Math.max(...lengths);
    if (longest <= missing) draft.skip(tensor, "it holds no position of a prompt");
    else expect(numbered[kind](Number(i)), tensor, isShort ? { arrange: "last positions" } : {});
  }
  if (draft.has("last_block_out")) expect(`blocks.${blocks - 1}.hidden`, "last_block_out");
  if (draft.has("logits")) expect("logits", "logits");
  if (draft.has("probabilities")) expect("probabilities", "probabilities");
  if (draft.has("loss") && draft.has("labels")) loss(draft, model, "labels", { shift: 1, ignore: -100 });
}

/** The mean cross-entropy of the model's logits, where every label that counts is scored against a prompt's own row. */
export function loss(draft, model, labels, { shift, ignore }) {
  const { data, shape } = draft.read(labels);
  const [batch, length] = shape;
  const { lengths, padding } = model.run;
  for (let b = 0; b < batch; b++) {
    const own = lengths?.[b] ?? length;
    const first = padding === "left" ? length - own : 0;
    for (let t = 0; t < length; t++) {
      const isOwn = t - shift >= first && t - shift < first + own;
      if (t < shift || isOwn || data[b * length + t] === ignore) continue;
      return draft.skip("loss", "it scores labels against what the reference gives at padding");
    }
  }
  model.losses = [{ tensor: "loss", labels, stage: "logits", shift, ignore }];
}

/**
 * Expectations about the outputs of modules, tensors `out:PREFIX.N.MODULE`. `modules` gives for each module its stage
 * below the block and how it is arranged.
 */
export function moduleOutputs(draft, model, prefix, modules, whole = {}) {
  for (const tensor of draft.names(/^out:/)) {
    const name = tensor.slice("out:".length);
    if (name in whole) {
      model.expect.push({ stage: whole[name], tensor });
      continue;
    }
    if (!name.startsWith(`${prefix}.`)) continue;
    const [, block, module] = name.slice(prefix.length + 1).match(/^(\d+)\.(.+)$/) ?? [];
    if (!(module in modules)) continue;
    const found = modules[module];
    for (const { stage, ...more } of Array.isArray(found) ? found : [found]) {
      model.expect.push({ stage: `blocks.${block}.${stage}`, tensor, ...more });
    }
  }
}

/** How many blocks there are under a prefix such as `transformer.h`. */
export function blocksOf(draft, config, prefix) {
  let count = 0;
  while (draft.names().some((name) => name.startsWith(`${prefix}.${count}.`))) count += 1;
  const told = config.get("L", "layers", "n_layer");
  if (count === 0) throw new Unsupported(`there are no weights under ${prefix}`);
  if (told !== undefined && told !== count) throw new Unsupported(`${told} blocks, and weights of ${count}`);
  return count;
}

/** Weights of a block's Linear layers, out,in: `[ours, theirs, isTransposed]`. */
export function weights(draft, ours, theirs, isTransposed, more = {}) {
  const transpose = isTransposed ? true : undefined;
  const parameters = [{ name: ours, from: `${theirs}.weight`, ...more, transpose }];
  if (draft.has(`${theirs}.bias`)) {
    const { rows, columns } = more;
    parameters.push({ name: `${ours}_bias`, from: `${theirs}.bias`, rows: rows ?? columns });
  }
  return parameters;
}

/** The head: tied where there is no weight of its own. */
export function head(draft, config, name) {
  const isTied = !draft.has(`${name}.weight`);
  const text = config.text("head");
  if (text !== undefined) {
    const told = text.take(/\b(un)?tied\b/) ?? text.take(/\btie_word_embeddings\W+(true|false)/i);
    if (told !== null && (told[1] === undefined || /true/i.test(told[1])) !== isTied) {
      throw new Unsupported(`config says that the head is ${told[0]}, and the weights do not`);
    }
  }
  const hasBias = draft.has(`${name}.bias`);
  const parameters = isTied ? [] : [{ name: "head", from: `${name}.weight`, transpose: true }];
  if (hasBias) parameters.push({ name: "head_bias", from: `${name}.bias` });
  return { isTied, hasBias, parameters };
}

/** `causal`, and how far back a query may look. */
export function maskOf(config) {
  const text = config.text("mask", "attention mask");
  const options = { mask: "causal" };
  const number = config.get("sliding_window", "sliding window", "window");
  if (text !== undefined) {
    const isCausal = text.take(/\bcausal\b/) !== null;
    const none = !isCausal && text.take(/\b(?:none|bidirectional|full)\b/) !== null;
    if (!isCausal && !none) text.refuse();
    if (none) options.mask = "none";
    text.takeAll(/\bpadding\b/);
    const window = windowIn(text);
    if (window !== undefined) options.window = window;
    text.end();
  }
  if (typeof number === "number") options.window = number;
  else if (typeof number === "string") {
    const words = config.text("sliding_window", "sliding window", "window");
    const window = Number.isInteger(Number(number)) ? Number(number) : windowIn(words);
    if (window !== undefined) options.window = window;
    else if (!/^(none|null|off|full)\b/.test(number)) words.refuse();
    else return options;
    if (!Number.isInteger(Number(number))) words.end();
  }
  return options;
}

function windowIn(text) {
  const found =
    text.take(/\b(?:sliding[ _-]?)?window(?: of| size|_size)?\W{0,2}(\d+)\b/i) ??
    text.take(/\blast (\d+) (?:keys|positions|tokens)/i) ??
    text.take(/\b(\d+) (?:most recent|last) (?:keys|positions|tokens)/i) ??
    text.take(/^(\d+)\b/);
  if (found === null) return undefined;
  // What is said behind it explains the number.
  text.takeAll(/\([^)]*\)/);
  text.takeAll(
    /\b(?:sliding|window|keys?|positions?|tokens?|query|sees?|last|most recent|itself|only|included|including|counted|counting)\b/i,
  );
  return Number(found[1]);
}
