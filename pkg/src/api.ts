/** What the package offers. */

export { BatchTrace } from "./batch.js";
export { EncoderDecoderModel } from "./encoder_decoder.js";
export { GlassformerError } from "./errors.js";
export { memory } from "./lifetime.js";
export * as math from "./math/index.js";
export { CausalLanguageModel, EncoderModel } from "./model.js";
export { randomStream } from "./random.js";
export { Tensor } from "./tensor.js";
export { Trace } from "./trace.js";
export { init } from "./wasm.js";
