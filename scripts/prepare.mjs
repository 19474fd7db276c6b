/**
 * Puts everything in place that building and testing need, and skips what is there. In this order: npm packages,
 * Rust, a Rust library for wasm32-unknown-unknown, wasm-bindgen's command, a browser.
 *
 * What it installs stands in node_modules and .tools, but for the wasm target of rustup and Debian's packages.
 */

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
import { ask, Failure, isMain, main, ROOT, run, say, step } from "./lib/run.mjs";
import {
  BINDGEN,
  BINDGEN_TARGET,
  bindgenToolVersion,
  bindgenVersion,
  DEBIAN_CARGO,
  DEBIAN_RUSTC,
  findBrowser,
  nodeBin,
  oldestRust,
  ROUTE_FILE,
  remaps,
  SYSROOT,
  TARGET,
  TEST_RUNNER,
  TOOLS,
  WASM_TARGET,
} from "./lib/tools.mjs";

const MINUTE = 60_000;

/** Prepares what `npm start` needs; `forTests`, what `npm test` needs. */
export async function prepare({ forTests }) {
  await nodeVersion();
  await packages();
  await rust();
  await wasmTarget();
  await bindgen();
  if (forTests) {
    await formatterAndLinter();
    await aBrowser();
  }
}

async function nodeVersion() {
  const major = Number(process.versions.node.split(".")[0]);
  if (major >= 20) return;
  throw new Failure(`Node.js 20 or newer is needed, this is ${process.versions.node}`, "see nodejs.org");
}

// npm packages: compilers and linters of the TypeScript, wasm-opt, the browser's driver.

async function packages() {
  const lock = join(ROOT, "package-lock.json");
  const installed = join(ROOT, "node_modules", ".installed-lock.json");
  const same = existsSync(installed) && readFileSync(installed, "utf8") === readFileSync(lock, "utf8");
  if (same && existsSync(nodeBin("esbuild"))) return say("npm packages: there");
  await step("npm packages: installing (half a minute)", "npm ci", () =>
    run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { quiet: true }),
  );
  copyFileSync(lock, installed);
}

// Rust: whatever the machine has, if it is new enough.

async function rust() {
  if (!enough(rustVersion()) && isDebian()) {
    // Whatever stands in the way (an older rustc of Debian's own) is replaced by the packages' conflict.
    await debianPackages(
      ["rustc-web", "cargo-web", "rust-web-src", "rustfmt-web", "rust-web-clippy"],
      "a minute",
    );
  }
  const version = rustVersion();
  if (!enough(version) || ask("cargo", ["--version"]) === undefined) {
    const has = version === undefined ? "there is none on the path" : `this is ${version}`;
    throw new Failure(
      `Rust ${oldestRust()} or newer is needed; ${has}`,
      "see rustup.rs, Rust's own installer",
    );
  }
  if (ask("cc", ["--version"]) === undefined && process.platform !== "win32") {
    if (isDebian()) await debianPackages(["gcc", "libc6-dev"], "half a minute");
    else throw new Failure("Rust needs a C linker, and there is no cc", "install a C compiler");
  }
  say(`Rust ${version}: there`);
}

function rustVersion() {
  return ask("rustc", ["--version"])?.match(/\d+\.\d+/)?.[0];
}

function enough(version) {
  const [major, minor] = oldestRust().split(".").map(Number);
  const [ownMajor, ownMinor] = (version ?? "0.0").split(".").map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}

/** What the tests need besides a compiler; a minimal installation leaves it out. */
async function formatterAndLinter() {
  const missing = ["fmt", "clippy"].filter((name) => ask("cargo", [name, "--version"]) === undefined);
  if (missing.length === 0) return;
  if (ask("rustup", ["--version"]) !== undefined) {
    const args = ["component", "add", "rustfmt", "clippy"];
    await step("rustfmt and clippy: asking rustup", `rustup ${args.join(" ")}`, () =>
      run("rustup", args, { quiet: true }),
    );
  } else if (isDebian()) {
    await debianPackages(["rustfmt-web", "rust-web-clippy"], "half a minute");
  } else {
    throw new Failure(`cargo has no ${missing.join(" and no ")}`, "install Rust's rustfmt and clippy");
  }
}

// The library for wasm: the toolchain's own, rustup's, or one built from Debian's sources.

