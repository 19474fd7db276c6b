/** What a configuration says about rotary positions. */

import { Unsupported } from "./draft.mjs";

const NUMBER = String.raw`\W{0,4}(\d[\d.]*(?:e[+-]?\d+)?)`;
const named = (names) => new RegExp(String.raw`\b(?:${names})${NUMBER}`, "i");

const FREQUENCY = "(?:[ _-]?freq(?:uency)?)?(?:[ _-]?factor)?(?: of)?";
const STRETCHED = {
  lowFrequencyFactor: named(`low${FREQUENCY}`),
  highFrequencyFactor: named(`high${FREQUENCY}`),
  originalContext: named(
    "(?:original|old)(?:[ _](?:max|maximum|position|embeddings|context|length|of|window|size))*",
  ),
};

/**
 * The `rotary` option: base, pairing, width and scaling, from the text under "positions" and keys beside it. `stored` are
 * the frequencies that the case holds, if it does: words that are not understood are let pass only where they prove that
 * nothing was misunderstood.
 */
export function rotaryOf(config, headWidth, stored) {
  const rotary = { base: 10000, pairing: "half" };
  const text = config.text("positions", "position scheme", "position");
  const aside = config.text(
    "rope_scaling",
    "rope scaling",
    "RoPE scaling",
    "scaling",
    "rope_parameters",
    "rope",
  );
  let width = keyedWidth(config, headWidth);
  const base = config.get("rope_theta", "rotary_emb_base", "rope base", "base");
  if (typeof base === "number") rotary.base = base;
  else if (base !== undefined) throw new Unsupported(`config names the base ${JSON.stringify(base)}`);
  if (text !== undefined) {
    if (text.take(/\b(?:RoPE|rotary)\b/i) === null) text.refuse();
    width = readText(text, rotary, headWidth) ?? width;
  }
  if (aside !== undefined) readScaling(aside, rotary);
  if (stored !== undefined && width === undefined) width = 2 * stored.length;
  width ??= headWidth;
  if (stored !== undefined && 2 * stored.length !== width) {
    throw new Unsupported(
      `config says that ${width} coordinates of a head are rotated, and frequencies are of ${2 * stored.length}`,
    );
  }
  if (!proves(stored, width, rotary)) {
    text?.end();
    aside?.end();
  }
  if (width !== headWidth) rotary.width = width;
  return rotary;
}

function keyedWidth(config, headWidth) {
  const fraction = config.get("rotary_pct", "partial_rotary_factor");
  const told = config.get("rotated dimensions", "rotary_dim", "rotary_ndims");
  if (typeof told === "number") return told;
  return typeof fraction === "number" ? Math.trunc(headWidth * fraction) : undefined;
}

function readText(text, rotary, headWidth) {
  const scaling = scalingIn(text);
  if (scaling !== undefined) rotary.scaling = scaling;
  const found = text.take(named("rope_theta|rope base|base|theta"));
  if (found !== null) rotary.base = Number(found[1]);
  if (text.take(/\binterleaved\b|\badjacent\b/i) !== null) rotary.pairing = "adjacent";
  text.takeAll(/\(2j, 2j ?\+ ?1\)|\(j, j ?\+ ?\w+ ?\/ ?2\)/);
  text.takeAll(/\bhalf(?:-split)?\b|\brotate_half\b|\bpairings?\b|\bpairs?\b|\bembeddings?\b/i);
  const width = widthIn(text, headWidth);
  text.takeAll(
    /\b(?:only|dimensions?|coordinates?|positions?|rotat(?:ed|es|ion)|rest|others?|pass(?:es)?|through|unchanged|unrotated|stay|applied)\b/i,
  );
  return width;
}

function readScaling(aside, rotary) {
  const scaling = scalingIn(aside);
  if (scaling !== undefined) rotary.scaling = scaling;
  else if (aside.take(/^(?:null|none|false|"?default"?)$/) === null) aside.refuse();
  const found = aside.take(named("rope_theta"));
  if (found !== null) rotary.base = Number(found[1]);
  aside.takeAll(/\b(?:rope_type|type|scaling|rope)\b/i);
}

/** Whether stored frequencies are those of an option. */
export function proves(stored, width, rotary) {
  if (stored === undefined) return false;
  const ours = frequencies(width, rotary);
  return stored.every((x, j) => Math.abs(x - ours[j]) <= 1e-12 * Math.abs(x));
}

/** Rotation per position of each pair. */
function frequencies(width, { base, scaling }) {
  return Array.from({ length: width / 2 }, (_, j) => {
    const frequency = base ** ((-2 * j) / width);
    if (scaling === undefined) return frequency;
    const slow = frequency / scaling.factor;
    if (scaling.kind === "linear") return slow;
    const { lowFrequencyFactor: low, highFrequencyFactor: high, originalContext } = scaling;
    const turns = (originalContext * frequency) / (2 * Math.PI);
    const share = Math.min(1, Math.max(0, (turns - low) / (high - low)));
    return (1 - share) * slow + share * frequency;
  });
}

/** `on every head dimension`, `on the first 4 of 8 dimensions`, `on 25% of the head dimensions`. */
function widthIn(text, headWidth) {
  if (text.take(/\bon (?:every|all|each)(?: of the)? ?(?:head)? ?dimensions?\b/i) !== null) return headWidth;
  const first =
    text.take(
      /\bfirst (\d+)\b(?:(?: dimensions)? (?:of|out of)(?: the| its| every head's| each head's)? \d+)?/i,
    ) ?? text.take(/\b(?:on )?(\d+) (?:of|out of)(?: the| its)? \d+\b/i);
  if (first !== null) return Number(first[1]);
  const share = text.take(/\b(\d+(?:\.\d+)?) ?%/);
  if (share !== null) return Math.trunc((headWidth * Number(share[1])) / 100);
  const fraction = text.take(named("rotary_pct|partial_rotary_factor|rotary fraction|fraction"));
  return fraction === null ? undefined : Math.trunc(headWidth * Number(fraction[1]));
}

/** A scaling that a text names, or undefined; its words are taken away. */
export function scalingIn(text) {
  const kind = text.take(/\b(?:"?(?:rope_)?type"?\W+)?(llama[ -]?3|linear)\b(?:\.\d)?/i);
  if (kind === null) return undefined;
  const isLinear = /^linear/i.test(kind[1]);
  const scaling = { kind: isLinear ? "linear" : "llama3" };
  if (!isLinear) {
    for (const [name, pattern] of Object.entries(STRETCHED)) {
      scaling[name] = Number((text.take(pattern) ?? text.refuse(`a scaling without ${name}`))[1]);
    }
  }
  // Linear frequencies are divided by the factor, or positions are, which is the same.
  const factor = text.take(
    named("factor(?: of)?|divided by|(?:scaled|stretched|slowed)(?: down)? by|scaling(?: by| of)?|by"),
  );
  if (factor === null) text.refuse("a scaling without its factor");
  scaling.factor = Number(factor[1]);
  text.takeAll(
    /\b(?:scaling|scaled|stretched|frequenc(?:y|ies)|inv_freq|wavelengths?|angles?|positions?|divided|interpolation|interpolated|smooth(?:ly|ed)?|style|type|rope_type|between|rope)\b/i,
  );
  return scaling;
}
