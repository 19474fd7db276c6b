/** The packed tarball: what is in it, and how tools take it. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = process.env.GLASSFORMER_ROOT;
const INSTALLED = join(HERE, "..", "node_modules", "glassformer");

test("the tarball holds what is published, and nothing else", () => {
  const list = execFileSync("tar", ["-tzf", process.env.GLASSFORMER_TARBALL], { encoding: "utf8" });
  assert.deepEqual(list.trim().split("\n").sort(), [
    "package/LICENSE-APACHE",
    "package/LICENSE-MIT",
    "package/README.md",
    "package/dist/glassformer.wasm",
    "package/dist/index.cjs",
    "package/dist/index.d.cts",
    "package/dist/index.d.ts",
    "package/dist/index.js",
    "package/dist/slim.d.ts",
    "package/dist/slim.js",
    "package/package.json",
    "package/trace.schema.json",
  ]);
});

test("every address in the manifest leads to a file, types first", () => {
  const manifest = JSON.parse(readFileSync(join(INSTALLED, "package.json"), "utf8"));
  const files = [];
  const walk = (entry) => {
    if (typeof entry === "string") return files.push(entry);
    const keys = Object.keys(entry);
    if (keys.includes("types")) assert.equal(keys[0], "types");
    for (const key of keys) walk(entry[key]);
  };
  for (const entry of Object.values(manifest.exports)) walk(entry);
  for (const file of [...files, manifest.main, manifest.module, manifest.types]) {
    assert.ok(readFileSync(join(INSTALLED, file)).length > 0, file);
  }
  assert.deepEqual(Object.keys(manifest.dependencies ?? {}), []);
  assert.deepEqual(Object.keys(manifest.scripts ?? {}), []);
});

test("the version is the crate's", () => {
  const { version } = JSON.parse(readFileSync(join(INSTALLED, "package.json"), "utf8"));
  const manifest = readFileSync(join(ROOT, "Cargo.toml"), "utf8");
  assert.equal(manifest.match(/^version = "(.+)"/m)[1], version);
});

test("no path of the machine that built it is in the package", () => {
  for (const file of ["dist/glassformer.wasm", "dist/index.js", "dist/index.cjs", "dist/slim.js"]) {
    const text = readFileSync(join(INSTALLED, file), "latin1");
    for (const place of [ROOT, process.env.HOME, "/.cargo/", "/usr/lib/rustlib", ".rustup"]) {
      if (place && place.length > 1) assert.ok(!text.includes(place), `${file} holds ${place}`);
    }
  }
});

for (const [name, options] of Object.entries({
  node16: { module: "node16", moduleResolution: "node16" },
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
})) {
  test(`strict TypeScript takes the declarations, as ${name}`, () => {
    const common = {
      strict: true,
      noEmit: true,
      target: "es2022",
      lib: ["es2022", "esnext.disposable", "dom"],
      types: [],
    };
    const strictest = {
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
    };
    const files = name === "bundler" ? ["consumer.ts"] : ["consumer.ts", "consumer.cts"];
    const config = join(HERE, `tsconfig.${name}.json`);
    writeFileSync(
      config,
      JSON.stringify({ compilerOptions: { ...common, ...strictest, ...options }, files }),
    );
    const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", config], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  });
}

test("the declarations stand alone: without the DOM's types, without Node's, without the newest library", () => {
  const file = join(HERE, "alone.ts");
  const code = `import { CausalLanguageModel, init } from "glassformer";
    export const at: number = new CausalLanguageModel({ nVocab: 7 }).respondTo([0]).attention.at(0, 0, 0);
    export const ready: Promise<void> = init(new Uint8Array(8));`;
  writeFileSync(file, code);
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const options = ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022", "--module", "node16"];
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, "--ignoreConfig", file], {
    encoding: "utf8",
    cwd: HERE,
  });
  assert.equal(status, 0, stdout);
});

test("a bundler needs no plug-in, puts in one wasm, and the bundle runs", async () => {
  const code = `import { CausalLanguageModel } from "glassformer";
    console.log(new CausalLanguageModel({ nVocab: 7 }).respondTo([0, 1, 2]).attention.at(0, 2, 0));`;
  const outfile = join(HERE, "bundle.mjs");
  const result = await build({
    stdin: { contents: code, resolveDir: HERE },
    bundle: true,
    minify: true,
    format: "esm",
    outfile,
    logLevel: "silent",
  });
  assert.deepEqual(result.warnings, []);
  assert.equal(readFileSync(outfile, "utf8").match(/AGFzbQ/g).length, 1);
  assert.equal(execFileSync(process.execPath, [outfile], { encoding: "utf8" }).trim(), "0.3987864636520077");
});

/** Runs the first example of a README and gives back its code and what it printed. */
function example(readme) {
  const code = readFileSync(readme, "utf8").match(/```js\n([\s\S]*?)```/)[1];
  const options = { cwd: HERE, encoding: "utf8" };
  return {
    code,
    printed: execFileSync(process.execPath, ["--input-type=module", "--eval", code], options).trim(),
  };
}

test("the README's example has at most ten lines and prints what the README says", () => {
  const readme = join(ROOT, "README.md");
  const { code, printed } = example(readme);
  assert.ok(code.trim().split("\n").length <= 10);
  assert.equal(
    printed,
    readFileSync(readme, "utf8")
      .match(/```text\n([\s\S]*?)```/)[1]
      .trim(),
  );
});

test("the package's own README prints what its comments say", () => {
  const { code, printed } = example(join(INSTALLED, "README.md"));
  const promised = Array.from(code.matchAll(/\/\/ (.*)$/gm), ([, text]) => text).join("\n");
  assert.ok(promised.length > 20);
  assert.equal(printed, promised);
});
