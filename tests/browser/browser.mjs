/** A browser for tests: nothing of the machine's own profile, no traffic but the page's. */

import { chromium } from "playwright-core";
import { BROWSER_FLAGS, findBrowser } from "../../scripts/lib/tools.mjs";

/** Opens a browser. */
export async function openBrowser() {
  const executablePath = await findBrowser();
  if (executablePath === undefined) throw new Error("no Chrome or Chromium; npm run prepare-tools gets one");
  return chromium.launch({ executablePath, args: BROWSER_FLAGS });
}
