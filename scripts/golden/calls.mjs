/** The calls of a recipe: equations of the package alone. */

import { byExpert } from "./compare.mjs";
import { maskValue } from "./models.mjs";

const size = (shape) => shape.reduce((product, n) => product * n, 1);

/** H,T,K as T,H·K: the heads side by side. */
function mergeHeads({ data, shape }) {
  const [heads, length, width] = shape;
  const merged = new Float64Array(data.length);
  for (let h = 0; h < heads; h++) {
    for (let t = 0; t < length; t++) {
      const row = data.subarray((h * length + t) * width, (h * length + t + 1) * width);
      merged.set(row, (t * heads + h) * width);
    }
  }
  return { data: merged, shape: [length, heads * width] };
}

/** Some places of the first axis. */
function pickRows({ data, shape }, rows) {
  const width = data.length / shape[0];
  const picked = new Float64Array(rows.length * width);
  for (const [i, row] of rows.entries()) picked.set(data.subarray(row * width, (row + 1) * width), i * width);
  return { data: picked, shape: [rows.length, ...shape.slice(1)] };
}

/** Two tensors side by side along the last axis. */
function concat(parts) {
  const [{ shape }] = parts;
  const rows = size(shape.slice(0, -1));
  const widths = parts.map((part) => part.shape.at(-1));
  const width = widths.reduce((sum, n) => sum + n, 0);
  const data = new Float64Array(rows * width);
  for (let i = 0; i < rows; i++) {
    let at = i * width;
    for (const [p, part] of parts.entries()) {
      data.set(part.data.subarray(i * widths[p], (i + 1) * widths[p]), at);
      at += widths[p];
    }
  }
  return { data, shape: [...shape.slice(0, -1), width] };
}

/** An argument's numbers and shape, or undefined where it is no tensor. */
function tensorArgument(argument, tensors, results) {
  if (typeof argument !== "object" || argument === null) return undefined;
  let found;
  if (typeof argument.tensor === "string") found = tensors.get(argument.tensor);
  else if (typeof argument.result === "string") found = results.get(argument.result);
  else if (argument.concat !== undefined) found = concat(argument.concat.map((name) => tensors.get(name)));
  else return undefined;
  if (argument.rows !== undefined) {
    const rows = argument.rows.flatMap((row) =>
      Array.isArray(row) ? Array.from({ length: row[1] - row[0] }, (_, i) => row[0] + i) : [row],
    );
    found = pickRows(found, rows);
  }
  if (argument.arrange === "merge heads") found = mergeHeads(found);
  return { data: found.data, shape: found.shape };
}

/** An argument as the package takes it, in the type that is computed in. */
function resolve(argument, tensors, results, Type) {
  const tensor = tensorArgument(argument, tensors, results);
  if (tensor !== undefined) return { data: Type.from(tensor.data), shape: [...tensor.shape] };
  if (Array.isArray(argument)) return argument.map((item) => resolve(item, tensors, results, Type));
  if (typeof argument !== "object" || argument === null) return argument;
  const fields = Object.entries(argument).map(([name, value]) => {
    if (name !== "masks") return [name, resolve(value, tensors, results, Type)];
    const masks = Object.entries(value).map(([kind, mask]) => [kind, maskValue(tensors, mask)]);
    return [name, Object.fromEntries(masks)];
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** Which of the first axis's places hold a finite number that float32 cannot hold: the input is another one there. */
function overflowing(argument) {
  if (argument === undefined) return new Set();
  const rows = argument.shape[0] ?? 1;
  const width = argument.data.length / rows;
  const found = new Set();
  argument.data.forEach((x, i) => {
    if (Number.isFinite(x) && !Number.isFinite(Math.fround(x))) found.add(Math.floor(i / width));
  });
  return found;
}

/** Runs one call of a recipe; what each expectation found goes to `report(expectation, work)`. */
export function runCall(glass, call, tensors, dtype, results, report) {
  const { id, fn, args, options, expect } = call;
  const Type = dtype === "float32" ? Float32Array : Float64Array;
  const given = args.map((argument) => resolve(argument, tensors, results, Type));
  if (options !== undefined) given.push(resolve(options, tensors, results, Type));
  if (glass.math[fn] === undefined) throw new Error(`math has no function ${fn}`);
  const result = glass.math[fn](...given);
  if (id !== undefined) results.set(id, result);
  const first = tensorArgument(args[0], tensors, results);
  const lost = dtype === "float32" ? overflowing(first) : new Set();
  for (const expectation of expect) {
    report({ stage: `math.${fn}`, ...expectation }, (comparison) => {
      const golden = tensors.get(expectation.tensor);
      compareResult(
        comparison,
        outputOf(result, expectation),
        golden,
        { fn, ...expectation },
        { first, lost },
      );
    });
  }
}

function outputOf(result, { output, arrange }) {
  const found = output === undefined ? result : result[output];
  if (arrange === "by expert") return byExpert(found, result.selected, result.router.shape[1]);
  if (arrange !== "merge heads") return found;
  if (found.shape.length === 3)
    return mergeHeads({ data: Float64Array.from(found.data), shape: found.shape });
  const [batch, heads, length, width] = found.shape;
  const step = heads * length * width;
  const data = new Float64Array(batch * step);
  for (let b = 0; b < batch; b++) {
    const part = Float64Array.from(found.data.subarray(b * step, (b + 1) * step));
    data.set(mergeHeads({ data: part, shape: [heads, length, width] }).data, b * step);
  }
  return { data, shape: [batch, length, heads * width] };
}

function compareResult(comparison, got, golden, expectation, { first, lost }) {
  const { fn, tensor, output, nan, times = 1, rows, toleranceRows, minusInfinity } = expectation;
  const isScalar = got.shape.length === 0 && golden.shape.join() === "1";
  if (!isScalar && got.shape.join() !== golden.shape.join()) {
    throw new Error(`math.${fn} gives shape [${got.shape}], and ${tensor} has [${golden.shape}]`);
  }
  const { tolerance } = comparison;
  const chosen = rows ?? (toleranceRows ? tolerance.rows : undefined);
  const allowed = chosen && new Set(chosen);
  const count = golden.shape[0];
  const width = golden.data.length / count;
  const isByRow = first !== undefined && first.shape[0] === count;
  const what = output === undefined ? `math.${fn}` : `math.${fn}.${output}`;
  golden.data.forEach((want, i) => {
    const row = Math.floor(i / width);
    if (allowed !== undefined && !allowed.has(row)) return;
    if (isByRow && lost.has(row)) return;
    if (minusInfinity === "skip" && want === Number.NEGATIVE_INFINITY) return;
    comparison.cell(got.data[i] * times, want, { nan }, () => ({
      what,
      tensor,
      index: indexOf(golden.shape, i),
    }));
  });
}

function indexOf(shape, flat) {
  let rest = flat;
  const index = [];
  for (const n of [...shape].reverse()) {
    index.unshift(rest % n);
    rest = Math.floor(rest / n);
  }
  return index;
}
