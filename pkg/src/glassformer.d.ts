/**
 * glassformer: a transformer block with nothing hidden.
 *
 * Axes: B prompts of a batch, T positions, S key or source positions, D model width (`nModel`), H query heads, G key
 * and value heads, K head width, F feed-forward width (`nHidden`), E experts, k chosen experts, V vocabulary, L blocks.
 * Everything is row-major, and the same bits come out on every platform.
 */

export * from "./declared/calls.js";
export * from "./declared/explanation.js";
export * from "./declared/forms.js";
export * from "./declared/generate.js";
export * from "./declared/measures.js";
export * from "./declared/models.js";
export * from "./declared/options.js";
export * from "./declared/random.js";
export * from "./declared/residual.js";
export * from "./declared/running.js";
export * from "./declared/stages.js";
export * from "./declared/tensor.js";
export * from "./declared/traces.js";
export * from "./math/declared.js";

declare global {
  // As TypeScript's own library declares it from "esnext.disposable" on.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}
