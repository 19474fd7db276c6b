/** Serves the page and builds again what a change concerns. */

import { watch } from "node:fs";
import { join } from "node:path";
import { build, buildPackage, buildPage, buildWasm } from "./build.mjs";
import { main, ROOT, say } from "./lib/run.mjs";
import { prepare } from "./prepare.mjs";
import { port, serve } from "./serve.mjs";

/** What is built anew, in this order, when something in a folder changes. */
const FOLDERS = [
  ["crate", [buildWasm, buildPackage, buildPage]],
  ["pkg/src", [buildPackage, buildPage]],
  ["www", [buildPage]],
];
const BUILT = /(^|[/\\])(generated|dist)([/\\]|$)/;

let waiting = new Set();
let timer;
let building = false;

function changed(steps) {
  for (const step of steps) waiting.add(step);
  clearTimeout(timer);
  timer = setTimeout(rebuild, 100);
}

async function rebuild() {
  if (building) return changed([]);
  building = true;
  const steps = [buildWasm, buildPackage, buildPage].filter((step) => waiting.has(step));
  waiting = new Set();
  try {
    for (const step of steps) await step();
    say("built; reload the page");
  } catch (error) {
    // A mistake in the code being written: told, and waited for its mending.
    console.error(error.message);
  }
  building = false;
}

await main(async () => {
  await prepare({ forTests: false });
  await build();
  const { url } = await serve(join(ROOT, "www", "dist"), port());
  for (const [folder, steps] of FOLDERS) {
    watch(join(ROOT, folder), { recursive: true }, (_, file) => {
      if (file !== null && !BUILT.test(file)) changed(steps);
    });
  }
  say(`the page is at ${url}; watching for changes (stop with Ctrl+C)`);
});
