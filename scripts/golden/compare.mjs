/** Comparing what we compute with what a reference gives. */

/** How far a comparison went: the largest error, and the largest share of what was allowed, with its place. */
export class Comparison {
  cells = 0;
  /** Cells that differ by more than is allowed. */
  wrong = 0;
  error = 0;
  share = 0;
  /** Where the largest share is: `{ what, index, got, want }`. */
  worst = null;

  /** @param {{ rtol: number, atol: number }} tolerance @param {boolean} narrow whether we computed in float32 */
  constructor(tolerance, narrow) {
    this.tolerance = tolerance;
    this.narrow = narrow;
  }

  /** Compares one number; `nan` says what a reference's NaN must meet, see tests/golden/README.md. */
  cell(got, want, { nan } = {}, where) {
    if (Number.isNaN(want)) {
      if (nan === "skip") return;
      const expected = { zeros: 0, "-Infinity": Number.NEGATIVE_INFINITY }[nan] ?? Number.NaN;
      this.cells += 1;
      if (!(Object.is(got, expected) || got === expected))
        this.#note(Number.POSITIVE_INFINITY, got, want, where);
      return;
    }
    this.cells += 1;
    if (got === want || (this.narrow && got === Math.fround(want))) return;
    const error = Math.abs(got - want);
    this.#note(Number.isNaN(error) ? Number.POSITIVE_INFINITY : error, got, want, where);
  }

  #note(error, got, want, where) {
    const allowed = this.tolerance.atol + this.tolerance.rtol * Math.abs(want);
    const share = Number.isFinite(error) ? error / allowed : Number.POSITIVE_INFINITY;
    if (!(share <= 1)) this.wrong += 1;
    this.error = Math.max(this.error, error);
    if (share > this.share) {
      this.share = share;
      this.worst = { ...where(), got, want };
    }
  }

  /** Takes another comparison's findings in. */
  add(other) {
    this.cells += other.cells;
    this.wrong += other.wrong;
    this.error = Math.max(this.error, other.error);
    if (other.share > this.share) Object.assign(this, { share: other.share, worst: other.worst });
  }
}

const strides = (shape) => shape.map((_, i) => shape.slice(i + 1).reduce((product, n) => product * n, 1));

/** Calls `visit(index, flat)` for every cell of a shape, row by row. */
function cellsOf(shape, visit) {
  const size = shape.reduce((product, n) => product * n, 1);
  const steps = strides(shape);
  for (let flat = 0; flat < size; flat++) {
    visit(
      shape.map((n, i) => Math.floor(flat / steps[i]) % n),
      flat,
    );
  }
}

/** T,E out of gates T,k: each at its expert's place, 0 elsewhere. */
export function byExpert(gates, selected, experts) {
  const [rows, k] = gates.shape;
  const data = new Float64Array(rows * experts);
  for (let i = 0; i < rows * k; i++) {
    if (selected.data[i] >= 0) data[Math.floor(i / k) * experts + selected.data[i]] += gates.data[i];
  }
  return { data, shape: [rows, experts], axes: ["position", "expert"] };
}

/**
 * Compares one prompt's stage with its part of a golden tensor. `place` says where that is: `batch` (its index, or null
 * where the golden tensor has no such axis), `first` (the golden position of the prompt's first) and `length` (golden
 * positions of a row, for "flat").
 */
export function compareStage(comparison, source, golden, expectation, place) {
  const { stage, tensor, arrange, rows, nan, times = 1, columns } = expectation;
  const { batch, first, length } = place;
  const steps = strides(golden.shape);
  const allowed = rows && new Set(rows.map((row) => row.join()));
  const isPosition = (axis) => ["position", "query", "key"].includes(axis);
  // The golden tensor may hold a row's last positions only.
  const missing = arrange === "last positions" ? length - golden.shape.at(-2) : 0;
  const shift = source.axes.map((axis) => (isPosition(axis) ? first - missing : 0));
  checkSizes(source, golden, expectation, place);
  cellsOf(source.shape, (index, flat) => {
    const at = index.map((i, axis) => i + shift[axis]);
    const where = goldenIndex(at, source, arrange, { batch, length, columns });
    if (where.some((i) => i < 0)) return;
    if (allowed !== undefined) {
      const axis = source.axes.findIndex((name) => name === "position" || name === "query");
      if (!allowed.has(`${batch ?? 0},${at[axis]}`)) return;
    }
    if (where.some((i, axis) => i >= golden.shape[axis])) {
      throw new Error(`${tensor} has shape [${golden.shape}], and there is no cell [${where}]`);
    }
    const cell = where.reduce((sum, i, axis) => sum + i * steps[axis], 0);
    const place = () => ({ what: stage, tensor, index: batch === null ? index : [batch, ...index] });
    comparison.cell(source.data[flat] * times, golden.data[cell], { nan }, place);
  });
}

function goldenIndex(at, source, arrange, { batch, length, columns }) {
  const front = batch === null ? [] : [batch];
  switch (arrange) {
    case "merge heads": {
      const [h, t, k] = at;
      const column = h * source.shape[2] + k;
      return [...front, t, column + (columns?.[0] ?? 0)];
    }
    case "flat":
      return [(batch ?? 0) * length + at[0], ...at.slice(1)];
    case "time first":
      return [at[0], batch, ...at.slice(1)];
    default:
      // A single number is stored with one axis of size 1.
      return at.length === 0 && front.length === 0 ? [0] : [...front, ...at];
  }
}

/** The axes that no position and no arrangement changes must be as long in both. */
function checkSizes(source, golden, { arrange, tensor, columns }, { batch }) {
  const last = source.shape.at(-1);
  if (last === undefined) return;
  let width = arrange === "merge heads" ? source.shape[0] * last : last;
  if (columns !== undefined) width = golden.shape.at(-1) - (columns[1] - columns[0]) + width;
  const isKey = source.axes.at(-1) === "key";
  if (!isKey && width !== golden.shape.at(-1)) {
    throw new Error(`${tensor} has shape [${golden.shape}], and the stage [${source.shape}]`);
  }
  const rank = { "merge heads": 2, flat: 1 + source.shape.length - 1 - (batch === null ? 0 : 1) }[arrange];
  const expected = (rank ?? source.shape.length) + (batch === null ? 0 : 1);
  if (golden.shape.length !== expected) {
    throw new Error(`${tensor} has ${golden.shape.length} axes, and the stage would fill ${expected}`);
  }
}

/** Every cell of a prompt must stand in the batch's tensor to the bit, and NaN (or -1, of whole numbers) in all others. */
export function checkBatch(stage, whole, prompts, isLeft) {
  const size = whole.data.length / prompts.length;
  const steps = strides(whole.shape.slice(1));
  const empty = whole.data instanceof Int32Array ? -1 : Number.NaN;
  for (const [b, own] of prompts.entries()) {
    const expected = new Map();
    const shift = own.shape.map((n, axis) => (isLeft ? whole.shape[axis + 1] - n : 0));
    cellsOf(own.shape, (index, flat) => {
      const at = index.reduce((sum, i, axis) => sum + (i + shift[axis]) * steps[axis], 0);
      expected.set(at, own.data[flat]);
    });
    for (let at = 0; at < size; at++) {
      const want = expected.has(at) ? expected.get(at) : empty;
      if (Object.is(whole.data[b * size + at], want)) continue;
      throw new Error(
        `${stage} of the batch is not that of prompt ${b}: ${whole.data[b * size + at]} and ${want}`,
      );
    }
  }
}
