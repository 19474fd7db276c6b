/** What the page shows: a prompt's trace, and how it differs from the one before. */

import type { CausalLanguageModel, Diff, Trace } from "glassformer";

export interface State {
  readonly tokens: readonly number[];
  readonly trace: Trace;
  /** The prompt that was shown before, and the difference from it; absent at the start. */
  readonly before:
    | { readonly tokens: readonly number[]; readonly trace: Trace; readonly diff: Diff }
    | undefined;
}

export class Store {
  state: State;
  readonly #listeners: ((state: State) => void)[] = [];

  constructor(
    readonly model: CausalLanguageModel,
    readonly start: readonly number[],
  ) {
    this.state = { tokens: start, trace: model.respondTo(start), before: undefined };
  }

  /** Calls `listener` now and after every change. */
  follow(listener: (state: State) => void): void {
    this.#listeners.push(listener);
    listener(this.state);
  }

  /** Shows another prompt, compared with the present one. */
  change(tokens: readonly number[]): void {
    const { tokens: earlier, trace: kept, before } = this.state;
    if (tokens.length === earlier.length && tokens.every((id, position) => id === earlier[position])) return;
    const trace = this.model.respondTo(tokens);
    this.#show({ tokens, trace, before: { tokens: earlier, trace: kept, diff: kept.diff(trace) } });
    before?.trace.free();
  }

  /** The prompt of the beginning, compared with nothing. */
  reset(): void {
    const { trace, before } = this.state;
    this.#show({ tokens: this.start, trace: this.model.respondTo(this.start), before: undefined });
    trace.free();
    before?.trace.free();
  }

  #show(state: State): void {
    this.state = state;
    for (const listener of this.#listeners) listener(state);
  }
}
