/** The decoder-only model. */

import { calling, GlassformerError, inWords, short } from "./errors.js";
import { jsonOptions } from "./export.js";
import type { Model } from "./generated/glassformer_wasm.js";
import type { JsonModel, Parameter } from "./glassformer.js";
import {
  field,
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
import { lend } from "./random.js";
import { safetensors } from "./safetensors.js";
import { filledIn, readSeeded } from "./seeded.js";
import { fromJsonNumber, isTensor, Tensor, toJsonNumber } from "./tensor.js";
import { Trace } from "./trace.js";
import { wasm } from "./wasm.js";

const FORMAT = "glassformer-model-1";

export class CausalLanguageModel {
  readonly #options: Readonly<Options>;
  readonly #handle: Handle<Model>;
  readonly #plans: { tokens?: Plan; rows?: Plan } = {};
  readonly #parameters: ReadonlyMap<string, Parameter>;
  readonly #set = new Set<string>();

  constructor(options: object) {
    const { given, stream } = readSeeded(options);
    // Only now, so that bad options are told apart from a module that is not ready.
    const { Model } = wasm();
    const position = stream?.position();
    const model =
      stream === undefined
        ? calling(() => new Model(given))
        : lend(stream, (generator) => Model.drawn_from(given, generator));
    this.#handle = new Handle(model, "models");
    const list = model.parameters() as Parameter[];
    this.#parameters = new Map(list.map((parameter) => [parameter.name, parameter]));
    this.#options = filledIn(model.options() as Options, position);
  }

  get options(): Readonly<Options> {
    return this.#options;
  }

  get parameters(): Parameter[] {
    this.#handle.get();
    return structuredClone([...this.#parameters.values()]);
  }

  parameter(name: string): Tensor {
    const { shape, layout, count } = this.#find(name);
    const data = calling(() => {
      const out = new (this.#options.dtype === "float64" ? Float64Array : Float32Array)(count);
      this.#handle.get().parameter_into(name, out);
      return out;
    });
    return new Tensor(data, shape, axesOf(layout));
  }

  setParameter(name: string, values: unknown): void {
    const own = this.#find(name);
    const flat = readParameter(own, values);
    // Asked for after the values were read: reading them may have run anything.
    calling(() => this.#handle.get().set_parameter(name, flat));
    this.#set.add(name);
  }

  respondTo(ids: unknown, options?: unknown): Trace {
    this.#handle.get();
    if (typeof options === "number") {
      throw invalidOption(
        "second argument",
        inWords(options),
        "ids are given as one list: respondTo([0, 1, 2])",
      );
    }
    readCallOptions("respondTo", options);
    const read = readIds(isTensor(ids) ? ids.data : ids, this.#options.maxContext as number);
    const trace = calling(() => this.#handle.get().respond_to(read));
    return new Trace(this.#plan("tokens"), Array.from(read), read.length, trace);
  }

  respondToRows(rows: unknown, options?: object): Trace {
    this.#handle.get();
    readCallOptions("respondToRows", options);
    const width = this.#options.nModel as number;
    const read = readRows(rows, width, this.#options.maxContext as number);
    const trace = calling(() => this.#handle.get().respond_to_rows(read));
    return new Trace(this.#plan("rows"), [], read.length / width, trace);
  }

  toJSON(): JsonModel {
    this.#handle.get();
    const values = (name: string) => Array.from(this.parameter(name).data, toJsonNumber);
    const entries = [...this.#set].map((name) => [name, values(name)] as const);
    return {
      format: FORMAT,
      options: jsonOptions(this.#options),
      ...(entries.length > 0 ? { parameters: Object.fromEntries(entries) } : {}),
    };
  }

  static fromJSON(json: unknown): CausalLanguageModel {
    const { format, options, parameters } = readOptions("model", json, ["format", "options", "parameters"]);
    if (format !== FORMAT) throw invalidOption("format", inWords(format), `it must be "${FORMAT}"`);
    const given = readOptions("options", options);
    // JSON has no BigInt: its digits stand for it.
    if (typeof given.seed === "string" && /^\d{1,20}$/.test(given.seed)) given.seed = BigInt(given.seed);
    const values = parameters === undefined ? {} : readOptions("parameters", parameters);
    const model = new CausalLanguageModel(given);
    try {
      for (const [name, list] of Object.entries(values)) {
        const { shape, count } = model.#find(name);
        const what = `parameter ${name}`;
        const wrong = (length: number) => mismatch(what, shape, [length]);
        model.setParameter(name, readNumbers(what, list, count, wrong, fromJsonNumber));
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
      options: JSON.stringify(jsonOptions(this.#options)),
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

  #find(name: unknown): Parameter {
    this.#handle.get();
    const own = typeof name === "string" ? this.#parameters.get(name) : undefined;
    if (own !== undefined) return own;
    const given = typeof name === "string" ? short(name) : inWords(name);
    const nearest =
      typeof name === "string" ? wasm().nearest_names(short(name), [...this.#parameters.keys()]) : [];
    const hint = nearest.length > 0 ? `; did you mean ${nearest.join(" or ")}?` : "";
    const message = `there is no parameter ${JSON.stringify(given)} in this model${hint}`;
    throw new GlassformerError("unknown_parameter", message, { parameter: given, nearest });
  }

  #plan(start: "tokens" | "rows"): Plan {
    this.#plans[start] ??= new Plan(this.#options, start === "rows");
    return this.#plans[start];
  }
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
  const [data, given] = [field(what, values, "data"), field(what, values, "shape")];
  if (data !== undefined) {
    const sizes = given === undefined ? shape : readNumbers(`the shape of ${what}`, given, 2, wrong);
    if (sizes[0] !== shape[0] || sizes[1] !== shape[1]) throw mismatch(what, shape, Array.from(sizes));
    return readNumbers(what, data, count, wrong);
  }
  if (typeof field(what, values, "0") !== "object") return readNumbers(what, values, count, wrong);
  const rows = readRows(values, shape[1], shape[0]);
  if (rows.length !== count) throw mismatch(what, shape, [rows.length / shape[1], shape[1]]);
  return rows;
}
