/** The one instance of the wasm module, compiled when it is first needed. */

import { GlassformerError } from "./errors.js";
import { EXPORTS } from "./generated/exports.js";
// By name, so that the glue's own loader, which fetches, is left out of the bundle.
import {
  describe_stages,
  fill_in,
  initSync,
  Model,
  nearest_names,
  Stream,
  stage_shapes,
  Trace,
  trace_from_block,
} from "./generated/glassformer_wasm.js";
import type { ResponseLike, WasmSource } from "./glassformer.js";
import { messageOf } from "./input.js";

const bindings = {
  describe_stages,
  fill_in,
  Model,
  nearest_names,
  Stream,
  stage_shapes,
  Trace,
  trace_from_block,
};

export type Bindings = typeof bindings;

let embedded: (() => Uint8Array) | undefined;
let memoryOfInstance: WebAssembly.Memory | undefined;
let starting: Promise<void> | undefined;

/** Gives the bytes that are used when none are handed over; called before anything else. */
export function embed(bytes: () => Uint8Array): void {
  embedded = bytes;
}

/** The bindings, ready to be called. */
export function wasm(): Bindings {
  if (memoryOfInstance === undefined) {
    if (embedded === undefined) throw notInitialized("call init(bytes) first and await it");
    instantiate(compileNow(embedded()));
  }
  return bindings;
}

/** How many bytes the instance's memory has; 0 before it is needed. */
export function wasmBytes(): number {
  return memoryOfInstance?.buffer.byteLength ?? 0;
}

/** Compiles off the calling thread. Once the module is ready, further calls do nothing. */
export function init(source?: WasmSource | Promise<WasmSource>): Promise<void> {
  if (memoryOfInstance !== undefined || starting !== undefined) {
    // A source that is not needed any more may fail without anybody listening.
    Promise.resolve(source).catch(() => {});
  }
  if (memoryOfInstance !== undefined) return Promise.resolve();
  // A call that failed, such as a download, may be made again.
  starting ??= start(source).finally(() => {
    starting = undefined;
  });
  return starting;
}

async function start(source?: WasmSource | Promise<WasmSource>): Promise<void> {
  try {
    await startWith(source);
  } catch (cause) {
    if (cause instanceof GlassformerError) throw cause;
    throw notInitialized(`what it was given cannot be used: ${messageOf(cause)}`);
  }
}

async function startWith(source?: WasmSource | Promise<WasmSource>): Promise<void> {
  const given = (await arriving(source)) ?? embedded?.();
  if (given === undefined)
    throw notInitialized("init needs the bytes of glassformer.wasm, a Module or a Response");
  const module = given instanceof WebAssembly.Module ? given : await compile(await bytesOf(given));
  // Something may have been constructed meanwhile, which compiled at once.
  if (memoryOfInstance === undefined) instantiate(module);
}

/** What a promise brings; a download that fails is a refusal like any other. */
async function arriving<T>(promised: T | Promise<T>): Promise<T> {
  try {
    return await promised;
  } catch (cause) {
    throw notInitialized(`the bytes did not arrive: ${messageOf(cause)}`);
  }
}

async function bytesOf(source: unknown): Promise<BufferSource> {
  if (typeof source === "object" && source !== null && "arrayBuffer" in source && "ok" in source) {
    const response = source as ResponseLike;
    if (!response.ok) throw notInitialized(`the server answered ${response.status} for ${response.url}`);
    return arriving(response.arrayBuffer());
  }
  // By its tag, because a buffer may come from another frame.
  const isBuffer = Object.prototype.toString.call(source) === "[object ArrayBuffer]";
  if (isBuffer || ArrayBuffer.isView(source)) return source as BufferSource;
  throw notInitialized("init takes the bytes of glassformer.wasm, a WebAssembly.Module or a Response");
}

async function compile(bytes: BufferSource): Promise<WebAssembly.Module> {
  checkMagic(bytes);
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw notInitialized(`WebAssembly cannot be compiled here: ${messageOf(cause)}`);
  }
}

function compileNow(bytes: Uint8Array): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes as BufferSource);
  } catch (cause) {
    throw notInitialized(`WebAssembly cannot be compiled here: ${messageOf(cause)}`);
  }
}

function instantiate(module: WebAssembly.Module): void {
  const exported = new Map(WebAssembly.Module.exports(module).map(({ name, kind }) => [name, kind]));
  const [missing] = EXPORTS.find(([name, kind]) => exported.get(name) !== kind) ?? [];
  // It must not come near the bindings, which take the first module they get for good.
  if (missing !== undefined) throw notInitialized(`this is not this version's wasm: it has no ${missing}`);
  try {
    memoryOfInstance = initSync({ module }).memory;
  } catch (cause) {
    throw notInitialized(`this is another version's wasm, or not glassformer's: ${messageOf(cause)}`);
  }
}

function checkMagic(bytes: BufferSource): void {
  const head = ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, Math.min(4, bytes.byteLength))
    : new Uint8Array(bytes, 0, Math.min(4, bytes.byteLength));
  if (String.fromCharCode(...head) === "\0asm") return;
  const begins = Array.from(head, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const page = head[0] === 0x3c ? "; that is how a web page begins: is the address right?" : "";
  throw notInitialized(`these bytes are not WebAssembly, they begin with ${begins || "nothing"}${page}`);
}

function notInitialized(reason: string): GlassformerError {
  return new GlassformerError("not_initialized", `glassformer is not initialized: ${reason}`, { reason });
}
