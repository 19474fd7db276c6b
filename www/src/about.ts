/** What the page says of the model it shows: above, what to look for; below, its sizes. */

import { byId } from "./dom.js";
import { hasSource, type State, type Store } from "./store.js";
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
  const masked = model.options.mask === "causal";
  if (hasSource(model)) {
    const target = masked
      ? "a target row sees the source and no later target token"
      : "every target row sees all of both";
    return `${change} and what stays identical to the bit: every source row sees the whole source, ${target}.`;
  }
  if (!masked) return `${change}: without a mask every row sees the later tokens too, so earlier rows move.`;
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
