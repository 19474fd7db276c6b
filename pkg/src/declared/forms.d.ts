export type ModelName = "CausalLanguageModel" | "EncoderModel" | "EncoderDecoderModel";

export interface JsonModel {
  format: string;
  /** Left out by versions that had CausalLanguageModel alone. */
  model?: ModelName;
  /** Every option with its value; a seed past 2^53-1 as its digits. */
  options: Record<string, unknown>;
  /** Those that were set. */
  parameters?: Record<string, (number | string)[]>;
}

interface PlainHead {
  format: string;
  /** Left out by versions that had CausalLanguageModel alone. */
  model?: ModelName;
  options: Record<string, unknown>;
  start: "tokens" | "rows" | "memory";
}

/** An edit as it was made: -1 in `index` stands for all places of an axis. */
export interface PlainEdit {
  stage: string;
  index: Float64Array;
  change: "set" | "add" | "scale";
  values: Float64Array;
}

interface PlainPrompt {
  /** Empty when the pass started from rows. */
  tokens: number[];
  /** The source's tokens, of an encoder-decoder. */
  source?: number[];
  length: number;
  /** 0 without a source or memory. */
  sourceLength?: number;
  /** Whether the call had masks, in traces of before these were kept. */
  masked?: boolean;
  /** What the call hid, or added to scores. */
  masks?: Record<string, Float64Array>;
  edits?: PlainEdit[];
  /** The numbers of all stages, one after the other. */
  data: Float64Array | Float32Array;
}

export interface PlainTrace extends PlainHead, PlainPrompt {}

export interface PlainBatch extends PlainHead {
  padding: "right" | "left";
  /** `last` is the last position that no padding mask hides. */
  prompts: (PlainPrompt & { last?: number })[];
}

/** A stage; infinities, NaN and -0 stand as texts. */
export interface JsonStage {
  name: string;
  axes: string[];
  shape: number[];
  data: (number | string)[];
}

interface JsonHead {
  schema: string;
  model: ModelName;
  options: Record<string, unknown>;
}

export interface JsonTrace extends JsonHead {
  tokens: number[];
  words: string[];
  /** Of an encoder-decoder: the source's tokens. */
  source?: number[];
  sourceWords?: string[];
  /** What the call hid, or added to scores; left out where it did not. */
  masks?: Record<string, (number | string)[]>;
  /** What the call edited: -1 in `index` stands for all places of an axis. */
  edits?: { stage: string; index: number[]; change: "set" | "add" | "scale"; values: (number | string)[] }[];
  stages: JsonStage[];
}

/** A batch: every stage has a leading batch axis, and "NaN" (-1 in stages of whole numbers) in cells of padding. */
export interface JsonBatch extends JsonHead {
  padding: "right" | "left";
  lengths: number[];
  tokens: number[][];
  words: string[][];
  sourceLengths?: number[];
  source?: number[][];
  sourceWords?: string[][];
  stages: JsonStage[];
}
