/** The page, opened for a test, and what can be read from it. */

import assert from "node:assert/strict";
import { ROOT } from "../../scripts/lib/run.mjs";
import { serve } from "../../scripts/serve.mjs";
import { openBrowser } from "./browser.mjs";

let browser;
let server;

/** Where the page is served. */
export const address = () => server.url;
export const newContext = (options) => browser.newContext(options);

export async function start() {
  browser = await openBrowser();
  server = await serve(`${ROOT}/www/dist`);
}

export async function stop() {
  await browser?.close();
  await server?.close();
}

/** A fresh page that fails the test on any console error or request to elsewhere. */
export async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("requestfailed", (request) => problems.push(`failed: ${request.url()}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(server.url)) problems.push(`elsewhere: ${request.url()}`);
  });
  await page.goto(server.url);
  await page.getByRole("radio").first().waitFor();
  return {
    page,
    done: async () => {
      await context.close();
      assert.deepEqual(problems, []);
    },
  };
}

/** The texts of a stage's cells: per table, per row. */
export function cells(page, stage) {
  return page.locator(`[data-stage="${stage}"]`).evaluate((panel) =>
    [...panel.querySelectorAll("table")].map((table) =>
      [...table.tBodies[0].rows].map((row) => ({
        header: row.cells[0].firstChild.textContent,
        numbers: [...row.querySelectorAll("td:not(.change)")].map((cell) => cell.firstChild.textContent),
        change: row.querySelector(".change")?.textContent,
      })),
    ),
  );
}

export const row = async (page, stage, position, table = 0) =>
  (await cells(page, stage))[table][position].numbers.join(" ");

/** The lowest contrast (WCAG 2) of any such text on its own ground, by default of tables, in drawn pixels' colours. */
export function lowestContrast(page, selector = "td, tbody th, .kept, .moved") {
  return page.evaluate((selector) => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const paper = getComputedStyle(document.body).backgroundColor;
    const pixel = (...layers) => {
      for (const layer of layers) {
        canvas.fillStyle = layer;
        canvas.fillRect(0, 0, 1, 1);
      }
      return canvas.getImageData(0, 0, 1, 1).data;
    };
    const luminance = ([r, g, b]) => {
      const [x, y, z] = [r, g, b].map((c) =>
        c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
      );
      return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const contrasts = [...document.querySelectorAll(selector)].map((cell) => {
      const ground = cell.closest("td, th") ?? cell;
      const text = luminance(pixel(getComputedStyle(cell).color));
      const back = luminance(pixel(paper, getComputedStyle(ground).backgroundColor));
      return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
    });
    return Math.min(...contrasts);
  }, selector);
}