async function wasmTarget() {
  const wanted = process.env.GLASSFORMER_WASM_ROUTE;
  const routes = { toolchain: ownTarget, rustup: rustupTarget, debian: debianTarget };
  if (wanted !== undefined && !(wanted in routes)) {
    const names = Object.keys(routes).join(", ");
    throw new Failure(
      `GLASSFORMER_WASM_ROUTE is ${wanted}; it may be ${names}`,
      "unset GLASSFORMER_WASM_ROUTE",
    );
  }
  for (const [name, route] of Object.entries(routes)) {
    if (wanted !== undefined && name !== wanted) continue;
    const found = await route();
    if (found === undefined) continue;
    mkdirSync(TOOLS, { recursive: true });
    writeFileSync(ROUTE_FILE, `${JSON.stringify({ route: name, ...found }, null, 2)}\n`);
    return say(`${TARGET}: ${found.what}`);
  }
  throw new Failure(`no library for ${TARGET} can be had`, `rustup target add ${TARGET}`);
}

function ownTarget() {
  const folder = ask("rustc", ["--print", "target-libdir", "--target", TARGET]);
  const there =
    folder !== undefined && existsSync(folder) && readdirSync(folder).some((f) => f.startsWith("libcore-"));
  return there ? { what: "the toolchain has it", cargo: "cargo", env: {}, flags: [] } : undefined;
}

async function rustupTarget() {
  if (ask("rustup", ["--version"]) === undefined) return undefined;
  try {
    say(`${TARGET}: asking rustup for it`);
    // Where downloads are cut off, hanging connections should not cost a first start its patience.
    const env = { RUSTUP_MAX_RETRIES: "1" };
    await run("rustup", ["target", "add", TARGET], { quiet: true, limit: 3 * MINUTE, env });
  } catch (error) {
    say(`  rustup could not (${error.message})`);
    return undefined;
  }
  const found = ownTarget();
  return found && { ...found, what: "rustup added it" };
}

async function debianTarget() {
  if (!isDebian()) return undefined;
  if (debianVersion() === undefined || librarySource() === undefined) {
    await debianPackages(["rustc-web", "cargo-web", "rust-web-src"], "about half a minute");
  }
  const version = debianVersion();
  if (version === undefined) {
    const byHand = `${asRoot()}apt-get install --reinstall rustc-web`;
    throw new Failure(`${DEBIAN_RUSTC} is not the one of rustc-web`, byHand);
  }
  const stamp = join(SYSROOT, "version");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== version) await buildLibrary(version, stamp);
  return {
    what: "Debian's compiler with the library built from its sources",
    cargo: DEBIAN_CARGO,
    env: { RUSTC: DEBIAN_RUSTC },
    flags: [`--sysroot=${SYSROOT}`, `-Clinker=${await linker()}`],
  };
}

function debianVersion() {
  const installed = ask("dpkg", ["--status", "rustc-web"])?.includes("ok installed");
  return installed ? ask(DEBIAN_RUSTC, ["--version"]) : undefined;
}

function librarySource() {
  const source = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";
  return existsSync(source) ? source : undefined;
}

/** Builds the standard library for wasm, once, and keeps it as a sysroot of the project's own. */
async function buildLibrary(version, stamp) {
  const folder = join(TOOLS, "std");
  const remedy = `rm -r ${SYSROOT} and try again`;
  await step(`${TARGET}: building the library from Debian's sources (about a minute)`, remedy, async () => {
    mkdirSync(join(folder, "src"), { recursive: true });
    const manifest = '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n';
    writeFileSync(join(folder, "Cargo.toml"), manifest);
    writeFileSync(join(folder, "src", "lib.rs"), "#![no_std]\n");
    const parts = "-Zbuild-std=std,test,panic_abort,panic_unwind";
    await run(DEBIAN_CARGO, ["build", parts, "--target", TARGET, "--release"], {
      cwd: folder,
      quiet: true,
      env: {
        RUSTC: DEBIAN_RUSTC,
        RUSTC_BOOTSTRAP: "1",
        CARGO_TARGET_DIR: join(folder, "target"),
        CARGO_ENCODED_RUSTFLAGS: remaps(DEBIAN_RUSTC).join("\x1f"),
      },
    });
    const library = join(SYSROOT, "lib", "rustlib", TARGET, "lib");
    rmSync(SYSROOT, { recursive: true, force: true });
    mkdirSync(library, { recursive: true });
    const built = join(folder, "target", TARGET, "release", "deps");
    for (const file of readdirSync(built).filter((name) => name.endsWith(".rlib"))) {
      copyFileSync(join(built, file), join(library, file));
    }
    rmSync(folder, { recursive: true, force: true });
    // What was compiled against another library does not fit this one, and cargo cannot know.
    rmSync(WASM_TARGET, { recursive: true, force: true });
    writeFileSync(stamp, version);
  });
}

