/** What a control of the panel is: an option, in plain words. */

import type { ModelName } from "glassformer";
import { type Spec, type Value, type Values, valueAt, withValue } from "../spec.js";

interface Common {
  /** The option, and where it is among the filled-in ones; what is no option stands in brackets. */
  readonly path: string;
  readonly label: string;
  /** Whether it is there at all. */
  readonly only?: (spec: Spec) => boolean;
}

/** One of a few. */
export interface Choice extends Common {
  readonly type: "choice";
  readonly choices: readonly { readonly value: string; readonly name: string; readonly words: string }[];
  /** The choice that a model of these options has; by default the option's value. */
  readonly read?: (filled: object, spec: Spec) => string;
  /** The model with another choice; by default the option's value is changed, and nothing else. */
  readonly write?: (spec: Spec, value: string) => Spec;
}

/** Yes or no. */
export interface Switch extends Common {
  readonly type: "switch";
  readonly on: string;
  readonly off: string;
}

/** A number, or a list of numbers. */
export interface Amount extends Common {
  readonly type: "amount";
  readonly words: string;
  /** What the page shows at most; the package may take more. */
  readonly most?: number;
  /** Whether it is a whole number: then arrows step by 1. */
  readonly whole?: boolean;
  /** Whether it is a list, with commas. */
  readonly list?: boolean;
  /** What stands in the empty field: what holds unless something is chosen. */
  readonly empty?: string;
  /** Other values, of which one is taken where the option is available at all. */
  readonly others: (filled: object) => readonly Value[];
}

export type Control = Choice | Switch | Amount;

/** Controls under one heading. */
export interface Group {
  readonly title: string;
  readonly controls: readonly Control[];
  /** A sentence that stands in the controls' place, where there is one. */
  readonly closed?: (spec: Spec, filled: object) => string | undefined;
  readonly inner?: readonly Group[];
}

export function put(spec: Spec, path: string, value: Value | undefined): Spec {
  return { ...spec, options: withValue(spec.options, path, value) };
}

export function readChoice(control: Choice, filled: object, spec: Spec): string {
  return control.read?.(filled, spec) ?? String(valueAt(filled, control.path));
}

export function writeChoice(control: Choice, spec: Spec, value: string): Spec {
  return control.write?.(spec, value) ?? put(spec, control.path, value);
}

export function readSwitch(control: Switch, filled: object): boolean {
  return valueAt(filled, control.path) === true;
}

/** The model with a switch turned; a bias that is off is left out of the list of biases. */
export function writeSwitch(control: Switch, spec: Spec, on: boolean): Spec {
  return put(spec, control.path, on || !control.path.startsWith("bias.") ? on : undefined);
}

/** The model of another class, without the options that only the present one has. */
export function writeKind(spec: Spec, kind: ModelName): Spec {
  return {
    kind,
    options: kind === "EncoderDecoderModel" ? spec.options : without(spec.options, "nEncoderBlocks"),
  };
}

/** The options without those that only say more about a choice that is left. */
export function without(options: Values, ...paths: readonly string[]): Values {
  return paths.reduce((rest, path) => withValue(rest, path, undefined), options);
}
