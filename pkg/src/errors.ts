/** Refusals. Codes and fields are those of the core; see `GlassformerError` in glassformer.d.ts. */

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
    // What the engine throws when it cannot allocate an array or grow the memory.
    if (thrown instanceof RangeError) throw outOfMemory(thrown);
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
      return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
    case "bigint":
      return `${value}n`;
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "boolean":
    case "undefined":
      return String(value);
    case "object":
      return value === null ? "null" : Array.isArray(value) ? "a list" : "an object";
    default:
      return `a ${typeof value}`;
  }
}
