/** Numbers with a shape. */

export type DType = "float64" | "float32" | "int32";

/** Numbers with a shape, row-major, such as a tensor. */
export interface Shaped {
  readonly data: ArrayLike<number>;
  readonly shape: readonly number[];
}

/** Token ids: any list of numbers, or a tensor of one axis. */
export type Prompt = ArrayLike<number> | Tensor;

/** Rows T,D. */
export type Rows2 = ArrayLike<ArrayLike<number>>;

/** Rows B,T,D: a list of rows of rows, or of tensors T,D. */
export type Rows3 = ArrayLike<Rows2 | Shaped>;

export type NumbersInShape = ArrayLike<number> | ArrayLike<ArrayLike<number>> | Shaped;

export type Nested = number | Nested[];

/** An index (which drops the axis), a half-open range, or nothing for the whole axis. */
export type Range = number | readonly [number?, number?] | null | undefined;

/** Numbers with a shape: a copy of JavaScript's own. */
export class Tensor {
  private constructor();
  readonly data: Float64Array | Float32Array | Int32Array;
  readonly shape: readonly number[];
  /** The same as `shape`. */
  readonly dims: readonly number[];
  readonly dtype: DType;
  /** The same as `dtype`. */
  readonly type: DType;
  /** Such as `["head", "query", "key"]`. */
  readonly axes: readonly string[];
  readonly size: number;
  /** One number; negative indices count from the end. @throws `index_out_of_range`, `not_an_integer`, `shape_mismatch`. */
  at(...index: number[]): number;
  /** The i-th entry of the first axis, as a tensor without that axis. */
  row(i: number): Tensor;
  /** Part of the tensor, one range per axis, as a copy. */
  slice(...ranges: Range[]): Tensor;
  /** The number of a tensor that holds just one. */
  item(): number;
  tolist(): Nested;
  /** Aligned, four decimals. */
  toString(): string;
  /** Infinities, NaN and -0 as texts, because JSON has no numbers for them. */
  toJSON(): { dtype: DType; shape: number[]; axes: string[]; data: (number | string)[] };
}
