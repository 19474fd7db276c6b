/** What the page says of the model it shows: above, what to look for; below, its sizes. */

import { byId } from "./dom.js";
import { hasSource, type State, type Store, seesLater } from "./store.js";
import { WORDS } from "./words.js";

export function about(store: Store): void {
  let shown: State["model"] | undefined;
  store.follow((state) => {
    if (state.model === shown) return;
    shown = state.model;
    byId("intro").textContent = `A small transformer with every number on view. ${whatToSee(state)}`;
    byId("model").textContent = sizes(state);
  });
}

function whatToSee({ model }: State): string {
  const change = "Change the last token and read, row by row, what changes";
  const masked = !seesLater(model);
  if (hasSource(model)) {
    const target = masked ? "no later target token" : "later target tokens";
    return (
      `${change} and what stays identical to the bit: a source row sees later source tokens too, ` +
      `a target row sees the source and ${target}.`
    );
  }
  if (!masked) {
    const far = model.options.window === undefined ? "" : ", as far as its window goes";
    return `${change}: without a mask a row sees the later tokens too${far}, so earlier rows move.`;
  }
  return `${change} and what stays identical to the bit: no row ever depends on a later token.`;
}

function sizes({ model }: State): string {
  const { nModel, nHeads, nBlocks, nEncoderBlocks, nHidden, seed, dtype } = model.options;
  const blocks = `${nBlocks} ${nBlocks === 1 ? "block" : "blocks"}`;
  const encoder = nEncoderBlocks === undefined ? "" : ` behind ${nEncoderBlocks} of an encoder`;
  return (
    `Model: vocabulary ${WORDS.length}, width ${nModel}, ${nHeads} heads, ${blocks}${encoder}, ` +
    `feed-forward width ${nHidden}, ${dtype}, seed ${seed}.`
  );
}
