/** Attention on rows of any widths; see `attention` in declared.d.ts. */

import { calling, inWords } from "../errors.js";
import { invalidOption, mismatch, readOptions } from "../input.js";
import { ACROSS, readMasks } from "../masks.js";
import type { Tensor } from "../tensor.js";
import { equations } from "./bindings.js";
import * as read from "./read.js";

interface Attention {
  query: Tensor;
  key: Tensor;
  value: Tensor;
  scores: Tensor;
  weights: Tensor;
  averageWeights: Tensor;
  mixed: Tensor;
  output: Tensor;
}

const OPTIONS = [
  "nHeads",
  "nKeyValueHeads",
  "parameters",
  "mask",
  "window",
  "scoreScale",
  "alibiSlopes",
  "masks",
];
const PROJECTIONS = ["query", "key", "value", "output"] as const;
const PARAMETERS = PROJECTIONS.flatMap((name) => [name, `${name}_bias`]);

export function attention(
  query: unknown,
  key: unknown,
  value: unknown,
  options?: unknown,
  ...more: unknown[]
): Attention {
  read.refuseMore(more, "attention takes query, key, value and options");
  const given = read.options("attention", options, OPTIONS);
  const heads = read.readCount("nHeads", given.nHeads, 1, 65536, 1);
  const groups = read.readCount("nKeyValueHeads", given.nKeyValueHeads, 1, heads, heads);
  if (heads % groups !== 0) throw mismatch("heads for each key and value head", [groups], [heads]);
  const parameters =
    given.parameters === undefined ? {} : readOptions("parameters", given.parameters, PARAMETERS);
  const rows = { query: inBatch("query", query), key: inBatch("key", key), value: inBatch("value", value) };
  const batched = rows.query.batched;
  const count = rows.query.shape[0];
  const [targets, sources] = [rows.query.shape[1], rows.key.shape[1]];
  for (const [name, { shape, batched: other, data }] of Object.entries(rows)) {
    const expected = [count, name === "query" ? targets : sources, shape[2]];
    if (other !== batched || String(shape) !== String(expected)) throw mismatch(name, expected, shape);
    read.checkNumbers(name, data, Number.isFinite);
  }
  const projected = {
    query: project("query", rows.query, parameters),
    key: project("key", rows.key, parameters),
    value: project("value", rows.value, parameters),
  };
  const width = byHeads("query", projected.query, heads);
  if (projected.key.width !== groups * width) {
    throw mismatch("key, by head,", [count, sources, groups * width], projected.key.shape);
  }
  const valueWidth = byHeads("value", projected.value, groups);
  const scale = read.readNumber("scoreScale", given.scoreScale, 1 / Math.sqrt(width));
  const mask = read.readName("mask", given.mask, "none");
  if (mask !== "causal" && mask !== "none") {
    throw invalidOption("mask", inWords(mask), 'it must be "causal" or "none"');
  }
  const causal = mask === "causal";
  const window = given.window === undefined ? 0 : read.readCount("window", given.window, 1);
  const slopes =
    given.alibiSlopes === undefined ? undefined : read.readFinite("alibiSlopes", given.alibiSlopes, [heads]);
  const sides = {
    target: Array.from({ length: count }, () => targets),
    source: Array.from({ length: count }, () => sources),
    side: "right",
  } as const;
  const masks = readMasks(given.masks, ["attention", "padding"], { batched, heads, ...sides }, ACROSS);

  const { math_attend } = equations();
  const like = rows.query.data;
  const sizes = { scores: [heads, targets, sources], weights: [heads, targets, sources] };
  const made = {
    scores: read.room("the scores", [count, ...sizes.scores], like),
    weights: read.room("the weights", [count, ...sizes.weights], like),
    average: read.room("the mean weights", [count, targets, sources], like),
    mixed: read.room("what is mixed", [count, heads, targets, valueWidth], like),
  };
  for (let b = 0; b < count; b++) {
    const part = (cells: read.Cells) =>
      cells.subarray((cells.length / count) * b, (cells.length / count) * (b + 1));
    const own = [projected.query.data, projected.key.data, projected.value.data].map(part);
    const outputs = [made.scores, made.weights, made.average, made.mixed].map(part);
    const numbers = Uint32Array.of(heads, groups, targets, sources, width, valueWidth);
    const { attention: added, padding } = masks[b];
    calling(() => math_attend(own, outputs, numbers, causal, window, scale, added, padding, slopes));
  }
  const merged = merge(made.mixed, [count, heads, targets, valueWidth]);
  const output = project("output", { data: merged, shape: [count, targets, heads * valueWidth] }, parameters);
  const of = (data: read.Cells, shape: readonly number[], axes: readonly string[]) =>
    read.tensor(
      batched ? { data, shape: [count, ...shape], axes: ["batch", ...axes] } : { data, shape, axes },
    );
  const byHead = (name: "query" | "key" | "value", own: number, length: number, each: number) =>
    of(
      merge(projected[name].data, [count, length, own, each]),
      [own, length, each],
      ["head", "position", "coordinate"],
    );
  return {
    query: byHead("query", heads, targets, width),
    key: byHead("key", groups, sources, width),
    value: byHead("value", groups, sources, valueWidth),
    scores: of(made.scores, sizes.scores, ["head", "query", "key"]),
    weights: of(made.weights, sizes.weights, ["head", "query", "key"]),
    averageWeights: of(made.average, [targets, sources], ["query", "key"]),
    mixed: of(made.mixed, [heads, targets, valueWidth], ["head", "position", "coordinate"]),
    output: of(output.data, [targets, output.width], ["position", "coordinate"]),
  };
}

