/**
 * Reading a case's configuration, which is written in plain words. A key or a word that is not understood is
 * `Unsupported`, by name: nothing is passed over in silence.
 */

import { Unsupported } from "./draft.mjs";

/** Words without a meaning of their own here. */
const FILLER = new Set(
  `a an the and or of on in to with as by at for its it is are this that each every all both then also own
  form after before right one own used uses inside head heads row rows`.split(/\s+/),
);

/** A text of which understood pieces are taken away, until nothing but filler is left. */
export class Text {
  #key;
  #whole;
  #rest;

  constructor(key, value) {
    this.#key = key;
    this.#whole = typeof value === "string" ? value : JSON.stringify(value);
    this.#rest = this.#whole;
  }

  /** Takes the first match away and gives it, or null. */
  take(pattern) {
    const found = this.#rest.match(pattern);
    if (found !== null) {
      const at = found.index;
      this.#rest = `${this.#rest.slice(0, at)} | ${this.#rest.slice(at + found[0].length)}`;
    }
    return found;
  }

  /** Takes away every match. */
  takeAll(pattern) {
    while (this.take(pattern) !== null);
    return this;
  }

  /** Nothing that has a meaning may be left. */
  end() {
    const words = this.#rest.match(/[\p{L}\p{N}_]+/gu) ?? [];
    const unknown = words.find((word) => !FILLER.has(word.toLowerCase()));
    if (unknown !== undefined) this.refuse(`"${unknown}"`);
  }

  refuse(what = "it") {
    throw new Unsupported(`config "${this.#key}" says "${this.#whole}": ${what} is not understood`);
  }
}

/** A configuration whose every key must be read. */
export class Config {
  #config;
  #unread;

  constructor(config) {
    this.#config = config;
    this.#unread = new Set(Object.keys(config));
  }

  /** The key that is one of `names`, whatever stands in parentheses behind it. */
  #find(names) {
    const plain = (key) => key.replace(/\s*\(.*\)$/, "");
    const keys = Object.keys(this.#config);
    const found = names.map(
      (name) => keys.find((key) => key === name) ?? keys.find((key) => plain(key) === name),
    );
    return found.find((key) => key !== undefined);
  }

  /** The value under the first of these names that there is, or undefined; it counts as read. */
  get(...names) {
    const key = this.#find(names);
    if (key === undefined) return undefined;
    this.#unread.delete(key);
    return this.#config[key];
  }

  /** A text under one of these names, or undefined. */
  text(...names) {
    const key = this.#find(names);
    const value = this.get(...names);
    return value === undefined ? undefined : new Text(key, value);
  }

  /** A whole number under one of these names. */
  count(...names) {
    const value = this.get(...names);
    if (value === undefined) throw new Unsupported(`config has no ${names[0]}`);
    if (!Number.isInteger(value) || value < 0) {
      throw new Unsupported(`config "${names[0]}" is ${JSON.stringify(value)} and no count`);
    }
    return value;
  }

  /** Keys that say only what the tensors hold as well. */
  told(...names) {
    for (const name of names) this.get(name);
  }

  /** Every key must have been read by now, but for those that say that something is not there. */
  end() {
    for (const key of this.#unread) {
      const value = this.#config[key];
      const absent = [false, null, 0, "none", "no", "off", "false"].includes(value);
      if (!absent)
        throw new Unsupported(`config names "${key}": ${JSON.stringify(value)}, which is not known`);
    }
  }
}

/** `relu`, `gelu`, `gelu_tanh` … of a text that may say more. */
export function activationOf(text) {
  const name = takeActivation(text);
  if (name === undefined) text.refuse();
  text.takeAll(/\b(?:nanoGPT|nn\.\w+\(\)|exact|erf|x|digits)\b/);
  text.end();
  return name;
}

const ACTIVATIONS = [
  [/GELU[^,;]*\bconstant written as 0\.79788456 \(9 digits\)/i, "gelu_bloom"],
  [/\bgelu_bloom\b|\bbloom_gelu\b/i, "gelu_bloom"],
  [/\bquick[ _-]?gelu\b(?:[^,;]*1\.702 x\))?/i, "quick_gelu"],
  [
    /\bgelu_(?:new|pytorch_tanh|tanh|fast)\b|\bgelu\b,? \(?tanh(?: form| approximation)?\)?(?: \(gelu_\w+\))?/i,
    "gelu_tanh",
  ],
  [/\btanh[ -]gelu\b|\bgelu \(approximate=.?tanh.?\)/i, "gelu_tanh"],
  [/\bgelu\b,?(?: exact)? ?(?:\(erf\))?(?:,? as nanoGPT uses nn\.GELU\(\))?/i, "gelu"],
  [/\bsilu\b(?: ?(?:\/|\() ?swish\)?)?|\bswish\b/i, "silu"],
  [/\brelu\b/i, "relu"],
  [/\bsigmoid\b/i, "sigmoid"],
  [/\bsoftplus\b/i, "softplus"],
  [/\btanh\b/i, "tanh"],
  [/\b(?:identity|linear)\b/i, "identity"],
];

/** Takes the name of an activation out of a text. */
export function takeActivation(text) {
  for (const [pattern, name] of ACTIVATIONS) {
    if (text.take(pattern) !== null) return name;
  }
  return undefined;
}

/** `{ norm, epsilon, gainOffset, afterEmbedding }`. */
export function normOf(text) {
  const kind = text.take(/\b(RMSNorm|RMS norm|LayerNorm|layer norm)\b/i) ?? text.refuse();
  const epsilon = Number((text.take(/\beps(?:ilon)?\s*[=:]?\s*([\d.]+(?:e[+-]?\d+)?)/i) ?? text.refuse())[1]);
  const gemma = text.take(/\bgain (?:of |times )?\(1 \+ (?:weight|gain)\)/) !== null;
  const afterEmbedding = text.take(/\bone more right after the embedding\b/) !== null;
  text.takeAll(
    /\b(?:gain weight|inside the (?:square )?root|biased variance|with(?:out)? (?:a )?(?:shift|bias|gain))\b/i,
  );
  text.end();
  const norm = /^r/i.test(kind[1]) ? "rms" : "layer";
  return { norm, epsilon, gainOffset: gemma ? 1 : 0, afterEmbedding };
}

/** `pre` or `post`, of a text that may write out the block. */
export function placementOf(text) {
  const found = text.take(/^\s*"?(pre|post)-?norm\b/i) ?? text.refuse();
  text.takeAll(/\b(?:x|SA|CA|FF|LN\d?|memory|not|normed|layer|itself)\b/);
  text.end();
  return found[1].toLowerCase();
}
