/** What several tests use. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { GlassformerError } from "glassformer";

/** The project's folder: the tests run from where the package is installed, not from where they are kept. */
export function projectRoot() {
  const root = process.env.GLASSFORMER_ROOT;
  assert.ok(root, "GLASSFORMER_ROOT names the project's folder; npm test sets it");
  return root;
}

/** A file of tests/golden, parsed. */
export function golden(file) {
  return JSON.parse(readFileSync(join(projectRoot(), "tests", "golden", file), "utf8"));
}

/** Runs `call`, which must be refused, and gives the error back. */
export function refusal(call) {
  let result;
  try {
    result = call();
  } catch (error) {
    assert.ok(error instanceof GlassformerError, `${error?.stack ?? error} is no GlassformerError`);
    assert.ok(error instanceof Error);
    assert.equal(error.name, "GlassformerError");
    assert.match(error.code, /^[a-z_]+$/);
    assert.ok(error.message.length > 10 && error.message.length < 400, error.message);
    return error;
  }
  assert.fail(`not refused: gave ${typeof result}`);
}

/** Options of the block of the lesson that is written in Rust, but for its seed. */
export const RUSTLAB = {
  nVocab: 0,
  nModel: 8,
  nHeads: 2,
  nHidden: 32,
  activation: "gelu_tanh",
  init: "rustlab",
  finalNorm: false,
};
