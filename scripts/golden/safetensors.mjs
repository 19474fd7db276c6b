/** Reads safetensors files: 8 bytes of length, a header in JSON, then the numbers, little-endian. */

import { readFileSync } from "node:fs";

const READERS = {
  F64: [8, (view, at) => view.getFloat64(at, true)],
  F32: [4, (view, at) => view.getFloat32(at, true)],
  I64: [8, (view, at) => safe(view.getBigInt64(at, true))],
  I32: [4, (view, at) => view.getInt32(at, true)],
  U8: [1, (view, at) => view.getUint8(at)],
  BOOL: [1, (view, at) => view.getUint8(at)],
};

function safe(integer) {
  const number = Number(integer);
  if (!Number.isSafeInteger(number)) throw new Error(`${integer} is too large for a number`);
  return number;
}

/** All tensors of a file by name: `{ dtype, shape, data }`, the numbers in a Float64Array whatever their type. */
export function readSafetensors(file) {
  const bytes = readFileSync(file);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 8) throw new Error(`${file} is no safetensors file: it has ${bytes.length} bytes`);
  const start = 8 + safe(view.getBigInt64(0, true));
  if (start > bytes.length) throw new Error(`${file} is cut short: its header ends at byte ${start}`);
  const header = JSON.parse(bytes.toString("utf8", 8, start));
  const tensors = new Map();
  for (const [name, { dtype, shape, data_offsets: offsets }] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    if (!(dtype in READERS)) throw new Error(`${file}: ${name} is of type ${dtype}, which is not read here`);
    const [width, read] = READERS[dtype];
    const size = shape.reduce((product, n) => product * n, 1);
    const [from, to] = offsets.map((offset) => start + offset);
    if (to - from !== size * width || to > bytes.length) {
      throw new Error(`${file}: ${name} has ${to - from} bytes for shape [${shape.join(", ")}]`);
    }
    const data = Float64Array.from({ length: size }, (_, i) => read(view, from + i * width));
    tensors.set(name, { dtype, shape, data });
  }
  return tensors;
}
