/** The numbers of one forward pass, and what it was given. Traces of one prompt and of many are made of them. */

import type { Edit } from "./edits.js";
import { calling, GlassformerError } from "./errors.js";
import type { Trace as WasmTrace } from "./generated/glassformer_wasm.js";
import { freed, Handle } from "./lifetime.js";
import type { PromptMasks } from "./masks.js";
import { type Place, type Plan, shapeOptions } from "./plan.js";
import { Tensor } from "./tensor.js";
import { wasm } from "./wasm.js";
import type { Weights } from "./weights.js";

export type Numbers = Float64Array | Float32Array;

/** What a pass was given. */
export interface Prompt {
  /** The tokens; of an encoder-decoder, the target's. Empty when the pass started from rows. */
  readonly tokens: readonly number[];
  /** The source's tokens. */
  readonly source: readonly number[];
  readonly length: number;
  /** 0 where there is no source. */
  readonly sourceLength: number;
  /** What the caller changed about the pass. */
  readonly changes: Changes;
  /** The last position that no padding mask hides. */
  readonly last: number;
  /** The first position that was computed for it, and not taken over from an earlier trace. */
  readonly computedFrom: number;
}

/** What a caller changed about the pass of one prompt, as wasm takes it. */
export interface Changes {
  readonly masks: PromptMasks;
  readonly edits: readonly Edit[];
}

/** Recordings up to this size are copied out whole and live in JavaScript alone. */
const SMALL = 65536;

export class Recording {
  readonly plan: Plan;
  readonly prompt: Prompt;
  readonly layout: readonly Place[];
  /** The parameters it was computed with; a trace that was read from elsewhere has none. */
  readonly weights: Weights | undefined;
  #block: Numbers | undefined;
  readonly #large: Handle<WasmTrace> | undefined;
  #freed = false;

  constructor(
    plan: Plan,
    prompt: Prompt,
    numbers: Numbers | WasmTrace | Handle<WasmTrace>,
    weights?: Weights,
  ) {
    this.plan = plan;
    this.prompt = prompt;
    this.weights = weights;
    weights?.use();
    this.layout = plan.layout(prompt.length, prompt.sourceLength);
    if (ArrayBuffer.isView(numbers)) {
      this.#block = numbers;
    } else if (numbers instanceof Handle) {
      this.#large = numbers;
    } else if (numbers.bytes <= SMALL) {
      this.#block = this.#blockOf(numbers);
      numbers.free();
    } else {
      this.#large = new Handle(numbers, "traces");
    }
  }

  /** The tokens' labels; their ids as text where the model has no words. */
  get words(): readonly string[] {
    return labels(this.prompt.tokens, this.plan.options.words);
  }

  get sourceWords(): readonly string[] {
    return labels(this.prompt.source, this.plan.options.sourceWords);
  }

  /** A copy of one stage. */
  tensor(slot: number): Tensor {
    const { axes } = this.plan.stages[slot];
    return new Tensor(this.cells(slot), this.layout[slot].shape, axes);
  }

  /** A copy of one stage's numbers; counts and indices as 32-bit whole numbers. */
  cells(slot: number): Numbers | Int32Array {
    const cells = this.#copy(slot);
    return this.plan.stages[slot].integer ? calling(() => Int32Array.from(cells)) : cells;
  }

  #copy(slot: number): Numbers {
    const { offset, size } = this.layout[slot];
    if (this.#block !== undefined) return this.#block.slice(offset, offset + size);
    const large = this.#handle().get();
    return this.#filled(size, (out) => large.stage_into(slot, out));
  }

  /** A copy of all numbers, one stage after the other. */
  block(): Numbers {
    if (this.#block !== undefined) return this.#block.slice();
    return this.#blockOf(this.#handle().get());
  }

  diff(other: Recording): ReturnType<WasmTrace["diff"]> {
    return this.lend((a) => other.lend((b) => calling(() => a.diff(b))));
  }

  /** The same numbers again, for a trace that is freed by itself. */
  share(): Recording {
    return new Recording(this.plan, this.prompt, this.#block ?? this.#handle().share(), this.weights);
  }

  free(): void {
    this.#freed = true;
    this.#block = undefined;
    this.#large?.free();
  }

  #blockOf(numbers: WasmTrace): Numbers {
    const { offset, size } = this.layout[this.layout.length - 1];
    return this.#filled(offset + size, (out) => numbers.block_into(out));
  }

  /** A new array of the trace's type, filled by wasm: allocated here, where a refusal leaves nothing half done. */
  #filled(size: number, fill: (out: Numbers) => void): Numbers {
    const Type = this.plan.dtype === "float64" ? Float64Array : Float32Array;
    return calling(() => {
      const out = new Type(size);
      fill(out);
      return out;
    });
  }

  #handle(): Handle<WasmTrace> {
    if (this.#large !== undefined && !this.#freed) return this.#large;
    throw freed("trace");
  }

  /** Lends the numbers to wasm for one call. */
  lend<T>(use: (trace: WasmTrace) => T): T {
    if (this.#block === undefined) return use(this.#handle().get());
    const lent = inWasm(this.plan, this.prompt, this.#block);
    try {
      const result = use(lent);
      lent.free();
      return result;
    } catch (cause) {
      // After anything but a refusal the module may hold it still: freeing it would throw, and hide what happened.
      if (cause instanceof GlassformerError) lent.free();
      throw cause;
    }
  }
}

/** A trace in wasm memory of numbers that are JavaScript's; those that no trace has are refused. */
export function inWasm(plan: Plan, prompt: Prompt, block: Numbers): WasmTrace {
  const { tokens, source, length, sourceLength, changes } = prompt;
  const ids = [source, tokens].map((list) => Uint32Array.from(list)) as [Uint32Array, Uint32Array];
  const options = shapeOptions(plan.options);
  return calling(() =>
    wasm().trace_from_block(options, plan.start, ...ids, sourceLength, length, changes, block),
  );
}

function labels(tokens: readonly number[], words: unknown): readonly string[] {
  const list = words as readonly string[] | undefined;
  return Object.freeze(tokens.map((id) => list?.[id] ?? String(id)));
}
