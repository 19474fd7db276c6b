/** The choice of experts; see `MathFunctions` in declared.d.ts. */

import { calling, GlassformerError } from "../errors.js";
import { mismatch } from "../input.js";
import type { Tensor } from "../tensor.js";
import { equations } from "./bindings.js";
import * as read from "./read.js";

interface Routing {
  router: Tensor;
  selected: Tensor;
  gates: Tensor;
  importance: Tensor;
  importanceCv2: Tensor;
  load: Tensor;
  loadCv2: Tensor;
  overflow: Tensor;
  kept: Tensor;
}

export function route(routerLogits: unknown, options: unknown, ...more: unknown[]): Routing {
  read.refuseMore(more, "route takes the router's logits and options");
  const given = read.options("route", options, ["selected", "renormalize", "capacity", "overflow"]);
  const logits = read.readRowsOf("router logits", routerLogits);
  const { data, shape, width: experts } = logits;
  if (shape.length !== 2) throw mismatch("router logits, rows by expert,", [1, experts], shape);
  // An expert may be left out by -Infinity; there is no choosing by NaN, nor between infinities.
  read.checkNumbers("router logits", data, (x) => x < Number.POSITIVE_INFINITY);
  const selected = read.readCount("selected", given.selected, 1, experts);
  const renormalize = read.readFlag("renormalize", given.renormalize, true);
  const capacity = given.capacity === undefined ? undefined : read.readCount("capacity", given.capacity, 1);
  const overflow = read.readName("overflow", given.overflow, "drop");
  const choices = [shape[0], selected];
  const made = (sizes: readonly number[]) => read.room("the choices", sizes, data);
  const counted = [made([experts]), made([experts]), made([experts])];
  const outputs = [data, made(choices), made(choices), ...counted, made([2])];
  const { math_route } = equations();
  const refused = calling(() => math_route(outputs, selected, renormalize, capacity, overflow));
  if (refused >= 0) throw full(Math.floor(refused / experts), refused % experts, capacity);

  const [router, chosen, gates, importance, load, overflows, variations] = outputs;
  const byChoice = ["position", "choice"];
  const of = (cells: read.Cells | Int32Array, sizes: readonly number[], axes: readonly string[]) =>
    read.tensor({ data: cells, shape: sizes, axes });
  const variation = (i: number) => of(variations.slice(i, i + 1), [], []);
  return {
    router: of(router, shape, ["position", "expert"]),
    selected: of(read.whole(chosen), choices, byChoice),
    gates: of(gates, choices, byChoice),
    importance: of(importance, [experts], ["expert"]),
    importanceCv2: variation(0),
    load: of(read.whole(load), [experts], ["expert"]),
    loadCv2: variation(1),
    overflow: of(read.whole(overflows), [experts], ["expert"]),
    kept: of(
      calling(() => Int32Array.from(chosen, (e) => (e < 0 ? 0 : 1))),
      choices,
      byChoice,
    ),
  };
}

function full(position: number, expert: number, capacity: number | undefined): GlassformerError {
  const message = `the row at ${position} chose expert ${expert}, which takes ${capacity} choices and is full`;
  return new GlassformerError("capacity_exceeded", message, { position, expert, capacity });
}
