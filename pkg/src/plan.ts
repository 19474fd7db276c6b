/** What a trace of some options consists of: its stages, their shapes, and where each stands in a block. */

import { calling, GlassformerError, inWords, short } from "./errors.js";
import { wasm } from "./wasm.js";

export interface StageDescription {
  name: string;
  hooks: string[];
  symbol: string;
  axes: string[];
  kind: string;
  meaning: string;
  formula: string;
  inputs: string[];
}

export type Options = Record<string, unknown>;

/** Where a stage's numbers stand in a trace's block, and their shape. */
export interface Place {
  offset: number;
  size: number;
  shape: readonly number[];
}

/** How many shapes, and lengths of each, are kept: a page moves between few, a generation passes through many. */
const KEPT = 64;

/** A shape of more stages than this is not kept: its model keeps it. */
const LARGE = 2000;

/** What traces of one shape have in common, whatever the numbers of their models. */
interface Shape {
  readonly stages: readonly StageDescription[];
  readonly names: readonly string[];
  /** The place of each stage, by its own name and TransformerLens's. */
  readonly slots: ReadonlyMap<string, number>;
  readonly layouts: Map<number, readonly Place[]>;
}

const shapes = new Map<string, Shape>();

/** Remembers a value; the one that was remembered first is forgotten when there are too many. */
function keep<K, V>(map: Map<K, V>, key: K, value: V): V {
  if (map.size >= KEPT) map.delete(map.keys().next().value as K);
  map.set(key, value);
  return value;
}

function shapeOf(options: Options, fromRows: boolean): Shape {
  const given = shapeOptions(options);
  const key = JSON.stringify([given, fromRows]);
  const known = shapes.get(key);
  if (known !== undefined) return known;
  const stages = calling(() => wasm().describe_stages(given, fromRows)) as StageDescription[];
  const names = Object.freeze(stages.map((stage) => stage.name));
  const slots = new Map(
    stages.flatMap(({ name, hooks }, slot) => [name, ...hooks].map((n) => [n, slot] as const)),
  );
  const shape = { stages, names, slots, layouts: new Map() };
  return stages.length > LARGE ? shape : keep(shapes, key, shape);
}

export class Plan {
  readonly #shape: Shape;

  /** `options` are a model's, filled in: they were accepted before. */
  constructor(
    readonly options: Options,
    readonly fromRows: boolean,
  ) {
    this.#shape = shapeOf(options, fromRows);
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

  /** The place of a stage in the execution order, by its own name or TransformerLens's. */
  find(name: string): number | undefined {
    return this.#shape.slots.get(name);
  }

  /** As `find`; an unknown name is refused with those close to it. */
  slot(name: string): number {
    const slot = this.find(name);
    if (slot !== undefined) return slot;
    // No more of a name is looked at than a message shows.
    const nearest = typeof name === "string" ? wasm().nearest_names(short(name), this.#namesLike(name)) : [];
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

  layout(rows: number): readonly Place[] {
    const { layouts } = this.#shape;
    const known = layouts.get(rows);
    if (known !== undefined) return known;
    const flat = calling(() => wasm().stage_shapes(shapeOptions(this.options), this.fromRows, rows));
    const layout: Place[] = [];
    let offset = 0;
    for (let i = 0; i < flat.length; i += 1 + flat[i]) {
      const shape = Object.freeze(Array.from(flat.subarray(i + 1, i + 1 + flat[i])));
      const size = shape.reduce((product, n) => product * n, 1);
      layout.push({ offset, size, shape });
      offset += size;
    }
    return keep(layouts, rows, layout);
  }
}

/** The options without those that do not shape a trace. */
export function shapeOptions(options: Options): Options {
  const { seed: _seed, words: _words, ...rest } = options;
  return rest;
}
