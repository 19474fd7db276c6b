/** Mixtures of experts alone: a block with its router, and choices from given router logits. */

import { Unsupported } from "./draft.mjs";
import { routingOf } from "./llama.mjs";
import { takeActivation } from "./words.mjs";

/** The routing that the configuration describes, and the reference's capacities: `{ selected, renormalize }`. */
function routing(config, experts) {
  const k = config.count("k", "top_k");
  config.told("E", "N", "D", "F");
  routingOf(config.text("router"), experts, k);
  const ties = config.text("rule for ties", "ties");
  if (ties !== undefined && ties.take(/\blower(?: expert)? index\b/) === null) ties.refuse();
  const gates = config.text("gates");
  const { renormalize } = routingOf(gates, experts, k);
  return { selected: k, renormalize };
}

/** Choices from router logits: everything that `route` gives, and with each capacity that the case has. */
function routeCalls(draft, logits, options) {
  const [, experts] = draft.shape(logits);
  const outputs = {
    router_probs: "router",
    selected: "selected",
    gate_weights: "gates",
    importance: "importance",
    importance_cv2: "importanceCv2",
    load: "load",
    load_cv2: "loadCv2",
  };
  const expect = Object.entries(outputs)
    .filter(([tensor]) => draft.has(tensor))
    .map(([tensor, output]) => ({ output, tensor }));
  if (draft.has("gates")) expect.push({ output: "gates", tensor: "gates", arrange: "by expert" });
  if (draft.has("importance_cv2_sample") && experts > 1) {
    // The sample's variance divides by E - 1.
    expect.push({ output: "importanceCv2", tensor: "importance_cv2_sample", times: experts / (experts - 1) });
  }
  draft.call({ fn: "route", args: [{ tensor: logits }], options, expect });
  for (const tensor of draft.names(/^capacity_/)) {
    const factor = tensor.slice("capacity_".length);
    const capacity = draft.read(tensor).data[0];
    const found = { overflow: `overflow_${factor}`, kept: `kept_token_order_${factor}` };
    draft.call({
      fn: "route",
      args: [{ tensor: logits }],
      options: { ...options, capacity, overflow: "drop" },
      expect: Object.entries(found)
        .filter(([, name]) => draft.has(name))
        .map(([output, name]) => ({ output, tensor: name })),
    });
  }
  for (const tensor of draft.names(/^kept_choice_order_/)) {
    draft.skip(tensor, "another rule: all first choices before all second; ours fills in the order of rows");
  }
  for (const tensor of draft.names(/^aux_loss/)) {
    draft.skip(tensor, "a loss that balances experts in training, which is later work");
  }
  if (draft.has("torch_topk"))
    draft.skip("torch_topk", "for information: torch promises no order among equals");
}

export function ties(draft, config) {
  const [, experts] = draft.shape("router_logits");
  routeCalls(draft, "router_logits", routing(config, experts));
}

/** Options and parameters of a bare block of which the feed-forward branch alone does anything. */
export function bareBranch(width, hidden, options) {
  const zero = ["query", "key", "value", "output"].map((name) => ({
    name: `blocks.0.attention.${name}`,
    fill: 0,
  }));
  return {
    options: {
      nVocab: 0,
      nModel: width,
      nHeads: 1,
      nBlocks: 1,
      nHidden: hidden,
      norm: "none",
      finalNorm: false,
      position: "none",
      mask: "none",
      bias: false,
      ...options,
    },
    parameters: zero,
  };
}

export function moeBlock(draft, config) {
  const [experts, width] = draft.shape("router");
  const { selected, renormalize } = routing(config, experts);
  const text = config.text("expert", "experts");
  const isGated = draft.has("W3");
  const activation = (text && takeActivation(text)) ?? (isGated ? "silu" : "relu");
  if (isGated && activation !== "silu") text.refuse(`a gated expert with ${activation}`);
  text?.takeAll(/\b(?:W[123]|x|bias|biases|no|SwiGLU|exact|erf|tanh|form|dense)\b/);
  text?.end();
  const hidden = draft.shape("W1")[1];
  const parameters = [{ name: "blocks.0.feed_forward.router", from: "router" }];
  const matrices = isGated ? { expand: "W3", gate: "W1", contract: "W2" } : { expand: "W1", contract: "W2" };
  for (let e = 0; e < experts; e++) {
    for (const [name, from] of Object.entries(matrices)) {
      parameters.push({
        name: `blocks.0.feed_forward.experts.${e}.${name}`,
        from,
        index: e,
        transpose: true,
      });
    }
  }
  const feedForward = { experts, selected, expert: isGated ? "swiglu" : "dense", renormalize };
  const build = (more, expect) => {
    const bare = bareBranch(width, hidden, { activation, feedForward: { ...feedForward, ...more } });
    const run = { start: "rows", target: { tensor: "x" }, single: true };
    return draft.model({
      model: "encoder",
      options: bare.options,
      parameters: [...bare.parameters, ...parameters],
      run,
      expect: expect.map(({ stage, ...rest }) => ({ stage: `blocks.0.feed_forward.${stage}`, ...rest })),
    });
  };
  const stages = {
    router_logits: "router_logits",
    router_probs: "router",
    selected: "selected",
    gate_weights: "gates",
    expert_outputs: "expert_output",
    output: "output",
    importance: "importance",
    importance_cv2: "importance_cv2",
    load: "load",
  };
  const expect = Object.entries(stages)
    .filter(([tensor]) => draft.has(tensor))
    .map(([tensor, stage]) => ({ stage, tensor }));
  if (draft.has("gates")) expect.push({ stage: "gates", tensor: "gates", arrange: "by expert" });
  build({}, expect);
  for (const tensor of draft.names(/^output_capacity/)) {
    const { meaning } = draft.about(tensor);
    const factor = meaning.match(/capacity factor ([\d.]+)/)?.[1];
    const isOurs = /token order/.test(meaning) && /not divided again/.test(meaning);
    const name = `capacity_${String(factor).replace(".", "_")}`;
    if (factor === undefined || !isOurs || !draft.has(name)) {
      throw new Unsupported(`${tensor} follows a rule that is not known: ${meaning}`);
    }
    const overflow = `overflow_${name.slice("capacity_".length)}`;
    build({ capacity: draft.read(name).data[0], overflow: "drop" }, [
      { stage: "output", tensor },
      ...(draft.has(overflow) ? [{ stage: "overflow", tensor: overflow }] : []),
    ]);
  }
  routeCalls(draft, "router_logits", { selected, renormalize });
}
