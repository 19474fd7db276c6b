/** What a trace of some options consists of: its stages, their shapes, and where each stands in a block. */

import { calling, GlassformerError, inWords, short } from "./errors.js";
import type { StageDescription as Described } from "./glassformer.js";
import { wasm } from "./wasm.js";

/** What wasm says about a stage. */
export interface StageDescription extends Described {
  hooks: string[];
}

export type Options = Record<string, unknown>;

/** The classes of models; wasm does not know them. */
export const MODELS = ["CausalLanguageModel", "EncoderModel", "EncoderDecoderModel"] as const;
export type ModelName = (typeof MODELS)[number];

/** What a pass starts from. */
export const STARTS = ["tokens", "rows", "memory"] as const;
export type Start = (typeof STARTS)[number];

/** Where a stage's numbers stand in a trace's block, and their shape. */
export interface Place {
  offset: number;
  size: number;
  shape: readonly number[];
}

/** The lesson's own names, of the last block; of an encoder-decoder, the decoder's. */
const SHORT_NAMES: ReadonlyMap<unknown, (block: string) => string> = new Map([
  ["positioned", () => "positioned"],
  ["attention", (block: string) => `${block}attention.weights`],
  ["afterAttention", (block: string) => `${block}after_attention`],
  ["feedForward", (block: string) => `${block}feed_forward.output`],
  ["hidden", (block: string) => `${block}hidden`],
  ["logits", () => "logits"],
  ["probabilities", () => "probabilities"],
]);

/** How many shapes, and lengths of each, are kept: a page moves between few, a generation passes through many. */
const KEPT = 64;

/** A shape of more stages than this is not kept: its model keeps it. */
const LARGE = 2000;

/** What traces of one shape have in common, whatever the numbers of their models. */
interface Shape {
  readonly stages: readonly StageDescription[];
  readonly names: readonly string[];
  /** The place of each stage, by its own name and TransformerLens's. */
  readonly slots: ReadonlyMap<unknown, number>;
  readonly layouts: Map<string, readonly Place[]>;
}

const shapes = new Map<string, Shape>();

/** Remembers a value; the one that was remembered first is forgotten when there are too many. */
function keep<K, V>(map: Map<K, V>, key: K, value: V): V {
  if (map.size >= KEPT) map.delete(map.keys().next().value as K);
  map.set(key, value);
  return value;
}

function shapeOf(options: Options, start: Start): Shape {
  const given = shapeOptions(options);
  const key = JSON.stringify([given, start]);
  const known = shapes.get(key);
  if (known !== undefined) return known;
  const stages = calling(() => wasm().describe_stages(given, start)) as StageDescription[];
  const names = Object.freeze(stages.map((stage) => stage.name));
  const slots = new Map(
    stages.flatMap(({ name, hooks }, slot) => [name, ...hooks].map((n) => [n, slot] as const)),
  );
  const shape = { stages, names, slots, layouts: new Map() };
  return stages.length > LARGE ? shape : keep(shapes, key, shape);
}

export class Plan {
  readonly #shape: Shape;
  /** What the names of the last block begin with, and those of its tower. */
  readonly #tower: string;
  readonly #block: string;

  /** `options` are a model's, filled in: they were accepted before. */
  constructor(
    readonly model: ModelName,
    readonly options: Options,
    readonly start: Start,
  ) {
    this.#shape = shapeOf(options, start);
    this.#tower = this.hasSource ? "decoder." : "";
    this.#block = `blocks.${Number(options.nBlocks) - 1}.`;
  }

  get stages(): readonly StageDescription[] {
    return this.#shape.stages;
  }

  get names(): readonly string[] {
    return this.#shape.names;
  }

  get dtype(): "float64" | "float32" {
    return this.options.dtype as "float64" | "float32";
  }

  /** Whether a pass has a source beside its prompt. */
  get hasSource(): boolean {
    return this.model === "EncoderDecoderModel";
  }

  /** The place of a stage in the execution order, by its own name, TransformerLens's, or a short one. */
  find(name: unknown): number | undefined {
    const { slots } = this.#shape;
    const short = SHORT_NAMES.get(name);
    if (short !== undefined) return slots.get(this.#tower + short(this.#block));
    return slots.get(name) ?? slots.get(withoutTower(this.model, name));
  }

  /** As `find`; an unknown name is refused with those close to it. */
  slot(name: unknown): number {
    const slot = this.find(name);
    if (slot !== undefined) return slot;
    // No more of a name is looked at than a message shows.
    const own = withoutTower(this.model, name);
    const nearest = typeof own === "string" ? wasm().nearest_names(short(own), this.#namesLike(own)) : [];
    const hint = nearest.length > 0 ? `; did you mean ${nearest.join(" or ")}?` : "";
    const message = `there is no stage ${inWords(name)} in this trace${hint}`;
    throw new GlassformerError("unknown_stage", message, {
      stage: typeof name === "string" ? short(name) : inWords(name),
      nearest,
    });
  }

  /** The names to compare a misspelt one with: TransformerLens's where it looks like one of those. */
  #namesLike(name: string): string[] {
    return name.includes("hook") ? this.stages.flatMap(({ hooks }) => hooks) : [...this.names];
  }

  /** Where each stage stands in a trace of so many positions, and of so many of a source. */
  layout(rows: number, sourceRows: number): readonly Place[] {
    const { layouts } = this.#shape;
    const key = `${rows},${sourceRows}`;
    const known = layouts.get(key);
    if (known !== undefined) return known;
    const flat = calling(() => wasm().stage_shapes(shapeOptions(this.options), this.start, rows, sourceRows));
    const layout: Place[] = [];
    let offset = 0;
    for (let i = 0; i < flat.length; i += 1 + flat[i]) {
      const shape = Object.freeze(Array.from(flat.subarray(i + 1, i + 1 + flat[i])));
      const size = shape.reduce((product, n) => product * n, 1);
      layout.push({ offset, size, shape });
      offset += size;
    }
    return keep(layouts, key, layout);
  }
}

/** A name as an encoder alone has it, which takes an encoder-decoder's names too; any other name as it is. */
export function withoutTower<T>(model: ModelName, name: T): T | string {
  return model === "EncoderModel" && typeof name === "string" && name.startsWith("encoder.")
    ? name.slice("encoder.".length)
    : name;
}

/** The options without those that do not shape a trace. */
export function shapeOptions(options: Options): Options {
  const { seed: _seed, words: _words, sourceWords: _sourceWords, ...rest } = options;
  return rest;
}
