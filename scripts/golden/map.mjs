/** From a case to its recipe: by what kind of model or equation it is, never by which case. */

import { bloom, neox } from "./bloom.mjs";
import { decoder, transformer } from "./decoder.mjs";
import { Draft, Unsupported } from "./draft.mjs";
import { encoder, multihead } from "./encoder.mjs";
import { gpt2 } from "./gpt2.mjs";
import { llama } from "./llama.mjs";
import { moeBlock, ties } from "./moe.mjs";
import { activations, gatedUnits, norms, softmaxes } from "./pointwise.mjs";
import { alibi, rope, sinusoids } from "./positions.mjs";
import { Config } from "./words.mjs";

/** Kinds of models, by what the configuration calls them. */
const MODELS = [
  [/\bMultiheadAttention\b/, multihead],
  [/\bTransformerEncoder(?:Layer)?\b/, encoder],
  [/\bTransformerDecoder(?:Layer)?\b/, decoder],
  [/\bnn\.Transformer\b/, transformer],
  [/\bGPT2\w*|\bnanoGPT\b/, gpt2],
  [/\b(?:Llama|Qwen2|Gemma|Mistral|Mixtral)(?:ForCausalLM|Model)?\b/, llama],
  [/\bBloom(?:ForCausalLM|Model)?\b/, bloom],
  [/\bGPTNeoX(?:ForCausalLM|Model)?\b/, neox],
];

/** Equations, by a tensor that they have. */
const EQUATIONS = [
  ["q_interleaved", rope],
  ["q_half", rope],
  ["slopes", alibi],
  ["table", sinusoids],
  ["table_concatenated", sinusoids],
  ["router", moeBlock],
  ["router_logits", ties],
  ["layer_norm", norms],
  ["rms_norm", norms],
  ["gate_pre", gatedUnits],
  ["W_gate", gatedUnits],
  ["softmax", softmaxes],
  ["log_softmax", softmaxes],
  ["relu", activations],
  ["gelu_exact", activations],
  ["x", activations],
];

function kindOf(golden) {
  const { model } = golden.config;
  if (model !== undefined) {
    const known = MODELS.find(([pattern]) => pattern.test(model));
    if (known === undefined) throw new Unsupported(`config names the model "${model}", which is not known`);
    return known[1];
  }
  const has = (name) =>
    golden.tensors.some((tensor) => tensor.name === name || tensor.name.startsWith(`${name}_`));
  const exact = EQUATIONS.find(([name]) => golden.tensors.some((tensor) => tensor.name === name));
  const found = exact ?? EQUATIONS.find(([name]) => has(name));
  if (found === undefined || golden.family === undefined)
    throw new Unsupported("no kind of case has such tensors");
  return found[1];
}

/** The recipe of a case: `{ models, calls, skipped }`, or `{ unsupported: reason }`. */
export function mapCase(golden) {
  try {
    const kind = kindOf(golden);
    const draft = new Draft(golden);
    const config = new Config(golden.config);
    kind(draft, config);
    config.end();
    return draft.finish();
  } catch (error) {
    if (error instanceof Unsupported) return { unsupported: error.message };
    throw error;
  }
}
