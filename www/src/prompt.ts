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
  append.addEventListener("click", () =>
    store.change([...store.state.tokens, store.state.tokens.at(-1) ?? 0]),
  );
  remove.addEventListener("click", () => store.change(store.state.tokens.slice(0, -1)));
  byId("reset").addEventListener("click", () => store.reset());

  store.follow((state) => {
    const position = state.tokens.length - 1;
    legend.textContent = `Last token (position ${position}): click one, or use the arrow keys`;
    for (const [id, radio] of radios.entries()) radio.checked = id === state.tokens[position];
    append.disabled = state.tokens.length >= LONGEST;
    remove.disabled = state.tokens.length <= 1;
    byId("why").textContent = append.disabled
      ? `The page shows ${LONGEST} positions at most; the package has no such limit.`
      : remove.disabled
        ? "A prompt has at least one token."
        : "";
    showPositions(store, state, words);
  });
}

/** The tokens in their order, the earlier ones to be chosen anew; the last has its own control. */
function showPositions(store: Store, state: State, words: readonly string[]): void {
  const positions = byId("positions");
  while (positions.children.length > state.tokens.length) positions.lastElementChild?.remove();
  for (const [position, id] of state.tokens.entries()) {
    const item = positions.children[position] ?? positions.appendChild(pick(store, position, words));
    const select = item.querySelector("select") as HTMLSelectElement;
    select.value = String(id);
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
