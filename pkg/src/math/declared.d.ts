import type { Mask, Shaped, Tensor } from "../glassformer.js";

/** Numbers in lists of lists, all lists of one depth equally long. */
export type NestedNumbers = ArrayLike<number | NestedNumbers>;

/**
 * What the equations take: a tensor, an object with `data` and `shape`, a typed array (one axis), nested lists, or one
 * number. Where the first argument is a Float32Array or a float32 tensor, everything is computed in float32; anything else is
 * float64.
 */
export type MathInput = number | Shaped | NestedNumbers;

export type ActivationName =
  | "relu"
  | "gelu"
  | "gelu_tanh"
  | "silu"
  | "identity"
  | "sigmoid"
  | "tanh"
  | "softplus"
  | "quick_gelu"
  | "gelu_bloom";

export interface NormOptions {
  /** Added inside the root. Default 1e-5. */
  epsilon?: number;
  /** D factors. */
  gain?: MathInput;
  /** D summands. */
  bias?: MathInput;
  /** Added to every gain: 1 for Gemma, whose rows are multiplied by 1 + gain. Default 0. */
  gainOffset?: number;
}

/** How rotary frequencies are stretched for long contexts. */
export type RotaryScaling =
  | { kind: "linear"; factor: number }
  | {
      kind: "llama3";
      factor: number;
      lowFrequencyFactor: number;
      highFrequencyFactor: number;
      originalContext: number;
    };

export interface RotateOptions {
  /** T numbers. Default 0, 1, 2 … */
  positions?: MathInput;
  /** Default 10000. */
  base?: number;
  /** "adjacent" rotates the coordinates 2j and 2j+1 together, "half" j and j + width/2. Default "adjacent". */
  pairing?: "adjacent" | "half";
  /** How many coordinates are rotated, an even number; the others stay. Default K. */
  width?: number;
  scaling?: RotaryScaling;
}

/** Matrices stand out,in, as a model's `blocks.N.attention.query` does. */
export type AttentionParameters = Partial<
  Record<
    "query" | "key" | "value" | "output" | "query_bias" | "key_bias" | "value_bias" | "output_bias",
    MathInput
  >
>;

export interface AttentionOptions {
  /** H. Default 1. */
  nHeads?: number;
  /** G, which divides H: query head h reads key and value head floor(h / (H/G)). Default H. */
  nKeyValueHeads?: number;
  /** H·K,· for the query, G·K,· for the key, G·J,· for the value, ·,H·J for the output; what is missing changes nothing. */
  parameters?: AttentionParameters;
  /** Default "none". */
  mask?: "causal" | "none";
  /** How many keys a query sees on each side at most, its own included. */
  window?: number;
  /** Default 1/sqrt(K). */
  scoreScale?: number;
  /** H slopes: a score loses slope · |t - s|. */
  alibiSlopes?: MathInput;
  /** As a model's: `attention` T,S or with heads, `padding` S or lengths. */
  masks?: { attention?: Mask; padding?: Mask };
}

/**
 * Query H,T,K, key G,S,K and value G,S,J by head, scores and weights H,T,S, their mean over heads T,S, mixed H,T,J, output
 * T,·; of a batch, each with "batch" first.
 */
export interface Attention {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
  readonly scores: Tensor;
  readonly weights: Tensor;
  readonly averageWeights: Tensor;
  readonly mixed: Tensor;
  readonly output: Tensor;
}

export interface RouteOptions {
  /** k: to how many experts a row goes. */
  selected: number;
  /** Whether a row's gates are divided by their sum. Default true. */
  renormalize?: boolean;
  /** How many choices an expert takes, in the order of rows, best choice first. Default: all. */
  capacity?: number;
  /**
   * What becomes of a choice whose expert is full: it is dropped (the other gates stay as they were); it goes to the row's
   * next most probable expert that has room, at its probability; or it is refused. Default "drop".
   */
  overflow?: "drop" | "reroute" | "error";
}

export interface Routing {
  /** Probabilities, N,E. */
  readonly router: Tensor;
  /** Experts, most probable first, N,k, int32; -1 where a choice was dropped. */
  readonly selected: Tensor;
  /** Their weights, N,k; 0 where a choice was dropped. */
  readonly gates: Tensor;
  /** The sum of the gates of each expert, before capacity, E. */
  readonly importance: Tensor;
  /** Squared coefficient of variation of the importance. */
  readonly importanceCv2: Tensor;
  /** The number of choices of each expert, before capacity, E, int32. */
  readonly load: Tensor;
  /** Squared coefficient of variation of the load. */
  readonly loadCv2: Tensor;
  /** The number of choices that found each expert full, E, int32. */
  readonly overflow: Tensor;
  /** Whether each choice found a place, its own expert's or another's, N,k, int32: 1 or 0. */
  readonly kept: Tensor;
}

export interface FilterOptions {
  /** Default 1. */
  temperature?: number;
  topK?: number;
  topP?: number;
}

export interface FilteredLogits {
  /** Before topK and topP, V. */
  readonly distribution: Tensor;
  /** After them, V. */
  readonly filtered: Tensor;
  /** The probability that they removed. */
  readonly removedMass: number;
}

/**
 * The equations alone, computed by the core that runs the models. Nothing is changed in place; every result is a tensor, one
 * number alone a tensor of shape [], read by `item()`. Infinities and NaN are taken where an equation has a value for them.
 *
 * Each throws `not_finite` (something is no number, or an infinity or NaN has no value), `shape_mismatch` (lists of unequal
 * length, too few axes, shapes that disagree), `invalid_option`, `out_of_memory`, `not_initialized`; others are named.
 */
