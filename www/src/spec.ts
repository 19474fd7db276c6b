/** Which model the page shows: a class, and what is chosen apart from the defaults. */

import {
  CausalLanguageModel,
  EncoderDecoderModel,
  EncoderModel,
  type FilledInOptions,
  GlassformerError,
  type ModelName,
} from "glassformer";
import { SOURCE_WORDS, WORDS } from "./words.js";

export type Model = CausalLanguageModel | EncoderModel | EncoderDecoderModel;

/** An option's value: what JSON has, and whole numbers past 2^53. */
export type Value = string | number | bigint | boolean | readonly number[] | Values;

export interface Values {
  readonly [name: string]: Value;
}

export interface Spec {
  readonly kind: ModelName;
  /** Without the vocabulary, which is the page's. */
  readonly options: Values;
}

export const LESSON: Spec = { kind: "CausalLanguageModel", options: {} };

/** Makes the model. @throws what the package refuses it with. */
export function build({ kind, options }: Spec): Model {
  // Whether these are options is for the package to say: what it refuses, the page shows.
  const all = { ...options, nVocab: WORDS.length, words: WORDS };
  if (kind === "EncoderDecoderModel") return new EncoderDecoderModel({ ...all, sourceWords: SOURCE_WORDS });
  return kind === "EncoderModel" ? new EncoderModel(all) : new CausalLanguageModel(all);
}

/** Every option of a model with its value, or the refusal. */
function filledIn(spec: Spec): FilledInOptions | GlassformerError {
  try {
    const model = build(spec);
    const { options } = model;
    model.free();
    return options;
  } catch (problem) {
    if (problem instanceof GlassformerError) return problem;
    throw problem;
  }
}

/** Why a model cannot be made, in the package's own words; undefined where it can. */
export function refusal(spec: Spec): string | undefined {
  const answer = filledIn(spec);
  if (!(answer instanceof GlassformerError)) return undefined;
  // The options' names stand beside it on the page.
  return typeof answer.reason === "string" ? answer.reason : answer.message;
}

/** The value at a path such as `rotary.base`. */
export function valueAt(options: object, path: string): Value | undefined {
  let value: unknown = options;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value as Value | undefined;
}

/** The options with another value at a path; undefined leaves it to the default. */
export function withValue(options: Values, path: string, value: Value | undefined): Values {
  const [name = "", ...inner] = path.split(".");
  const { [name]: present, ...others } = options;
  if (inner.length === 0) return value === undefined ? others : { ...others, [name]: value };
  const object = typeof present === "object" && !Array.isArray(present) ? (present as Values) : {};
  const changed = withValue(object, inner.join("."), value);
  return Object.keys(changed).length === 0 ? others : { ...others, [name]: changed };
}

/** The same model in as few options as say it: each is left out in turn, and stays out where nothing changes. */
export function shortest(spec: Spec): Spec {
  const { kind } = spec;
  const meant = text(filledIn(spec));
  let { options } = spec;
  for (const path of pathsOf(options)) {
    const fewer = withValue(options, path, undefined);
    const answer = filledIn({ kind, options: fewer });
    if (!(answer instanceof GlassformerError) && text(answer) === meant) options = fewer;
  }
  return { kind, options };
}

function pathsOf(options: Values, before = ""): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const path = `${before}${name}`;
    const inner = typeof value === "object" && !Array.isArray(value) ? (value as Values) : {};
    return [path, ...pathsOf(inner, `${path}.`)];
  });
}

export function same(a: Spec, b: Spec): boolean {
  return a.kind === b.kind && text(a.options) === text(b.options);
}

/** One text for equal values, whatever order their names were given in. */
function text(value: unknown): string {
  if (typeof value !== "object" || value === null) return literal(value as Value);
  if (Array.isArray(value)) return `[${value.map(text)}]`;
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${name}:${text((value as Record<string, unknown>)[name])}`)}}`;
}

/** The line of JavaScript that makes the model. */
export function line({ kind, options }: Spec): string {
  return `new ${kind}(${literal({ nVocab: WORDS.length, ...options })})`;
}

function literal(value: Value | undefined): string {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object") return typeof value === "number" ? String(value) : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  const entries = Object.entries(value).map(([name, inner]) => `${name}: ${literal(inner)}`);
  return `{ ${entries.join(", ")} }`;
}
