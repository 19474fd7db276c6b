/** What several tests use. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { GlassformerError } from "glassformer";

/** A file of tests/golden, parsed; the tests themselves run from wherever the package is installed. */
export function golden(file) {
  const folder = process.env.GLASSFORMER_GOLDEN;
  assert.ok(folder, "GLASSFORMER_GOLDEN names the folder of golden data; npm test sets it");
  return JSON.parse(readFileSync(join(folder, file), "utf8"));
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
