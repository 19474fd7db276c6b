/**
 * Prepares what is missing and runs every test there is, one phase after the other; the phases that follow a
 * failed one run all the same. `npm test -- page types` runs the phases of these names alone.
 */

import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { build } from "./build.mjs";
import { Failure, main, ROOT, run, say, seconds } from "./lib/run.mjs";
import { BROWSER_FLAGS, findBrowser, nodeBin, TARGET, TEST_RUNNER, wasmCargo } from "./lib/tools.mjs";
import { prepare } from "./prepare.mjs";

const RESULTS = join(ROOT, "test-results");
const MINUTE = 60_000;

const PHASES = {
  /** rustfmt, and one formatter and linter for JavaScript, TypeScript, CSS, HTML and JSON. */
  format: async () => {
    await run("cargo", ["fmt", "--all", "--check"]);
    await run(nodeBin("biome"), ["ci", "--error-on-warnings", "."]);
  },
  clippy: () =>
    run("cargo", ["clippy", "--workspace", "--all-targets", "--locked", "--quiet", "--", "-Dwarnings"]),
  types: () => run(nodeBin("tsc"), ["-p", "."]),
  /** Unit tests, golden data, properties, the house's structure; then the examples in the documentation. */
  rust: () => run("cargo", ["test", "--workspace", "--locked", "--quiet", "--no-fail-fast"]),
  docs: () =>
    run("cargo", ["doc", "--workspace", "--no-deps", "--locked", "--quiet"], {
      env: { RUSTDOCFLAGS: "-Dwarnings" },
    }),
  /** The committed tables are what their generator makes. */
  tables: () => run(process.execPath, ["scripts/ziggurat.mjs", "--check"]),
  "wasm-node": wasmInNode,
  "wasm-chrome": wasmInChrome,
  package: packageTests,
  page: () => run(process.execPath, ["--test", "--test-reporter=spec", ...tests("browser")]),
};
const NEED_BUILD = ["types", "package", "page"];

await main(async () => {
  const asked = process.argv.slice(2);
  const unknown = asked.find((name) => !(name in PHASES));
  if (unknown !== undefined) {
    throw new Failure(`there is no phase ${unknown}; there are ${Object.keys(PHASES).join(", ")}`);
  }
  const names = Object.keys(PHASES).filter((name) => asked.length === 0 || asked.includes(name));
  say("A first run takes some minutes more, to put the tools in place.");
  await prepare({ forTests: true });
  if (names.some((name) => NEED_BUILD.includes(name))) await build();
  const results = [];
  for (const name of names) results.push(await phase(name));
  console.log("\nSummary");
  for (const { name, error, took } of results) {
    console.log(`  ${error === undefined ? "ok    " : "FAILED"} ${name.padEnd(12)} ${seconds(took)}`);
  }
  const failed = results.filter(({ error }) => error !== undefined).map(({ name }) => name);
  if (failed.length > 0) throw new Failure(`${failed.join(", ")}`, `npm test -- ${failed.join(" ")}`);
});

async function phase(name) {
  say(`--- ${name}`);
  const start = performance.now();
  try {
    await PHASES[name]();
    return { name, took: performance.now() - start };
  } catch (error) {
    console.error(error.message);
    return { name, error, took: performance.now() - start };
  }
}

function tests(folder) {
  const files = readdirSync(join(ROOT, "tests", folder)).filter((file) => file.endsWith(".test.mjs"));
  return files.map((file) => join(ROOT, "tests", folder, file));
}

// Rust's tests in wasm: the same digests of bits that the native tests check.

function wasmTestArgs() {
  // By --config, because cargo splits the environment variable of a runner at spaces.
  const runner = `target.${TARGET}.runner=[${JSON.stringify(TEST_RUNNER)}]`;
  const what = ["--package", "glassformer-wasm", "--test", "bits", "--target", TARGET, "--locked"];
  return ["test", "--config", runner, ...what];
}

