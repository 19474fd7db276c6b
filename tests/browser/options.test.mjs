/** The panel of options: every model of the family, what cannot be chosen and why, and what is refused. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as glassformer from "../../pkg/dist/index.js";
import { cells, lowestContrast, open, row, start, stop } from "./page.mjs";

before(start);
after(stop);

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const READY = '#options[aria-busy="false"]';

/** A page whose panel of options is open. */
async function openPanel(options) {
  const opened = await open(options);
  await opened.page.locator("#options > summary").click();
  await opened.page.locator(READY).waitFor();
  const { page } = opened;
  return {
    ...opened,
    choose: async (label, choice) => {
      await page.getByLabel(label, { exact: true }).selectOption({ label: choice });
      await page.locator(READY).waitFor();
    },
    type: async (label, number) => {
      const field = page.getByLabel(label, { exact: true });
      await field.fill(String(number));
      await field.press("Enter");
      await page.locator(READY).waitFor();
    },
    turn: async (label) => {
      await page.getByLabel(label, { exact: true }).click();
      await page.locator(READY).waitFor();
    },
    news: () => page.getByRole("status").textContent(),
    control: (option) => page.locator(`[data-option="${option}"]`),
  };
}

/** The model that the line to copy makes. */
async function copied(page) {
  const line = await page.locator("#line").textContent();
  return new Function(...Object.keys(glassformer), `return ${line};`)(...Object.values(glassformer));
}

const texts = (page, selector) => page.locator(selector).allTextContents();

/** Every stage of the page against the trace of the line's model, number by number. */
async function pageShows(page, model, ...prompts) {
  const trace = model.respondTo(...prompts);
  const names = await page.locator("[data-stage]").evaluateAll((all) => all.map((e) => e.dataset.stage));
  assert.deepEqual(names, [...trace.stages]);
  for (const stage of names) {
    await page.locator(`[data-stage="${stage}"]`).evaluate((panel) => {
      panel.open = true;
    });
  }
  for (const stage of names) {
    await page.locator(`[data-stage="${stage}"] td`).first().waitFor();
    const shown = (await cells(page, stage)).flat().flatMap(({ numbers }) => numbers);
    const { data, dtype } = trace.get(stage);
    const expected = Array.from(data, (x) => {
      if (x === Number.NEGATIVE_INFINITY) return "-∞";
      return dtype === "int32" ? String(x) : x.toFixed(4).replace(/^-(0\.0000)$/, "$1");
    });
    assert.deepEqual(shown, expected, stage);
  }
}

describe("models by name", () => {
  for (const [name, has, lacks] of [
    ["GPT-2 style", ["position", "blocks.1.hidden"], []],
    ["Llama style", ["blocks.0.attention.query_rotated", "blocks.1.feed_forward.gate"], ["position"]],
    ["Gemma style", ["blocks.1.attention.key_rotated", "blocks.0.feed_forward.gate"], []],
    ["Mixtral style", ["blocks.0.feed_forward.selected", "blocks.0.feed_forward.importance_cv2"], []],
    [
      "original Transformer",
      ["encoder.blocks.0.hidden", "decoder.blocks.0.cross_attention.weights"],
      ["decoder.final.normalized"],
    ],
    ["BERT style encoder", ["blocks.0.attention.residual"], ["final.normalized"]],
    ["the lesson's model", ["final.normalized"], []],
  ]) {
    test(`${name}: every stage is shown, with the numbers of the line to copy`, async () => {
      const { page, choose, news, done } = await openPanel();
      if (name !== "the lesson's model") {
        await choose("Start from", name);
        const counted = new RegExp(`^Now ${name}; \\d+ stages, \\d+ parameters\\.$`);
        assert.match(await news(), counted);
      }
      assert.equal(await page.locator("#options-title").textContent(), `The model: ${name}`);
      const model = await copied(page);
      const prompts = model instanceof glassformer.EncoderDecoderModel ? [[1, 2, 5, 6]] : [];
      await pageShows(page, model, ...prompts, [0, 1, 2]);
      for (const stage of has) assert.equal(await page.locator(`[data-stage="${stage}"]`).count(), 1, stage);
      for (const stage of lacks)
        assert.equal(await page.locator(`[data-stage="${stage}"]`).count(), 0, stage);
      // Parameters, vectors among them, are all there.
      await page.locator("#parameters").evaluate((root) => {
        for (const panel of root.querySelectorAll("details")) panel.open = true;
      });
      const total = model.parameters.reduce((sum, { count }) => sum + count, 0);
      await page.locator("#parameters details").last().locator("td").first().waitFor();
      assert.equal(await page.locator("#parameters td").count(), total);
      assert.equal(await page.locator(".refused").filter({ hasText: /./ }).count(), 0);
      await done();
    });
  }
});

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

test("a prompt that a full expert refuses stays as it was", async () => {
  const { page, choose, type, news, done } = await openPanel();
  await choose("Branch", "mixture of experts");
  await type("Chosen for each row, k", 1);
  await type("Capacity", 3);
  await choose("When an expert is full", "refuse the prompt");
  const append = page.getByRole("button", { name: "Append a token" });
  for (let i = 0; i < 12 && !(await news()).startsWith("Refused"); i++) await append.click();
  assert.match(await news(), /^Refused: .*The prompt stays as it was\.$/);
  const shown = (await cells(page, "blocks.0.hidden"))[0].length;
  assert.equal(await page.getByRole("combobox", { name: /^Token at position/ }).count(), shown - 1);
  await done();
});

