/** The package that is shipped gives the bits that the native tests check: the same digests, from the same constants. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as glassformer from "glassformer";
import { digestOf, expectedDigests, traceDigest } from "./digest.mjs";
import { projectRoot } from "./support.mjs";

test("every stage has the native bits, for every activation and element type", () => {
  const expected = expectedDigests(projectRoot());
  assert.equal(expected.length, 5);
  for (const { activation, float64, float32 } of expected) {
    assert.equal(traceDigest(glassformer, activation, "float64", "lesson"), float64, activation);
    assert.equal(traceDigest(glassformer, activation, "float32", "gpt2"), float32, activation);
  }
});

test("random models give in wasm what they give natively, to the bit", () => {
  const file = process.env.GLASSFORMER_NATIVE_BITS;
  assert.ok(file, "GLASSFORMER_NATIVE_BITS names what the native program printed; npm test sets it");
  const lines = readFileSync(file, "utf8").trim().split("\n");
  assert.ok(lines.length >= 300);
  for (const line of lines) {
    const { options, seed, prompt, digest } = JSON.parse(line);
    const model = new glassformer.CausalLanguageModel({ ...options, seed: BigInt(seed) });
    assert.equal(digestOf([model.respondTo(prompt)], options.dtype), digest, line);
    model.free();
  }
});
