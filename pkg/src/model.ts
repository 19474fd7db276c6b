/** The decoder-only model. */

import { calling, GlassformerError, inWords } from "./errors.js";
import { jsonOptions } from "./export.js";
import type { Model } from "./generated/glassformer_wasm.js";
import type { JsonModel, Parameter, StreamPosition } from "./glassformer.js";
import {
  invalidOption,
  mismatch,
  readCallOptions,
  readIds,
  readNumbers,
  readOptions,
  readRows,
} from "./input.js";
import { dispose, Handle } from "./lifetime.js";
import { type Options, Plan } from "./plan.js";
import { RandomStream } from "./random.js";
import { safetensors } from "./safetensors.js";
import { fromJsonNumber, Tensor, toJsonNumber } from "./tensor.js";
import { Trace } from "./trace.js";
import { wasm } from "./wasm.js";

const FORMAT = "glassformer-model-1";

export class CausalLanguageModel {
  readonly options: Readonly<Options>;
  readonly #handle: Handle<Model>;
  readonly #plans: { tokens?: Plan; rows?: Plan } = {};
  readonly #set = new Set<string>();

  constructor(options: object) {
    const given = readOptions("options", options);
    const stream = given.seed instanceof RandomStream ? given.seed : resumed(given.seed);
    if (stream !== undefined) delete given.seed;
    // Only now, so that bad options are told apart from a module that is not ready.
    const { Model } = wasm();
    const position = stream?.position();
    const model = calling(() =>
      stream === undefined
        ? new Model(given)
        : stream.lend((generator) => Model.drawn_from(given, generator)),
    );
    this.#handle = new Handle(model, "models");
    const filledIn = model.options() as Options;
    const seed = position ?? (typeof filledIn.seed === "string" ? BigInt(filledIn.seed) : filledIn.seed);
    this.options = deepFrozen({ ...filledIn, seed });
  }

  get parameters(): Parameter[] {
    return this.#handle.get().parameters() as Parameter[];
  }

  parameter(name: string): Tensor {
    const model = this.#handle.get();
    const own = this.#find(name);
    const data = calling(() => {
      const out = new (this.options.dtype === "float64" ? Float64Array : Float32Array)(own?.count ?? 0);
      model.parameter_into(nameOf(name), out);
      return out;
    });
    // An unknown name was refused, with those close to it.
    const { shape, layout } = own as Parameter;
    return new Tensor(data, shape, axesOf(layout));
  }

  setParameter(name: string, values: unknown): void {
    const model = this.#handle.get();
    const own = this.#find(name);
    const flat = own === undefined ? new Float64Array() : readParameter(own, values);
    calling(() => model.set_parameter(nameOf(name), flat));
    this.#set.add(name);
  }

  respondTo(ids: ArrayLike<number>, options?: object): Trace {
    const model = this.#handle.get();
    readCallOptions("respondTo", options);
    const read = readIds(ids, this.options.maxContext as number);
    const trace = calling(() => model.respond_to(read));
    return new Trace(this.#plan("tokens"), Array.from(read), read.length, trace);
  }

  respondToRows(rows: unknown, options?: object): Trace {
    const model = this.#handle.get();
    readCallOptions("respondToRows", options);
    const width = this.options.nModel as number;
    const read = readRows(rows, width, this.options.maxContext as number);
    const trace = calling(() => model.respond_to_rows(read));
    return new Trace(this.#plan("rows"), [], read.length / width, trace);
  }

  toJSON(): JsonModel {
    this.#handle.get();
    const values = (name: string) => Array.from(this.parameter(name).data, toJsonNumber);
    const entries = [...this.#set].map((name) => [name, values(name)] as const);
    return {
      format: FORMAT,
      options: jsonOptions(this.options),
      ...(entries.length > 0 ? { parameters: Object.fromEntries(entries) } : {}),
    };
  }

  static fromJSON(json: unknown): CausalLanguageModel {
    const { format, options, parameters } = readOptions("model", json);
    if (format !== FORMAT) throw invalidOption("format", inWords(format), `it must be "${FORMAT}"`);
    const given = readOptions("options", options);
    if (typeof given.seed === "string" && /^\d{1,20}$/.test(given.seed)) given.seed = BigInt(given.seed);
    const values = parameters === undefined ? {} : readOptions("parameters", parameters);
    const model = new CausalLanguageModel(given);
    try {
      for (const [name, list] of Object.entries(values)) {
        model.setParameter(name, Array.isArray(list) ? list.map(fromJsonNumber) : list);
      }
    } catch (refusal) {
      model.free();
      throw refusal;
    }
    return model;
  }

  /** The parameters as a safetensors file, in their layouts. */
  toSafetensors(): Uint8Array {
    const layouts = Object.fromEntries(this.parameters.map(({ name, layout }) => [name, layout]));
    const metadata = {
      format: FORMAT,
      options: JSON.stringify(jsonOptions(this.options)),
      layouts: JSON.stringify(layouts),
    };
    return safetensors(
      metadata,
      this.parameters.map(({ name }) => ({ name, tensor: this.parameter(name) })),
    );
  }

  free(): void {
    this.#handle.free();
  }

  [dispose](): void {
    this.free();
  }

  #find(name: string): Parameter | undefined {
    return this.parameters.find((parameter) => parameter.name === name);
  }

  #plan(start: "tokens" | "rows"): Plan {
    this.#plans[start] ??= new Plan(this.options, start === "rows");
    return this.#plans[start];
  }
}

/** A stream that goes on where the one stood from which a model was drawn, as `options.seed` gives it back. */
function resumed(seed: unknown): RandomStream | undefined {
  const isPosition = typeof seed === "object" && seed !== null && "stream" in seed;
  return isPosition ? RandomStream.at(seed as StreamPosition) : undefined;
}

function nameOf(name: unknown): string {
  if (typeof name === "string") return name;
  const message = `a parameter is named by a text, got ${inWords(name)}`;
  throw new GlassformerError("unknown_parameter", message, { parameter: inWords(name), nearest: [] });
}

function axesOf(layout: string): string[] {
  return layout === "out,in"
    ? ["out", "in"]
    : layout === "in,out"
      ? ["in", "out"]
      : ["vocabulary", "coordinate"];
}

/** Values for a parameter: flat, as rows, or a tensor. */
function readParameter({ name, shape, count }: Parameter, values: unknown): Float64Array {
  const what = `parameter ${name}`;
  const wrong = (length: number) => mismatch(what, shape, [length]);
  if (typeof values === "object" && values !== null && "data" in values) {
    const { data, shape: given } = values as { data: unknown; shape?: unknown };
    const sizes = given === undefined ? shape : Array.from(readNumbers(`the shape of ${what}`, given));
    if (sizes.length !== 2 || sizes[0] !== shape[0] || sizes[1] !== shape[1])
      throw mismatch(what, shape, sizes);
    return readNumbers(what, data, count, wrong);
  }
  if (!(Array.isArray(values) && typeof values[0] === "object"))
    return readNumbers(what, values, count, wrong);
  if (values.length !== shape[0]) throw mismatch(what, shape, [values.length, shape[1]]);
  return readRows(values, shape[1]);
}

function deepFrozen(options: Options): Readonly<Options> {
  for (const value of Object.values(options)) {
    if (typeof value === "object" && value !== null) Object.freeze(value);
  }
  return Object.freeze(options);
}
