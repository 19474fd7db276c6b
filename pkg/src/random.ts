/** Seeded random streams: NumPy's default_rng and Rust's StdRng, draw for draw. */

import { calling, GlassformerError, inWords } from "./errors.js";
import type { StreamPosition } from "./glassformer.js";
import { invalidOption, readNumbers, readOptions, readShape } from "./input.js";
import { Tensor } from "./tensor.js";
import { wasm } from "./wasm.js";

/** What a stream draws with: made anew for each call, so that a stream holds nothing that must be freed. */
type Generator = InstanceType<ReturnType<typeof wasm>["Stream"]>;

export class RandomStream {
  readonly #kind: "numpy" | "rand";
  readonly #seed: bigint;
  #words: bigint;
  #half: number | null;

  constructor(kind: unknown, seed: unknown, words = 0, half: number | null = null) {
    if (kind !== "numpy" && kind !== "rand") {
      throw invalidOption("stream", inWords(kind), 'it must be "numpy" or "rand"');
    }
    this.#kind = kind;
    this.#seed = readSeed(seed);
    this.#words = BigInt(words);
    this.#half = half;
    // A position that cannot be is refused now.
    this.#generator().free();
  }

  static at(position: StreamPosition): RandomStream {
    const { stream, seed, words, half, ...rest } = readOptions("seed", position);
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined)
      throw invalidOption(`seed.${unknown}`, inWords(rest[unknown]), "there is no such field");
    if (typeof words !== "number" || !Number.isSafeInteger(words) || words < 0) {
      throw invalidOption("seed.words", inWords(words), "it must be a whole number from 0 on");
    }
    const isHalf = typeof half === "number" && Number.isInteger(half) && half >= 0 && half < 2 ** 32;
    if (half !== null && !isHalf) {
      throw invalidOption("seed.half", inWords(half), "it must be null or 32 bits as a whole number");
    }
    const whole = typeof seed === "string" && /^\d{1,20}$/.test(seed) ? BigInt(seed) : seed;
    return new RandomStream(stream, whole, words, half as number | null);
  }

  /** The stream that a value is, or undefined; no code of the value's own runs. */
  static from(value: unknown): RandomStream | undefined {
    return typeof value === "object" && value !== null && #words in value
      ? (value as RandomStream)
      : undefined;
  }

  /** Where the stream stands now. */
  position(): StreamPosition {
    const seed = this.#seed <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(this.#seed) : String(this.#seed);
    return Object.freeze({ stream: this.#kind, seed, words: Number(this.#words), half: this.#half });
  }

  /** Lends the generator for one use, and goes on where it then stands. */
  lend<T>(use: (generator: Generator) => T): T {
    const generator = this.#generator();
    try {
      const result = calling(() => use(generator));
      this.#words = generator.words;
      this.#half = generator.half ?? null;
      return result;
    } finally {
      generator.free();
    }
  }

  normal(shape?: unknown): number | Tensor {
    return this.#draw(shape, (generator, out) => generator.normal(out));
  }

  random(shape?: unknown): number | Tensor {
    return this.#draw(shape, (generator, out) => generator.random(out));
  }

  integers(low: unknown, high: unknown, shape?: unknown): number | Tensor {
    const [from, to] = [readInteger("low", low), readInteger("high", high)];
    const narrow = from >= -(2 ** 31) && to <= 2 ** 31;
    return this.#draw(shape, (generator, out) => generator.integers(from, to, out), narrow);
  }

  choice(n: unknown, p?: unknown, shape?: unknown): number | Tensor {
    const size = readInteger("n", n);
    if (size < 1) throw invalidOption("n", inWords(n), "it must be at least 1");
    if (p === undefined || p === null) return this.integers(0, size, shape);
    const weights = readNumbers("p", p, size, (length) => {
      const fields = { what: "p", expected: [size], actual: [length] };
      return new GlassformerError("shape_mismatch", `p has shape [${length}], expected [${size}]`, fields);
    });
    return this.#draw(shape, (generator, out) => generator.choice(weights, out), true);
  }

  #generator(): Generator {
    const { Stream } = wasm();
    return calling(() => new Stream(this.#kind, this.#seed, this.#words, this.#half ?? undefined));
  }

  /** Draws into an array of its own; whole numbers that fit come as 32-bit ones. */
  #draw(
    shape: unknown,
    draw: (generator: Generator, out: Float64Array) => void,
    narrow = false,
  ): number | Tensor {
    const sizes = readShape(shape);
    const count = sizes?.reduce((product, n) => product * n, 1) ?? 1;
    if (count > 2 ** 32 - 1) {
      const fields = { what: "the draws", bytes: count * 8 };
      const message = `memory for the draws: ${count * 8} bytes are more than can be had`;
      throw new GlassformerError("out_of_memory", message, fields);
    }
    const out = calling(() => new Float64Array(count));
    this.lend((generator) => draw(generator, out));
    if (sizes === undefined) return out[0];
    const axes = sizes.map((_, axis) => `axis ${axis}`);
    return new Tensor(narrow ? calling(() => Int32Array.from(out)) : out, sizes, axes);
  }
}

export function randomStream(kind: unknown, seed: unknown): RandomStream {
  return new RandomStream(kind, seed);
}

function readSeed(seed: unknown): bigint {
  const whole = typeof seed === "number" && Number.isInteger(seed) ? BigInt(seed) : seed;
  if (typeof whole === "bigint" && whole >= 0n && whole < 1n << 64n) return whole;
  throw invalidOption("seed", inWords(seed), "it must be a whole number from 0 to 2^64-1");
}

function readInteger(what: string, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  const words = inWords(value);
  throw new GlassformerError("not_an_integer", `${what} must be a whole number, got ${words}`, {
    what,
    value: words,
  });
}
