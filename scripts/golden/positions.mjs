/** Position schemes alone: rotary, ALiBi, sinusoids. */

import { Unsupported } from "./draft.mjs";
import { proves, scalingIn } from "./rotary.mjs";

export function sinusoids(draft, config) {
  config.told("D", "T");
  for (const key of ["interleaved", "concatenated"]) {
    const text = config.get(key) ?? "";
    const base = text.match(/(\d+)\^/);
    if (base !== null && base[1] !== "10000")
      throw new Unsupported(`config names the base ${base[1]}, and ours is 10000`);
  }
  for (const [tensor, concatenated] of [
    ["table", false],
    ["table_concatenated", true],
  ]) {
    if (!draft.has(tensor)) continue;
    draft.call({
      fn: "sinusoid",
      args: draft.shape(tensor),
      options: { concatenated },
      expect: [{ tensor }],
    });
  }
  if (draft.has("frequencies")) {
    const [count] = draft.shape("frequencies");
    draft.call({
      fn: "rotaryFrequencies",
      args: [2 * count],
      options: {},
      expect: [{ tensor: "frequencies" }],
    });
  }
}

export function alibi(draft, config) {
  config.told("heads", "T", "d", "H");
  const slopes = config.text("slopes");
  if (slopes !== undefined && slopes.take(/2\^\(-8 i \/ H\)/) === null) slopes.refuse();
  const bias = config.text("bias");
  const isCausal = bias === undefined || bias.take(/\bcausal\b/) !== null;
  for (const tensor of draft.names(/^slopes_\d+$/)) {
    draft.call({ fn: "alibiSlopes", args: [Number(tensor.slice("slopes_".length))], expect: [{ tensor }] });
  }
  if (draft.has("bias")) {
    const [heads, queries, keys] = draft.shape("bias");
    // The reference hides the future in the same tensor.
    const expect = [{ tensor: "bias", minusInfinity: "skip" }];
    draft.call({ fn: "alibiBias", args: [heads, queries, keys], expect });
  }
  if (!draft.has("q")) return;
  const [nHeads] = draft.shape("q");
  draft.call({ id: "slopes", fn: "alibiSlopes", args: [nHeads], expect: [] });
  const input = (tensor) => ({ tensor, arrange: "merge heads" });
  const outputs = { attention: "weights", weights: "weights", context: "mixed", scores: "scores" };
  draft.call({
    fn: "attention",
    args: [input("q"), input("k"), input("v")],
    options: { nHeads, mask: isCausal ? "causal" : "none", alibiSlopes: { result: "slopes" } },
    expect: draft
      .names()
      .filter((tensor) => tensor in outputs)
      .map((tensor) => ({ output: outputs[tensor], tensor })),
  });
}

const PAIRINGS = { interleaved: "adjacent", half: "half" };

export function rope(draft, config) {
  config.told("H", "T", "positions");
  const width = config.count("rotated dimensions", "d");
  config.told("d", "head size", "pairing");
  checkWords(config);
  const base = config.get("base") ?? 10000;
  if (typeof base !== "number") throw new Unsupported(`config names the base ${JSON.stringify(base)}`);
  const aside = config.text("scaling", "rope_scaling", "rope scaling", "RoPE scaling");
  const angle = config.text("angle");
  angle?.takeAll(/position \* base\^\(-2j ?\/ ?[rd]\)|j = 0 \.\. r\/2 - 1/);
  const [scaling] = [aside, angle].map((text) => text && scalingIn(text)).filter(Boolean);
  const frequencies = ["inv_freq", "frequencies"].find((name) => draft.has(name));
  const stored = frequencies && draft.tensor(frequencies).data;
  // Words are let pass only where stored frequencies prove that nothing was misunderstood.
  if (!proves(stored, width, { base, scaling })) {
    if (scaling === undefined && aside !== undefined && aside.take(/^(?:null|none)\b/) === null)
      aside.refuse();
    aside?.end();
    angle?.end();
  }
  const [heads, , headWidth] = draft.shape("q");
  const options = { base, width: width === headWidth ? undefined : width, scaling };
  if (draft.has("positions")) options.positions = { tensor: "positions" };
  if (frequencies !== undefined) {
    draft.call({
      fn: "rotaryFrequencies",
      args: [width],
      options: { base, scaling },
      expect: [{ tensor: frequencies }],
    });
  }
  for (const [suffix, pairing] of Object.entries(PAIRINGS)) {
    for (const part of ["q", "k"]) {
      const tensor = `${part}_${suffix}`;
      if (!draft.has(tensor)) continue;
      draft.call({
        id: tensor,
        fn: "rotate",
        args: [{ tensor: part }],
        options: { ...options, pairing },
        expect: [{ tensor }],
      });
    }
    if (!draft.has(`scores_${suffix}`)) continue;
    const [query, key] = ["q", "k"].map((part) => ({ result: `${part}_${suffix}`, arrange: "merge heads" }));
    draft.call({
      fn: "attention",
      args: [query, key, key],
      options: { nHeads: heads, mask: "none" },
      expect: [{ output: "scores", tensor: `scores_${suffix}` }],
    });
  }
  for (const tensor of draft.names(/^(?:cos|sin)$/)) {
    draft.skip(tensor, "no function gives it alone; what is rotated by it is compared");
  }
  if (draft.has("interleaved_to_half")) {
    draft.skip("interleaved_to_half", "how weights of one pairing become the other's, for information");
  }
  if (draft.has("upstream")) draft.skip("upstream", "goes into gradients, which are later work");
}

/** The texts that define both pairings must be the definitions we follow. */
function checkWords(config) {
  const expected = {
    interleaved: /\(2j, 2j ?\+ ?1\)/,
    half: /\(j, j ?\+ ?r\/2\)/,
    rotation: /\(a cos - b sin, a sin \+ b cos\)/,
  };
  for (const [key, pattern] of Object.entries(expected)) {
    const text = config.text(key);
    if (text !== undefined && text.take(pattern) === null) text.refuse();
  }
}
