/** The package in a browser: by a plain script tag's import, in a worker, with the wasm served; the native bits. */

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT } from "../../scripts/lib/run.mjs";
import { serve } from "../../scripts/serve.mjs";
import { digestOf, expectedDigests, traceDigest } from "../node/digest.mjs";
import { openBrowser } from "./browser.mjs";

let browser;
let server;
let folder;

const WORKER = `import { CausalLanguageModel } from "./index.js";
  onmessage = ({ data }) => postMessage(new CausalLanguageModel({ nVocab: 7 }).respondTo(data).toPlain());`;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "glassformer-"));
  cpSync(join(ROOT, "pkg", "dist"), folder, { recursive: true });
  writeFileSync(
    join(folder, "index.html"),
    '<!doctype html><link rel="icon" href="data:,"><title>empty</title>',
  );
  writeFileSync(join(folder, "worker.js"), WORKER);
  server = await serve(folder);
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function inPage(work, argument) {
  const page = await browser.newPage();
  await page.goto(server.url);
  const result = await page.evaluate(work, argument);
  await page.close();
  return result;
}

test("every stage has the native bits in the browser", async () => {
  const expected = expectedDigests(ROOT);
  assert.equal(expected.length, 5);
  const got = await inPage(
    async ({ code, names }) => {
      const glassformer = await import("./index.js");
      const digest = new Function(`${code}; return traceDigest;`)();
      return names.map((activation) => ({
        activation,
        float64: digest(glassformer, activation, "float64", "lesson"),
        float32: digest(glassformer, activation, "float32", "gpt2"),
      }));
    },
    { code: `${digestOf}; ${traceDigest}`, names: expected.map(({ activation }) => activation) },
  );
  assert.deepEqual(got, expected);
});

test("a module worker's trace is the page's, to the bit", async () => {
  const identical = await inPage(async () => {
    const { CausalLanguageModel, Trace } = await import("./index.js");
    const worker = new Worker("./worker.js", { type: "module" });
    const plain = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = reject;
      worker.postMessage([0, 1, 2]);
    });
    const own = new CausalLanguageModel({ nVocab: 7 }).respondTo([0, 1, 2]);
    return own.diff(Trace.fromPlain(plain)).rows.map((row) => row.identical);
  });
  assert.deepEqual(identical, [true, true, true]);
});

test("slim compiles the served wasm, and says when the address is wrong", async () => {
  const [refused, value] = await inPage(async () => {
    const { CausalLanguageModel, init } = await import("./slim.js");
    const refused = await init(fetch("./index.html")).catch(({ name, code, message }) => [
      name,
      code,
      message,
    ]);
    await init(fetch("./glassformer.wasm"));
    return [refused, new CausalLanguageModel({ nVocab: 7 }).respondTo([0, 1, 2]).attention.at(0, 2, 0)];
  });
  assert.deepEqual(refused.slice(0, 2), ["GlassformerError", "not_initialized"]);
  assert.match(refused[2], /3c 21 64 6f/);
  assert.equal(value, 0.3987864636520077);
});
