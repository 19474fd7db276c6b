/**
 * Refusals; see `GlassformerError` in glassformer.d.ts. Codes and fields are those of the core, but for `freed` and
 * `not_initialized`, which only JavaScript can run into.
 */

export class GlassformerError extends Error {
  readonly code: string;

  constructor(code: string, message: string, fields: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    for (const [name, value] of Object.entries(fields)) {
      Object.defineProperty(this, name, { value, enumerable: true });
    }
  }
}

// As with the engine's own errors: on the prototype, so that JSON and printing show code and fields only.
Object.defineProperty(GlassformerError.prototype, "name", {
  value: "GlassformerError",
  configurable: true,
  writable: true,
});

interface Refusal {
  code: string;
  message: string;
  fields: Record<string, unknown>;
}

function isRefusal(thrown: unknown): thrown is Refusal {
  return typeof thrown === "object" && thrown !== null && "code" in thrown && "fields" in thrown;
}

/** Runs a call into wasm and makes a `GlassformerError` of what the core refuses. */
export function calling<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    if (isRefusal(thrown)) throw new GlassformerError(thrown.code, thrown.message, thrown.fields);
    // What the engine throws when it cannot allocate an array; a stack that overflows is another matter.
    if (thrown instanceof RangeError && !/call stack/i.test(thrown.message)) throw outOfMemory(thrown);
    throw thrown;
  }
}

export function outOfMemory(cause: Error): GlassformerError {
  return new GlassformerError("out_of_memory", `memory cannot be had here: ${cause.message}`, {});
}

/** A value in a few words, for a message; never throws and never runs the value's own code. */
export function inWords(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(short(value));
    case "bigint":
      // Writing a huge one out would take its time.
      return BigInt.asIntN(256, value) === value ? `${value}n` : "a BigInt of more than 256 bits";
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "boolean":
    case "undefined":
      return String(value);
    case "object":
      return value === null ? "null" : isArray(value) ? "a list" : "an object";
    default:
      return `a ${typeof value}`;
  }
}

/** A text as it fits a message. */
export function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** As `Array.isArray`, which throws at a revoked proxy. */
export function isArray(value: unknown): value is unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}
