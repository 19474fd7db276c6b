/** The vocabularies: what the ids are called, which changes no number. */

export const WORDS: readonly string[] = ["<start>", "the", "cat", "dog", "sat", "slept", "<end>"];

/** An encoder-decoder reads another language. */
export const SOURCE_WORDS: readonly string[] = ["<start>", "le", "chat", "chien", "assis", "dort", "<end>"];

/** The prompts of the beginning. */
export const START: readonly number[] = [0, 1, 2];
export const SOURCE_START: readonly number[] = [1, 2, 5, 6];
