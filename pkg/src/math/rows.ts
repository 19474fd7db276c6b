/** Functions of single numbers and of rows; see `MathFunctions` in declared.d.ts. */

import { calling, GlassformerError, inWords } from "../errors.js";
import { mismatch } from "../input.js";
import type { Tensor } from "../tensor.js";
import { equations } from "./bindings.js";
import * as read from "./read.js";

function activated(name: string, x: unknown, more: readonly unknown[]): Tensor {
  read.refuseMore(more, "it takes numbers alone");
  const given = read.readCells("x", x);
  const { math_activate } = equations();
  calling(() => math_activate(given.data, name));
  return read.tensor(given);
}

export const relu = (x: unknown, ...more: unknown[]): Tensor => activated("relu", x, more);
export const gelu = (x: unknown, ...more: unknown[]): Tensor => activated("gelu", x, more);
export const geluTanh = (x: unknown, ...more: unknown[]): Tensor => activated("gelu_tanh", x, more);
export const quickGelu = (x: unknown, ...more: unknown[]): Tensor => activated("quick_gelu", x, more);
export const silu = (x: unknown, ...more: unknown[]): Tensor => activated("silu", x, more);
export const sigmoid = (x: unknown, ...more: unknown[]): Tensor => activated("sigmoid", x, more);
export const tanh = (x: unknown, ...more: unknown[]): Tensor => activated("tanh", x, more);
export const softplus = (x: unknown, ...more: unknown[]): Tensor => activated("softplus", x, more);

export function gated(value: unknown, gate: unknown, activation: unknown, ...more: unknown[]): Tensor {
  read.refuseMore(more, "gated takes value, gate and the name of an activation");
  const given = read.readCells("value", value);
  const gates = read.readExactly("gate", gate, given.shape);
  const name = read.readName("activation", activation);
  const { math_gate } = equations();
  calling(() => math_gate(given.data, gates, name));
  return read.tensor(given);
}

export function glu(z: unknown, ...more: unknown[]): Tensor {
  read.refuseMore(more, "glu takes numbers alone, and halves their last axis");
  const { data, shape, axes, width } = read.readRowsOf("z", z);
  if (width % 2 !== 0) throw mismatch("z, whose last axis is halved,", [width + 1], [width]);
  const half = width / 2;
  const halved = [...shape.slice(0, -1), half];
  const [value, gate] = [read.room("the halves", halved, data), read.room("the halves", halved)];
  for (let start = 0; start < data.length; start += width) {
    value.set(data.subarray(start, start + half), start / 2);
    gate.set(data.subarray(start + half, start + width), start / 2);
  }
  const { math_gate } = equations();
  calling(() => math_gate(value, gate as Float64Array, "sigmoid"));
  return read.tensor({ data: value, shape: halved, axes });
}

function normalized(x: unknown, given: Record<string, unknown>, rms: boolean): Tensor {
  const rows = read.readRowsOf("x", x);
  const { data, width } = rows;
  const epsilon = read.readNumber("epsilon", given.epsilon, 1e-5, (e) => e >= 0, "a finite number from 0 on");
  const offset = read.readNumber("gainOffset", given.gainOffset, 0);
  const vector = (name: string) =>
    given[name] === undefined ? undefined : read.readExactly(name, given[name], [width]);
  const [gain, bias] = [vector("gain"), vector("bias")];
  const { math_normalize } = equations();
  calling(() => math_normalize(data, width, rms, epsilon, offset, gain, bias));
  return read.tensor(rows);
}

export function layerNorm(x: unknown, options?: unknown, ...more: unknown[]): Tensor {
  read.refuseMore(more, "layerNorm takes x and options");
  return normalized(x, read.options("layerNorm", options, ["epsilon", "gain", "bias", "gainOffset"]), false);
}

export function rmsNorm(x: unknown, options?: unknown, ...more: unknown[]): Tensor {
  read.refuseMore(more, "rmsNorm takes x and options");
  return normalized(x, read.options("rmsNorm", options, ["epsilon", "gain", "bias", "gainOffset"]), true);
}

function softened(x: unknown, logarithm: boolean, more: readonly unknown[]): Tensor {
  read.refuseMore(more, "it takes numbers alone, and works along their last axis");
  const rows = read.readRowsOf("x", x);
  const { math_softmax } = equations();
  calling(() => math_softmax(rows.data, rows.width, logarithm));
  return read.tensor(rows);
}

export const softmax = (x: unknown, ...more: unknown[]): Tensor => softened(x, false, more);
export const logSoftmax = (x: unknown, ...more: unknown[]): Tensor => softened(x, true, more);

export function logSumExp(x: unknown, ...more: unknown[]): Tensor {
  read.refuseMore(more, "logSumExp takes numbers alone, and works along their last axis");
  const rows = read.readRowsOf("x", x);
  const out = read.rowsOf(rows, "the sums");
  const { math_log_sum_exp } = equations();
  calling(() => math_log_sum_exp(rows.data, rows.width, out.data));
  return read.tensor(out);
}

export function squaredVariation(x: unknown, ...more: unknown[]): Tensor {
  read.refuseMore(more, "squaredVariation takes numbers alone, and works along their last axis");
  const rows = read.readRowsOf("x", x);
  const out = read.rowsOf(rows, "the variations");
  const { math_squared_variation } = equations();
  calling(() => math_squared_variation(rows.data, rows.width, out.data));
  return read.tensor(out);
}

export function crossEntropy(
  logits: unknown,
  labels: unknown,
  options?: unknown,
  ...more: unknown[]
): { losses: Tensor; mean: Tensor } {
  read.refuseMore(more, "crossEntropy takes logits, labels and options");
  const given = read.options("crossEntropy", options, ["ignore", "smoothing"]);
  const [low, high] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  const ignore = read.readCount("ignore", given.ignore, low, high, -100);
  const smoothing = read.readNumber(
    "smoothing",
    given.smoothing,
    0,
    (s) => s >= 0 && s <= 1,
    "a number from 0 to 1",
  );
  const rows = read.readRowsOf("logits", logits);
  const losses = read.rowsOf(rows, "the losses");
  const mean = { data: read.room("the mean", [], rows.data), shape: [], axes: [] };
  const classes = readLabels(labels, losses.shape, rows.width, ignore);
  const { math_cross_entropy } = equations();
  calling(() => math_cross_entropy(rows.data, rows.width, classes, smoothing, losses.data, mean.data));
  return { losses: read.tensor(losses), mean: read.tensor(mean) };
}

/** Labels, each a class; NaN where a row is ignored. */
function readLabels(
  labels: unknown,
  shape: readonly number[],
  classes: number,
  ignore: number,
): Float64Array {
  const out = read.readExactly("labels", labels, shape);
  for (const [position, label] of out.entries()) {
    if (label === ignore) {
      out[position] = Number.NaN;
      continue;
    }
    if (!Number.isInteger(label)) {
      const value = inWords(label);
      const message = `the label at ${position} must be a whole number, got ${value}`;
      throw new GlassformerError("not_an_integer", message, { what: "label", position, value });
    }
    if (label < 0 || label >= classes) {
      const message = `the label at ${position} is ${label}; there are ${classes} classes, counted from 0`;
      const fields = { what: "label", position, index: label, size: classes };
      throw new GlassformerError("index_out_of_range", message, fields);
    }
  }
  return out;
}
