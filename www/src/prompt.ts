/** The prompt's controls: the last token as radio buttons, the earlier ones as lists, longer and shorter. */

import { byId, element } from "./dom.js";
import type { State, Store } from "./store.js";

/** How many positions the page shows: more would make tables that nobody reads. */
const LONGEST = 24;

export function promptControls(store: Store, words: readonly string[]): void {
  const last = byId("last");
  const legend = last.querySelector("legend") as HTMLLegendElement;
  const radios = words.map((_, id) => {
    const radio = element("input", { type: "radio", name: "last", value: String(id) });
    radio.addEventListener("change", () => store.change([...store.state.tokens.slice(0, -1), id]));
    return radio;
  });
  last.append(...radios.map((radio, id) => element("label", {}, radio, words[id] ?? "")));

  const append = byId("append") as HTMLButtonElement;
  const remove = byId("remove") as HTMLButtonElement;
  // A new token repeats the last one: what is new is then the position alone.
  append.addEventListener("click", () => {
    const { tokens } = store.state;
    if (tokens.length < LONGEST) store.change([...tokens, tokens.at(-1) ?? 0]);
  });
  remove.addEventListener("click", () => {
    const { tokens } = store.state;
    if (tokens.length > 1) store.change(tokens.slice(0, -1));
  });
  byId("reset").addEventListener("click", () => store.reset());

  store.follow((state) => {
    const position = state.tokens.length - 1;
    legend.textContent = `Last token (position ${position}): click one, or use the arrow keys`;
    for (const [id, radio] of radios.entries()) radio.checked = id === state.tokens[position];
    const [longest, shortest] = [state.tokens.length >= LONGEST, state.tokens.length <= 1];
    // Not `disabled`: that would take the focus away from who is using the button.
    append.setAttribute("aria-disabled", String(longest));
    remove.setAttribute("aria-disabled", String(shortest));
    byId("why").textContent = longest
      ? `The page shows ${LONGEST} positions at most; the package has no such limit.`
      : shortest
        ? "A prompt has at least one token."
        : "";
    showPositions(store, state, words);
  });
}

/** The tokens in their order: the earlier ones to be chosen anew, the last, which has its own control, named. */
function showPositions(store: Store, state: State, words: readonly string[]): void {
  const positions = byId("positions");
  const last = state.tokens.length - 1;
  positions.querySelector("li:not(:has(select))")?.remove();
  while (positions.children.length > last) positions.lastElementChild?.remove();
  for (const [position, id] of state.tokens.entries()) {
    if (position === last) {
      positions.append(element("li", {}, element("span", { class: "quiet" }, `${last} `), words[id] ?? ""));
      // The list scrolls when it is long: its end is what changes.
      positions.scrollTop = positions.scrollHeight;
      return;
    }
    const item = positions.children[position] ?? positions.appendChild(pick(store, position, words));
    (item.querySelector("select") as HTMLSelectElement).value = String(id);
  }
}

function pick(store: Store, position: number, words: readonly string[]): HTMLLIElement {
  const options = words.map((word, id) => element("option", { value: String(id) }, word));
  const select = element("select", { "aria-label": `Token at position ${position}` }, ...options);
  select.addEventListener("change", () => {
    store.change(store.state.tokens.map((id, at) => (at === position ? Number(select.value) : id)));
  });
  return element(
    "li",
    {},
    element("label", {}, element("span", { class: "quiet" }, String(position)), select),
  );
}
