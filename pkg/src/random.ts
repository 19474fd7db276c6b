/** Seeded random streams: NumPy's default_rng and Rust's StdRng, draw for draw. */

import { calling, GlassformerError, inWords } from "./errors.js";
import type { Stream } from "./generated/glassformer_wasm.js";
import type { StreamPosition } from "./glassformer.js";
import { invalidOption, readNumbers, readOptions, readShape } from "./input.js";
import { Tensor, type TypedArray } from "./tensor.js";
import { wasm } from "./wasm.js";

export class RandomStream {
  readonly #kind: "numpy" | "rand";
  readonly #seed: bigint;
  readonly #inner: Stream;

  constructor(kind: unknown, seed: unknown, words = 0, half = false) {
    if (kind !== "numpy" && kind !== "rand") {
      throw invalidOption("stream", inWords(kind), 'it must be "numpy" or "rand"');
    }
    this.#kind = kind;
    this.#seed = readSeed(seed);
    this.#inner = calling(() => new (wasm().Stream)(kind, this.#seed, BigInt(words), half));
  }

  static at(position: StreamPosition): RandomStream {
    const { stream, seed, words, half, ...rest } = readOptions("seed", position);
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined)
      throw invalidOption(`seed.${unknown}`, inWords(rest[unknown]), "there is no such field");
    if (typeof words !== "number" || !Number.isSafeInteger(words) || words < 0) {
      throw invalidOption("seed.words", inWords(words), "it must be a whole number from 0 on");
    }
    if (typeof half !== "boolean")
      throw invalidOption("seed.half", inWords(half), "it must be true or false");
    const whole = typeof seed === "string" && /^\d{1,20}$/.test(seed) ? BigInt(seed) : seed;
    return new RandomStream(stream, whole, words, half);
  }

  /** Where the stream stands now. */
  position(): StreamPosition {
    const seed = this.#seed <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(this.#seed) : String(this.#seed);
    return Object.freeze({
      stream: this.#kind,
      seed,
      words: Number(this.#inner.words),
      half: this.#inner.half,
    });
  }

  /** The stream itself, for a model that goes on drawing from it. */
  lend(): Stream {
    return this.#inner;
  }

  normal(shape?: unknown): number | Tensor {
    return this.#draw(shape, (n) => this.#inner.normal(n));
  }

  random(shape?: unknown): number | Tensor {
    return this.#draw(shape, (n) => this.#inner.random(n));
  }

  integers(low: unknown, high: unknown, shape?: unknown): number | Tensor {
    const [from, to] = [readInteger("low", low), readInteger("high", high)];
    const narrow = from >= -(2 ** 31) && to <= 2 ** 31;
    const draw = (n: number) => this.#inner.integers(from, to, n);
    return this.#draw(shape, narrow ? (n) => Int32Array.from(draw(n)) : draw);
  }

  choice(n: unknown, p?: unknown, shape?: unknown): number | Tensor {
    const size = readInteger("n", n);
    if (p === undefined || p === null) return this.integers(0, size, shape);
    const weights = readNumbers("p", p);
    if (weights.length !== size) {
      const message = `p has shape [${weights.length}], expected [${size}]`;
      throw new GlassformerError("shape_mismatch", message, {
        what: "p",
        expected: [size],
        actual: [weights.length],
      });
    }
    return this.#draw(shape, (count) => Int32Array.from(this.#inner.choice(weights, count)));
  }

  #draw(shape: unknown, draw: (count: number) => TypedArray): number | Tensor {
    const sizes = readShape(shape);
    if (sizes === undefined) return calling(() => draw(1))[0];
    const count = sizes.reduce((product, n) => product * n, 1);
    if (count > 2 ** 32 - 1) {
      const fields = { what: "the draws", bytes: count * 8 };
      throw new GlassformerError(
        "out_of_memory",
        `memory for the draws: ${count * 8} bytes are more than can be had`,
        fields,
      );
    }
    const axes = sizes.map((_, axis) => `axis ${axis}`);
    return new Tensor(
      calling(() => draw(count)),
      sizes,
      axes,
    );
  }
}

export function randomStream(kind: unknown, seed: unknown): RandomStream {
  return new RandomStream(kind, seed);
}

function readSeed(seed: unknown): bigint {
  const whole = typeof seed === "number" && Number.isSafeInteger(seed) ? BigInt(seed) : seed;
  if (typeof whole === "bigint" && whole >= 0n && whole < 1n << 64n) return whole;
  throw invalidOption(
    "seed",
    inWords(seed),
    "it must be a whole number from 0 to 2^64-1 (from 2^53 on a BigInt)",
  );
}

function readInteger(what: string, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  const words = inWords(value);
  throw new GlassformerError("not_an_integer", `${what} must be a whole number, got ${words}`, {
    what,
    value: words,
  });
}
