/** What models are made from. */

import type { ActivationName, RotaryScaling } from "../math/declared.js";
import type { RandomStream, StreamPosition } from "./random.js";

/** A whole number from 0 to 2^64-1; past 2^53 a BigInt says every one of them exactly. */
export type Seed = number | bigint;

export interface Options {
  /** Number of tokens, V. 0 makes a bare stack of blocks, for `respondToRows`. */
  nVocab: number;
  /** Width of the residual stream, D. Default 4. */
  nModel?: number;
  /** Query heads, H; must divide `nModel` unless `headWidth` is chosen. Default 2. */
  nHeads?: number;
  /** Width of a head, K. Default nModel/nHeads. */
  headWidth?: number;
  /** Key and value heads, G; must divide `nHeads`. Query head h reads key head floor(h/(H/G)). Default nHeads. */
  nKeyValueHeads?: number;
  /** Blocks, L. Default 1. */
  nBlocks?: number;
  /** Width of the feed-forward branch, F. Default 2·nModel. */
  nHidden?: number;
  /** Longest prompt. Default 1024. */
  maxContext?: number;
  /** What is computed in. Default "float64". */
  dtype?: "float64" | "float32";
  /** Labels of the vocabulary, V of them. */
  words?: readonly string[];
  /** Default 7. A `randomStream` goes on behind the model's draws; its position continues a stream. */
  seed?: Seed | "random" | RandomStream | StreamPosition;
  /** The recipe of the draws. Default "lesson". */
  init?: "lesson" | "rustlab" | "gpt2";
  /**
   * Multiplies attention output and contract at initialization; 1/sqrt(2N) is usual for a stack of N blocks, and `init`
   * "gpt2" has that factor already. Default 1.
   */
  branchScale?: number;
  /** LayerNorm, RMSNorm or none. Default "layer". */
  norm?: "layer" | "rms" | "none";
  /** Norms on what a branch reads, or on the sum behind it. Default "pre". */
  normPlacement?: "pre" | "post";
  /** Whether norms have a gain that is a parameter. Default false. */
  normAffine?: boolean;
  /** Added to each gain before it multiplies: 1 in Gemma. Default 0. */
  gainOffset?: number;
  /** Added to the variance (or mean square) inside the norm's root. Default 1e-5. */
  epsilon?: number;
  /** Whether the last block's output is normalized. Default true, without norms false. */
  finalNorm?: boolean;
  /** Whether the embedding is normalized before positions are added (Bloom). Default false. */
  embeddingNorm?: boolean;
  /** Multiplies the embedding: sqrt(nModel) in Gemma. Default 1. */
  embeddingScale?: number;
  /** Whether branches are added to the stream; without it each takes its place. Default true. */
  residual?: boolean;
  /** Whether both branches read the block's input (GPT-NeoX). Default false. */
  parallel?: boolean;
  /** Of a dense branch ("relu") or of the gate ("sigmoid" of glu, "silu" of swiglu, "gelu" of geglu). */
  activation?: ActivationName;
  /** One layer, a gated one, or a mixture of experts. Default "dense". */
  feedForward?: "dense" | "glu" | "swiglu" | "geglu" | ExpertsOptions;
  /** What tells positions apart. Default "sinusoidal". */
  position?: "sinusoidal" | "learned" | "rotary" | "alibi" | "none";
  /** With position "rotary". */
  rotary?: RotaryOptions;
  /** With position "alibi": a slope for each head. Default the paper's. */
  alibiSlopes?: readonly number[];
  /** Default "causal", of an EncoderModel "none"; of an EncoderDecoderModel it is the decoder's. */
  mask?: "causal" | "none";
  /** How many keys a query sees on each side at most, its own included. Default all. */
  window?: number;
  /** What scores are multiplied by. Default 1/sqrt(headWidth). */
  scoreScale?: number;
  /** Whether block n's scores are also divided by n + 1. Default false. */
  scaleByLayer?: boolean;
  /** Which layers have a bias; true is every one there can be. Default false. */
  bias?: boolean | BiasOptions;
  /** Whether the head is the embedding table. Default false. */
  tiedHead?: boolean;
}

/** A mixture of experts (Shazeer et al. 2017, arXiv:1701.06538). */
export interface ExpertsOptions {
  /** How many there are, E. */
  experts: number;
  /** How many each row is sent to, k: the most probable, of equal ones the first. */
  selected: number;
  /** Default "dense". */
  expert?: "dense" | "swiglu";
  /** Whether a row's gates are divided by their sum. Default true. */
  renormalize?: boolean;
  /** How many choices of one prompt an expert takes, in the order of the rows. Default all. */
  capacity?: number;
  /** What becomes of a choice that finds its expert full. Default "drop". */
  overflow?: "drop" | "reroute" | "error";
  /** Standard deviation of the noise on the router's logits. Default 0. */
  noise?: number;
  /** Block n draws its noise from NumPy's default_rng(noiseSeed + n). Default 0. */
  noiseSeed?: number;
}

/** Rotary positions (Su et al. 2021, arXiv:2104.09864). */
export interface RotaryOptions {
  /** Default 10000. */
  base?: number;
  /** Which coordinates turn together: (2j, 2j+1), or (j, j + width/2) as in Llama. Default "adjacent". */
  pairing?: "adjacent" | "half";
  /** How many of a head's coordinates turn. Default all. */
  width?: number;
  /** How frequencies are stretched for longer prompts. Default not at all. */
  scaling?: RotaryScaling;
}

/** Which layers have a bias; what is left out has none. */
export interface BiasOptions {
  /** All four projections, or query, key and value ("qkv"). Default false. */
  attention?: boolean | "qkv";
  feedForward?: boolean;
  /** Needs `normAffine`. */
  norm?: boolean;
  /** Needs a vocabulary. */
  head?: boolean;
}

/** Options of an encoder-decoder. */
export interface EncoderDecoderOptions extends Options {
  /** Number of source tokens. Default nVocab. */
  nSourceVocab?: number;
  /** Blocks of the encoder. Default nBlocks. */
  nEncoderBlocks?: number;
  /** Labels of the source's vocabulary. */
  sourceWords?: readonly string[];
}

/** Every option with its value, to its ends; what a model has no use for, such as the width of no window, is left out. */
export interface FilledInOptions
  extends Readonly<Required<Omit<Options, "words" | "seed" | "rotary" | "alibiSlopes" | "window">>>,
    Readonly<Pick<EncoderDecoderOptions, "words" | "nSourceVocab" | "nEncoderBlocks" | "sourceWords">>,
    Readonly<Pick<Options, "rotary" | "alibiSlopes" | "window">> {
  /** A stream given as `seed` stands here as the position the draws began at. */
  readonly seed: Seed | StreamPosition;
}
