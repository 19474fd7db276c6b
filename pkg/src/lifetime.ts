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

/** A thing in wasm memory, and how many handles of it were not freed. */
interface Held<T> {
  readonly inner: T;
  holders: number;
}

/** Something in wasm memory that can be used until it is freed. */
export class Handle<T extends Freeable> {
  #held: Held<T> | undefined;
  readonly #kind: Kind;

  constructor(inner: T, kind: Kind, shared?: Held<T>) {
    this.#kind = kind;
    if (shared !== undefined) {
      this.#held = shared;
      shared.holders += 1;
      return;
    }
    this.#held = { inner, holders: 1 };
    live[kind] += 1;
    counted.register(inner, kind, this.#held);
  }

  /** The thing itself; refused once it is freed. */
  get(): T {
    if (this.#held !== undefined) return this.#held.inner;
    throw freed(this.#kind === "models" ? "model" : "trace");
  }

  /** Another handle of the same thing, which stays until both are freed. */
  share(): Handle<T> {
    const inner = this.get();
    return new Handle(inner, this.#kind, this.#held);
  }

  free(): void {
    const held = this.#held;
    if (held === undefined) return;
    if (held.holders === 1) held.inner.free();
    held.holders -= 1;
    this.#held = undefined;
    if (held.holders > 0) return;
    counted.unregister(held);
    live[this.#kind] -= 1;
  }
}

export function freed(what: string): GlassformerError {
  const message = `${what} freed: free() was called and it cannot be used any more`;
  return new GlassformerError("freed", message, { what });
}

/** What is in wasm memory now. */
export function memory(): { wasmBytes: number; liveModels: number; liveTraces: number } {
  return { wasmBytes: wasmBytes(), liveModels: live.models, liveTraces: live.traces };
}

/** The symbol that `using` looks for, where the platform has it. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? (Symbol.for("Symbol.dispose") as never);
