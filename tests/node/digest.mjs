/** Digests of a model's traces, as tests/rust/digest.rs computes them natively. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What each digest must be: the constants of the native tests, in the project's folder `root`. */
export function expectedDigests(root) {
  const text = readFileSync(join(root, "tests", "rust", "digest.rs"), "utf8");
  const rows = text.matchAll(/\(Activation::(\w+), "([0-9a-f]{16})", "([0-9a-f]{16})"\)/g);
  return Array.from(rows, ([, name, float64, float32]) => ({
    activation: name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase(),
    float64,
    float32,
  }));
}

/** The digest of three prompts' traces of the model that tests/rust/digest.rs has. */
export function traceDigest(glassformer, activation, dtype, init) {
  const options = {
    nVocab: 11,
    nModel: 12,
    nHeads: 3,
    nBlocks: 3,
    nHidden: 20,
    seed: 2024,
    activation,
    dtype,
    init,
  };
  const model = new glassformer.CausalLanguageModel(options);
  const prompts = [[3], [0, 1, 2, 3], Array.from({ length: 40 }, (_, i) => (i * 7) % 11)];
  return digestOf(
    prompts.map((prompt) => model.respondTo(prompt)),
    dtype,
  );
}

/** FNV-1a over the bytes of each cell's bits, as 64-bit words, low byte first. */
export function digestOf(traces, dtype) {
  let digest = 0xcbf29ce484222325n;
  const word = new DataView(new ArrayBuffer(8));
  for (const trace of traces) {
    for (const stage of trace.stages) {
      for (const cell of trace.get(stage).data) {
        word.setBigUint64(0, 0n);
        if (dtype === "float64") word.setFloat64(0, cell, true);
        else word.setFloat32(0, cell, true);
        for (let i = 0; i < 8; i++) {
          digest = BigInt.asUintN(64, (digest ^ BigInt(word.getUint8(i))) * 0x100000001b3n);
        }
      }
    }
  }
  return digest.toString(16).padStart(16, "0");
}
