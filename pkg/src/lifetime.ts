/** What lives in wasm memory, counted; freed by hand or when it is no longer reachable. */

import { GlassformerError } from "./errors.js";
import { wasmBytes } from "./wasm.js";

export type Kind = "models" | "traces";

interface Freeable {
  free(): void;
}

const live: Record<Kind, number> = { models: 0, traces: 0 };

// The bindings free what is no longer reachable themselves; this registry only keeps the count.
const counted = new FinalizationRegistry<Kind>((kind) => {
  live[kind] -= 1;
});

/** Something in wasm memory that can be used until it is freed. */
export class Handle<T extends Freeable> {
  #inner: T | undefined;
  readonly #kind: Kind;

  constructor(inner: T, kind: Kind) {
    this.#inner = inner;
    this.#kind = kind;
    live[kind] += 1;
    counted.register(inner, kind, this);
  }

  /** The thing itself; refused once it is freed. */
  get(): T {
    if (this.#inner !== undefined) return this.#inner;
    const what = this.#kind === "models" ? "model" : "trace";
    throw new GlassformerError("freed", `${what} freed: free() was called and it cannot be used any more`, {
      what,
    });
  }

  free(): void {
    const inner = this.#inner;
    if (inner === undefined) return;
    inner.free();
    this.#inner = undefined;
    counted.unregister(this);
    live[this.#kind] -= 1;
  }
}

/** What is in wasm memory now. */
export function memory(): { wasmBytes: number; liveModels: number; liveTraces: number } {
  return { wasmBytes: wasmBytes(), liveModels: live.models, liveTraces: live.traces };
}

/** The symbol that `using` looks for, where the platform has it. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? (Symbol.for("Symbol.dispose") as never);
