/** Running commands, step by step, with the time each took. */

import { spawn, spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/[/\\]$/, "");

const began = performance.now();

/** A failure that says what a person should do about it. */
export class Failure extends Error {
  constructor(message, byHand) {
    super(message);
    this.byHand = byHand;
  }
}

export function say(text) {
  console.log(`[${seconds(performance.now() - began)}] ${text}`);
}

export function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1).padStart(6)} s`;
}

/** Runs one step; `byHand` is the command to try when it fails. */
export async function step(name, byHand, work) {
  say(name);
  const start = performance.now();
  // A long silence looks like a standstill.
  const beat = setInterval(() => say(`  still at it, ${seconds(performance.now() - start).trim()}`), 30_000);
  try {
    const result = await work();
    const took = performance.now() - start;
    if (took > 2000) say(`  done in ${seconds(took).trim()}`);
    return result;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`${name}: ${error.message}`, byHand);
  } finally {
    clearInterval(beat);
  }
}

/**
 * Runs a command to its end; rejects when it fails. `quiet` shows its output only then.
 * `limit` is how many milliseconds it may take.
 */
export function run(command, args, { env = {}, cwd = ROOT, quiet = false, limit } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", quiet ? "pipe" : "inherit", quiet ? "pipe" : "inherit"],
      timeout: limit,
      shell: process.platform === "win32" && command === "npm",
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part) => (output += part));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(output);
      if (quiet) process.stderr.write(output);
      const how = signal === null ? `exit code ${code}` : `stopped by ${signal}`;
      reject(new Error(`${command} ${args.join(" ")}: ${how}`));
    });
  });
}

/** The output of a command that is quick, or undefined where there is no such command or it fails. */
export function ask(command, args, env = {}) {
  const answer = spawnSync(command, args, { encoding: "utf8", env: { ...process.env, ...env } });
  return answer.status === 0 ? answer.stdout.trim() : undefined;
}

/** Whether a module is the script that was started, by whatever path. */
export function isMain(url) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(url));
}

/** Runs a script's main part: a failure is told with its remedy and ends with code 1. */
export async function main(work) {
  try {
    await work();
  } catch (error) {
    console.error(`\nFailed: ${error instanceof Failure ? error.message : (error.stack ?? error)}`);
    if (error.byHand) console.error(`Try this by hand, then run the command again:\n\n    ${error.byHand}\n`);
    process.exitCode = 1;
  }
}
