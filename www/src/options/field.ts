/** A control on the page: what it says, whether it can be taken, and what was refused. */

import { element } from "../dom.js";
import { refusal, type Spec, type Value, valueAt } from "../spec.js";
import {
  type Amount,
  type Choice,
  type Control,
  put,
  readChoice,
  readSwitch,
  type Switch,
  writeChoice,
  writeSwitch,
} from "./control.js";

/** What a field needs of the panel. */
export interface Panel {
  readonly spec: () => Spec;
  /** Shows another model; gives the refusal, where there is one. */
  readonly take: (spec: Spec, told: string) => string | undefined;
  /** Says that nothing changed, and why. */
  readonly refused: (why: string) => void;
}

export interface Field {
  readonly node: HTMLElement;
  /** Shows the model's own value. */
  readonly show: (spec: Spec, filled: object) => void;
  /** Tries what else could be chosen, and says why what cannot. */
  readonly check: (spec: Spec, filled: object) => void;
}

export function fieldOf(control: Control, panel: Panel): Field {
  if (control.type === "choice") return choiceField(control, panel);
  return control.type === "switch" ? switchField(control, panel) : amountField(control, panel);
}

/** What every field has: lines below its control, and the control's ties to them. */
class Lines {
  readonly node: HTMLElement;
  readonly words: HTMLElement;
  readonly unavailable: HTMLElement;
  readonly #refused: HTMLElement;
  readonly ties: { readonly id: string; readonly "aria-describedby": string };
  /** The option as programs write it, which reasons speak of. */
  readonly option: HTMLElement;
  readonly #panel: Panel;

