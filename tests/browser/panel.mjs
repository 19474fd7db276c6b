/** The panel of options, opened for a test, and the model that it says it shows. */

import assert from "node:assert/strict";
import * as glassformer from "../../pkg/dist/index.js";
import { cells, open } from "./page.mjs";

const READY = '#options[aria-busy="false"]';

/** A page whose panel of options is open. */
export async function openPanel(options) {
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
export async function copied(page) {
  const line = await page.locator("#line").textContent();
  return new Function(...Object.keys(glassformer), `return ${line};`)(...Object.values(glassformer));
}

export const texts = (page, selector) => page.locator(selector).allTextContents();

/** Every stage of the page against the trace of the line's model, number by number. */
export async function pageShows(page, model, ...prompts) {
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
