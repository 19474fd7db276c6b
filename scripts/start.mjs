/** Prepares, builds, serves the page, and opens it where there is a desktop. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { build } from "./build.mjs";
import { main, ROOT, say } from "./lib/run.mjs";
import { prepare } from "./prepare.mjs";
import { port, serve } from "./serve.mjs";

await main(async () => {
  say("A first start takes some minutes; the next ones take seconds.");
  await prepare({ forTests: false });
  await build();
  const { url } = await serve(join(ROOT, "www", "dist"), port());
  say(`the page is at ${url}  (stop with Ctrl+C)`);
  open(url);
});

/** Opens an address in the desktop's browser; where there is none, nothing happens. */
function open(url) {
  const desktop = process.platform !== "linux" || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  if (!desktop || process.env.CI) return;
  const commands = { darwin: ["open", url], win32: ["cmd", "/c", "start", "", url] };
  const [command, ...args] = commands[process.platform] ?? ["xdg-open", url];
  spawn(command, args, { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}
