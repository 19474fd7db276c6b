/** The bindings of the equations, ready to be called. */

// By name, so that the glue's own loader, which fetches, is left out of the bundle.
import {
  math_activate,
  math_alibi_bias,
  math_alibi_slopes,
  math_attention,
  math_average_heads,
  math_cross_entropy,
  math_filter_logits,
  math_gate,
  math_log_sum_exp,
  math_normalize,
  math_rotary_frequencies,
  math_rotate,
  math_route,
  math_sinusoid,
  math_softmax,
  math_squared_variation,
} from "../generated/glassformer_wasm.js";
import { wasm } from "../wasm.js";

const bindings = {
  math_activate,
  math_alibi_bias,
  math_alibi_slopes,
  math_attention,
  math_average_heads,
  math_cross_entropy,
  math_filter_logits,
  math_gate,
  math_log_sum_exp,
  math_normalize,
  math_rotary_frequencies,
  math_rotate,
  math_route,
  math_sinusoid,
  math_softmax,
  math_squared_variation,
};

/** They answer once the module is there. */
export function equations(): typeof bindings {
  wasm();
  return bindings;
}
