/** The decoder-only model. */

import { calling, GlassformerError, inWords } from "./errors.js";
import { jsonOptions } from "./export.js";
import type { Model } from "./generated/glassformer_wasm.js";
import type { JsonModel, Parameter, StreamPosition } from "./glassformer.js";
import { invalidOption, readCallOptions, readIds, readNumbers, readOptions, readRows } from "./input.js";
import { dispose, Handle } from "./lifetime.js";
import { type Options, Plan } from "./plan.js";
import { RandomStream } from "./random.js";
import { Tensor, type TypedArray } from "./tensor.js";
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
      stream === undefined ? new Model(given) : Model.drawn_from(given, stream.lend()),
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
    const data = calling(() => model.parameter(nameOf(name))) as TypedArray;
    const { shape, layout } = this.parameters.find((p) => p.name === name) as Parameter;
    return new Tensor(data, shape, axesOf(layout));
  }

  setParameter(name: string, values: unknown): void {
    const model = this.#handle.get();
    const own = this.parameters.find((p) => p.name === name);
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
    const read = readRows(rows, width);
    const trace = calling(() => model.respond_to_rows(read));
    return new Trace(this.#plan("rows"), [], read.length / width, trace);
  }

  toJSON(): JsonModel {
    this.#handle.get();
    const entries = [...this.#set].map((name) => [name, Array.from(this.parameter(name).data)] as const);
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
      for (const [name, list] of Object.entries(values)) model.setParameter(name, list);
    } catch (refusal) {
      model.free();
      throw refusal;
    }
    return model;
  }

  free(): void {
    this.#handle.free();
  }

  [dispose](): void {
    this.free();
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

/** Values for a parameter: flat, as rows, or a tensor; whether their number fits is checked by the core. */
function readParameter(own: Parameter, values: unknown): Float64Array {
  if (typeof values === "object" && values !== null && "data" in values) {
    const { data, shape } = values as { data: unknown; shape?: unknown };
    const given = shape === undefined ? own.shape : Array.from(readNumbers("shape", shape));
    if (given.length !== own.shape.length || given.some((n, axis) => n !== own.shape[axis])) {
      const message = `parameter ${own.name} has shape [${given.join(", ")}], expected [${own.shape.join(", ")}]`;
      const fields = { what: `parameter ${own.name}`, expected: own.shape, actual: given };
      throw new GlassformerError("shape_mismatch", message, fields);
    }
    return readNumbers(`parameter ${own.name}`, data);
  }
  const isNested = Array.isArray(values) && typeof values[0] === "object";
  return isNested ? readRows(values, own.shape[1]) : readNumbers(`parameter ${own.name}`, values);
}

function deepFrozen(options: Options): Readonly<Options> {
  for (const value of Object.values(options)) {
    if (typeof value === "object" && value !== null) Object.freeze(value);
  }
  return Object.freeze(options);
}
