/** The hand-written declarations say what the implementation does: each side is checked against the other. */

import type * as declared from "glassformer";
import type * as api from "../../pkg/src/api.js";
import type { RandomStream } from "../../pkg/src/random.js";

/** The public part of an instance: what a class declares beyond it (`#private` names) is nobody's business. */
type Public<T> = { [K in keyof T]: T[K] };
type Fits<Made extends Declared, Declared> = [Made, Declared];
type SameKeys<A, B> = [Exclude<keyof A, keyof B>, Exclude<keyof B, keyof A>] extends [never, never]
  ? true
  : never;

/** What the implementation returns and holds is what is declared. */
export type Instances = [
  Fits<
    Public<Pick<api.Tensor, "data" | "shape" | "dims" | "dtype" | "type" | "axes" | "size">>,
    Partial<declared.Tensor>
  >,
  Fits<ReturnType<api.Tensor["tolist"]>, declared.Nested>,
  Fits<ReturnType<api.Tensor["toJSON"]>, ReturnType<declared.Tensor["toJSON"]>>,
  Fits<ReturnType<api.Trace["toRows"]>, declared.TidyRow[]>,
  Fits<ReturnType<api.Trace["toPlain"]>, Omit<declared.PlainTrace, never>>,
  Fits<ReturnType<api.Trace["toJSON"]>, declared.JsonTrace>,
  Fits<ReturnType<api.CausalLanguageModel["toJSON"]>, declared.JsonModel>,
  Fits<ReturnType<typeof api.memory>, ReturnType<typeof declared.memory>>,
  Fits<ReturnType<RandomStream["position"]>, declared.StreamPosition>,
  Fits<declared.StreamPosition, ReturnType<RandomStream["position"]>>,
  Fits<typeof api.math, typeof declared.math>,
];

/** No name is declared that is not there, and none is there that is not declared. */
export const names: [
  SameKeys<typeof api, typeof declared>,
  SameKeys<typeof api.math, typeof declared.math>,
  SameKeys<Public<api.CausalLanguageModel>, declared.CausalLanguageModel>,
  SameKeys<Public<api.Trace>, declared.Trace>,
  SameKeys<Public<api.Tensor>, declared.Tensor>,
  // A model that is handed a stream takes it by `lend`, which is not for users.
  SameKeys<Omit<Public<RandomStream>, "lend">, declared.RandomStream>,
] = [true, true, true, true, true, true];

/** Every argument that is declared to be welcome is taken. */
export type Arguments = [
  Fits<
    Parameters<declared.CausalLanguageModel["respondTo"]>[0],
    Parameters<api.CausalLanguageModel["respondTo"]>[0]
  >,
  Fits<
    Parameters<declared.CausalLanguageModel["respondToRows"]>[0],
    Parameters<api.CausalLanguageModel["respondToRows"]>[0]
  >,
  Fits<
    Parameters<declared.CausalLanguageModel["setParameter"]>,
    Parameters<api.CausalLanguageModel["setParameter"]>
  >,
  Fits<Parameters<declared.Tensor["slice"]>, Parameters<api.Tensor["slice"]>>,
  Fits<
    ConstructorParameters<typeof declared.CausalLanguageModel>,
    ConstructorParameters<typeof api.CausalLanguageModel>
  >,
];
