/** TransformerLens: its cache by hook names, attribution, the logit lens, ablation and patching. */

/** A model in TransformerLens's layout: matrices in,out with the head as an axis of its own. */
function modelOf({ CausalLanguageModel }, asked, { isBare = false } = {}) {
  const { config } = asked.golden;
  const [vocabulary, width] = asked.tensor("embed.W_E").shape;
  const [heads, , headWidth] = asked.tensor("blocks.0.attn.W_Q").shape;
  const blocks = asked.names(/^blocks\.\d+\.attn\.W_Q$/).length;
  const hasGain = asked.has("ln_final.w");
  const model = new CausalLanguageModel({
    nVocab: vocabulary,
    nModel: width,
    nHeads: heads,
    headWidth,
    nBlocks: blocks,
    nHidden: asked.tensor("blocks.0.mlp.W_in").shape[1],
    maxContext: asked.tensor("pos_embed.W_pos").shape[0],
    norm: /RMS/.test(config.norm) ? "rms" : "layer",
    epsilon: Number(config.norm.match(/eps ([\d.e-]+)/)?.[1] ?? 1e-5),
    normAffine: hasGain,
    position: "learned",
    activation: activationOf(config.activation),
    bias: { attention: true, feedForward: true, head: true, norm: asked.has("ln_final.b") },
    dtype: asked.dtype,
  });
  const set = (name, from, order = (cells) => cells) => {
    if (asked.has(from)) model.setParameter(name, order(asked.tensor(from).data));
  };
  // H,D,K to H*K,D.
  const out = (cells) => cells.map((_, i) => cells[cellOf(i, [heads, headWidth, width], [0, 2, 1])]);
  // H,K,D to D,H*K.
  const merged = (cells) => cells.map((_, i) => cells[cellOf(i, [width, heads, headWidth], [1, 2, 0])]);
  set("embedding", "embed.W_E");
  set("position", "pos_embed.W_pos");
  for (let n = 0; n < blocks; n++) {
    const [own, theirs] = [`blocks.${n}.attention`, `blocks.${n}.attn`];
    for (const [name, letter] of Object.entries({ query: "Q", key: "K", value: "V" })) {
      set(`${own}.${name}`, `${theirs}.W_${letter}`, out);
      set(`${own}.${name}_bias`, `${theirs}.b_${letter}`);
    }
    set(`${own}.output`, `${theirs}.W_O`, merged);
    set(`${own}.output_bias`, `${theirs}.b_O`);
    set(`${own}.norm.gain`, `blocks.${n}.ln1.w`);
    set(`${own}.norm.bias`, `blocks.${n}.ln1.b`);
    const branch = `blocks.${n}.feed_forward`;
    set(`${branch}.norm.gain`, `blocks.${n}.ln2.w`);
    set(`${branch}.norm.bias`, `blocks.${n}.ln2.b`);
    set(`${branch}.expand`, `blocks.${n}.mlp.W_in`);
    set(`${branch}.expand_bias`, `blocks.${n}.mlp.b_in`);
    set(`${branch}.contract`, `blocks.${n}.mlp.W_out`);
    set(`${branch}.contract_bias`, `blocks.${n}.mlp.b_out`);
  }
  if (!isBare) {
    set("final.norm.gain", "ln_final.w");
    set("final.norm.bias", "ln_final.b");
  }
  set("head", "unembed.W_U");
  set("head_bias", "unembed.b_U");
  return model;
}

function activationOf(text) {
  if (/relu/i.test(text)) return "relu";
  if (/silu|swish/i.test(text)) return "silu";
  if (/gelu/i.test(text)) return /tanh|new/i.test(text) ? "gelu_tanh" : "gelu";
  throw new Error(`the activation ${text} is not known`);
}

/** Where the i-th cell of a shape stands in a tensor whose axes are these of it: axis a of the source is `order[a]`. */
function cellOf(i, shape, order) {
  const index = [];
  let rest = i;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index[axis] = rest % shape[axis];
    rest = Math.floor(rest / shape[axis]);
  }
  return order.reduce((flat, axis) => flat * shape[axis] + index[axis], 0);
}

