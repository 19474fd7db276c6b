/** What the page shows: a model, a prompt's trace, and how it differs from the one before. */

import { type Diff, EncoderDecoderModel, type Trace } from "glassformer";
import { build, LESSON, type Model, type Spec, shortest } from "./spec.js";
import { SOURCE_START, START } from "./words.js";

/** What a model is asked. Of an encoder-decoder `tokens` are the target's; the others do not look at the source. */
export interface Prompt {
  readonly tokens: readonly number[];
  readonly source: readonly number[];
}

export interface State extends Prompt {
  readonly spec: Spec;
  readonly model: Model;
  readonly trace: Trace;
  /** The prompt that was shown before, and the difference from it; absent at the start and for a new model. */
  readonly before: (Prompt & { readonly trace: Trace; readonly diff: Diff }) | undefined;
  /** What was done to the model, in words; absent where only the prompt changed. */
  readonly told?: string;
}

const BEGINNING: Prompt = { tokens: START, source: SOURCE_START };

export class Store {
  state: State;
  readonly #listeners: ((state: State) => void)[] = [];

  constructor() {
    const model = build(LESSON);
    this.state = { spec: LESSON, model, ...BEGINNING, trace: respond(model, BEGINNING), before: undefined };
  }

  /** Calls `listener` now and after every change. */
  follow(listener: (state: State) => void): void {
    this.#listeners.push(listener);
    listener(this.state);
  }

  /** Shows another prompt, compared with the present one. @throws what the model refuses it with; nothing changes. */
  ask(asked: Partial<Prompt>): void {
    const { spec, model, tokens, source, trace: kept, before } = this.state;
    const prompt = { tokens, source, ...asked };
    if (equal(prompt.tokens, tokens) && equal(prompt.source, source)) return;
    const trace = respond(model, prompt);
    const earlier = { tokens, source, trace: kept, diff: kept.diff(trace) };
    this.#show({ spec, model, ...prompt, trace, before: earlier });
    before?.trace.free();
  }

  /** The prompt of the beginning, compared with nothing. @throws as `ask`. */
  reset(): void {
    const { spec, model, trace, before } = this.state;
    const fresh = respond(model, BEGINNING);
    this.#show({ spec, model, ...BEGINNING, trace: fresh, before: undefined });
    trace.free();
    before?.trace.free();
  }

  /** Shows the prompt in another model. @throws what model or prompt is refused with; nothing changes. */
  remodel(chosen: Spec, told: string): void {
    const { model: old, tokens, source, trace: kept, before } = this.state;
    const model = build(chosen);
    let trace: Trace;
    try {
      trace = respond(model, { tokens, source });
    } catch (problem) {
      model.free();
      throw problem;
    }
    this.#show({ spec: shortest(chosen), model, tokens, source, trace, before: undefined, told });
    old.free();
    kept.free();
    before?.trace.free();
  }

  #show(state: State): void {
    this.state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

/** Whether a model reads a source. */
export function hasSource(model: Model): model is EncoderDecoderModel {
  return model instanceof EncoderDecoderModel;
}

/** Whether a row sees rows behind it; of an encoder-decoder, whether a target row sees later target rows. */
export function seesLater({ options }: Model): boolean {
  return options.mask === "none" && (options.window === undefined || options.window > 1);
}

function respond(model: Model, { tokens, source }: Prompt): Trace {
  return hasSource(model) ? model.respondTo(source, tokens) : model.respondTo(tokens);
}

function equal(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id, position) => id === b[position]);
}
