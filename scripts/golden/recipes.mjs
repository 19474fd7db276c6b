/**
 * Writes `recipe.json` beside every case of tests/golden: what the mapping makes of it, for readers in other languages.
 * With --check nothing is written, and one that differs is an error.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure, isMain, main, ROOT } from "../lib/run.mjs";
import { findCases, readCase } from "./cases.mjs";
import { INSTRUMENT } from "./instrument/index.mjs";
import { mapCase } from "./map.mjs";

/** JSON with a line for each item of the lists of a recipe. */
export function written(recipe) {
  return `${lines(recipe, "")}\n`;
}

const LISTS = new Set(["models", "calls", "skipped", "parameters", "expect", "losses"]);

function lines(value, indent) {
  const inner = `${indent}  `;
  const wrapped = (items, [open, close]) =>
    items.length === 0 ? open + close : `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`;
  if (Array.isArray(value)) {
    const hasLists = value.some((item) => Object.keys(item).some((key) => LISTS.has(key)));
    return wrapped(
      value.map((item) => (hasLists ? lines(item, inner) : JSON.stringify(item))),
      "[]",
    );
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}: ${LISTS.has(key) ? lines(item, inner) : JSON.stringify(item)}`,
  );
  return wrapped(fields, "{}");
}

if (isMain(import.meta.url)) {
  await main(async () => {
    const onlyCheck = process.argv.includes("--check");
    for (const folder of findCases(join(ROOT, "tests", "golden"))) {
      const golden = readCase(folder);
      if (golden.family in INSTRUMENT) continue;
      const text = written(mapCase(golden));
      const file = join(folder, "recipe.json");
      if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
      if (onlyCheck)
        throw new Failure(`${golden.title} has another recipe`, "node scripts/golden/recipes.mjs");
      writeFileSync(file, text);
      console.log(golden.title);
    }
  });
}