  constructor({ path }: Control, panel: Panel) {
    const id = `option-${path.replaceAll(/[^a-zA-Z]+/g, "-")}`;
    const line = (name: string, kind: string) => element("p", { id: `${id}-${name}`, class: kind });
    this.words = line("words", "quiet");
    this.unavailable = line("unavailable", "unavailable");
    this.#refused = line("refused", "refused");
    const lines = [this.words, this.unavailable, this.#refused];
    this.ties = { id, "aria-describedby": lines.map((each) => each.id).join(" ") };
    this.node = element("div", { class: "control", "data-option": path });
    this.option = element("code", { class: "quiet" }, path.replace(/^\(.*\)$/, ""));
    this.#panel = panel;
  }

  hold(...children: (Node | string)[]): void {
    this.node.append(...children, this.words, this.unavailable, this.#refused);
  }

  /** Takes another model, or says beside the control why it is refused. */
  take(spec: Spec, told: string): boolean {
    const why = this.#panel.take(spec, told);
    if (why !== undefined) this.refuse(why);
    return why === undefined;
  }

  refuse(why: string): void {
    const text = sentence(why);
    this.#refused.textContent = `${text.charAt(0).toUpperCase()}${text.slice(1)} The model stays as it was.`;
    this.node.querySelector("input, select")?.setAttribute("aria-invalid", "true");
    this.#panel.refused(why);
  }

  clear(): void {
    this.#refused.textContent = "";
    this.node.querySelector("input, select")?.removeAttribute("aria-invalid");
  }
}

export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function choiceField(control: Choice, panel: Panel): Field {
  const lines = new Lines(control, panel);
  const options = control.choices.map(({ value, name }) => element("option", { value }, name));
  const select = element("select", lines.ties, ...options);
  lines.hold(element("label", { for: select.id }, control.label), " ", lines.option, select);
  let shown = "";
  select.addEventListener("change", () => {
    const { value } = select;
    const name = control.choices.find((choice) => choice.value === value)?.name ?? value;
    if (!lines.take(writeChoice(control, panel.spec(), value), name)) select.value = shown;
  });
  return {
    node: lines.node,
    show: (spec, filled) => {
      lines.clear();
      shown = readChoice(control, filled, spec);
      select.value = shown;
      lines.words.textContent = control.choices.find(({ value }) => value === shown)?.words ?? "";
    },
    check: (spec) => {
      const reasons = new Map<string, { names: string[]; reason: string }>();
      for (const [i, { value, name }] of control.choices.entries()) {
        const option = options[i] as HTMLOptionElement;
        const reason = value === shown ? undefined : refusal(writeChoice(control, spec, value));
        option.disabled = reason !== undefined;
        option.textContent = reason === undefined ? name : `${name} (not available)`;
        if (reason === undefined) continue;
        // Reasons that differ by the choice's own name alone are told once.
        const alike = reasons.get(reason.replaceAll(value, "…"));
        if (alike === undefined) reasons.set(reason.replaceAll(value, "…"), { names: [name], reason });
        else alike.names.push(name);
      }
      lines.unavailable.textContent = [...reasons.values()].map(inWords).join(" ");
    },
  };
}

function inWords({ names, reason }: { names: readonly string[]; reason: string }): string {
  const example = names.length > 1 ? ` (as for ${names[0]})` : "";
  return `Not available: ${names.join(", ")}. Why${example}: ${sentence(reason)}`;
}

function switchField(control: Switch, panel: Panel): Field {
  const lines = new Lines(control, panel);
  const box = element("input", { type: "checkbox", ...lines.ties });
  lines.hold(element("label", { class: "switch" }, box, control.label), " ", lines.option);
  const name = lower(control.label);
  box.addEventListener("click", (event) => {
    // Not `disabled`: that would take it out of the keyboard's way, and its reason out of hearing.
    if (box.getAttribute("aria-disabled") !== "true") return;
    event.preventDefault();
    panel.refused(lines.unavailable.textContent ?? "");
  });
  box.addEventListener("change", () => {
    const on = box.checked;
    const told = `${on ? "with" : "without"} ${name}`;
    if (!lines.take(writeSwitch(control, panel.spec(), on), told)) box.checked = !on;
  });
  return {
    node: lines.node,
    show: (_, filled) => {
      lines.clear();
      box.checked = readSwitch(control, filled);
      lines.words.textContent = box.checked ? control.on : control.off;
    },
    check: (spec) => {
      const reason = refusal(writeSwitch(control, spec, !box.checked));
      box.setAttribute("aria-disabled", String(reason !== undefined));
      const turned = box.checked ? "off" : "on";
      lines.unavailable.textContent =
        reason === undefined ? "" : `Cannot be turned ${turned}: ${sentence(reason)}`;
    },
  };
}

function amountField(control: Amount, panel: Panel): Field {
  const { path, label, most, whole = false, list = false, empty } = control;
  const lines = new Lines(control, panel);
  const kind = list ? { type: "text" } : { type: "number", min: "0", step: whole ? "1" : "any" };
  const limit = most === undefined ? {} : { max: String(most) };
  const input = element("input", {
    ...kind,
    ...limit,
    ...lines.ties,
    placeholder: empty,
    autocomplete: "off",
  });
  lines.hold(element("label", { for: input.id }, label), " ", lines.option, input);
  lines.words.textContent = control.words;
  input.addEventListener("change", () => {
    if (input.validity.badInput) return lines.refuse("This is no number.");
    const value = list ? numbers(input.value) : number(input.value);
    if (most !== undefined && Number(value) > most) {
      return lines.refuse(`The page shows ${most} at most; the package has no such limit.`);
    }
    const told = value === undefined ? (empty ?? "as unless chosen") : input.value.trim();
    lines.take(put(panel.spec(), path, value), `${lower(label)}: ${told}`);
  });
  return {
    node: lines.node,
    show: (_, filled) => {
      lines.clear();
      const value = valueAt(filled, path);
      input.value = value === undefined ? "" : Array.isArray(value) ? value.join(", ") : String(value);
    },
    check: (spec, filled) => {
      const present = String(valueAt(filled, path));
      const others = control.others(filled).filter((value) => String(value) !== present);
      let reason: string | undefined;
      for (const value of others) {
        const found = refusal(put(spec, path, value));
        reason = found === undefined ? undefined : (reason ?? found);
        if (found === undefined) break;
      }
      input.readOnly = reason !== undefined;
      input.setAttribute("aria-disabled", String(reason !== undefined));
      lines.unavailable.textContent = reason === undefined ? "" : `Not available: ${sentence(reason)}`;
    },
  };
}

/** What was typed; nothing means what holds unless something is chosen. */
function number(text: string): Value | undefined {
  if (text.trim() === "") return undefined;
  const value = Number(text);
  return /^\d+$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}

function numbers(text: string): Value | undefined {
  if (text.trim() === "") return undefined;
  return text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
}
