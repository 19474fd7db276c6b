/** Attention with all its heads; see `MathFunctions` in declared.d.ts. */

import { calling, GlassformerError, inWords } from "../errors.js";
import { invalidOption, mismatch, readOptions } from "../input.js";
import { ACROSS, type PromptMasks, readMasks } from "../masks.js";
import { ofPrompt } from "../prompts.js";
import type { Tensor } from "../tensor.js";
import { equations } from "./bindings.js";
import * as read from "./read.js";

interface Attended {
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
/** In the order in which wasm takes them. */
const PARAMETERS = [
  "query",
  "query_bias",
  "key",
  "key_bias",
  "value",
  "value_bias",
  "output",
  "output_bias",
] as const;

export function attention(
  query: unknown,
  key: unknown,
  value: unknown,
  options?: unknown,
  ...more: unknown[]
): Attended {
  read.refuseMore(more, "attention takes query, key, value and options");
  const given = read.options("attention", options, OPTIONS);
  const { batch, inputs, queries, keys } = readInputs(query, key, value);
  const [heads, groups] = readHeads(given);
  const { parameters, widths } = readParameters(given.parameters, { heads, groups }, inputs);
  const [width, valueWidth, outputs] = widths;
  const scale = read.readNumber("scoreScale", given.scoreScale, 1 / Math.sqrt(width));
  const isCausal = readMask(given.mask);
  const window = given.window === undefined ? undefined : read.readCount("window", given.window, 1);
  const slopes =
    given.alibiSlopes === undefined ? undefined : read.readFinite("alibiSlopes", given.alibiSlopes, [heads]);
  const prompts = batch ?? 1;
  const all = (length: number) => Array.from({ length: prompts }, () => length);
  const sizes = { batched: batch !== undefined, heads, target: all(queries), source: all(keys) } as const;
  const masks = readMasks(given.masks, ["attention", "padding"], { ...sizes, side: "right" }, ACROSS);

  const made = shapesOf({ heads, groups, queries, keys, width, valueWidth, outputs }).map(
    ({ shape, axes }) => ({
      data: read.room("attention", [prompts, ...shape], inputs[0].data),
      shape: batch === undefined ? shape : [batch, ...shape],
      axes: batch === undefined ? axes : ["batch", ...axes],
    }),
  );
  const { math_attention } = equations();
  const attend = (b: number, { attention, padding }: PromptMasks) => {
    const arrays = [...inputs, ...made].map(({ data }) => part(data, b, prompts));
    const others = [...parameters, attention, padding, slopes];
    calling(() => math_attention(arrays, others, heads, groups, keys, scale, isCausal, window));
  };
  masks.forEach((own, b) => {
    if (batch === undefined) attend(b, own);
    else ofPrompt(b, () => attend(b, own));
  });
  const [q, k, v, scores, weights, averageWeights, mixed, output] = made.map(read.tensor);
  return { query: q, key: k, value: v, scores, weights, averageWeights, mixed, output };
}

/** One of several equal parts of an array, not copied. */
function part(data: read.Cells, b: number, parts: number): read.Cells {
  const size = data.length / parts;
  return data.subarray(b * size, (b + 1) * size);
}

interface Input {
  readonly data: read.Cells;
  /** The length of a row. */
  readonly width: number;
}

function readInputs(
  query: unknown,
  key: unknown,
  value: unknown,
): { batch: number | undefined; inputs: readonly [Input, Input, Input]; queries: number; keys: number } {
  const rows = (what: string, value: unknown) => {
    const given = read.readRowsOf(what, value);
    const { shape, width } = given;
    if (shape.length !== 2 && shape.length !== 3)
      throw mismatch(`${what}, rows by position,`, [1, width], shape);
    read.checkNumbers(what, given.data, Number.isFinite);
    return given;
  };
  const [q, k, v] = [rows("query", query), rows("key", key), rows("value", value)];
  const [queries, keys] = [q, k].map(({ shape }) => shape[shape.length - 2]);
  const isBatch = q.shape.length === 3;
  const leading = isBatch ? [q.shape[0]] : [];
  const expect = (what: string, { shape, width }: typeof q, length: number) => {
    const expected = [...leading, Math.max(length, 1), width];
    if (shape.length !== expected.length || shape.some((n, axis) => n !== expected[axis])) {
      throw mismatch(what, expected, shape);
    }
  };
  expect("query", q, queries);
  expect("key", k, keys);
  expect("value", v, keys);
  // Everything is computed in the kind of the query.
  const alike = (data: read.Cells): read.Cells =>
    q.data instanceof Float32Array
      ? data instanceof Float32Array
        ? data
        : calling(() => Float32Array.from(data))
      : read.wide(data);
  const input = ({ data, width }: typeof q) => ({ data: alike(data), width });
  return { batch: isBatch ? q.shape[0] : undefined, inputs: [input(q), input(k), input(v)], queries, keys };
}

function readHeads(given: Record<string, unknown>): [number, number] {
  const heads = read.readCount("nHeads", given.nHeads, 1, undefined, 1);
  const groups = read.readCount("nKeyValueHeads", given.nKeyValueHeads, 1, undefined, heads);
  if (heads % groups === 0) return [heads, groups];
  throw conflict(["nHeads", "nKeyValueHeads"], [heads, groups], `${groups} does not divide ${heads}`);
}

function conflict(options: string[], values: number[], reason: string): GlassformerError {
  const message = `options ${options.join(" and ")} disagree: ${reason}`;
  return new GlassformerError("config_conflict", message, { options, values, reason });
}

function readMask(mask: unknown): boolean {
  if (mask === undefined || mask === "none") return false;
  if (mask === "causal") return true;
  throw invalidOption("mask", inWords(mask), 'it must be "none" or "causal"');
}

/** The projections, and the widths of a head, of a value head and of the output. */
function readParameters(
  parameters: unknown,
  { heads, groups }: { heads: number; groups: number },
  inputs: readonly [Input, Input, Input],
): { parameters: (Float64Array | undefined)[]; widths: [number, number, number] } {
  const given = parameters === undefined ? {} : readOptions("parameters", parameters, PARAMETERS);
  const found = new Map<string, Float64Array>();
  /** Reads a projection, and says how many numbers it makes of so many. */
  const outputsOf = (name: string, width: number, exactly?: number): number => {
    let outputs = width;
    if (given[name] !== undefined) {
      const { data, shape } = read.readCells(`parameters.${name}`, given[name]);
      outputs = shape.length === 2 ? shape[0] : 0;
      const expected = [exactly ?? Math.max(outputs, 1), width];
      if (shape.length !== 2 || outputs !== expected[0] || shape[1] !== width) {
        throw mismatch(`parameters.${name}`, expected, shape);
      }
      read.checkNumbers(`parameters.${name}`, data, Number.isFinite);
      found.set(name, read.wide(data));
    } else if (exactly !== undefined && exactly !== width) {
      throw mismatch(`${name}, which has no projection,`, [exactly], [width]);
    }
    const bias = `${name}_bias`;
    if (given[bias] !== undefined)
      found.set(bias, read.readFinite(`parameters.${bias}`, given[bias], [outputs]));
    return outputs;
  };
  const divided = (option: string, width: number, by: number): number => {
    if (width % by === 0) return width / by;
    throw conflict([option, "width"], [by, width], `${by} does not divide ${width}`);
  };
  const width = divided("nHeads", outputsOf("query", inputs[0].width), heads);
  outputsOf("key", inputs[1].width, groups * width);
  const valueWidth = divided("nKeyValueHeads", outputsOf("value", inputs[2].width), groups);
  const outputs = outputsOf("output", heads * valueWidth);
  return { parameters: PARAMETERS.map((name) => found.get(name)), widths: [width, valueWidth, outputs] };
}

interface Sizes {
  heads: number;
  groups: number;
  queries: number;
  keys: number;
  width: number;
  valueWidth: number;
  outputs: number;
}

/** What is computed, in the order in which wasm fills it. */
function shapesOf({ heads, groups, queries, keys, width, valueWidth, outputs }: Sizes): {
  shape: number[];
  axes: string[];
}[] {
  const byHead = ["head", "position", "coordinate"];
  const pairs = ["head", "query", "key"];
  return [
    { shape: [heads, queries, width], axes: byHead },
    { shape: [groups, keys, width], axes: byHead },
    { shape: [groups, keys, valueWidth], axes: byHead },
    { shape: [heads, queries, keys], axes: pairs },
    { shape: [heads, queries, keys], axes: pairs },
    { shape: [queries, keys], axes: ["query", "key"] },
    { shape: [heads, queries, valueWidth], axes: byHead },
    { shape: [queries, outputs], axes: ["position", "coordinate"] },
  ];
}