/** A linker for wasm: rustup's own, or LLVM's; a version older than the compiler's LLVM may not read its output. */
async function linker() {
  const toolchain = ask("rustc", ["--print", "sysroot"]);
  const host = ask("rustc", ["-vV"])?.match(/host: (\S+)/)?.[1];
  const places = [
    toolchain && join(toolchain, "lib", "rustlib", host ?? "", "bin", "rust-lld"),
    ...[22, 21, 20, 19].map((n) => `/usr/bin/wasm-ld-${n}`),
  ];
  const find = () => places.find((place) => place && existsSync(place));
  if (find() === undefined) await debianPackages(["lld-19"], "half a minute");
  const found = find();
  if (found === undefined) throw new Failure("no linker for wasm", `${asRoot()}apt-get install lld-19`);
  return found;
}

// wasm-bindgen's command and test runner, of exactly the version the crate has.

async function bindgen() {
  const wanted = bindgenVersion();
  if (bindgenToolVersion() !== wanted) {
    throw new Failure(
      `tools/bindgen pins ${bindgenToolVersion()} of wasm-bindgen, crate/wasm pins ${wanted}`,
    );
  }
  const works = () => ask(BINDGEN, ["--version"])?.split(" ").at(-1);
  if (works() === wanted && existsSync(TEST_RUNNER)) return say(`wasm-bindgen ${wanted}: there`);
  const args = ["build", "--release", "--locked", "--manifest-path", "tools/bindgen/Cargo.toml"];
  const byHand = `cargo ${args.join(" ")} --target-dir ${BINDGEN_TARGET}`;
  await step(`wasm-bindgen ${wanted}: building its command (about three minutes, once)`, byHand, () =>
    // Whatever target is the machine's default: these programs run here.
    run("cargo", [...args, "--target-dir", BINDGEN_TARGET], {
      quiet: true,
      env: { CARGO_BUILD_TARGET: undefined },
    }),
  );
  if (works() !== wanted) throw new Failure(`the command says ${works()}, the crate is ${wanted}`, byHand);
  // The two programs are all that is used of a big folder.
  for (const part of ["deps", "build", ".fingerprint", "incremental"]) {
    rmSync(join(BINDGEN_TARGET, "release", part), { recursive: true, force: true });
  }
}

// A browser: an installed one, Playwright's, or Debian's.

async function aBrowser() {
  const found = await findBrowser();
  if (found !== undefined) return say(`browser: ${found}`);
  try {
    say("browser: none found; asking Playwright for one");
    const cli = join(ROOT, "node_modules", "playwright-core", "cli.js");
    const env = { PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: "10000" };
    await run(process.execPath, [cli, "install", "chromium"], { quiet: true, limit: 5 * MINUTE, env });
  } catch (error) {
    say(`  Playwright could not (${error.message})`);
  }
  if ((await findBrowser()) === undefined && isDebian()) await debianPackages(["chromium"], "about a minute");
  const browser = await findBrowser();
  if (browser === undefined)
    throw new Failure("no Chrome or Chromium", "npx playwright-core install chromium");
  say(`browser: ${browser}`);
}

// Debian.

function isDebian() {
  return existsSync("/usr/bin/apt-get");
}

function asRoot() {
  return process.getuid?.() === 0 ? "" : "sudo ";
}

async function debianPackages(names, howLong) {
  const byHand = `${asRoot()}apt-get update && ${asRoot()}apt-get install --no-install-recommends ${names.join(" ")}`;
  await step(`Debian's ${names.join(", ")}: installing (${howLong})`, byHand, async () => {
    if (process.getuid?.() !== 0) throw new Error("that needs root");
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    await run("apt-get", ["update", "-qq"], { quiet: true, env });
    await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...names], { quiet: true, env });
  });
}

if (isMain(import.meta.url)) {
  await main(() => prepare({ forTests: true }));
}
