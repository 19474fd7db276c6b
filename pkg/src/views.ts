/** Stages as they are asked for: by name, in TransformerLens's order, or averaged over heads. */

import { calling, inWords } from "./errors.js";
import type { StageDescription } from "./glassformer.js";
import { invalidOption } from "./input.js";
import { equations } from "./math/bindings.js";
import type { Plan } from "./plan.js";
import { Tensor } from "./tensor.js";

/** The stage of a name; a name of TransformerLens's gives its order of axes. */
export function viewOf(plan: Plan, name: unknown, tensorOf: (slot: number) => Tensor): Tensor {
  const slot = plan.slot(name);
  const tensor = tensorOf(slot);
  return plan.stages[slot].hooks.includes(name as string) ? asHooked(tensor) : tensor;
}

/** What is said about a stage. */
export function describe(plan: Plan, name: unknown): StageDescription {
  const { hooks: _hooks, ...description } = plan.stages[plan.slot(name)];
  return structuredClone(description);
}

/** The mean over heads of a stage of attention weights, of the last block's where none is named. */
export function averageOf(plan: Plan, stage: unknown, tensorOf: (slot: number) => Tensor): Tensor {
  const slot = plan.slot(stage === undefined ? "attention" : stage);
  const { name } = plan.stages[slot];
  if (!name.endsWith("attention.weights")) {
    throw invalidOption("stage", inWords(stage), "only attention weights are averaged over heads");
  }
  const { data, shape, axes } = tensorOf(slot);
  const [heads, queries, keys] = shape.slice(-3);
  const Type = plan.dtype === "float64" ? Float64Array : Float32Array;
  const cells = queries * keys;
  const mean = calling(() => {
    const made = new Type(data.length / heads);
    for (let b = 0; b * cells < made.length; b++) {
      const own = data.subarray(b * heads * cells, (b + 1) * heads * cells);
      equations().math_average_heads(own, heads, made.subarray(b * cells, (b + 1) * cells));
    }
    return made;
  });
  const left = <T>(list: readonly T[]) => [...list.slice(0, -3), ...list.slice(-2)];
  return new Tensor(mean, left(shape), left(axes));
}

/** The same numbers in TransformerLens's order: a leading batch axis, and the position before the head. */
function asHooked({ data, shape, axes }: Tensor): Tensor {
  const own = axes[0] === "batch" ? 1 : 0;
  const [sizes, names] = [shape.slice(own), axes.slice(own)];
  const batch = own === 1 ? shape[0] : 1;
  if (names[0] !== "head" || names[1] !== "position")
    return new Tensor(data, [batch, ...sizes], ["batch", ...names]);
  const [heads, rows, width] = sizes;
  const turned = data.slice();
  for (let i = 0; i < batch * heads * rows; i++) {
    const [b, h, t] = [Math.floor(i / (heads * rows)), Math.floor(i / rows) % heads, i % rows];
    turned.set(data.subarray(i * width, (i + 1) * width), ((b * rows + t) * heads + h) * width);
  }
  return new Tensor(turned, [batch, rows, heads, width], ["batch", "position", "head", "coordinate"]);
}
