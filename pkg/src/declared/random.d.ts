/** Seeded random numbers. */

import type { Seed } from "./options.js";
import type { Tensor } from "./tensor.js";

/** Where a stream stands. */
export interface StreamPosition {
  readonly stream: "numpy" | "rand";
  readonly seed: number | string;
  /** How many 64-bit words were drawn. */
  readonly words: number;
  /** The half of an earlier word that waits for the next 32-bit draw (NumPy's `uinteger`); null where none does. */
  readonly half: number | null;
}

export type Shape = number | ArrayLike<number>;

/** A seeded random stream. Without a shape a draw is one number. */
export interface RandomStream {
  /** Standard normal draws. */
  normal(): number;
  normal(shape: Shape): Tensor;
  /** Uniform draws from [0, 1). */
  random(): number;
  random(shape: Shape): Tensor;
  /** Whole numbers from low to high - 1, as an Int32Array where the bounds fit in 32 bits. */
  integers(low: number, high: number): number;
  integers(low: number, high: number, shape: Shape): Tensor;
  /** Indices below n, with probabilities p where they are given. */
  choice(n: number, p?: ArrayLike<number> | Tensor | null): number;
  choice(n: number, p: ArrayLike<number> | Tensor | null | undefined, shape: Shape): Tensor;
  /** Where the stream stands now. */
  position(): StreamPosition;
}

/** NumPy's `default_rng(seed)`, or Rust's rand 0.8 `StdRng::seed_from_u64(seed)` with rand_distr 0.4. */
export function randomStream(stream: "numpy" | "rand", seed: Seed | StreamPosition): RandomStream;