/** How wide each of so many heads is. */
function byHeads(what: string, { shape, width }: Rows & { width: number }, heads: number): number {
  if (width % heads === 0) return width / heads;
  throw mismatch(`${what}, by head,`, [shape[0], shape[1], heads * Math.ceil(width / heads)], shape);
}

interface Rows {
  readonly data: read.Cells;
  readonly shape: readonly number[];
}

/** Rows with a leading batch axis, of one where there is none. */
function inBatch(what: string, value: unknown): Rows & { batched: boolean } {
  const { data, shape } = read.readRowsOf(what, value);
  if (shape.length === 2) return { data, shape: [1, ...shape], batched: false };
  if (shape.length !== 3) throw mismatch(`${what}, rows or a batch of rows,`, [1, 1, 1], shape);
  return { data, shape, batched: true };
}

/** Rows through the matrix of a name, out,in, and its bias, where there are such. */
function project(
  name: (typeof PROJECTIONS)[number],
  { data, shape }: Rows,
  parameters: Record<string, unknown>,
): Rows & { width: number } {
  const width = shape[2];
  const { [name]: matrix, [`${name}_bias`]: bias } = parameters;
  if (matrix === undefined) {
    if (bias !== undefined) throw mismatch(`${name}_bias, without ${name},`, [], [width]);
    return { data, shape, width };
  }
  const { shape: sizes, data: cells } = read.readCells(`parameters.${name}`, matrix);
  if (sizes.length !== 2 || sizes[1] !== width) {
    throw mismatch(`parameters.${name}`, [sizes[0] ?? 1, width], sizes);
  }
  read.checkNumbers(`parameters.${name}`, cells, Number.isFinite);
  const shift = bias === undefined ? undefined : read.readFinite(`parameters.${name}_bias`, bias, [sizes[0]]);
  const out = read.room(`what ${name} projects`, [shape[0], shape[1], sizes[0]], data);
  calling(() => equations().math_project(data, width, read.wide(cells), shift, out));
  return { data: out, shape: [shape[0], shape[1], sizes[0]], width: sizes[0] };
}

/** B,X,Y,W turned to B,Y,X,W. */
function merge(data: read.Cells, [count, first, second, width]: readonly number[]): read.Cells {
  const out = read.room("the turned rows", [data.length], data);
  for (let i = 0; i < count * first * second; i++) {
    const [b, x, y] = [Math.floor(i / (first * second)), Math.floor(i / second) % first, i % second];
    out.set(data.subarray(i * width, (i + 1) * width), ((b * second + y) * first + x) * width);
  }
  return out;
}
