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

/** How many lengths' layouts are kept: a page moves between few, a generation passes through many. */
const KEPT = 64;

export class Plan {
  readonly stages: readonly StageDescription[];
  readonly names: readonly string[];
  readonly #slots = new Map<string, number>();
  readonly #layouts = new Map<number, readonly Place[]>();

  constructor(
    readonly options: Options,
    readonly fromRows: boolean,
  ) {
    this.stages = calling(() =>
      wasm().describe_stages(shapeOptions(options), fromRows),
    ) as StageDescription[];
    this.names = Object.freeze(this.stages.map((stage) => stage.name));
    for (const [slot, stage] of this.stages.entries()) {
      this.#slots.set(stage.name, slot);
      for (const hook of stage.hooks) this.#slots.set(hook, slot);
    }
  }

  get dtype(): "float64" | "float32" {
    return this.options.dtype as "float64" | "float32";
  }

  /** The place of a stage in the execution order, by its own name or TransformerLens's. */
  find(name: string): number | undefined {
    return this.#slots.get(name);
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
    const known = this.#layouts.get(rows);
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
    if (this.#layouts.size >= KEPT) this.#layouts.delete(this.#layouts.keys().next().value as number);
    this.#layouts.set(rows, layout);
    return layout;
  }
}

/** The options without those that do not shape a trace. */
export function shapeOptions(options: Options): Options {
  const { seed: _seed, words: _words, ...rest } = options;
  return rest;
}
