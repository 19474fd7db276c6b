/** What a cell was computed from. */

/** The exact arithmetic of one number. */
export interface Explanation {
  value: number;
  /**
   * How the terms make the value, in the order and precision of the pass: their sum from 0; their product; the first over
   * the second; a function that `symbols` names; or nothing, when it is given.
   */
  op: "sum" | "product" | "quotient" | "function" | "given";
  /** The formula in letters, such as "z[t,d] = y[t,d] + b[t,d]". */
  symbols: string;
  /** The formula with its numbers, such as "0.6632 + 0.1897 = 0.8529"; of long sums the first terms and the last. */
  numbers: string;
  terms: ExplanationTerm[];
  /** The terms recombined, minus the value: 0, for every cell. */
  check: number;
  /** What hides the cell, or what an edit did to it. */
  note?: string;
}

/** The product of its factors. */
export interface ExplanationTerm {
  label: string;
  factors: ExplanationFactor[];
  value: number;
}

/**
 * A cell of a `stage`, which can be asked again; an entry of a `parameter`, by the index of its layout; or a `constant`: a
 * number that is written down (an epsilon, a position), or one on the way that is no cell (a mean, a sum of exponentials),
 * which `from` explains.
 */
export type ExplanationFactor =
  | { stage: string; index: number[]; value: number }
  | { parameter: string; index: number[]; value: number }
  | { constant: string; value: number; from?: Explanation };
