/** What is said about stages, their numbers and their differences. */

export interface StageDescription {
  name: string;
  /** The letter it has in formulas. */
  symbol: string;
  axes: string[];
  kind:
    | "given"
    | "lookup"
    | "function"
    | "sum"
    | "linear"
    | "normalization"
    | "product"
    | "softmax"
    | "mixture"
    | "elementwise"
    | "selection"
    | "statistic"
    | "draw";
  /** One sentence. */
  meaning: string;
  /** One cell's equation. */
  formula: string;
  /** The stages, and `parameter …`, that a cell is computed from. */
  inputs: string[];
  /** Whose positions its rows have: the prompt's (of an encoder-decoder, the target's) or the source's. */
  side: "target" | "source";
  /** Whether its numbers are whole: indices and counts, in an Int32Array. */
  integer: boolean;
}

/** One number of a trace, for tables and plots. */
export interface TidyRow {
  stage: string;
  /** null, as every other column, where the stage has no such axis. */
  head: number | null;
  expert: number | null;
  /** null in a stage of the whole prompt, such as an expert's load. */
  position: number | null;
  key: number | null;
  choice: number | null;
  /** The word at the position, of a source-side stage the source's; null when the pass started from rows. */
  token: string | null;
  coordinate: number | null;
  value: number;
}

/** One number of a batch. */
export interface BatchTidyRow extends TidyRow {
  batch: number;
}

export interface RowChange {
  position: number;
  /** Whether every cell is identical to the bit. */
  identical: boolean;
  changedCells: number;
  /** The largest absolute change of a cell; Infinity where one of the two is infinite. */
  maxAbs: number;
  /** The index of that cell in its stage; null where nothing changed. */
  where: number[] | null;
}

export interface Diff {
  stages: { stage: string; rows: RowChange[] }[];
  rows: { position: number; identical: boolean; maxAbs: number; partsFrom: string | null }[];
  /** The first stage in which any row differs. */
  partsFrom: string | null;
}
