/** What a configuration says about rotary positions. */

import { Unsupported } from "./draft.mjs";

const NUMBER = String.raw`\W{0,4}(\d[\d.]*(?:e[+-]?\d+)?)`;
const named = (names) => new RegExp(String.raw`\b(?:${names})${NUMBER}`, "i");

const SCALING = {
  factor: named("factor(?: of)?|divided by|stretched by|scaling by"),
  lowFrequencyFactor: named(
    "low_freq_factor|low[- ]frequency factor|low_frequency_factor|low freq(?:uency)?",
  ),
  highFrequencyFactor: named(
    "high_freq_factor|high[- ]frequency factor|high_frequency_factor|high freq(?:uency)?",
  ),
  originalContext: named(
    "original_max_position_embeddings|original context(?: length)?|original[_ ]length|original max position embeddings",
  ),
};

/**
 * The `rotary` option: base, pairing, width and scaling, from the text under "positions" and keys beside it. `headWidth` is
 * the width of a head; `frequencies` how many the case stores, if it does.
 */
export function rotaryOf(config, headWidth, frequencies) {
  const rotary = { base: 10000, pairing: "half" };
  const text = config.text("positions", "position scheme", "position");
  const aside = config.text("rope_scaling", "rope scaling", "scaling", "rope_parameters");
  let width = headWidth;
  const fraction = config.get("rotary_pct", "partial_rotary_factor");
  if (fraction !== undefined && fraction !== null) width = Math.trunc(headWidth * fraction);
  const told = config.get("rotated dimensions", "rotary_dim", "rotary_ndims");
  if (told !== undefined && told !== null) width = told;
  const base = config.get("rope_theta", "rotary_emb_base", "base");
  if (typeof base === "number") rotary.base = base;
  if (text !== undefined) {
    if (text.take(/\b(?:RoPE|rotary)\b/i) === null) text.refuse();
    const scaling = scalingIn(text);
    if (scaling !== undefined) rotary.scaling = scaling;
    const found = text.take(named("base|theta|rope_theta"));
    if (found !== null) rotary.base = Number(found[1]);
    if (text.take(/\binterleaved\b|\badjacent\b/i) !== null) rotary.pairing = "adjacent";
    text.takeAll(/\(2j, 2j ?\+ ?1\)|\(j, j ?\+ ?\w+ ?\/ ?2\)/);
    text.takeAll(/\bhalf(?:-split)?\b|\brotate_half\b|\bpairings?\b|\bpairs?\b|\bembeddings?\b/i);
    width = widthIn(text, headWidth) ?? width;
    text.takeAll(
      /\b(?:only|dimensions?|coordinates?|positions?|rotat(?:ed|es|ion)|rest|others?|pass(?:es)?|through|unchanged|unrotated|stay|scaling|scaled|applied)\b/i,
    );
    text.end();
  }
  if (aside !== undefined) {
    const scaling = scalingIn(aside);
    if (scaling !== undefined) rotary.scaling = scaling;
    else if (aside.take(/^(?:null|none|false|"default"|default)$/) === null) aside.refuse();
    const found = aside.take(named("rope_theta"));
    if (found !== null) rotary.base = Number(found[1]);
    aside.takeAll(/\b(?:rope_type|type|scaling|RoPE|rope)\b/i);
    aside.end();
  }
  if (frequencies !== undefined && 2 * frequencies !== width) {
    throw new Unsupported(
      `config says that ${width} coordinates of a head are rotated, and frequencies are of ${2 * frequencies}`,
    );
  }
  if (width !== headWidth) rotary.width = width;
  return rotary;
}

/** `on every head dimension`, `on the first 4 of 8 dimensions`, `on 25% of the head dimensions`. */
function widthIn(text, headWidth) {
  if (text.take(/\bon (?:every|all|each)(?: of the)? ?(?:head)? ?dimensions?\b/i) !== null) return headWidth;
  const first = text.take(/\bfirst (\d+)\b(?: (?:of|out of)(?: the| its| every head's)? \d+)?/i);
  if (first !== null) return Number(first[1]);
  const share =
    text.take(/\b(\d+(?:\.\d+)?) ?%/) ??
    text.take(named("rotary_pct|partial_rotary_factor|rotary fraction|fraction"));
  if (share === null) return undefined;
  return Math.trunc(headWidth * (share[0].endsWith("%") ? Number(share[1]) / 100 : Number(share[1])));
}

/** A scaling that a text names, or undefined; its words are taken away. */
export function scalingIn(text) {
  const kind = text.take(/\b(?:"?(?:rope_)?type"?\W+)?(llama[ -]?3|linear)\b/i);
  if (kind === null) return undefined;
  const isLinear = /^linear/i.test(kind[1]);
  const scaling = { kind: isLinear ? "linear" : "llama3" };
  // Linear frequencies are divided by the factor, or positions are, which is the same.
  const number = (name, pattern) => {
    const found = text.take(pattern) ?? text.refuse(`a scaling without ${name}`);
    scaling[name] = Number(found[1]);
  };
  if (!isLinear) {
    for (const name of ["lowFrequencyFactor", "highFrequencyFactor", "originalContext"])
      number(name, SCALING[name]);
  }
  const factor = text.take(SCALING.factor) ?? text.take(new RegExp(String.raw`\bscaling${NUMBER}`, "i"));
  if (factor === null) text.refuse("a scaling without its factor");
  scaling.factor = Number(factor[1]);
  text.takeAll(
    /\b(?:scaling|scaled|frequenc(?:y|ies)|inv_freq|wavelengths?|angles?|positions?|divided|interpolation|interpolated|smooth(?:ly|ed)?|style|type|rope_type|between|rope|Llama|3\.\d)\b/i,
  );
  return scaling;
}
