/**
 * Runs every case of a folder through the built package: `npm run golden -- FOLDER`. One line a case; ends with code 0
 * when none failed or was unsupported, 1 otherwise, and 2 where there is no case to run.
 */

import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Failure, main, ROOT } from "../lib/run.mjs";
import { DEFERRED, findCases, readCase } from "./cases.mjs";
import { summary, verdict } from "./check.mjs";
import { INSTRUMENT, verdictOf } from "./instrument/index.mjs";
import { mapCase } from "./map.mjs";

const ENTRY = join(ROOT, "pkg", "dist", "index.js");

/** When the newest file at or below a path was changed. */
function newest(path) {
  if (!existsSync(path)) return 0;
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  const inside = readdirSync(path).filter((name) => name !== "generated" && name !== "target");
  return Math.max(0, ...inside.map((name) => newest(join(path, name))));
}

/** Whether the package was built from what stands here now. */
function isBuilt() {
  const sources = ["crate", "pkg/src", "Cargo.lock"].map((path) => newest(join(ROOT, path)));
  return existsSync(ENTRY) && statSync(ENTRY).mtimeMs >= Math.max(...sources);
}

/** The package, which is built where it is missing or old. */
async function loadPackage() {
  if (!isBuilt()) {
    const { prepare } = await import("../prepare.mjs");
    const { build } = await import("../build.mjs");
    await prepare({ forTests: false });
    await build();
  }
  return import(pathToFileURL(ENTRY).href);
}

/** One case: `{ verdict, title, text }`. */
export function runCase(glass, folder) {
  let title = folder;
  try {
    const golden = readCase(folder);
    title = golden.title;
    const deferred = DEFERRED[golden.family];
    if (deferred !== undefined) return { verdict: "DEFERRED", title, text: deferred };
    if (golden.family in INSTRUMENT) return { title, ...verdictOf(glass, golden, summary) };
    return { title, ...verdict(glass, golden, mapCase(golden)) };
  } catch (error) {
    return { verdict: "FAIL", title, text: error.message };
  }
}

function foldersOf(args) {
  if (args.length !== 1) return { problem: "name one folder of cases: npm run golden -- FOLDER" };
  // npm runs scripts in the project's folder; the folder is meant from where the command was given.
  const folder = resolve(process.env.INIT_CWD ?? ".", args[0]);
  const there = existsSync(folder) ? folder : resolve(ROOT, args[0]);
  if (!existsSync(there) || !statSync(there).isDirectory())
    return { problem: `there is no folder ${args[0]}` };
  const folders = findCases(there);
  if (folders.length === 0) return { problem: `there is no case.json in ${args[0]} or below it` };
  return { folders };
}

await main(async () => {
  const { problem, folders } = foldersOf(process.argv.slice(2));
  if (problem !== undefined) {
    console.error(problem);
    process.exitCode = 2;
    return;
  }
  const glass = await loadPackage();
  if (glass.CausalLanguageModel === undefined)
    throw new Failure("pkg/dist is not the package", "npm run build");
  const counts = { ok: 0, FAIL: 0, UNSUPPORTED: 0, DEFERRED: 0 };
  for (const folder of folders) {
    const { verdict, title, text } = runCase(glass, folder);
    counts[verdict] += 1;
    console.log(`${verdict} ${title} ${text}`);
  }
  console.log(`${counts.ok} passed, ${counts.FAIL} failed, ${counts.UNSUPPORTED} unsupported`);
  process.exitCode = counts.FAIL + counts.UNSUPPORTED > 0 ? 1 : 0;
});
