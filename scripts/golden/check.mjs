/** One case through the package, in one element type. */

import { runCall } from "./calls.mjs";
import { Comparison } from "./compare.mjs";
import { runModel } from "./models.mjs";

export const DTYPES = ["float64", "float32"];

/**
 * Runs a recipe; gives the whole comparison, and one for each expectation. An expectation that compares nothing is an
 * error: it would say nothing.
 */
export function check(glass, golden, recipe, dtype) {
  const tolerance = golden.tolerance[dtype];
  const whole = new Comparison(tolerance, dtype === "float32");
  const parts = [];
  const report = (expectation, work) => {
    const part = new Comparison(tolerance, dtype === "float32");
    try {
      work(part);
    } catch (error) {
      throw Object.assign(error, { expectation });
    }
    if (part.cells === 0 && !(expectation.toleranceRows && tolerance.rows?.length === 0)) {
      throw new Error(`${expectation.stage} and ${expectation.tensor}: nothing was compared`);
    }
    parts.push({ expectation, comparison: part });
    whole.add(part);
  };
  for (const model of recipe.models) runModel(glass, model, golden.data, dtype, report);
  const results = new Map();
  for (const call of recipe.calls) runCall(glass, call, golden.data, dtype, results, report);
  return { whole, parts };
}

/** The result of a case in both element types: `{ verdict: "ok" | "FAIL" | "UNSUPPORTED", text }`. */
export function verdict(glass, golden, recipe) {
  if (recipe.unsupported !== undefined) return { verdict: "UNSUPPORTED", text: recipe.unsupported };
  const texts = [];
  let failed = false;
  for (const dtype of DTYPES) {
    try {
      const { whole } = check(glass, golden, recipe, dtype);
      failed ||= whole.wrong > 0;
      texts.push(`${dtype} ${summary(whole)}`);
    } catch (error) {
      const isLack = ["invalid_option", "config_conflict"].includes(error.code);
      if (isLack) return { verdict: "UNSUPPORTED", text: `${dtype}: ${error.code}: ${error.message}` };
      failed = true;
      const at = error.expectation ? ` (${error.expectation.stage})` : "";
      texts.push(`${dtype} threw ${error.message}${at}`);
    }
  }
  const left = recipe.skipped.filter(({ reason }) => reason.startsWith("unknown: "));
  if (left.length > 0) texts.push(`(not compared, unknown: ${left.map(({ tensor }) => tensor).join(", ")})`);
  return { verdict: failed ? "FAIL" : "ok", text: texts.join("  ") };
}

/** What a comparison found, in words. */
export function summary({ error, share, wrong, cells, worst }) {
  const percent = Number.isFinite(share) ? `${(100 * share).toPrecision(2)}%` : "more than all";
  const most = `${error.toExponential(1)} (${percent} of the tolerance)`;
  if (wrong === 0) return most;
  const { what, tensor, index, got, want } = worst;
  return `${most}: ${wrong} of ${cells} numbers differ, most ${what} at [${index}]: ${got}, and ${tensor} has ${want}`;
}
