/** What every model is made of: its options, its parameters, and passes through it. */

import { calling, GlassformerError, inWords, short } from "./errors.js";
import type { Model } from "./generated/glassformer_wasm.js";
import type { Parameter } from "./glassformer.js";
import { invalidOption } from "./input.js";
import { Handle } from "./lifetime.js";
import { filledIn, readSeeded } from "./options.js";
import { axesOf, readParameter } from "./parameters.js";
import { type ModelName, type Options, Plan, type Start, withoutTower } from "./plan.js";
import { lend } from "./random.js";
import { Tensor } from "./tensor.js";
import { wasm } from "./wasm.js";
import { Weights } from "./weights.js";

const cores = new WeakMap<object, Core>();

/** Says what a model is made of. */
export function madeOf(model: object, core: Core): void {
  cores.set(model, core);
}

/** What a model is made of; anything else is refused. */
export function coreOfModel(model: unknown): Core {
  const core = typeof model === "object" && model !== null ? cores.get(model) : undefined;
  if (core !== undefined) return core;
  throw invalidOption("model", inWords(model), "it must be a model");
}

export class Core {
  readonly model: ModelName;
  readonly options: Readonly<Options>;
  /** The parameters that were set, in the order they were first set. */
  readonly set = new Set<string>();
  readonly #handle: Handle<Model>;
  #weights: Weights;
  readonly #plans = new Map<Start, Plan>();
  readonly #parameters: ReadonlyMap<string, Parameter>;

  constructor(name: ModelName, options: unknown) {
    const { given, stream } = readSeeded(name, options);
    // Only now, so that bad options are told apart from a module that is not ready.
    const { Model } = wasm();
    const position = stream?.position();
    const model =
      stream === undefined
        ? calling(() => new Model(given))
        : lend(stream, (generator) => Model.drawn_from(given, generator));
    this.model = name;
    this.#handle = new Handle(model, "models");
    const list = calling(() => model.parameters()) as Parameter[];
    this.#parameters = new Map(list.map((parameter) => [parameter.name, parameter]));
    this.options = filledIn(calling(() => model.options()) as Options, position);
    this.#weights = new Weights(this.options, this.#handle);
  }

  /** Refuses a model that was freed. */
  check(): void {
    this.#handle.get();
  }

  get parameters(): Parameter[] {
    this.check();
    return [...this.#parameters.values()];
  }

  parameter(name: unknown): Tensor {
    const own = this.find(name);
    const data = calling(() => {
      const out = new (this.options.dtype === "float64" ? Float64Array : Float32Array)(own.count);
      this.#handle.get().parameter_into(own.name, out);
      return out;
    });
    return new Tensor(data, own.shape, axesOf(own));
  }

  setParameter(name: unknown, values: unknown): void {
    const own = this.find(name);
    const flat = readParameter(own, values);
    // Asked for after the values were read: reading them may have run anything.
    this.check();
    this.#weights.keep();
    this.#weights = new Weights(this.options, this.#handle);
    calling(() => this.#handle.get().set_parameter(own.name, flat));
    this.set.add(own.name);
  }

  /** The parameter of a name; an unknown one is refused with those close to it. */
  find(name: unknown): Parameter {
    this.check();
    const bare = withoutTower(this.model, name);
    const own = typeof bare === "string" ? this.#parameters.get(bare) : undefined;
    if (own !== undefined) return own;
    const given = typeof name === "string" ? short(name) : inWords(name);
    const nearest =
      typeof bare === "string" ? wasm().nearest_names(short(bare), [...this.#parameters.keys()]) : [];
    const hint = nearest.length > 0 ? `; did you mean ${nearest.join(" or ")}?` : "";
    const message = `there is no parameter ${JSON.stringify(given)} in this model${hint}`;
    throw new GlassformerError("unknown_parameter", message, { parameter: given, nearest });
  }

  /** The parameters as they are now. */
  get weights(): Weights {
    this.check();
    return this.#weights;
  }

  free(): void {
    try {
      // What traces may still ask for.
      this.#weights.keep();
    } catch (refusal) {
      if (!(refusal instanceof GlassformerError)) throw refusal;
      // Without memory for a copy they cannot be asked any more.
    }
    this.#handle.free();
  }

  /** What the model's passes from a start consist of. */
  plan(start: Start): Plan {
    const known = this.#plans.get(start);
    if (known !== undefined) return known;
    const plan = new Plan(this.model, this.options, start);
    this.#plans.set(start, plan);
    return plan;
  }
}
