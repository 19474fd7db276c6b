/** Loading: ES module, require, slim, workers; and what is said when the bytes are not what they should be. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { CausalLanguageModel, init } from "glassformer";

const require = createRequire(import.meta.url);
const bytes = readFileSync(require.resolve("glassformer/glassformer.wasm"));
const want = Array.from(new CausalLanguageModel({ nVocab: 7 }).respondTo([0, 1, 2]).logits.data);

/** Runs a module in a fresh process and gives back the JSON it prints. */
function fresh(code, type = "module") {
  const args = [`--input-type=${type}`, "--eval", code];
  return JSON.parse(
    execFileSync(process.execPath, args, { cwd: import.meta.dirname ?? process.cwd(), encoding: "utf8" }),
  );
}

const ANSWER = "Array.from(new CausalLanguageModel({ nVocab: 7 }).respondTo([0, 1, 2]).logits.data)";

test("require() works and gives the same numbers", () => {
  const code = `const { CausalLanguageModel } = require("glassformer"); console.log(JSON.stringify(${ANSWER}))`;
  assert.deepEqual(fresh(code, "commonjs"), want);
});

test("the module works where there is no fetch, no process and no document", () => {
  const code = `delete globalThis.fetch; delete globalThis.process; delete globalThis.Buffer;
    const { CausalLanguageModel } = await import("glassformer"); console.log(JSON.stringify(${ANSWER}))`;
  assert.deepEqual(fresh(code), want);
});

test("slim takes bytes, a module, a response, or a promise of one", () => {
  const sources = {
    bytes: "bytes",
    buffer: "bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)",
    module: "await WebAssembly.compile(bytes)",
    response: "new Response(bytes)",
    promise: "Promise.resolve(new Response(bytes, { headers: { 'content-type': 'application/wasm' } }))",
  };
  for (const [name, source] of Object.entries(sources)) {
    const code = `import { readFileSync } from "node:fs"; import { createRequire } from "node:module";
      import { CausalLanguageModel, init } from "glassformer/slim";
      const bytes = readFileSync(createRequire(process.cwd() + "/x.mjs").resolve("glassformer/glassformer.wasm"));
      await Promise.all([init(${source}), init(${source})]); await init();
      console.log(JSON.stringify(${ANSWER}))`;
    assert.deepEqual(fresh(code), want, name);
  }
});

test("slim says what is missing or wrong, and can be given the right bytes afterwards", () => {
  const code = `import { CausalLanguageModel, init } from "glassformer/slim";
    const told = [];
    const tell = async (call) => { try { await call(); told.push("nothing"); } catch (e) { told.push([e.name, e.code, e.message]); } };
    await tell(() => new CausalLanguageModel({ nVocab: 7 }));
    await tell(() => init());
    await tell(() => init(new TextEncoder().encode("<!doctype html>")));
    await tell(() => init(new Response("no", { status: 404 })));
    await tell(() => init("glassformer.wasm"));
    await tell(() => init(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)));
    await tell(() => init(Uint8Array.of(0, 97, 115, 109, 9, 9, 9, 9)));
    await tell(() => init(new Uint8Array(0)));
    await tell(() => init(Promise.reject(new Error("offline"))));
    await tell(() => new CausalLanguageModel({ nVocab: 7 }));
    const { readFileSync } = await import("node:fs");
    const { createRequire } = await import("node:module");
    await init(readFileSync(createRequire(process.cwd() + "/x.mjs").resolve("glassformer/glassformer.wasm")));
    await init(Promise.reject(new Error("offline, but no longer needed")));
    told.push(new CausalLanguageModel({ nVocab: 7 }).options.nModel);
    console.log(JSON.stringify(told))`;
  const told = fresh(code);
  assert.equal(told.pop(), 4);
  assert.equal(told.length, 10);
  for (const [name, errorCode] of told)
    assert.deepEqual([name, errorCode], ["GlassformerError", "not_initialized"]);
  assert.match(told[0][2], /call init/);
  assert.match(told[2][2], /3c 21 64 6f; that is how a web page begins/);
  assert.match(told[3][2], /404/);
});

test("slim refuses a module that only looks like its own, and takes its own afterwards", () => {
  const code = `import { readFileSync } from "node:fs"; import { createRequire } from "node:module";
    import { CausalLanguageModel, init } from "glassformer/slim";
    const bytes = readFileSync(createRequire(process.cwd() + "/x.mjs").resolve("glassformer/glassformer.wasm"));
    // One export renamed, to a name of the same length.
    const other = Buffer.from(bytes.toString("latin1").replace("stage_shapes", "stage_shopes"), "latin1");
    const sources = [other, Object.create(WebAssembly.Module.prototype), Object.create(null), { arrayBuffer: 1, ok: true },
      { ok: true, arrayBuffer: async () => null }, new Proxy({}, { has() { throw new Error("mine"); } }), 7];
    const told = [];
    for (const source of [...sources, "rejecting"]) {
      try { await init(source === "rejecting" ? Promise.reject(Object.create(null)) : source); told.push("nothing"); } catch (e) { told.push([e.name, e.code]); }
    }
    await init(bytes);
    console.log(JSON.stringify([told, ${ANSWER}]))`;
  const [told, answer] = fresh(code);
  assert.equal(told.length, 8);
  for (const refused of told) assert.deepEqual(refused, ["GlassformerError", "not_initialized"]);
  assert.deepEqual(answer, want);
});

test("init is idempotent, before and after the first construction", async () => {
  await init();
  await Promise.all([init(), init(bytes)]);
  assert.deepEqual(Array.from(new CausalLanguageModel({ nVocab: 7 }).respondTo([0, 1, 2]).logits.data), want);
});

test("a worker computes the same bits, and a trace comes over as its plain copy", async () => {
  const code = `const { parentPort } = require("node:worker_threads");
    import("glassformer").then(({ CausalLanguageModel }) =>
      parentPort.postMessage(new CausalLanguageModel({ nVocab: 7 }).respondTo([0, 1, 2]).toPlain()));`;
  const worker = new Worker(code, { eval: true });
  const plain = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  await worker.terminate();
  const { Trace } = await import("glassformer");
  assert.deepEqual(Array.from(Trace.fromPlain(plain).logits.data), want);
});

test("the root module asks for nothing: no import, no fetch, no top-level await", () => {
  const text = readFileSync(
    require.resolve("glassformer/package.json").replace("package.json", "dist/index.js"),
    "utf8",
  );
  assert.doesNotMatch(text, /^\s*import[\s{*"]/m);
  assert.doesNotMatch(text, /import\.meta|\bfetch\s*\(|\brequire\s*\(|^await /m);
});
