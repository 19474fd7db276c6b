/** The page, as a person uses it: by mouse, by keyboard, on a phone, in the dark. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { address, cells, lowestContrast, newContext, open, row, start, stop } from "./page.mjs";

before(start);
after(stop);

test("the prompt of the beginning shows the lesson's numbers", async () => {
  const { page, done } = await open();
  assert.equal(await row(page, "positioned", 2), "0.6632 -0.7264 0.2649 1.1782");
  assert.equal(await row(page, "blocks.0.after_attention", 2), "0.8529 -0.8269 0.1632 0.9271");
  assert.equal(await row(page, "blocks.0.feed_forward.output", 2), "-0.5318 -0.1214 -0.1309 0.3195");
  assert.equal(await row(page, "blocks.0.hidden", 2), "0.3210 -0.9483 0.0323 1.2465");
  assert.equal(await row(page, "blocks.0.attention.output", 2), "0.1897 -0.1005 -0.1018 -0.2512");
  assert.equal(await row(page, "blocks.0.attention.weights", 2), "0.3988 0.3307 0.2705");
  assert.match(await page.locator("#parameters-title").textContent(), /184 in all/);
  await done();
});

test("cat to dog by one click: the last row moves, the earlier ones say that they are identical", async () => {
  const { page, done } = await open();
  await page.getByText("dog", { exact: true }).and(page.locator("label")).click();
  assert.equal(await row(page, "blocks.0.attention.weights", 2), "0.1624 0.4041 0.4335");
  const hidden = (await cells(page, "blocks.0.hidden"))[0];
  assert.equal(hidden[2].change, "≠ moved by at most 0.3249");
  for (const stage of await page
    .locator("[data-stage]")
    .evaluateAll((all) => all.map((e) => e.dataset.stage))) {
    for (const rows of await cells(page, stage)) {
      assert.equal(rows[0].change, "= identical to the bit", stage);
      assert.equal(rows[1].change, "= identical to the bit", stage);
      assert.equal(rows[2].change.startsWith("≠ moved"), stage !== "position", stage);
    }
  }
  const told = await page.getByRole("status").textContent();
  assert.match(told, /cat became dog/);
  assert.match(told, /Rows 0 and 1 of all 20 stages are identical to the bit/);
  assert.match(told, /Row 2 moved by at most 0\.\d{4}/);
  assert.equal(await page.getByRole("status").getAttribute("aria-live"), "polite");
  await done();
});

test("the last token changes by arrow key", async () => {
  const { page, done } = await open();
  await page.getByRole("radio", { name: "cat" }).focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.getByRole("radio", { name: "dog" }).isChecked(), true);
  assert.equal(await row(page, "blocks.0.attention.weights", 2), "0.1624 0.4041 0.4335");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await row(page, "blocks.0.attention.weights", 2), "0.3988 0.3307 0.2705");
  await done();
});

test("every stage of the trace is a table with token and coordinate headers and four decimals", async () => {
  const { page, done } = await open();
  const stages = page.locator("[data-stage]");
  assert.equal(await stages.count(), 20);
  for (const stage of await stages.evaluateAll((all) => all.map((e) => e.dataset.stage))) {
    for (const table of await cells(page, stage)) {
      assert.deepEqual(
        table.map((r) => r.header),
        ["0 <start>", "1 the", "2 cat"],
        stage,
      );
      for (const { numbers } of table) {
        for (const text of numbers) assert.match(text, /^(-?\d+\.\d{4}|-∞)$/, stage);
      }
    }
    const columns = await page.locator(`[data-stage="${stage}"] thead th`).count();
    assert.ok(columns >= 3, stage);
  }
  await done();
});

test("attention is a matrix per head, its forbidden cells marked and in words", async () => {
  const { page, done } = await open();
  for (const stage of ["blocks.0.attention.scores", "blocks.0.attention.weights"]) {
    const panel = page.locator(`[data-stage="${stage}"]`);
    assert.deepEqual(await panel.locator("caption").allTextContents(), ["Head 0", "Head 1"]);
    assert.equal(await panel.locator("td.forbidden").count(), 6);
    assert.match(await panel.locator("td.forbidden").first().textContent(), /hidden: a later token/);
    assert.deepEqual((await panel.locator("thead").first().locator("th").allTextContents()).slice(1), [
      "0 <start>",
      "1 the",
      "2 cat",
    ]);
  }
  assert.equal(await row(page, "blocks.0.attention.scores", 0), "-1.9615 -∞ -∞");
  await done();
});

test("tokens can be appended, removed, and picked at any position", async () => {
  const { page, done } = await open();
  await page.getByRole("button", { name: "Append a token" }).click();
  let hidden = (await cells(page, "blocks.0.hidden"))[0];
  assert.equal(hidden.length, 4);
  assert.deepEqual(
    hidden.map((r) => r.change.slice(0, 3)),
    ["= i", "= i", "= i", "+ n"],
  );
  await page.getByRole("combobox", { name: "Token at position 1" }).selectOption({ label: "sat" });
  hidden = (await cells(page, "blocks.0.hidden"))[0];
  assert.deepEqual(
    hidden.map((r) => r.change.slice(0, 1)),
    ["=", "≠", "≠", "≠"],
  );
  assert.equal(hidden[1].header.startsWith("1 sat"), true);
  await page.getByRole("button", { name: "Start over" }).click();
  assert.equal(await row(page, "blocks.0.hidden", 2), "0.3210 -0.9483 0.0323 1.2465");
  const remove = page.getByRole("button", { name: "Remove the last" });
  await remove.click();
  await remove.click();
  assert.equal((await cells(page, "blocks.0.hidden"))[0].length, 1);
  assert.equal(await remove.getAttribute("aria-disabled"), "true");
  // The focus stays where it was, and the button does nothing.
  await remove.focus();
  await page.keyboard.press("Enter");
  assert.equal((await cells(page, "blocks.0.hidden"))[0].length, 1);
  assert.equal(await page.evaluate(() => document.activeElement.id), "remove");
  assert.match(await page.locator("#why").textContent(), /at least one token/);
  await done();
});

test("a long prompt neither breaks the page nor makes it wider than the screen", async () => {
  const { page, done } = await open();
  const append = page.getByRole("button", { name: "Append a token" });
  while ((await append.getAttribute("aria-disabled")) === "false") await append.click();
  assert.equal((await cells(page, "blocks.0.hidden"))[0].length, 24);
  assert.match(await page.locator("#why").textContent(), /24 positions at most/);
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= screen, `${content} wide on a screen of ${screen}`);
  // What scrolls, and only that, can be reached by keyboard, under a name of its own.
  const frames = await page
    .locator(".scroll")
    .evaluateAll((all) =>
      all.map((frame) => [
        frame.scrollWidth > frame.clientWidth,
        frame.tabIndex === 0,
        frame.getAttribute("aria-label"),
      ]),
    );
  assert.ok(
    frames.some(([scrolls]) => scrolls) && frames.every(([scrolls, reachable]) => scrolls === reachable),
  );
  const names = frames.filter(([scrolls]) => scrolls).map(([, , name]) => name);
  assert.equal(new Set(names).size, names.length);
  await done();
});

describe("on other screens", () => {
  for (const [name, options] of [
    ["a phone", { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true }],
    ["the dark", { colorScheme: "dark" }],
    ["two-fold magnification", { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 }],
  ]) {
    test(`${name}: fits, and text stands out from its ground`, async () => {
      const { page, done } = await open(options);
      await page.getByRole("radio", { name: "dog" }).check();
      const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content <= screen, `${content} wide on a screen of ${screen}`);
      assert.ok((await lowestContrast(page)) >= 4.5, `contrast ${await lowestContrast(page)}`);
      await done();
    });
  }

  test("text stands out by daylight too", async () => {
    const { page, done } = await open();
    await page.getByRole("radio", { name: "dog" }).check();
    assert.ok((await lowestContrast(page)) >= 4.5, `contrast ${await lowestContrast(page)}`);
    await done();
  });
});

test("the numbers can be copied with all their digits", async () => {
  const { page, done } = await open({ permissions: ["clipboard-read", "clipboard-write"] });
  await page.locator('[data-stage="blocks.0.attention.weights"]').getByRole("button").click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied.split("\n")[2].split("\t")[0], "0.3987864636520077");
  await done();
});

test("every parameter can be looked at", async () => {
  const { page, done } = await open();
  const panels = page.locator("[data-parameter]");
  assert.equal(await panels.count(), 8);
  for (const panel of await panels.all()) {
    await panel.locator("summary").click();
    // Its table is made when the browser has told that the panel is open.
    await panel.locator("td").first().waitFor();
  }
  assert.equal(await page.locator("#parameters td").count(), 184);
  await done();
});

test("where WebAssembly is not allowed the page says so", async () => {
  const context = await newContext();
  const page = await context.newPage();
  await page.addInitScript(() => {
    delete globalThis.WebAssembly;
  });
  await page.goto(address());
  const problem = page.getByRole("alert");
  await problem.waitFor({ state: "visible" });
  assert.match(await problem.textContent(), /could not be started: .*WebAssembly/);
  await context.close();
});
