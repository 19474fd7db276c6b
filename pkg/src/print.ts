/** A tensor as aligned text, four decimals, in the manner of NumPy. */

interface Printable {
  readonly data: ArrayLike<number>;
  readonly shape: readonly number[];
  readonly dtype: string;
}

/** Above this many numbers, the middle of every axis is left out. */
const WHOLE = 1000;
const EDGE = 3;

export function aligned(tensor: Printable): string {
  const { data, shape, dtype } = tensor;
  const decimals = dtype === "int32" ? 0 : 4;
  const shorten = data.length > WHOLE;
  const shown = (size: number): (number | null)[] => {
    const all = Array.from({ length: shorten && size > 2 * EDGE ? 2 * EDGE : size }, (_, i) => i);
    if (!shorten || size <= 2 * EDGE) return all;
    return [...all.slice(0, EDGE), null, ...all.slice(EDGE).map((i) => size - 2 * EDGE + i)];
  };
  const words: string[] = [];
  const collect = (axis: number, place: number): void => {
    if (axis === shape.length) {
      words.push(fixed(data[place], decimals));
      return;
    }
    for (const i of shown(shape[axis])) if (i !== null) collect(axis + 1, place * shape[axis] + i);
  };
  collect(0, 0);
  const width = words.reduce((most, word) => Math.max(most, word.length), 0);
  let next = 0;
  const write = (axis: number): string => {
    if (axis === shape.length) return words[next++].padStart(width);
    const parts = shown(shape[axis]).map((i) => (i === null ? "…" : write(axis + 1)));
    const last = axis === shape.length - 1;
    const gap = last ? " " : "\n".repeat(shape.length - 1 - axis) + " ".repeat(axis + 1);
    return `[${parts.join(gap)}]`;
  };
  return write(0);
}

/** A number with a fixed number of decimals; a zero never carries a minus sign. */
export function fixed(x: number, decimals: number): string {
  if (!Number.isFinite(x)) return String(x);
  const word = x.toFixed(decimals);
  return /^-0(\.0*)?$/.test(word) ? word.slice(1) : word;
}
