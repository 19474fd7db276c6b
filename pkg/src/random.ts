/** Seeded random streams: NumPy's default_rng and Rust's StdRng, draw for draw. */

import { calling, GlassformerError, inWords } from "./errors.js";
import type { StreamPosition } from "./glassformer.js";
import { field, invalidOption, isTyped, readNumbers, readOptions, readShape } from "./input.js";
import { isTensor, Tensor } from "./tensor.js";
import { wasm } from "./wasm.js";

/** What a stream draws with: made anew for each call, so that a stream holds nothing that must be freed. */
type Generator = InstanceType<ReturnType<typeof wasm>["Stream"]>;

/** Far more than anyone draws, and few enough that every later position has a number. */
const MOST_WORDS = 2 ** 52;

/** Lends a stream's generator for one use; the stream goes on where it then stands. */
export let lend: <T>(stream: RandomStream, use: (generator: Generator) => T) => T;

export class RandomStream {
  readonly #kind: "numpy" | "rand";
  readonly #seed: bigint;
  #words: bigint;
  #half: number | null;

  static {
    lend = (stream, use) => stream.#lend(use);
  }

  constructor(kind: unknown, seed: unknown, words: unknown = 0, half: unknown = null) {
    if (kind !== "numpy" && kind !== "rand") {
      throw invalidOption("stream", inWords(kind), 'it must be "numpy" or "rand"');
    }
    if (!(typeof words === "number" && Number.isInteger(words) && words >= 0 && words <= MOST_WORDS)) {
      throw invalidOption("words", inWords(words), "it must be a whole number from 0 to 2^52");
    }
    const isHalf = typeof half === "number" && Number.isInteger(half) && half >= 0 && half < 2 ** 32;
    if (half !== null && !isHalf) {
      throw invalidOption("half", inWords(half), "it must be null or 32 bits as a whole number");
    }
    this.#kind = kind;
    this.#seed = readSeed(seed);
    this.#words = BigInt(words);
    this.#half = half as number | null;
    // A position that cannot be is refused now.
    this.#generator().free();
  }

  static at(position: StreamPosition): RandomStream {
    const { stream, seed, words, half } = readOptions("seed", position, ["stream", "seed", "words", "half"]);
    const whole = typeof seed === "string" && /^\d{1,20}$/.test(seed) ? BigInt(seed) : seed;
    return new RandomStream(stream, whole, words ?? null, half);
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

  #lend<T>(use: (generator: Generator) => T): T {
    const generator = this.#generator();
    try {
      const result = calling(() => use(generator));
      this.#words = BigInt(generator.words);
      this.#half = generator.half ?? null;
      return result;
    } finally {
      generator.free();
    }
  }

  normal(shape?: unknown, ...more: unknown[]): number | Tensor {
    refuseMore("normal takes a shape alone: scale and shift its numbers yourself", more);
    return this.#draw(shape, (generator, out) => generator.normal(out));
  }

  random(shape?: unknown, ...more: unknown[]): number | Tensor {
    refuseMore("random takes a shape alone", more);
    return this.#draw(shape, (generator, out) => generator.random(out));
  }

  integers(low: unknown, high: unknown, shape?: unknown, ...more: unknown[]): number | Tensor {
    refuseMore("integers takes low, high and a shape", more);
    const [from, to] = [readInteger("low", low), readInteger("high", high)];
    const narrow = from >= -(2 ** 31) && to <= 2 ** 31;
    return this.#draw(shape, (generator, out) => generator.integers(from, to, out), narrow);
  }

  choice(n: unknown, p?: unknown, shape?: unknown, ...more: unknown[]): number | Tensor {
    refuseMore("choice takes n, probabilities and a shape", more);
    const size = readInteger("n", n);
    if (size < 1) throw invalidOption("n", inWords(n), "it must be at least 1");
    if (p === undefined || p === null) return this.integers(0, size, shape);
    const list = isTensor(p) ? p.data : p;
    const single = isTyped(list, Float32Array);
    const weights = readNumbers("p", list, size, (length) => {
      const fields = { what: "p", expected: [size], actual: [length] };
      return new GlassformerError("shape_mismatch", `p has shape [${length}], expected [${size}]`, fields);
    });
    return this.#draw(shape, (generator, out) => generator.choice(weights, single, out), true);
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
    this.#lend((generator) => draw(generator, out));
    if (sizes === undefined) return out[0];
    const axes = sizes.map((_, axis) => `axis ${axis}`);
    return new Tensor(narrow ? calling(() => Int32Array.from(out)) : out, sizes, axes);
  }
}

/** A stream of a kind and a seed, or one that goes on from a position, which must be of that kind. */
export function randomStream(kind: unknown, seed: unknown): RandomStream {
  const stood = field("seed", seed, "stream");
  if (stood === undefined) return new RandomStream(kind, seed);
  if (stood !== kind)
    throw invalidOption("stream", inWords(kind), `the position is one of ${inWords(stood)}`);
  return RandomStream.at(seed as StreamPosition);
}

function refuseMore(takes: string, more: readonly unknown[]): void {
  if (more.length > 0) throw invalidOption("argument", inWords(more[0]), takes);
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
