/** The traces of several prompts, each as it would be alone, in one. */

import { calling, GlassformerError, inWords } from "./errors.js";
import { batchRowsOf, jsonOfBatch, safetensorsOfBatch } from "./export.js";
import type { BatchTidyRow, Diff, JsonBatch, PlainBatch, StageDescription } from "./glassformer.js";
import { invalidOption, mismatch, readCallOptions } from "./input.js";
import { dispose } from "./lifetime.js";
import type { PaddingSide } from "./masks.js";
import { padded } from "./padding.js";
import { readPlainBatch, writePlainBatch } from "./plain.js";
import type { Plan } from "./plan.js";
import { Recording } from "./recording.js";
import { Tensor } from "./tensor.js";
import { Trace } from "./trace.js";
import { averageOf, describe, viewOf } from "./views.js";

/** The recordings of a batch's prompts; undefined for anything else. */
export let recordingsOfBatch: (value: unknown) => readonly Recording[] | undefined;

export class BatchTrace {
  static {
    recordingsOfBatch = (value) =>
      typeof value === "object" && value !== null && #recordings in value
        ? (value as BatchTrace).#recordings
        : undefined;
  }

  readonly #recordings: readonly Recording[];
  readonly #padding: PaddingSide;

  /** Not for users: models and `BatchTrace.fromPlain` make traces. */
  constructor(recordings: readonly Recording[], padding: PaddingSide) {
    const isMade = Array.isArray(recordings) && recordings.length > 0;
    if (!isMade || !recordings.every((recording) => recording instanceof Recording)) {
      const reason = "traces are made by respondTo and BatchTrace.fromPlain";
      throw invalidOption("trace", inWords(recordings), reason);
    }
    this.#recordings = recordings;
    this.#padding = padding;
  }

  get padding(): PaddingSide {
    return this.#padding;
  }

  /** How many prompts there are. */
  get size(): number {
    return this.#recordings.length;
  }

  get tokens(): readonly (readonly number[])[] {
    return this.#each(({ prompt }) => prompt.tokens);
  }

  get words(): readonly (readonly string[])[] {
    return this.#each((recording) => recording.words);
  }

  get length(): number {
    return Math.max(...this.lengths);
  }

  get lengths(): readonly number[] {
    return this.#each(({ prompt }) => prompt.length);
  }

  get sourceTokens(): readonly (readonly number[])[] {
    return this.#each(({ prompt }) => prompt.source);
  }

  get sourceWords(): readonly (readonly string[])[] {
    return this.#each((recording) => recording.sourceWords);
  }

  get sourceLength(): number {
    return Math.max(...this.sourceLengths);
  }

  get sourceLengths(): readonly number[] {
    return this.#each(({ prompt }) => prompt.sourceLength);
  }

  get stages(): readonly string[] {
    return this.#plan.names;
  }

  prompt(b: number): Trace {
    const size = this.#recordings.length;
    if (typeof b !== "number" || !Number.isInteger(b)) {
      const value = inWords(b);
      const message = `a prompt's index must be a whole number, got ${value}`;
      throw new GlassformerError("not_an_integer", message, { what: "prompt", value });
    }
    const recording = this.#recordings.at(b);
    if (recording !== undefined) return new Trace(recording.share());
    const message = `prompt ${b} is out of range; the batch has ${size}, counted from 0`;
    throw new GlassformerError("index_out_of_range", message, { what: "prompt", index: b, size });
  }

  has(name: string): boolean {
    return this.#plan.find(name) !== undefined;
  }

  get(name: string): Tensor {
    return viewOf(this.#plan, name, this.#padded);
  }

  describe(name: string): StageDescription {
    return describe(this.#plan, name);
  }

  get positioned(): Tensor {
    return this.get("positioned");
  }

  get attention(): Tensor {
    return this.get("attention");
  }

  get afterAttention(): Tensor {
    return this.get("afterAttention");
  }

  get feedForward(): Tensor {
    return this.get("feedForward");
  }

  get hidden(): Tensor {
    return this.get("hidden");
  }

  get logits(): Tensor {
    return this.get("logits");
  }

  get probabilities(): Tensor {
    return this.get("probabilities");
  }

  get lastLogits(): Tensor {
    const slot = this.#plan.slot("logits");
    const rows = this.#recordings.map((recording) => recording.tensor(slot).row(recording.prompt.last));
    const width = rows[0].size;
    const Type = this.#plan.dtype === "float64" ? Float64Array : Float32Array;
    const data = calling(() => new Type(rows.length * width));
    rows.forEach((row, b) => {
      data.set(row.data, b * width);
    });
    return new Tensor(data, [rows.length, width], ["batch", "vocabulary"]);
  }

  averageWeights(stage?: string): Tensor {
    return averageOf(this.#plan, stage, this.#padded);
  }

  diff(other: BatchTrace): Diff[] {
    if (!(typeof other === "object" && other !== null && #recordings in other)) {
      throw invalidOption("other", inWords(other), "diff compares a batch with a batch");
    }
    const [mine, others] = [this.#recordings, other.#recordings];
    if (mine.length !== others.length) throw mismatch("the other batch", [mine.length], [others.length]);
    return mine.map((recording, b) => recording.diff(others[b]));
  }

  toPlain(): PlainBatch {
    return writePlainBatch(this.#recordings, this.#padding);
  }

  static fromPlain(plain: PlainBatch): BatchTrace {
    const { recordings, padding } = readPlainBatch(plain);
    return new BatchTrace(recordings, padding);
  }

  toJSON(): JsonBatch {
    return calling(() => jsonOfBatch(this.#recordings, this.#padding));
  }

  toRows(options?: object): BatchTidyRow[] {
    readCallOptions("toRows", options);
    return calling(() => batchRowsOf(this.#recordings));
  }

  toSafetensors(): Uint8Array {
    return safetensorsOfBatch(this.#recordings, this.#padding);
  }

  free(): void {
    for (const recording of this.#recordings) recording.free();
  }

  /** How Node and Deno show it on a console. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    const sizes = `${this.size} prompts (${this.lengths.join(", ")} positions)`;
    return `BatchTrace of ${sizes}, ${this.stages.length} stages: ${this.stages.join(", ")}`;
  }

  [dispose](): void {
    this.free();
  }

  get #plan(): Plan {
    return this.#recordings[0].plan;
  }

  readonly #padded = (slot: number): Tensor => padded(this.#recordings, slot, this.#padding);

  #each<T>(of: (recording: Recording) => T): readonly T[] {
    return Object.freeze(this.#recordings.map(of));
  }
}
