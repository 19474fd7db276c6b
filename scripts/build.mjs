/**
 * Builds the package into pkg/dist and the page into www/dist:
 * Rust -> wasm -> wasm-bindgen's glue -> wasm-opt -> pkg/src/generated -> esbuild -> pkg/dist -> www/dist.
 */

import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isMain, main, ROOT, run, say, step } from "./lib/run.mjs";
import { BINDGEN, nodeBin, TARGET, wasmCargo } from "./lib/tools.mjs";

/** This script too decides what becomes of a module. */
const SELF = fileURLToPath(import.meta.url);
const PKG = join(ROOT, "pkg");
const WWW = join(ROOT, "www");
const GENERATED = join(PKG, "src", "generated");
const WASM = join(GENERATED, "glassformer.wasm");

export async function build() {
  await buildWasm();
  await buildPackage();
  await buildPage();
}

export async function buildWasm() {
  const { cargo, env } = wasmCargo();
  const args = [
    "build",
    "--release",
    "--lib",
    "--package",
    "glassformer-wasm",
    "--target",
    TARGET,
    "--locked",
  ];
  await step("Rust to wasm", "npm run build", () => run(cargo, [...args, "--quiet"], { env }));
  const built = join(env.CARGO_TARGET_DIR, TARGET, "release", "glassformer_wasm.wasm");

  // wasm-opt takes a while: not again for the same module.
  const stamp = join(GENERATED, "stamp");
  const hash = createHash("sha256");
  for (const file of [built, BINDGEN, SELF, join(ROOT, "package-lock.json")]) hash.update(readFileSync(file));
  const digest = hash.digest("hex");
  const whole = [stamp, WASM, join(GENERATED, "bytes.js"), join(GENERATED, "exports.js")].every((file) =>
    existsSync(file),
  );
  if (whole && readFileSync(stamp, "utf8") === digest) return say("wasm: unchanged");

  await step("wasm-bindgen and wasm-opt", "npm run build", async () => {
    rmSync(GENERATED, { recursive: true, force: true });
    mkdirSync(GENERATED, { recursive: true });
    const glue = ["--target", "web", "--omit-default-module-path", "--out-dir", GENERATED, built];
    await run(BINDGEN, ["--out-name", "glassformer_wasm", ...glue], { quiet: true });
    const bound = join(GENERATED, "glassformer_wasm_bg.wasm");
    // What every engine of the last years has, and what rustc assumes.
    const features = [
      "bulk-memory",
      "nontrapping-float-to-int",
      "sign-ext",
      "mutable-globals",
      "reference-types",
    ];
    const enabled = [...features, "multivalue"].map((feature) => `--enable-${feature}`);
    await run(nodeBin("wasm-opt"), ["-O3", "--strip-producers", ...enabled, bound, "-o", WASM], {
      quiet: true,
    });
    rmSync(bound);
    rmSync(`${bound}.d.ts`, { force: true });
    writeFileSync(join(GENERATED, "bytes.js"), embedded(readFileSync(WASM)));
    writeFileSync(join(GENERATED, "bytes.d.ts"), "export function bytes(): Uint8Array;\n");
    const exported = WebAssembly.Module.exports(new WebAssembly.Module(readFileSync(WASM)));
    const list = JSON.stringify(exported.map(({ name, kind }) => [name, kind]));
    writeFileSync(join(GENERATED, "exports.js"), `export const EXPORTS = ${list};\n`);
    writeFileSync(
      join(GENERATED, "exports.d.ts"),
      "export const EXPORTS: readonly (readonly [string, string])[];\n",
    );
    writeFileSync(stamp, digest);
  });
}

/** A module that holds the wasm. Base64, because that is what every engine has a decoder for. */
function embedded(wasm) {
  return `const text = "${wasm.toString("base64")}";
export const bytes = () => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
`;
}

export async function buildPackage() {
  const dist = join(PKG, "dist");
  await step("package: pkg/dist", "npm run build", async () => {
    const { build } = await import("esbuild");
    rmSync(dist, { recursive: true, force: true });
    mkdirSync(dist, { recursive: true });
    const common = {
      // A class that names itself inside would otherwise show a made-up name.
      keepNames: true,
      bundle: true,
      target: "es2022",
      platform: "neutral",
      logLevel: "warning",
      legalComments: "none",
    };
    const source = (name) => join(PKG, "src", name);
    await Promise.all([
      build({ ...common, entryPoints: [source("index.ts")], format: "esm", outfile: join(dist, "index.js") }),
      build({
        ...common,
        entryPoints: [source("index.ts")],
        format: "cjs",
        outfile: join(dist, "index.cjs"),
      }),
      build({ ...common, entryPoints: [source("slim.ts")], format: "esm", outfile: join(dist, "slim.js") }),
    ]);
    copyFileSync(WASM, join(dist, "glassformer.wasm"));
    // One file: beside an `index.d.cts`, a declaration file of its own would have to be there in both kinds.
    const declared = (name) => readFileSync(source(name), "utf8");
    const equations = declared("math/declared.d.ts").replace(/^import .*;\n\n/, "");
    const whole = declared("glassformer.d.ts").replace(
      /^export \* from ".\/math\/declared.js";\n/m,
      () => equations,
    );
    for (const name of ["index.d.ts", "index.d.cts", "slim.d.ts"]) writeFileSync(join(dist, name), whole);
    // Where tools look for a package's licences.
    for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) copyFileSync(join(ROOT, name), join(PKG, name));
  });
}

export async function buildPage() {
  const dist = join(WWW, "dist");
  await step("page: www/dist", "npm run build", async () => {
    const { build } = await import("esbuild");
    rmSync(dist, { recursive: true, force: true });
    mkdirSync(dist, { recursive: true });
    await build({
      bundle: true,
      target: "es2022",
      format: "esm",
      minify: true,
      logLevel: "warning",
      legalComments: "none",
      alias: { glassformer: join(PKG, "dist", "index.js") },
      entryPoints: [join(WWW, "src", "main.ts")],
      outfile: join(dist, "main.js"),
    });
    for (const name of readdirSync(WWW).filter((name) => /\.(html|css|svg)$/.test(name))) {
      copyFileSync(join(WWW, name), join(dist, name));
    }
  });
}

if (isMain(import.meta.url)) await main(build);
