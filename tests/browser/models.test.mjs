/** Every model of the family on the page: its stages, its prompts, its rows. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as glassformer from "../../pkg/dist/index.js";
import { cells, start, stop } from "./page.mjs";
import { copied, openPanel, pageShows, texts } from "./panel.mjs";

before(start);
after(stop);

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
