/** A prompt's controls: the last token as radio buttons, the earlier ones as lists, longer and shorter. */

import { GlassformerError } from "glassformer";
import { byId, element } from "./dom.js";
import { hasSource, type Prompt, type State, type Store } from "./store.js";
import { tell } from "./summary.js";
import { SOURCE_WORDS, WORDS } from "./words.js";

/** How many positions the page shows: more would make tables that nobody reads. */
const LONGEST = 24;

/** One of the two prompts that a model may have. */
interface Side {
  readonly of: keyof Prompt;
  readonly words: readonly string[];
  /** Stands before ids and names. */
  readonly prefix: string;
  readonly name: string;
}

const TARGET: Side = { of: "tokens", words: WORDS, prefix: "", name: "token" };
const SOURCE: Side = { of: "source", words: SOURCE_WORDS, prefix: "source-", name: "source token" };

export function prompts(store: Store): void {
  const source = promptControls(store, SOURCE);
  const target = promptControls(store, TARGET);
  const reset = element("button", { type: "button", id: "reset" }, "Start over");
  reset.addEventListener("click", () => attempt(() => store.reset()));
  target.querySelector(".length")?.append(reset);
  const root = byId("prompts");
  root.append(source, target);
  store.follow(({ model }) => {
    const two = hasSource(model);
    source.hidden = !two;
    root.classList.toggle("two", two);
  });
}

/** Does what may be refused; a refusal is told, and nothing has changed. */
function attempt(change: () => void): boolean {
  try {
    change();
    return true;
  } catch (problem) {
    if (!(problem instanceof GlassformerError)) throw problem;
    tell(`Refused: ${problem.message}. The prompt stays as it was.`);
    return false;
  }
}

function promptControls(store: Store, side: Side): HTMLElement {
  const { of, words, prefix, name } = side;
  const button = (id: string, text: string) =>
    element("button", { type: "button", id: `${prefix}${id}`, "aria-describedby": `${prefix}why` }, text);
  const append = button("append", `Append a ${name}`);
  const remove = button("remove", prefix === "" ? "Remove the last" : `Remove the last ${name}`);
  const why = element("p", { id: `${prefix}why`, class: "quiet why" });
  const positions = element("ol", {
    class: "positions",
    "aria-label": `The ${prefix && "source "}prompt's tokens`,
  });
  const legend = element("legend");
  const ask = (tokens: readonly number[]) => attempt(() => store.ask({ [of]: tokens })) || show(store.state);

  const radios = words.map((_, id) => {
    const radio = element("input", { type: "radio", name: `${prefix}last`, value: String(id) });
    radio.addEventListener("change", () => ask([...store.state[of].slice(0, -1), id]));
    return radio;
  });
  const labels = radios.map((radio, id) => element("label", {}, radio, words[id] ?? ""));
  // A new token repeats the last one: what is new is then the position alone.
  append.addEventListener("click", () => {
    const tokens = store.state[of];
    if (tokens.length < LONGEST) ask([...tokens, tokens.at(-1) ?? 0]);
  });
  remove.addEventListener("click", () => {
    const tokens = store.state[of];
    if (tokens.length > 1) ask(tokens.slice(0, -1));
  });

  const show = (state: State) => {
    const tokens = state[of];
    const position = tokens.length - 1;
    legend.textContent = hasSource(state.model)
      ? `Last ${prefix === "" ? "target" : "source"} token (position ${position})`
      : `Last token (position ${position}): click one, or use the arrow keys`;
    for (const [id, radio] of radios.entries()) radio.checked = id === tokens[position];
    const [longest, shortest] = [tokens.length >= LONGEST, tokens.length <= 1];
    // Not `disabled`: that would take the focus away from who is using the button.
    append.setAttribute("aria-disabled", String(longest));
    remove.setAttribute("aria-disabled", String(shortest));
    why.textContent = longest
      ? `The page shows ${LONGEST} positions at most; the package has no such limit.`
      : shortest
        ? "A prompt has at least one token."
        : "";
    showPositions(positions, tokens, side, ask);
  };
  store.follow(show);
  return element(
    "div",
    { class: "asked", id: `${prefix}asked` },
    element("h3", { class: "which" }, prefix === "" ? "Target" : "Source"),
    element("div", { class: "row" }, positions, element("div", { class: "length" }, append, remove)),
    why,
    element("fieldset", { class: "last" }, legend, ...labels),
  );
}

/** The tokens in their order: the earlier ones to be chosen anew, the last, which has its own control, named. */
function showPositions(
  positions: HTMLElement,
  tokens: readonly number[],
  side: Side,
  ask: (tokens: readonly number[]) => void,
): void {
  const last = tokens.length - 1;
  positions.querySelector("li:not(:has(select))")?.remove();
  while (positions.children.length > last) positions.lastElementChild?.remove();
  for (const [position, id] of tokens.entries()) {
    if (position === last) {
      positions.append(
        element("li", {}, element("span", { class: "quiet" }, `${last} `), side.words[id] ?? ""),
      );
      // The list scrolls when it is long: its end is what changes.
      positions.scrollTop = positions.scrollHeight;
      return;
    }
    const item = positions.children[position] ?? positions.appendChild(pick(position, side));
    const select = item.querySelector("select") as HTMLSelectElement;
    select.value = String(id);
    select.onchange = () => ask(tokens.map((id, at) => (at === position ? Number(select.value) : id)));
  }
}

function pick(position: number, { words, prefix }: Side): HTMLLIElement {
  const options = words.map((word, id) => element("option", { value: String(id) }, word));
  const name = `${prefix === "" ? "Token" : "Source token"} at position ${position}`;
  return element(
    "li",
    {},
    element(
      "label",
      {},
      element("span", { class: "quiet" }, String(position)),
      element("select", { "aria-label": name }, ...options),
    ),
  );
}