test("an encoder-decoder has a prompt of each language, and rows named by the right one", async () => {
  const { page, choose, news, done } = await openPanel();
  assert.equal(await page.locator("#source-asked").isVisible(), false);
  await choose("Model", "encoder-decoder");
  assert.equal(await page.locator("#source-asked").isVisible(), true);
  const headers = async (stage) => (await cells(page, stage))[0].map(({ header }) => header);
  const source = ["0 le", "1 chat", "2 dort", "3 <end>"];
  const target = ["0 <start>", "1 the", "2 cat"];
  assert.deepEqual(await headers("encoder.blocks.0.hidden"), source);
  assert.deepEqual(await headers("decoder.blocks.0.cross_attention.key"), source);
  assert.deepEqual(await headers("decoder.blocks.0.cross_attention.weights"), target);
  const keys = page.locator('[data-stage="decoder.blocks.0.cross_attention.weights"] thead').first();
  assert.deepEqual((await keys.locator("th").allTextContents()).slice(1), source);
  const links = await texts(page, "#contents a");
  assert.ok(
    links.includes("Decoder, block 0: cross-attention") && links.includes("Encoder, block 0: attention"),
  );

  await page.locator("#source-asked").getByRole("radio", { name: "chien" }).check();
  assert.match(await news(), /^Source: position 3: <end> became chien\. Source rows 0 to 3 moved/);
  assert.match(
    await news(),
    /Target rows 0, 1 and 2 moved .*from decoder\.blocks\.0\.cross_attention\.scores on/,
  );
  await page.getByRole("radio", { name: "dog" }).check();
  assert.match(await news(), /Source rows 0 to 3 of all \d+ stages are identical to the bit/);
  assert.match(await news(), /Target rows 0 and 1 of all \d+ stages are identical to the bit/);
  await page.getByRole("button", { name: "Append a source token" }).click();
  assert.equal((await headers("encoder.blocks.0.hidden")).length, 5);
  await page.getByRole("combobox", { name: "Source token at position 1" }).selectOption({ label: "chien" });
  assert.equal((await headers("encoder.blocks.0.hidden"))[1], "1 chien");
  await pageShows(page, await copied(page), [1, 3, 5, 3, 3], [0, 1, 3]);
  await page.getByRole("button", { name: "Start over" }).click();
  assert.deepEqual(await headers("encoder.blocks.0.hidden"), source);
  await done();
});

test("an encoder's page claims nothing of fixed rows: earlier ones move, and nothing is hatched", async () => {
  const { page, choose, type, news, done } = await openPanel();
  await choose("Model", "encoder");
  const intro = await page.locator("#intro").textContent();
  assert.match(intro, /earlier rows move/);
  assert.doesNotMatch(intro, /identical|no row ever/);
  await page.getByRole("radio", { name: "dog" }).check();
  assert.match(await news(), /Row 0 moved by at most/);
  assert.match(await news(), /There is no mask: every row sees every other, so earlier rows move too\.$/);
  assert.equal(await page.locator("td.forbidden").count(), 0);
  await type("Window", 1);
  await page.getByRole("radio", { name: "cat" }).check();
  assert.match(await news(), /Rows 0 and 1 of all \d+ stages are identical to the bit/);
  assert.doesNotMatch(await news(), /no mask/);
  await choose("Mask", "causal mask");
  assert.match(await page.locator("#intro").textContent(), /no row ever depends on a later token/);
  await done();
});

test("what a window hides is hatched, and told apart from what the mask hides", async () => {
  const { page, type, done } = await openPanel();
  await type("Window", 2);
  const weights = page.locator('[data-stage="blocks.0.attention.weights"]');
  const hidden = await weights.locator("table").first().locator("td.forbidden").allTextContents();
  assert.deepEqual(hidden, [
    "0.0000 (hidden: a later token)",
    "0.0000 (hidden: a later token)",
    "0.0000 (hidden: a later token)",
    "0.0000 (hidden: outside the window)",
  ]);
  assert.match(await weights.locator(".legend").textContent(), /hidden, a later token or outside the window/);
  await done();
});

test("experts have a table each, whole prompts one row, and counts are whole", async () => {
  const { page, choose, type, done } = await openPanel();
  await choose("Branch", "mixture of experts");
  await type("Capacity", 1);
  const stage = (name) => `blocks.0.feed_forward.${name}`;
  const captions = (name) => texts(page, `[data-stage="${stage(name)}"] caption`);
  assert.deepEqual(await captions("expert_output"), ["Expert 0", "Expert 1", "Expert 2", "Expert 3"]);
  for (const name of ["load", "overflow", "importance"]) {
    const [rows] = await cells(page, stage(name));
    assert.deepEqual(
      rows.map(({ header }) => header),
      ["whole prompt"],
      name,
    );
    for (const text of rows[0].numbers)
      assert.match(text, name === "importance" ? /\.\d{4}$/ : /^\d+$/, name);
  }
  const selected = (await cells(page, stage("selected")))[0].flatMap(({ numbers }) => numbers);
  assert.ok(selected.includes("-1") && selected.every((text) => /^(-1|[0-3])$/.test(text)));
  const parts = await texts(page, "#parameters [data-part] > summary");
  assert.ok(parts.includes("Block 0: expert 3 · 2 parameters, 64 numbers"), parts.join());
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