export function hooked(glass, asked) {
  const model = modelOf(glass, asked);
  asked.skip(/^raw:/, "the weights before they were folded");
  const tokens = (name) => {
    const { data, shape } = asked.tensor(name);
    return range(shape[0]).map((b) => [...data.slice(b * shape[1], (b + 1) * shape[1])]);
  };
  const [clean, corrupted] = [tokens("clean_tokens"), tokens("corrupted_tokens")];
  const traces = clean.map((ids) => model.respondTo(ids));
  cache(asked, traces);
  const each = (of) => traces.flatMap((trace, b) => [...of(trace, b)]);
  asked.compare(
    "logits",
    each((trace) => trace.logits.data),
  );
  const bad = corrupted.map((ids) => model.respondTo(ids));
  asked.compare(
    "corrupted_logits",
    bad.flatMap((trace) => [...trace.logits.data]),
  );
  attribution(glass, asked, traces, clean);
  interventions(asked, model, { clean, corrupted, traces });
}

/** Everything by its hook name. */
function cache(asked, traces) {
  for (const name of asked.names(/^cache:/)) {
    const hook = name.slice("cache:".length);
    const block = hook.match(/^blocks\.(\d+)\./)?.[1];
    const of = (trace) => {
      if (hook.endsWith("hook_scale")) return scaleOf(trace, hook, block);
      if (!hook.endsWith("attn.hook_result")) return trace.get(hook).data;
      const { data, shape } = trace.headResults(`blocks.${block}.attention.output`);
      // H,T,D to T,H,D.
      const [heads, rows, width] = shape;
      return data.map((_, i) => data[cellOf(i, [rows, heads, width], [1, 0, 2])]);
    };
    asked.compare(
      name,
      traces.flatMap((trace) => [...of(trace)]),
    );
  }
}

/** What a norm divides each row by: its cells are explained by it. */
function scaleOf(trace, hook, block) {
  const stage = hook.startsWith("ln_final")
    ? "final.normalized"
    : `blocks.${block}.${hook.includes("ln1") ? "attention" : "feed_forward"}.normalized`;
  const rootOf = (explained) => {
    for (const { constant, value, from } of explained.terms.flatMap(({ factors }) => factors)) {
      if (constant === "root") return value;
      const within = from === undefined ? undefined : rootOf(from);
      if (within !== undefined) return within;
    }
    return undefined;
  };
  return range(trace.length).map((t) => rootOf(trace.explain(stage, [t, 0])));
}

/** Parts of the stream, and what each adds to a logit. */
function attribution(glass, asked, traces, clean) {
  const named = (label) => label.replace(/^\d+: /, "");
  const { labels, coarse_labels: coarse } = asked.golden;
  const heads = /^L(\d+)H(\d+)$/;
  const isPart = (label) => (name) => {
    const found = label.match(heads);
    if (found) return name === `blocks.${found[1]}.attention.output.head.${found[2]}`;
    const branch = label.match(/^(\d+)_(mlp|attn)_out$/);
    if (branch?.[2] === "mlp") return name === `blocks.${branch[1]}.feed_forward.output`;
    if (branch) return name.startsWith(`blocks.${branch[1]}.attention.output`);
    const known = { embed: /^embedding/, pos_embed: /^position$/, bias: /\.bias$/ }[label];
    return known.test(name);
  };
  const rows = range(traces[0].length);
  const inOrder = (list, of) =>
    list.map(named).flatMap((label) => traces.flatMap((trace) => of(trace, isPart(label))));
  const summed = (lists) => lists[0].map((_, i) => lists.reduce((sum, list) => sum + list[i], 0));
  asked.compare(
    "decomposition",
    inOrder(labels, (trace, isOwn) =>
      summed(
        trace
          .residualParts()
          .filter(({ name }) => isOwn(name))
          .map(({ values }) => [...values.data]),
      ),
    ),
  );
  // TransformerLens leaves the last norm's gain and shift out: a model whose last norm has neither gives its numbers.
  const bare = modelOf(glass, asked, { isBare: true });
  const bareTraces = clean.map((ids) => bare.respondTo(ids));
  const meaning = (name) => asked.about(name).meaning;
  const token = Number(meaning("dla_transformer_lens").match(/token (\d+)/)[1]);
  const wrong = Number(meaning("dla_difference").match(/incorrect token (\d+)/)[1]);
  const shares = (of, list, against) => {
    const all = of.map((trace) => rows.map((t) => trace.logitContributions(t, token, against)));
    return list
      .map(named)
      .flatMap((label) =>
        all.flatMap((own) =>
          own.map(({ parts }) =>
            parts.filter(({ name }) => isPart(label)(name)).reduce((sum, { value }) => sum + value, 0),
          ),
        ),
      );
  };
  asked.compare("dla_exact", shares(traces, labels));
  asked.compare("dla_transformer_lens", shares(bareTraces, labels));
  asked.compare("dla_difference", shares(bareTraces, coarse, wrong));
  asked.compare("dla_constant", [traces[0].logitContributions(0, token).constant]);
  const lens = bareTraces.map((trace) => trace.logitLens({ frozen: true }));
  asked.compare(
    "logit_lens",
    range(lens[0].length).flatMap((layer) => lens.flatMap((own) => [...own[layer].logits.data])),
  );
}