export interface MathFunctions {
  /** `max(x, 0)`, of every number. */
  relu(x: MathInput): Tensor;
  /** `x Φ(x) = x (1 + erf(x/√2)) / 2`, exact (Hendrycks & Gimpel 2016, arXiv:1606.08415). */
  gelu(x: MathInput): Tensor;
  /** `x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`, GPT-2's; not equal to the exact one. */
  geluTanh(x: MathInput): Tensor;
  /** `x σ(1.702 x)`, CLIP's. */
  quickGelu(x: MathInput): Tensor;
  /** `x σ(x)`, also called swish (Elfwing et al. 2017, arXiv:1702.03118). */
  silu(x: MathInput): Tensor;
  /** `σ(x) = 1 / (1 + exp(-x))`. */
  sigmoid(x: MathInput): Tensor;
  /** The hyperbolic tangent. */
  tanh(x: MathInput): Tensor;
  /** `ln(1 + exp x)`, exact on both sides. */
  softplus(x: MathInput): Tensor;
  /** `value · f(gate)`, number by number: "silu" is SwiGLU's, "gelu" GEGLU's, "relu" ReGLU's, "identity" the bilinear one (Shazeer 2020, arXiv:2002.05202). */
  gated(value: MathInput, gate: MathInput, activation: ActivationName): Tensor;
  /** `a · σ(b)` of the halves a | b of the last axis, as PyTorch's `glu` (Dauphin et al. 2016, arXiv:1612.08083). */
  glu(z: MathInput): Tensor;
  /**
   * `(x - mean) / √(variance + epsilon) · (gainOffset + gain) + bias` along the last axis; the variance divides by D
   * (Ba, Kiros & Hinton 2016, arXiv:1607.06450). NaN in a row whose variance overflows.
   */
  layerNorm(x: MathInput, options?: NormOptions): Tensor;
  /** `x / √(mean of x² + epsilon) · (gainOffset + gain) + bias` along the last axis (Zhang & Sennrich 2019, arXiv:1910.07467). */
  rmsNorm(x: MathInput, options?: NormOptions): Tensor;
  /** Along the last axis. -Infinity gives exactly 0; a row of -Infinity gives zeros (PyTorch: NaN). */
  softmax(x: MathInput): Tensor;
  /** Its logarithm, exact where the softmax rounds to 0 or 1; -Infinity in a row of -Infinity (PyTorch: NaN). */
  logSoftmax(x: MathInput): Tensor;
  /** `ln Σ exp x` along the last axis, which goes. */
  logSumExp(x: MathInput): Tensor;
  /**
   * `-log softmax(logits)[label]` of each row; with smoothing `(1 - smoothing) · that + smoothing · mean over classes of
   * -log p`. `losses` has the shape of the labels, 0 where a label is `ignore` (default -100); `mean` is over the others, NaN
   * where there are none.
   * @throws `not_an_integer`, `index_out_of_range` (a label that is no class).
   */
  crossEntropy(
    logits: MathInput,
    labels: MathInput,
    options?: { ignore?: number; smoothing?: number },
  ): { losses: Tensor; mean: Tensor };
  /**
   * Position rows from 0 on, length,width: `sin(t / 10000^(2j/width))` and the cosine beside it, or, concatenated, all sines
   * and then all cosines (Vaswani et al. 2017, arXiv:1706.03762). @throws `not_an_integer`.
   */
  sinusoid(length: number, width: number, options?: { concatenated?: boolean }): Tensor;
  /** `base^(-2j/width)`, width/2 of them (Su et al. 2021, arXiv:2104.09864). @throws `not_an_integer`. */
  rotaryFrequencies(width: number, options?: { base?: number; scaling?: RotaryScaling }): Tensor;
  /**
   * Rows of heads …,T,K with each pair (a, b) turned by position · frequency: `(a cos - b sin, a sin + b cos)`. Position 0
   * stays to the bit. @throws `not_an_integer`.
   */
  rotate(x: MathInput, options?: RotateOptions): Tensor;
  /** ALiBi's slopes, for any number of heads (Press, Smith & Lewis 2021, arXiv:2108.12409). @throws `not_an_integer`. */
  alibiSlopes(heads: number): Tensor;
  /**
   * `-slope · |t - s|`, what ALiBi adds to scores in the models and in `attention`, H,T,S; S is T unless it is given.
   * @throws `not_an_integer`.
   */
  alibiBias(headsOrSlopes: MathInput, queries: number, keys?: number): Tensor;
  /**
   * The experts that each row goes to, from the router's logits N,E: softmax over all experts, the k most probable, of equal
   * ones the lower index first (Shazeer et al. 2017, arXiv:1701.06538).
   * @throws `not_an_integer`, `capacity_exceeded` (position, expert, capacity; with overflow "error").
   */
  route(routerLogits: MathInput, options: RouteOptions): Routing;
  /**
   * From one row of logits, V, to what a token is drawn from: softmax(logits / temperature), then the `topK` most probable,
   * then the fewest that together have the probability `topP`; of equal ones the lower index is kept first.
   */
  filterLogits(logits: MathInput, options?: FilterOptions): FilteredLogits;
  /**
   * Multi-head attention (Vaswani et al. 2017, arXiv:1706.03762): `query` T,·, `key` S,· and `value` S,· of any widths, each
   * through its matrix where there are parameters, or all with a leading batch axis. A query that may see nothing has
   * weights of 0, and the output bias alone as its output. @throws `shape_mismatch`, `not_an_integer`, `not_finite`.
   */
  attention(query: MathInput, key: MathInput, value: MathInput, options?: AttentionOptions): Attention;
  /** Population variance / mean², along the last axis, which goes; 0 where the mean is 0. */
  squaredVariation(x: MathInput): Tensor;
}

export const math: MathFunctions;
