/**
 * The examples of the documentation, run as they stand: every block of JavaScript in docs, as a module beside the installed
 * package. What it prints is what the lines that begin with `//→ ` say.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const DOCS = join(process.env.GLASSFORMER_ROOT, "docs");
const SAYS = /^\s*\/\/→ ?(.*)$/;

const pages = readdirSync(DOCS, { recursive: true })
  .filter((file) => file.endsWith(".md"))
  .sort();

test("every page of the instrument has an example", () => {
  const instrument = pages.filter((page) => page.startsWith("instrument"));
  assert.ok(instrument.length >= 10, `only ${instrument.length} pages`);
  for (const page of instrument.filter((name) => !name.endsWith("README.md"))) {
    const text = readFileSync(join(DOCS, page), "utf8");
    assert.ok(
      blocksOf(text).some((block) => SAYS.test(block.split("\n").find((l) => SAYS.test(l)) ?? "")),
      page,
    );
  }
});

for (const page of pages) {
  blocksOf(readFileSync(join(DOCS, page), "utf8")).forEach((block, i) => {
    test(`${page}, example ${i + 1}, prints what it says`, () => {
      const folder = join(HERE, "examples");
      mkdirSync(folder, { recursive: true });
      const file = join(folder, `${relative(".", page).replace(/\W+/g, "-")}-${i + 1}.mjs`);
      writeFileSync(file, block);
      const printed = execFileSync(process.execPath, [file], { encoding: "utf8", cwd: folder });
      const said = block.split("\n").flatMap((line) => line.match(SAYS)?.slice(1) ?? []);
      assert.deepEqual(printed.trimEnd().split("\n"), said);
    });
  });
}

function blocksOf(text) {
  return [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
}
