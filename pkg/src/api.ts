/** What the package offers. */

export { GlassformerError } from "./errors.js";
export { memory } from "./lifetime.js";
export * as math from "./math/index.js";
export { CausalLanguageModel } from "./model.js";
export { randomStream } from "./random.js";
export { Tensor } from "./tensor.js";
export { Trace } from "./trace.js";
export { init } from "./wasm.js";
