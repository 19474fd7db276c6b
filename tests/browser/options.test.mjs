/** The panel of options: what can be chosen, what cannot and why, and what is refused. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as glassformer from "../../pkg/dist/index.js";
import { cells, lowestContrast, row, start, stop } from "./page.mjs";
import { copied, openPanel, pageShows, texts } from "./panel.mjs";

before(start);
after(stop);

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

test("a choice changes the model, keeps prompt, place and panels, and says so", async () => {
  const { page, choose, news, done } = await openPanel();
  await page.getByRole("radio", { name: "dog" }).check();
  await page.locator('[data-stage="blocks.0.attention.scores"] summary').click();
  await page.getByLabel("Kind of norm").scrollIntoViewIfNeeded();
  await page.getByLabel("Kind of norm").focus();
  const place = await page.evaluate(() => scrollY);
  await choose("Kind of norm", "RMSNorm");
  assert.equal(await news(), "Now RMSNorm; 20 stages, 184 parameters.");
  assert.equal(await page.evaluate(() => scrollY), place);
  assert.equal(await page.evaluate(() => document.activeElement.id), "option-norm");
  assert.match(await page.locator('[data-option="norm"]').textContent(), /no mean is taken off/);
  assert.equal(await page.getByRole("radio", { name: "dog" }).isChecked(), true);
  const open = (stage) => page.locator(`[data-stage="${stage}"]`).evaluate((panel) => panel.open);
  assert.equal(await open("blocks.0.attention.scores"), false);
  assert.equal(await open("blocks.0.attention.weights"), true);
  const model = new glassformer.CausalLanguageModel({ nVocab: 7, norm: "rms" });
  const expected = model.respondTo([0, 1, 3]).hidden.row(2).tolist();
  assert.equal(await row(page, "blocks.0.hidden", 2), expected.map((x) => x.toFixed(4)).join(" "));
  await page.getByRole("button", { name: "Back to the lesson's model" }).click();
  assert.equal(await news(), "Now the lesson's model; 20 stages, 184 parameters.");
  assert.equal(await row(page, "blocks.0.attention.weights", 2), "0.1624 0.4041 0.4335");
  assert.equal(await page.locator("#line").textContent(), "new CausalLanguageModel({ nVocab: 7 })");
  await done();
});

test("a choice that cannot be taken says why, in the package's words, and can be read by everyone", async () => {
  const { page, choose, turn, control, news, done } = await openPanel();
  const bias = page.getByLabel("Bias of the norm");
  assert.equal(await bias.getAttribute("aria-disabled"), "true");
  const why = "Cannot be turned on: a norm with a bias has a gain too: normAffine is false.";
  assert.equal(await control("bias.norm").locator(".unavailable").textContent(), why);
  const ids = (await bias.getAttribute("aria-describedby")).split(" ");
  assert.ok((await Promise.all(ids.map((id) => page.locator(`#${id}`).textContent()))).includes(why));
  // It can be reached, and what does nothing says so.
  await bias.focus();
  await page.keyboard.press("Space");
  assert.equal(await bias.isChecked(), false);
  assert.match(await news(), /normAffine is false\. The model stays as it was\./);
  await turn("Gain");
  assert.equal(await bias.getAttribute("aria-disabled"), "false");
  assert.equal(await control("bias.norm").locator(".unavailable").textContent(), "");
  // Of a list, each such choice is marked, and the reason stands below.
  const none = page.getByLabel("Kind of norm").locator("option", { hasText: "no norm" });
  assert.equal(await none.textContent(), "no norm (not available)");
  assert.equal(await none.isDisabled(), true);
  assert.match(await control("norm").locator(".unavailable").textContent(), /there is no norm/);
  await choose("Where it stands", "post-norm");
  assert.match(
    await control("parallel").textContent(),
    /would make the second branch read the first's result/,
  );
  // Reasons that differ by a name alone are told once.
  await choose("Branch", "SwiGLU");
  const told = await control("activation").locator(".unavailable").textContent();
  assert.match(told, /^Not available: ReLU, GELU, .*\(as for ReLU\): the gate of swiglu is not relu/);
  assert.equal(told.match(/swiglu is not/g).length, 1);
  assert.equal((await lowestContrast(page, ".control p, .control code")) >= 4.5, true);
  await done();
});

test("every control that cannot be used stands beside a reason", async () => {
  const { page, choose, done } = await openPanel();
  for (const name of ["the lesson's model", "Gemma style", "original Transformer", "Mixtral style"]) {
    if (name !== "the lesson's model") await choose("Start from", name);
    const silent = await page.locator(".control").evaluateAll((all) =>
      all
        .filter((control) => control.querySelector('[aria-disabled="true"], option:disabled') !== null)
        .filter((control) => control.querySelector(".unavailable").textContent === "")
        .map((control) => control.dataset.option),
    );
    assert.deepEqual(silent, [], name);
    assert.ok(
      (await page.locator('.control:has([aria-disabled="true"], option:disabled)').count()) > 0,
      name,
    );
    const closed = await page
      .locator("#option-groups fieldset")
      .evaluateAll((all) =>
        all
          .filter((group) => group.querySelector(":scope > .controls").hidden)
          .map((group) => group.textContent),
      );
    for (const text of closed) assert.match(text, /Not available: /, name);
  }
  await done();
});

test("a number that is refused changes nothing and says why", async () => {
  const { page, type, control, news, done } = await openPanel();
  const numbers = await cells(page, "blocks.0.hidden");
  for (const [label, option, number, reason] of [
    ["Heads, H", "nHeads", 3, /3 heads do not divide a width of 4 evenly/],
    ["Width of a row, D", "nModel", 0, /it must be at least 1/],
    ["Blocks, L", "nBlocks", 1.5, /must be a whole number/],
    ["Feed-forward width, F", "nHidden", -2, /-2 is refused/],
    ["Width of a row, D", "nModel", 400, /The page shows 16 at most/],
    ["Longest prompt", "maxContext", 2, /prompt has 3 tokens; this model reads at most 2/],
  ]) {
    await type(label, number);
    const refused = await control(option).locator(".refused").textContent();
    assert.match(refused, reason);
    assert.match(refused, /The model stays as it was\.$/);
    assert.match(await news(), /The model stays as it was\.$/);
    assert.equal(await page.getByLabel(label, { exact: true }).getAttribute("aria-invalid"), "true");
    assert.deepEqual(await cells(page, "blocks.0.hidden"), numbers);
    assert.equal(await page.locator("#line").textContent(), "new CausalLanguageModel({ nVocab: 7 })");
  }
  // The next choice shows everything as it is.
  await type("Heads, H", 4);
  assert.deepEqual(await texts(page, ".refused:not(:empty)"), []);
  assert.equal(await page.getByLabel("Width of a row, D").inputValue(), "4");
  assert.equal((await cells(page, "blocks.0.attention.weights")).length, 4);
  // An empty field is the default again.
  await type("Heads, H", "");
  assert.equal(await page.locator("#line").textContent(), "new CausalLanguageModel({ nVocab: 7 })");
  await done();
});

test("the line to copy says only what differs from the defaults, and is copied", async () => {
  const { page, choose, type, turn, done } = await openPanel({
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await choose("What tells positions apart", "rotation");
  await choose("Pairs that turn together", "halves in pairs");
  await type("Feed-forward width, F", 8);
  await turn("Tied head");
  await type("Seed", "18446744073709551615");
  await page.getByRole("button", { name: "Copy the line" }).click();
  const line = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(
    line,
    'new CausalLanguageModel({ nVocab: 7, position: "rotary", rotary: { pairing: "half" }, tiedHead: true, ' +
      "seed: 18446744073709551615n })",
  );
  await pageShows(page, await copied(page), [0, 1, 2]);
  // What only says more about a choice that is left goes with it.
  await choose("What tells positions apart", "ALiBi");
  await type("Slopes", "0.5, 0.25");
  assert.deepEqual((await copied(page)).options.alibiSlopes, [0.5, 0.25]);
  await done();
});

test("a closed stage is not drawn until it is opened", async () => {
  const { page, type, done } = await openPanel();
  await type("Blocks, L", 4);
  const panel = page.locator('[data-stage="blocks.3.hidden"]');
  assert.equal(await panel.locator("td").count(), 0);
  await panel.locator("summary").click();
  await panel.locator("td").first().waitFor();
  assert.equal(await panel.locator("td").count(), 12);
  await page.getByRole("button", { name: "Close all stages" }).click();
  assert.equal(await page.locator("[data-stage][open]").count(), 0);
  await page.getByRole("button", { name: "Open all stages" }).click();
  assert.equal(await page.locator("[data-stage]:not([open])").count(), 0);
  await done();
});

describe("on other screens", () => {
  for (const [name, options] of [
    ["a phone", PHONE],
    ["a small phone", { ...PHONE, viewport: { width: 320, height: 640 } }],
    ["the dark", { colorScheme: "dark" }],
  ]) {
    test(`${name}: panel and prompts fit`, async () => {
      const { page, choose, type, done } = await openPanel(options);
      for (const preset of ["original Transformer", "Mixtral style"]) {
        await choose("Start from", preset);
        await type("Heads, H", 3);
        const [content, screen] = await page.evaluate(() => [
          document.documentElement.scrollWidth,
          innerWidth,
        ]);
        assert.ok(content <= screen, `${content} wide on a screen of ${screen}`);
        assert.ok((await lowestContrast(page, ".control p, legend, .control label, #line")) >= 4.5);
      }
      await done();
    });
  }
});
