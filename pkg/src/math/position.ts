/** Functions of positions; see `MathFunctions` in declared.d.ts. */

import { calling, inWords } from "../errors.js";
import { invalidOption, mismatch, readOptions } from "../input.js";
import type { Tensor } from "../tensor.js";
import { equations } from "./bindings.js";
import * as read from "./read.js";

export function sinusoid(length: unknown, width: unknown, options?: unknown, ...more: unknown[]): Tensor {
  read.refuseMore(more, "sinusoid takes length, width and options");
  const { concatenated } = read.options("sinusoid", options, ["concatenated"]);
  const shape = [read.readCount("length", length), read.readCount("width", width, 1)];
  const ordered = read.readFlag("concatenated", concatenated, false);
  const data = read.room("the rows", shape) as Float64Array;
  const { math_sinusoid } = equations();
  calling(() => math_sinusoid(shape[1], ordered, data));
  return read.tensor({ data, shape, axes: ["position", "coordinate"] });
}

const positive = (x: number): boolean => x > 0;
const POSITIVE = "a finite number above 0";

/** The numbers of a scaling, as wasm takes them. */
function readScaling(scaling: unknown): Float64Array {
  if (scaling === undefined) return new Float64Array(0);
  const stretched = ["lowFrequencyFactor", "highFrequencyFactor", "originalContext"];
  const given = readOptions("scaling", scaling, ["kind", "factor", ...stretched]);
  if (given.kind !== "linear" && given.kind !== "llama3") {
    throw invalidOption("kind", inWords(given.kind), 'the kind of a scaling is "linear" or "llama3"');
  }
  const names = given.kind === "linear" ? ["factor"] : ["factor", ...stretched];
  const other = stretched.find((name) => given[name] !== undefined && !names.includes(name));
  if (other !== undefined)
    throw invalidOption(other, inWords(given[other]), "a linear scaling has a factor alone");
  const numbers = names.map((name) => read.readNumber(name, given[name], undefined, positive, POSITIVE));
  if (numbers.length > 1 && numbers[1] >= numbers[2]) {
    throw invalidOption("highFrequencyFactor", inWords(numbers[2]), "it must be above lowFrequencyFactor");
  }
  return Float64Array.from(numbers);
}

function frequenciesOf(width: number, given: Record<string, unknown>): Float64Array {
  if (width % 2 !== 0) throw invalidOption("width", inWords(width), "pairs are rotated: it must be even");
  const base = read.readNumber("base", given.base, 10000, positive, POSITIVE);
  const scaling = readScaling(given.scaling);
  const data = read.room("the frequencies", [width / 2]) as Float64Array;
  const { math_rotary_frequencies } = equations();
  calling(() => math_rotary_frequencies(width, base, scaling, data));
  return data;
}

export function rotaryFrequencies(width: unknown, options?: unknown, ...more: unknown[]): Tensor {
  read.refuseMore(more, "rotaryFrequencies takes a width and options");
  const given = read.options("rotaryFrequencies", options, ["base", "scaling"]);
  const data = frequenciesOf(read.readCount("width", width), given);
  return read.tensor({ data, shape: [data.length], axes: ["pair"] });
}

export function rotate(x: unknown, options?: unknown, ...more: unknown[]): Tensor {
  read.refuseMore(more, "rotate takes x and options");
  const names = ["positions", "base", "pairing", "width", "scaling"];
  const given = read.options("rotate", options, names);
  const rows = read.readRowsOf("x", x);
  const { data, shape, width } = rows;
  if (shape.length < 2) throw mismatch("x, rows by position,", [1, width], shape);
  const length = shape[shape.length - 2];
  const frequencies = frequenciesOf(read.readCount("width", given.width, 0, width, width), given);
  const positions =
    given.positions === undefined
      ? Float64Array.from({ length }, (_, t) => t)
      : read.readFinite("positions", given.positions, [length]);
  const pairing = read.readName("pairing", given.pairing, "adjacent");
  const { math_rotate } = equations();
  calling(() => math_rotate(data, width, positions, frequencies, pairing));
  return read.tensor(rows);
}

function slopesOf(heads: unknown): Float64Array {
  const data = read.room("the slopes", [read.readCount("heads", heads)]) as Float64Array;
  const { math_alibi_slopes } = equations();
  calling(() => math_alibi_slopes(data));
  return data;
}

export function alibiSlopes(heads: unknown, ...more: unknown[]): Tensor {
  read.refuseMore(more, "alibiSlopes takes the number of heads alone");
  const data = slopesOf(heads);
  return read.tensor({ data, shape: [data.length], axes: ["head"] });
}

export function alibiBias(heads: unknown, queries: unknown, keys?: unknown, ...more: unknown[]): Tensor {
  read.refuseMore(more, "alibiBias takes heads or slopes, and the numbers of queries and keys");
  const slopes = typeof heads === "number" ? slopesOf(heads) : readSlopes(heads);
  const length = read.readCount("queries", queries);
  const shape = [slopes.length, length, read.readCount("keys", keys, 0, undefined, length)];
  const data = read.room("the bias", shape) as Float64Array;
  const { math_alibi_bias } = equations();
  calling(() => math_alibi_bias(slopes, shape[1], shape[2], data));
  return read.tensor({ data, shape, axes: ["head", "query", "key"] });
}

function readSlopes(slopes: unknown): Float64Array {
  const { data, shape } = read.readCells("slopes", slopes);
  if (shape.length !== 1) throw mismatch("slopes", [data.length], shape);
  read.checkNumbers("slopes", data, Number.isFinite);
  return read.wide(data);
}
