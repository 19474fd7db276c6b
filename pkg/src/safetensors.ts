/** The safetensors format: the header's length in 8 bytes, the header as JSON, the numbers, little-endian. */

import { calling } from "./errors.js";
import type { Tensor, TypedArray } from "./tensor.js";

const NAMES = { float64: "F64", float32: "F32", int32: "I32" } as const;

/** The bytes of a file of named tensors; every value of its metadata is a text, as the format asks. */
export function safetensors(
  metadata: Record<string, string>,
  tensors: readonly { name: string; tensor: Tensor }[],
): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let end = 0;
  const placed = tensors.map(({ name, tensor: { data, shape, dtype } }) => {
    const start = end;
    end += data.byteLength;
    header[name] = { dtype: NAMES[dtype], shape, data_offsets: [start, end] };
    return { start, data };
  });
  const text = new TextEncoder().encode(JSON.stringify(header));
  // Readers may map the numbers where they stand: they begin at a multiple of 8.
  const begin = 8 + Math.ceil(text.length / 8) * 8;
  const out = calling(() => new Uint8Array(begin + end)).fill(0x20, 8, begin);
  const view = new DataView(out.buffer);
  view.setBigUint64(0, BigInt(begin - 8), true);
  out.set(text, 8);
  for (const { start, data } of placed) {
    const write = writerOf(view, data);
    for (let i = 0; i < data.length; i++) write(begin + start + i * data.BYTES_PER_ELEMENT, data[i]);
  }
  return out;
}

function writerOf(view: DataView, data: TypedArray): (place: number, x: number) => void {
  if (data instanceof Float64Array) return (place, x) => view.setFloat64(place, x, true);
  if (data instanceof Float32Array) return (place, x) => view.setFloat32(place, x, true);
  return (place, x) => view.setInt32(place, x, true);
}
