/** The equations alone, computed by the same core as the models. */

export { attention } from "./attention.js";
export { route } from "./experts.js";
export { filterLogits } from "./filter.js";
export { alibiBias, alibiSlopes, rotaryFrequencies, rotate, sinusoid } from "./position.js";
export {
  crossEntropy,
  gated,
  gelu,
  geluTanh,
  glu,
  layerNorm,
  logSoftmax,
  logSumExp,
  quickGelu,
  relu,
  rmsNorm,
  sigmoid,
  silu,
  softmax,
  softplus,
  squaredVariation,
  tanh,
} from "./rows.js";
