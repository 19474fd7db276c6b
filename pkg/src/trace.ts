/** Everything a forward pass computed. */

import { explain, withLastToken } from "./asking.js";
import { calling, inWords } from "./errors.js";
import { jsonOf, rowsOf, safetensorsOf } from "./export.js";
import type {
  Diff,
  Explanation,
  JsonTrace,
  LensLayer,
  LogitContributions,
  PlainTrace,
  ResidualPart,
  StageDescription,
  StageEntropies,
  StageNorms,
  TidyRow,
} from "./glassformer.js";
import { invalidOption, readCallOptions } from "./input.js";
import { dispose } from "./lifetime.js";
import { entropiesOf, normsOf } from "./measures.js";
import { readPlain, writePlain } from "./plain.js";
import { Recording } from "./recording.js";
import { headResults, logitContributions, logitLens, residualParts } from "./residual.js";
import type { Tensor } from "./tensor.js";
import { averageOf, describe, viewOf } from "./views.js";

/** What a trace is made of; undefined for anything else. */
export let recordingOf: (value: unknown) => Recording | undefined;

export class Trace {
  static {
    recordingOf = (value) =>
      typeof value === "object" && value !== null && #recording in value
        ? (value as Trace).#recording
        : undefined;
  }

  readonly #recording: Recording;

  /** Not for users: models and `Trace.fromPlain` make traces. */
  constructor(recording: Recording) {
    if (!(recording instanceof Recording)) {
      throw invalidOption("trace", inWords(recording), "traces are made by respondTo and Trace.fromPlain");
    }
    this.#recording = recording;
  }

  get tokens(): readonly number[] {
    return this.#recording.prompt.tokens;
  }

  get words(): readonly string[] {
    return this.#recording.words;
  }

  get length(): number {
    return this.#recording.prompt.length;
  }

  get sourceTokens(): readonly number[] {
    return this.#recording.prompt.source;
  }

  get sourceWords(): readonly string[] {
    return this.#recording.sourceWords;
  }

  get sourceLength(): number {
    return this.#recording.prompt.sourceLength;
  }

  get computedRows(): number {
    const { length, computedFrom } = this.#recording.prompt;
    return length - computedFrom;
  }

  get stages(): readonly string[] {
    return this.#recording.plan.names;
  }

  has(name: string): boolean {
    return this.#recording.plan.find(name) !== undefined;
  }

  get(name: string): Tensor {
    const { plan } = this.#recording;
    return viewOf(plan, name, (slot) => this.#recording.tensor(slot));
  }

  describe(name: string): StageDescription {
    return describe(this.#recording.plan, name);
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

  averageWeights(stage?: string): Tensor {
    const { plan } = this.#recording;
    return averageOf(plan, stage, (slot) => this.#recording.tensor(slot));
  }

  diff(other: Trace): Diff {
    const recording = recordingOf(other);
    if (recording !== undefined) return this.#recording.diff(recording);
    throw invalidOption("other", inWords(other), "diff compares with a trace");
  }

  explain(stage: string, index: ArrayLike<number>): Explanation {
    return explain(this.#recording, stage, index);
  }

  residualParts(options?: object): ResidualPart[] {
    return residualParts(this.#recording, options);
  }

  headResults(stage?: string): Tensor {
    return headResults(this.#recording, stage);
  }

  logitLens(options?: object): LensLayer[] {
    return logitLens(this.#recording, options);
  }

  logitContributions(position: number, id: number, against?: number): LogitContributions {
    return logitContributions(this.#recording, position, id, against);
  }

  withLastToken(id: number): Trace {
    return new Trace(withLastToken(this.#recording, id));
  }

  norms(): StageNorms[] {
    return normsOf(this.#recording);
  }

  entropies(): StageEntropies[] {
    return entropiesOf(this.#recording);
  }

  toPlain(): PlainTrace {
    return writePlain(this.#recording);
  }

  static fromPlain(plain: PlainTrace, options?: object): Trace {
    const { model } = readCallOptions("fromPlain", options, ["model"]);
    return new Trace(readPlain(plain, model));
  }

  toJSON(): JsonTrace {
    return calling(() => jsonOf(this.#recording));
  }

  toRows(options?: object): TidyRow[] {
    readCallOptions("toRows", options);
    return calling(() => rowsOf(this.#recording));
  }

  toSafetensors(): Uint8Array {
    return safetensorsOf(this.#recording);
  }

  free(): void {
    this.#recording.free();
  }

  /** How Node and Deno show it on a console. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    const { length, sourceLength } = this.#recording.prompt;
    const source = sourceLength > 0 ? `, a source of ${sourceLength}` : "";
    return `Trace of ${length} positions${source}, ${this.stages.length} stages: ${this.stages.join(", ")}`;
  }

  [dispose](): void {
    this.free();
  }
}
