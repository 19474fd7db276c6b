/** Where the tools are that `prepare.mjs` puts in place, and which versions they must have. */

import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ask, Failure, ROOT } from "./run.mjs";

export const TARGET = "wasm32-unknown-unknown";
export const TOOLS = join(ROOT, ".tools");
export const SYSROOT = join(TOOLS, "sysroot");
/** Where cargo builds for wasm. */
export const WASM_TARGET = join(ROOT, "target", "wasm");
export const BINDGEN_TARGET = join(TOOLS, "bindgen");
export const ROUTE_FILE = join(TOOLS, "wasm-route.json");

const exe = process.platform === "win32" ? ".exe" : "";
export const BINDGEN = join(BINDGEN_TARGET, "release", `bindgen${exe}`);
export const TEST_RUNNER = join(BINDGEN_TARGET, "release", `bindgen-test-runner${exe}`);

/** The Debian packages' compiler, which may stand beside another one on the path. */
export const DEBIAN_CARGO = "/usr/bin/cargo";
export const DEBIAN_RUSTC = "/usr/bin/rustc";

function manifestValue(file, pattern) {
  const found = readFileSync(join(ROOT, file), "utf8").match(pattern);
  if (found === null) throw new Failure(`${file} does not match ${pattern}`);
  return found[1];
}

/** The version of wasm-bindgen that the crate is pinned to. */
export function bindgenVersion() {
  return manifestValue("crate/wasm/Cargo.toml", /^wasm-bindgen = "=([\d.]+)"/m);
}

/** The version that the command is pinned to. */
export function bindgenToolVersion() {
  return manifestValue("tools/bindgen/Cargo.toml", /wasm-bindgen-cli = \{ version = "=([\d.]+)"/);
}

/** The oldest Rust that builds the workspace. */
export function oldestRust() {
  return manifestValue("Cargo.toml", /^rust-version = "([\d.]+)"/m);
}

export function nodeBin(name) {
  return join(ROOT, "node_modules", ".bin", process.platform === "win32" ? `${name}.cmd` : name);
}

/** Flags that leave nothing of this machine's folders in what is built. */
export function remaps(rustc = "rustc") {
  const sysroot = ask(rustc, ["--print", "sysroot"]) ?? "/usr";
  const cargoHome = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  return [
    [join(sysroot, "lib/rustlib/src/rust"), "/rust"],
    [cargoHome, "/cargo"],
    [ROOT, "/glassformer"],
  ].map(([from, to]) => `--remap-path-prefix=${from}=${to}`);
}

/** Cargo, and what to set for it, to build for wasm: the route that `prepare.mjs` found. */
export function wasmCargo() {
  if (!existsSync(ROUTE_FILE)) throw new Failure("the tools are not prepared", "npm run prepare-tools");
  const { cargo, env, flags } = JSON.parse(readFileSync(ROUTE_FILE, "utf8"));
  return {
    cargo,
    env: {
      ...env,
      // With --target these reach what is built for the target alone. Encoded, because a path may hold a space.
      CARGO_ENCODED_RUSTFLAGS: [...flags, ...remaps(env.RUSTC)].join("\x1f"),
      // Two compilers must not share one folder.
      CARGO_TARGET_DIR: WASM_TARGET,
    },
  };
}

/** A browser's own command, or undefined: `CHROME_PATH`, then the usual places, then Playwright's download. */
export async function findBrowser() {
  if (process.env.CHROME_PATH) {
    if (existsSync(process.env.CHROME_PATH)) return process.env.CHROME_PATH;
    throw new Failure(
      `CHROME_PATH names ${process.env.CHROME_PATH}, which is not there`,
      "unset CHROME_PATH",
    );
  }
  const usual = [
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/snap/bin/chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
  ];
  const found = usual.find((path) => existsSync(path));
  if (found !== undefined) return found;
  const { chromium } = await import("playwright-core");
  const downloaded = chromium.executablePath();
  return existsSync(downloaded) ? downloaded : undefined;
}

/** Flags for a browser that is driven: no sandbox (root has none), no window, no traffic of its own. */
export const BROWSER_FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];
