/** What a change did, in a sentence or two, for eyes and ears. */

import { byId } from "./dom.js";
import { list, size } from "./format.js";
import type { State, Store } from "./store.js";

export function summary(store: Store, words: readonly string[]): void {
  store.follow((state) => {
    byId("summary").textContent = inWords(state, words);
  });
}

export function inWords({ tokens, trace, before }: State, words: readonly string[]): string {
  if (before === undefined) {
    return `${tokens.map((id) => words[id]).join(" ")}: ${trace.stages.length} stages computed. Change the last token.`;
  }
  const { diff } = before;
  const kept = diff.rows.filter((row) => row.identical).map((row) => row.position);
  const moved = diff.rows.filter((row) => !row.identical);
  const parts = [whatChanged(tokens, before.tokens, words)];
  if (kept.length > 0) {
    const [rows, are] = kept.length === 1 ? ["row", "is"] : ["rows", "are"];
    parts.push(
      `${capital(rows)} ${list(kept)} of all ${diff.stages.length} stages ${are} identical to the bit.`,
    );
  }
  for (const row of moved) {
    const largest = diff.stages
      .flatMap((stage) =>
        stage.rows.filter((r) => r.position === row.position).map((r) => ({ ...r, stage: stage.stage })),
      )
      .reduce((most, r) => (r.maxAbs > most.maxAbs ? r : most));
    const from = row.position === moved[0]?.position ? `, from ${diff.partsFrom} on` : "";
    parts.push(`Row ${row.position} moved by at most ${size(row.maxAbs)} (in ${largest.stage})${from}.`);
    if (moved.length > 4) {
      parts[parts.length - 1] = `Rows ${list(moved.map((r) => r.position))} moved${from}.`;
      break;
    }
  }
  return parts.join(" ");
}

function whatChanged(now: readonly number[], then: readonly number[], words: readonly string[]): string {
  if (now.length > then.length) return `Appended ${words[now.at(-1) ?? 0]} at position ${now.length - 1}.`;
  if (now.length < then.length) return `Removed ${words[then.at(-1) ?? 0]} at position ${then.length - 1}.`;
  const position = now.findIndex((id, at) => id !== then[at]);
  return `Position ${position}: ${words[then[position] ?? 0]} became ${words[now[position] ?? 0]}.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
