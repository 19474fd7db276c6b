/** Finding and reading cases: folders that hold a `case.json` and a `tensors.safetensors`. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readSafetensors } from "./safetensors.mjs";

/** The folders of all cases at any depth below a folder, itself included, in the order of their names. */
export function findCases(folder) {
  const found = existsSync(join(folder, "case.json")) ? [folder] : [];
  const inside = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "node_modules")
    .map((entry) => entry.name)
    .sort();
  return [...found, ...inside.flatMap((name) => findCases(join(folder, name)))];
}

/** What `case.json` says, with `family/name` as `title` and the numbers under `data`, read when asked for. */
export function readCase(folder) {
  const told = JSON.parse(readFileSync(join(folder, "case.json"), "utf8"));
  const family = told.family ?? basename(dirname(folder));
  let data;
  return {
    ...told,
    family,
    folder,
    title: `${family}/${told.name ?? basename(folder)}`,
    get data() {
      data ??= readChecked(folder, told.tensors);
      return data;
    },
  };
}

function readChecked(folder, listed) {
  const data = readSafetensors(join(folder, "tensors.safetensors"));
  for (const { name, shape } of listed) {
    const found = data.get(name);
    if (found === undefined) throw new Error(`case.json lists ${name}, which tensors.safetensors has not`);
    if (found.shape.join() !== shape.join()) {
      throw new Error(`${name} has shape [${found.shape}] and not [${shape}], as case.json says`);
    }
  }
  for (const name of data.keys()) {
    if (!listed.some((tensor) => tensor.name === name)) throw new Error(`case.json does not list ${name}`);
  }
  return data;
}

/** Families that are about something else than what a model computes. */
export const DEFERRED = {
  training: "about training",
};
