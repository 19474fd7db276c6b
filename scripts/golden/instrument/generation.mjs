/** Filters of distributions, and beam search on the lesson's decoder. */

/** Numbers of a row. */
const row = ({ data, shape }, i) => data.slice(i * shape[1], (i + 1) * shape[1]);

export function generation(glass, asked) {
  if (asked.has("logits")) filters(glass, asked);
  else search(glass, asked);
}

function filters({ math }, asked) {
  const logits = asked.tensor("logits");
  const rows = Array.from({ length: logits.shape[0] }, (_, i) => row(logits, i));
  const input = (cells) => (asked.dtype === "float32" ? Float32Array.from(cells) : cells);
  const filtered = (options) =>
    rows.flatMap((cells) => [...math.filterLogits(input(cells), options).filtered.data]);
  asked.skip(/_ties_kept$|_transformers$/, "transformers' own rules for ties");
  asked.skip(
    /^min_p_|^repetition_penalty_|^seen$/,
    "min-p and the repetition penalty, which generate does not have",
  );
  asked.skip(
    /^inverse_cdf$|^uniforms$/,
    "draws from numbers that are handed over: the package draws from a seed, the core's test compares them",
  );
  const numberIn = (name) => Number(name.split("_").at(-1));
  for (const name of asked.names(/^temperature_[\d.]+$/))
    asked.compare(name, filtered({ temperature: numberIn(name) }));
  for (const name of asked.names(/^top_k_\d+$/)) asked.compare(name, filtered({ topK: numberIn(name) }));
  for (const name of asked.names(/^top_p_[\d.]+$/)) asked.compare(name, filtered({ topP: numberIn(name) }));
  if (asked.has("pipeline")) {
    const found = asked.about("pipeline").meaning.match(/temperature ([\d.]+).*top-k (\d+).*top-p ([\d.]+)/);
    const [temperature, topK, topP] = found.slice(1).map(Number);
    asked.compare("pipeline", filtered({ temperature, topK, topP }));
  }
  if (asked.has("greedy")) {
    const largest = (cells) => cells.indexOf(Math.max(...cells));
    asked.compare(
      "greedy",
      rows.map((cells) => largest([...math.filterLogits(input(cells), {}).distribution.data])),
    );
  }
}

function search({ CausalLanguageModel, math }, asked) {
  const { config } = asked.golden;
  const model = new CausalLanguageModel({
    nVocab: config.V,
    nModel: config.D,
    nHeads: config.H,
    nHidden: config.F,
    dtype: asked.dtype,
  });
  const stacked = asked.tensor("P").data;
  const size = config.D * config.D;
  ["query", "key", "value", "output"].forEach((name, i) => {
    model.setParameter(`blocks.0.attention.${name}`, stacked.slice(i * size, (i + 1) * size));
  });
  model.setParameter("embedding", asked.tensor("E").data);
  model.setParameter("blocks.0.feed_forward.expand", asked.tensor("W1").data);
  model.setParameter("blocks.0.feed_forward.contract", asked.tensor("W2").data);
  model.setParameter("head", asked.tensor("O").data);
  const prompt = [...asked.tensor("prompt").data];
  for (const name of asked.names(/^logprobs_\d+$/)) {
    const depth = Number(name.split("_")[1]);
    const all = (n) =>
      n === 0 ? [[]] : all(n - 1).flatMap((ids) => range(config.V).map((id) => [...ids, id]));
    const last = (ids) => model.respondTo([...prompt, ...ids]).logits.row(-1);
    asked.compare(
      name,
      all(depth).flatMap((ids) => [...math.logSoftmax(last(ids)).data]),
    );
  }
  const [count, end] = [config["new tokens n"], config["end token"]];
  const exhaustive = config.V ** (count - 1);
  for (const name of asked.names(/_sequences$/)) {
    const kind = name.slice(0, -"_sequences".length);
    const { shape } = asked.tensor(name);
    const narrow = kind.match(/^beam_(\d+)/);
    const power = { mean: 1, "06": 0.6 }[kind.split("_").at(-1)] ?? 0;
    const options = {
      width: narrow === null ? exhaustive : Number(narrow[1]),
      maxNewTokens: count,
      lengthPenalty: power,
      ...(kind.includes("eos") ? { endId: end } : {}),
    };
    const best = model.beams(prompt, options).slice(0, shape[0]);
    const padded = ({ tokens }) => [...tokens, ...Array(count - tokens.length).fill(-1)];
    asked.compare(name, best.flatMap(padded));
    asked.compare(
      `${kind}_scores`,
      best.map(({ score }) => score),
    );
  }
}

function range(n) {
  return Array.from({ length: n }, (_, i) => i);
}
