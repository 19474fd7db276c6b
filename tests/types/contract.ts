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
  Fits<ReturnType<api.Trace["norms"]>, declared.StageNorms[]>,
  Fits<ReturnType<api.Trace["entropies"]>, declared.StageEntropies[]>,
  Fits<ReturnType<api.CausalLanguageModel["count"]>, declared.Count>,
  Fits<ReturnType<api.Trace["toPlain"]>, Omit<declared.PlainTrace, never>>,
  Fits<ReturnType<api.Trace["toJSON"]>, declared.JsonTrace>,
  Fits<ReturnType<api.BatchTrace["toRows"]>, declared.BatchTidyRow[]>,
  Fits<ReturnType<api.BatchTrace["toPlain"]>, declared.PlainBatch>,
  Fits<ReturnType<api.BatchTrace["toJSON"]>, declared.JsonBatch>,
  Fits<ReturnType<api.BatchTrace["diff"]>, declared.Diff[]>,
  Fits<
    Public<Pick<api.Trace, "tokens" | "words" | "length" | "sourceTokens" | "sourceWords" | "sourceLength">>,
    Partial<declared.Trace>
  >,
  Fits<
    Public<Pick<api.BatchTrace, "tokens" | "words" | "length" | "lengths" | "padding" | "size">>,
    Partial<declared.BatchTrace>
  >,
  Fits<ReturnType<api.Trace["describe"]>, declared.StageDescription>,
  Fits<ReturnType<api.CausalLanguageModel["toJSON"]>, declared.JsonModel>,
  Fits<api.EncoderDecoderModel["parameters"], declared.Parameter[]>,
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
  SameKeys<Public<api.EncoderModel>, declared.EncoderModel>,
  SameKeys<Public<api.EncoderDecoderModel>, declared.EncoderDecoderModel>,
  SameKeys<Public<api.Trace>, declared.Trace>,
  SameKeys<Public<api.BatchTrace>, declared.BatchTrace>,
  SameKeys<Public<api.Tensor>, declared.Tensor>,
  // A model that is handed a stream takes it by `lend`, which is not for users.
  SameKeys<Omit<Public<RandomStream>, "lend">, declared.RandomStream>,
] = [true, true, true, true, true, true, true, true, true];

type Causal = declared.CausalLanguageModel;
type Encoder = declared.EncoderModel;
type EncoderDecoder = declared.EncoderDecoderModel;
type ApiCausal = api.CausalLanguageModel;
type ApiEncoder = api.EncoderModel;
type ApiEncoderDecoder = api.EncoderDecoderModel;

/** Every argument that is declared to be welcome is taken. */
export type Arguments = [
  Fits<Parameters<Causal["respondTo"]>, Parameters<ApiCausal["respondTo"]>>,
  Fits<Parameters<Causal["respondToRows"]>, Parameters<ApiCausal["respondToRows"]>>,
  Fits<Parameters<Encoder["respondTo"]>, Parameters<ApiEncoder["respondTo"]>>,
  Fits<Parameters<EncoderDecoder["respondTo"]>, Parameters<ApiEncoderDecoder["respondTo"]>>,
  Fits<Parameters<EncoderDecoder["respondToRows"]>, Parameters<ApiEncoderDecoder["respondToRows"]>>,
  Fits<Parameters<Causal["gain"]>, Parameters<ApiCausal["gain"]>>,
  Fits<Parameters<Causal["setParameter"]>, Parameters<ApiCausal["setParameter"]>>,
  Fits<Parameters<declared.Trace["averageWeights"]>, Parameters<api.Trace["averageWeights"]>>,
  Fits<Parameters<Causal["generate"]>, Parameters<ApiCausal["generate"]>>,
  Fits<Parameters<Causal["beams"]>, Parameters<ApiCausal["beams"]>>,
  Fits<Parameters<Causal["sequenceProbability"]>, Parameters<ApiCausal["sequenceProbability"]>>,
  Fits<Parameters<Causal["perturb"]>, Parameters<ApiCausal["perturb"]>>,
  Fits<Parameters<EncoderDecoder["perturb"]>, Parameters<ApiEncoderDecoder["perturb"]>>,
  Fits<Parameters<declared.Trace["explain"]>, Parameters<api.Trace["explain"]>>,
  Fits<Parameters<declared.Trace["residualParts"]>, Parameters<api.Trace["residualParts"]>>,
  Fits<Parameters<declared.Trace["headResults"]>, Parameters<api.Trace["headResults"]>>,
  Fits<Parameters<declared.Trace["logitLens"]>, Parameters<api.Trace["logitLens"]>>,
  Fits<Parameters<declared.Trace["logitContributions"]>, Parameters<api.Trace["logitContributions"]>>,
  Fits<Parameters<declared.Trace["withLastToken"]>, Parameters<api.Trace["withLastToken"]>>,
  Fits<Parameters<declared.BatchTrace["prompt"]>, Parameters<api.BatchTrace["prompt"]>>,
  Fits<Parameters<declared.Tensor["slice"]>, Parameters<api.Tensor["slice"]>>,
  Fits<
    ConstructorParameters<typeof declared.CausalLanguageModel>,
    ConstructorParameters<typeof api.CausalLanguageModel>
  >,
  Fits<ConstructorParameters<typeof declared.EncoderModel>, ConstructorParameters<typeof api.EncoderModel>>,
  Fits<
    ConstructorParameters<typeof declared.EncoderDecoderModel>,
    ConstructorParameters<typeof api.EncoderDecoderModel>
  >,
];

/** Whether a call is of one prompt or of a batch is seen from its arguments. */
export function answers(model: Causal, pair: EncoderDecoder, tensor: declared.Tensor): unknown[] {
  const one: declared.Trace[] = [
    model.respondTo([0, 1], { masks: { attention: [[false, true]], padding: Uint8Array.of(0, 1) } }),
    model.respondTo(Uint8Array.of(0, 1)),
    model.respondToRows([[1, 2], Float32Array.of(3, 4)]),
    pair.respondTo([4, 5], [0, 1], { masks: { sourcePadding: [true, false], memory: tensor } }),
    pair.respondToRows({ memory: [[1, 2]], target: [[3, 4]] }),
  ];
  const many: declared.BatchTrace[] = [
    model.respondTo([[0, 1], Uint8Array.of(2)], { padding: "left", masks: { padding: [2, 1] } }),
    model.respondToRows([[[1, 2]], [[3, 4]]]),
    model.respondToRows([tensor, tensor]),
    pair.respondTo([[4], [5, 6]], [[0, 1], [2]]),
    pair.respondToRows({ source: [[[1, 2]]], target: [[[3, 4]]] }),
  ];
  const either: (declared.Trace | declared.BatchTrace)[] = [
    model.respondTo(tensor),
    model.respondToRows(tensor),
    pair.respondToRows({ source: tensor, target: tensor }),
  ];
  return [...one, ...many, ...either];
}
