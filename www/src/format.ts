/** Numbers in words. */

/** Four decimals, as the lessons print them; a zero never carries a minus sign. */
export function four(x: number): string {
  if (x === Number.NEGATIVE_INFINITY) return "-∞";
  if (x === Number.POSITIVE_INFINITY) return "∞";
  const word = x.toFixed(4);
  return word === "-0.0000" ? "0.0000" : word;
}

/** A size of a change: four decimals, or as many as a smaller one needs to be seen. */
export function size(x: number): string {
  return x >= 0.00005 || x === 0 ? four(x) : x.toExponential(1);
}

/** `0`, `0 and 1`, `0, 1 and 2`, `0 to 5`. */
export function list(positions: readonly number[]): string {
  const first = positions[0];
  const last = positions.at(-1);
  if (
    positions.length > 3 &&
    first !== undefined &&
    last !== undefined &&
    last - first === positions.length - 1
  ) {
    return `${first} to ${last}`;
  }
  if (positions.length < 2) return positions.join();
  return `${positions.slice(0, -1).join(", ")} and ${last}`;
}
