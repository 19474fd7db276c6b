/**
 * Cases about what is asked of traces and models, beyond what a model computes: they are run as a user would ask, and have
 * no recipe.
 */

import { DTYPES } from "../check.mjs";
import { Comparison } from "../compare.mjs";
import { generation } from "./generation.mjs";
import { hooked } from "./hooked.mjs";

/** Families, by their name. */
export const INSTRUMENT = { generation, hooked };

/** What one case compares, in one element type. */
export class Asked {
  #skipped = new Map();
  #used = new Set();

  constructor(golden, dtype) {
    this.golden = golden;
    this.dtype = dtype;
    this.whole = new Comparison(golden.tolerance[dtype], dtype === "float32");
  }

  has(name) {
    return this.golden.data.has(name);
  }

  names(pattern) {
    return [...this.golden.data.keys()].filter((name) => pattern.test(name));
  }

  /** A tensor that is read as an input. */
  tensor(name) {
    this.#used.add(name);
    const found = this.golden.data.get(name);
    if (found === undefined) throw new Error(`there is no tensor ${name}`);
    return found;
  }

  about(name) {
    return this.golden.tensors.find((tensor) => tensor.name === name);
  }

  /** Says why a tensor is not compared. */
  skip(pattern, reason) {
    for (const name of this.names(pattern)) this.#skipped.set(name, reason);
  }

  /** Compares numbers with a tensor, cell by cell; `cells` are as many as it has. */
  compare(name, cells) {
    const { data, shape } = this.tensor(name);
    const own = Array.from(cells);
    if (own.length !== data.length)
      throw new Error(`${name} has shape [${shape}], and ours ${own.length} numbers`);
    own.forEach((got, i) => {
      this.whole.cell(got, data[i], {}, () => ({ what: name, tensor: name, index: [i] }));
    });
  }

  /** What nobody looked at. */
  finish() {
    const left = this.golden.tensors.filter(({ name }) => !this.#used.has(name) && !this.#skipped.has(name));
    if (left.length > 0) throw new Error(`not known: ${left.map(({ name }) => name).join(", ")}`);
    if (this.whole.cells === 0) throw new Error("nothing was compared");
    return new Set(this.#skipped.values());
  }
}

/** A case in one element type: its comparison, and why some tensors are left out. */
export function ask(glass, golden, dtype) {
  const asked = new Asked(golden, dtype);
  INSTRUMENT[golden.family](glass, asked);
  return { whole: asked.whole, reasons: asked.finish() };
}

/** The result of a case in both element types: `{ verdict: "ok" | "FAIL", text }`. */
export function verdictOf(glass, golden, summary) {
  const texts = [];
  let failed = false;
  let left = new Set();
  for (const dtype of DTYPES) {
    try {
      const { whole, reasons } = ask(glass, golden, dtype);
      failed ||= whole.wrong > 0;
      left = reasons;
      texts.push(`${dtype} ${summary(whole)}`);
    } catch (error) {
      failed = true;
      texts.push(`${dtype} threw ${error.message}`);
    }
  }
  if (left.size > 0) texts.push(`(not compared: ${[...left].join("; ")})`);
  return { verdict: failed ? "FAIL" : "ok", text: texts.join("  ") };
}
