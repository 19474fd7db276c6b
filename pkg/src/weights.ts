/** The parameters that traces were computed with, as long as one of them may ask for them. */

import { calling, GlassformerError } from "./errors.js";
import type { Model } from "./generated/glassformer_wasm.js";
import { freed, type Handle } from "./lifetime.js";
import { type Options, shapeOptions } from "./plan.js";
import type { Numbers } from "./recording.js";
import { wasm } from "./wasm.js";

/**
 * A model's parameters as they are until one is set: a trace goes on speaking of the numbers it was computed with, whatever
 * becomes of the model. They are copied when the model moves on, and only if a trace was made of them.
 */
export class Weights {
  readonly options: Options;
  #model: Handle<Model> | undefined;
  #block: Numbers | undefined;
  #isUsed = false;

  constructor(options: Options, model: Handle<Model>) {
    this.options = options;
    this.#model = model;
  }

  /** Says that a trace was made of them. */
  use(): void {
    this.#isUsed = true;
  }

  /** Lends a model of these parameters for one call. */
  lend<T>(call: (model: Model) => T): T {
    const own = this.#model;
    if (own !== undefined) return calling(() => call(own.get()));
    const block = this.#block;
    if (block === undefined) throw freed("model");
    const model = calling(() => wasm().Model.of_block(shapeOptions(this.options), block));
    try {
      const result = calling(() => call(model));
      model.free();
      return result;
    } catch (cause) {
      // After anything but a refusal the module may hold it still: freeing it would throw, and hide what happened.
      if (cause instanceof GlassformerError) model.free();
      throw cause;
    }
  }

  /** Copies them, because the model is about to have others, or to be freed. */
  keep(): void {
    const own = this.#model;
    if (own === undefined) return;
    if (this.#isUsed) {
      const Type = this.options.dtype === "float64" ? Float64Array : Float32Array;
      this.#block = calling(() => {
        const model = own.get();
        const out = new Type(model.parameter_count);
        model.block_into(out);
        return out;
      });
    }
    this.#model = undefined;
  }
}