function wasmInNode() {
  const { cargo, env } = wasmCargo();
  return run(cargo, wasmTestArgs(), { env });
}

/**
 * The test runner serves the tests as a page; a browser opens it and reads what it says. The browser is the one
 * that the page's tests use: no driver program whose version would have to fit the browser's.
 */
async function wasmInChrome() {
  const { cargo, env } = wasmCargo();
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: await findBrowser(), args: BROWSER_FLAGS });
  const address = `127.0.0.1:${await freePort()}`;
  const runner = spawn(cargo, wasmTestArgs(), {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
    // A process group of its own: cargo passes no signal on to the runner.
    detached: process.platform !== "win32",
    env: {
      ...process.env,
      ...env,
      WASM_BINDGEN_USE_BROWSER: "1",
      NO_HEADLESS: "1",
      WASM_BINDGEN_TEST_ADDRESS: address,
    },
  });
  try {
    await listening(runner, address);
    const page = await browser.newPage();
    await page.goto(`http://${address}/`);
    const output = page.locator("#output");
    const done = /test result: (ok|FAILED)\. (\d+) passed/;
    await output.filter({ hasText: done }).waitFor({ timeout: 2 * MINUTE });
    const text = await output.textContent();
    console.log(text);
    const [, verdict, passed] = text.match(done);
    if (verdict !== "ok" || passed === "0") throw new Error(`in the browser: ${verdict}, ${passed} passed`);
  } finally {
    await browser.close();
    stop(runner);
  }
}

function stop(child) {
  if (child.exitCode !== null) return;
  if (process.platform === "win32") child.kill();
  else process.kill(-child.pid, "SIGTERM");
}

async function listening(child, address) {
  child.stdout.on("data", (part) => process.stdout.write(part));
  // It may have to be compiled first.
  for (const end = performance.now() + 20 * MINUTE; performance.now() < end; ) {
    if (child.exitCode !== null) throw new Error(`the test runner ended with ${child.exitCode}`);
    try {
      await fetch(`http://${address}/`);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  throw new Error("the test runner does not answer");
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

// The package as a user gets it: packed, installed elsewhere, and used from there.

async function packageTests() {
  rmSync(RESULTS, { recursive: true, force: true });
  const consumer = join(RESULTS, "consumer");
  mkdirSync(consumer, { recursive: true });
  const quiet = { quiet: true };
  await run("npm", ["pack", "--pack-destination", RESULTS, "--loglevel=error"], {
    ...quiet,
    cwd: join(ROOT, "pkg"),
  });
  const tarball = readdirSync(RESULTS).find((file) => file.endsWith(".tgz"));
  writeFileSync(join(consumer, "package.json"), '{ "private": true, "type": "module" }\n');
  const install = [
    "install",
    join(RESULTS, tarball),
    "--offline",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  await run("npm", install, { ...quiet, cwd: consumer });
  for (const folder of ["node", "packaging"])
    cpSync(join(ROOT, "tests", folder), join(consumer, folder), { recursive: true });
  const files = ["node", "packaging"].flatMap((folder) =>
    readdirSync(join(consumer, folder))
      .filter((file) => file.endsWith(".test.mjs"))
      .map((file) => join(consumer, folder, file)),
  );
  // Other models each time; a failure prints the one it was.
  const native = [
    "run",
    "--package",
    "glassformer-tests",
    "--example",
    "native_bits",
    "--locked",
    "--quiet",
    "--",
  ];
  const bits = join(RESULTS, "native-bits.jsonl");
  writeFileSync(bits, await run("cargo", [...native, String(Date.now())], { quiet: true }));
  await run(process.execPath, ["--test", "--test-reporter=spec", ...files], {
    cwd: consumer,
    env: {
      GLASSFORMER_ROOT: ROOT,
      GLASSFORMER_NATIVE_BITS: bits,
      GLASSFORMER_TARBALL: join(RESULTS, tarball),
    },
  });
}
