/** The package that is shipped gives the bits that the native tests check: the same digests, from the same constants. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as glassformer from "glassformer";
import { expectedDigests, traceDigest } from "./digest.mjs";
import { projectRoot } from "./support.mjs";

test("every stage has the native bits, for every activation and element type", () => {
  const expected = expectedDigests(projectRoot());
  assert.equal(expected.length, 5);
  for (const { activation, float64, float32 } of expected) {
    assert.equal(traceDigest(glassformer, activation, "float64", "lesson"), float64, activation);
    assert.equal(traceDigest(glassformer, activation, "float32", "gpt2"), float32, activation);
  }
});