/** Ablation and patching. */
function interventions(asked, model, { clean, corrupted, traces }) {
  const { config } = asked.golden;
  const [blocks, heads, length] = [config.L, config.H, config.T];
  const mixed = (l) => `blocks.${l}.attention.mixed`;
  const output = (l, branch) => `blocks.${l}.${branch}.output`;
  const lastLogits = (ids, edits) => [...model.respondTo(ids, { edits }).logits.row(-1).data];
  const grid = range(blocks).flatMap((l) => range(heads).map((h) => [l, h]));
  asked.compare(
    "ablate_head_last_logits",
    grid.flatMap(([l, h]) =>
      clean.flatMap((ids) => lastLogits(ids, [{ stage: mixed(l), index: [h, null, null], set: 0 }])),
    ),
  );
  asked.compare(
    "ablate_mlp_last_logits",
    range(blocks).flatMap((l) =>
      clean.flatMap((ids) => lastLogits(ids, [{ stage: output(l, "feed_forward"), set: 0 }])),
    ),
  );
  const [, l, h] = asked
    .about("mean_ablate_logits")
    .meaning.match(/head \((\d+), (\d+)\)/)
    .map(Number);
  const cells = traces.flatMap((trace) => trace.get(mixed(l)).tolist()[h]);
  const mean = cells[0].map((_, k) => cells.reduce((sum, row) => sum + row[k], 0) / cells.length);
  const set = range(length).map(() => mean);
  asked.compare(
    "mean_ablate_logits",
    clean.flatMap((ids) => [
      ...model.respondTo(ids, { edits: [{ stage: mixed(l), index: [h, null, null], set }] }).logits.data,
    ]),
  );
  const [good, wrong] = asked
    .about("clean_logit_diff")
    .meaning.match(/logit (\d+) - logit (\d+)/)
    .slice(1)
    .map(Number);
  const difference = (trace) => trace.logits.at(-1, good) - trace.logits.at(-1, wrong);
  asked.compare("clean_logit_diff", traces.map(difference));
  asked.compare(
    "corrupted_logit_diff",
    corrupted.map((ids) => difference(model.respondTo(ids))),
  );
  const patched = (edit) =>
    corrupted.map((ids, b) => difference(model.respondTo(ids, { edits: [{ ...edit, from: traces[b] }] })));
  const entering = (n) => (n === 0 ? "positioned" : `blocks.${n - 1}.hidden`);
  const places = (stageOf) =>
    range(blocks).flatMap((n) =>
      range(length).flatMap((t) => patched({ stage: stageOf(n), index: [t, null] })),
    );
  asked.compare("patch_resid_pre", places(entering));
  asked.compare(
    "patch_attn_out",
    places((n) => output(n, "attention")),
  );
  asked.compare(
    "patch_mlp_out",
    places((n) => output(n, "feed_forward")),
  );
  asked.compare(
    "patch_head_z",
    grid.flatMap(([n, head]) => patched({ stage: mixed(n), index: [head, null, null] })),
  );
}

function range(n) {
  return Array.from({ length: n }, (_, i) => i);
}
