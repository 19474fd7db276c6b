/** Building the models of a recipe with the package, running them, and comparing their stages. */

import { byExpert, checkBatch, compareStage } from "./compare.mjs";

const CLASSES = {
  causal: "CausalLanguageModel",
  encoder: "EncoderModel",
  encoder_decoder: "EncoderDecoderModel",
};

/** The numbers of a parameter, as the recipe takes them out of the golden tensor. */
export function parameterValues(tensors, { from, index, rows, columns, transpose, fill, name }, count) {
  if (from === undefined) return new Float64Array(count).fill(fill);
  const tensor = tensors.get(from);
  let { shape, data } = tensor;
  if (index !== undefined) {
    const size = data.length / shape[0];
    data = data.subarray(index * size, (index + 1) * size);
    shape = shape.slice(1);
  }
  const pick = (ranges, size) =>
    (ranges ?? [[0, size]]).flatMap(([a, b]) => Array.from({ length: b - a }, (_, i) => a + i));
  const width = shape[1] ?? 1;
  const chosenRows = pick(rows, shape[0]);
  const chosenColumns = pick(columns, width);
  const [n, m] = [chosenRows.length, chosenColumns.length];
  const values = new Float64Array(n * m);
  for (const [i, row] of chosenRows.entries()) {
    for (const [j, column] of chosenColumns.entries()) {
      values[transpose ? j * n + i : i * m + j] = data[row * width + column];
    }
  }
  if (values.length !== count)
    throw new Error(`${name} has ${count} numbers, and ${from} gives ${values.length}`);
  return values;
}

/** Nested lists of a tensor's numbers. */
export function nested({ shape, data }, from = 0, axis = 0) {
  if (axis === shape.length) return data[from];
  const size = shape.slice(axis + 1).reduce((product, n) => product * n, 1);
  return Array.from({ length: shape[axis] }, (_, i) => nested({ shape, data }, from + i * size, axis + 1));
}

/** A mask as the package takes it: true hides, floats are added. */
export function maskValue(tensors, mask) {
  if (mask.kind === "lengths") return mask.lengths;
  const { shape, data } = tensors.get(mask.tensor);
  const isPadding = shape.length === 2 && /padding/.test(mask.tensor);
  if (mask.kind === "hide" || isPadding) return nested({ shape, data: Array.from(data, (x) => x !== 0) });
  // The innermost lists are typed arrays: those are always added, whatever they hold.
  const width = shape.at(-1);
  const rows = Array.from({ length: data.length / width }, (_, i) => data.slice(i * width, (i + 1) * width));
  return nested({ shape: shape.slice(0, -1), data: rows });
}

function build(glass, recipe, tensors, dtype) {
  const model = new glass[CLASSES[recipe.model]]({ ...recipe.options, dtype });
  const counts = new Map(model.parameters.map(({ name, count }) => [name, count]));
  const unset = new Set(counts.keys());
  for (const parameter of recipe.parameters) {
    const { name } = parameter;
    if (!counts.has(name)) throw new Error(`the model has no parameter ${name}`);
    model.setParameter(name, parameterValues(tensors, parameter, counts.get(name)));
    unset.delete(name);
  }
  // A decoder that is given its memory has an encoder that does nothing.
  const left = [...unset].find((name) => !(recipe.run.start === "memory" && name.startsWith("encoder.")));
  if (left !== undefined) throw new Error(`nothing sets the parameter ${left}`);
  return model;
}

function respond(model, recipe, tensors) {
  const { start, source, target, lengths, padding, single, masks: named = {} } = recipe.run;
  const given = Object.entries(named).map(([name, mask]) => [name, maskValue(tensors, mask)]);
  const options = given.length > 0 ? { masks: Object.fromEntries(given) } : {};
  const rows = (input) => nested(tensors.get(input.tensor));
  if (start === "tokens") {
    const ids = rows(target).map((row, b) => own(row, lengths?.[b], padding));
    if (padding !== undefined) options.padding = padding;
    return source === undefined ? model.respondTo(ids, options) : model.respondTo(rows(source), ids, options);
  }
  if (start === "memory") {
    return model.respondToRows({ memory: rows(source), target: rows(target) }, options);
  }
  if (source !== undefined)
    return model.respondToRows({ source: rows(source), target: rows(target) }, options);
  return model.respondToRows(rows(target), single ? options : options);
}

/** The tokens of a padded row that are a prompt's own. */
function own(row, length = row.length, padding = "right") {
  return padding === "left" ? row.slice(row.length - length) : row.slice(0, length);
}

/** Runs one model of a recipe; what each expectation found goes to `report(expectation, work)`. */
export function runModel(glass, recipe, tensors, dtype, report) {
  const model = build(glass, recipe, tensors, dtype);
  const { lengths, padding, single, target } = recipe.run;
  const [batch, length] = tensors.get(target.tensor).shape;
  const whole = respond(model, recipe, tensors);
  const prompts = single ? [whole] : Array.from({ length: batch }, (_, b) => whole.prompt(b));
  const first = (b) => (padding === "left" ? length - lengths[b] : 0);
  for (const expectation of recipe.expect) {
    report(expectation, (comparison) => {
      const golden = tensors.get(expectation.tensor);
      const own = prompts.map((trace) => stageOf(trace, expectation));
      const isOneTensor = !single && expectation.arrange !== "by expert";
      if (isOneTensor) checkBatch(expectation.stage, stageOf(whole, expectation), own, padding === "left");
      for (const [b, tensor] of own.entries()) {
        const place = { batch: single ? null : b, first: first(b), length };
        compareStage(comparison, tensor, golden, expectation, place);
      }
    });
  }
  for (const expectation of recipe.losses ?? []) {
    report(expectation, (comparison) => {
      const mean = lossOf(glass, prompts, tensors.get(expectation.labels), expectation, first, dtype);
      const where = () => ({ what: "loss", tensor: expectation.tensor, index: [] });
      comparison.cell(mean, tensors.get(expectation.tensor).data[0], {}, where);
    });
  }
  for (const trace of prompts) if (trace !== whole) trace.free();
  whole.free();
  model.free();
}

/** A stage of one prompt, or of the batch, with what its arrangement needs of other stages. */
function stageOf(trace, { stage, arrange }) {
  if (arrange === "mean of heads") return trace.averageWeights(stage);
  const tensor = trace.get(stage);
  if (arrange !== "by expert") return tensor;
  const branch = stage.slice(0, stage.lastIndexOf("."));
  return byExpert(tensor, trace.get(`${branch}.selected`), trace.get(`${branch}.router`).shape[1]);
}

/** The mean cross-entropy over labels, each scored against the logits `shift` positions before it. */
function lossOf(glass, prompts, labels, { stage, shift, ignore }, first, dtype) {
  const [, length] = labels.shape;
  const rows = [];
  const wanted = [];
  for (const [b, trace] of prompts.entries()) {
    const logits = trace.get(stage);
    for (let t = 0; t < logits.shape[0]; t++) {
      const at = first(b) + t + shift;
      if (at >= length) continue;
      rows.push(logits.row(t).data);
      wanted.push(labels.data[b * length + at]);
    }
  }
  const width = rows[0].length;
  const Type = dtype === "float32" ? Float32Array : Float64Array;
  const flat = new Type(rows.length * width);
  for (const [i, row] of rows.entries()) flat.set(row, i * width);
  const input = { data: flat, shape: [rows.length, width] };
  return glass.math.crossEntropy(input, wanted, { ignore }).mean.item();
}
