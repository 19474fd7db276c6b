/** What a change did, in a sentence or two, for eyes and ears. */

import type { Diff, RowChange } from "glassformer";
import { byId } from "./dom.js";
import { list, size } from "./format.js";
import { hasSource, type State, type Store, seesLater } from "./store.js";
import { SOURCE_WORDS, WORDS } from "./words.js";

export function summary(store: Store): void {
  store.follow((state) => {
    tell(inWords(state));
    // Where the line is out of sight, the panel of options repeats it.
    byId("told").textContent = state.told === undefined ? "" : inWords(state);
  });
}

/** Says something in the page's line of news. */
export function tell(text: string): void {
  byId("summary").textContent = text;
}

export function inWords(state: State): string {
  const { tokens, source, trace, before, told, model } = state;
  if (told !== undefined) {
    const count = model.parameters.reduce((sum, parameter) => sum + parameter.count, 0);
    return `${told}; ${trace.stages.length} stages, ${count} parameters.`;
  }
  if (before === undefined) {
    const read = hasSource(model) ? `${named(source, SOURCE_WORDS)} → ` : "";
    return `${read}${named(tokens, WORDS)}: ${trace.stages.length} stages computed. Change the last token.`;
  }
  const parts: string[] = [];
  const { diff } = before;
  if (hasSource(model)) {
    const isSource = ({ stage }: { stage: string }) => trace.describe(stage).side === "source";
    if (differ(source, before.source)) {
      parts.push(`Source: ${uncapital(whatChanged(source, before.source, SOURCE_WORDS))}`);
    } else parts.push(whatChanged(tokens, before.tokens, WORDS));
    parts.push(...rowsInWords(diff.stages.filter(isSource), "source "));
    parts.push(
      ...rowsInWords(
        diff.stages.filter((stage) => !isSource(stage)),
        "target ",
      ),
    );
  } else {
    parts.push(whatChanged(tokens, before.tokens, WORDS), ...rowsInWords(diff.stages, ""));
  }
  if (!hasSource(model) && seesLater(model)) {
    const { window } = model.options;
    const seen =
      window === undefined ? "every row sees every other" : `a row sees the ${window - 1} rows after it`;
    parts.push(`There is no mask: ${seen}, so earlier rows move too.`);
  }
  return parts.join(" ");
}

type Stages = Diff["stages"];

/** Which rows of some stages stayed, which moved, how far, and from where on. */
function rowsInWords(stages: Stages, side: string): string[] {
  const rows = new Map<number, { stage: string; from: string; maxAbs: number } | undefined>();
  for (const { stage, rows: changes } of stages) {
    for (const change of changes) note(rows, stage, change);
  }
  const positions = [...rows.keys()].sort((a, b) => a - b);
  const kept = positions.filter((position) => rows.get(position) === undefined);
  const moved = positions.filter((position) => rows.get(position) !== undefined);
  const parts: string[] = [];
  if (kept.length > 0) {
    const [name, are] = kept.length === 1 ? ["row", "is"] : ["rows", "are"];
    parts.push(
      `${capital(`${side}${name}`)} ${list(kept)} of all ${stages.length} stages ${are} identical to the bit.`,
    );
  }
  if (side !== "" && moved.length > 1) {
    const largest = moved
      .map((position) => rows.get(position))
      .reduce((a, b) => ((b?.maxAbs ?? 0) > (a?.maxAbs ?? 0) ? b : a));
    const far = `${size(largest?.maxAbs ?? 0)} (in ${largest?.stage})`;
    return [
      ...parts,
      `${capital(side)}rows ${list(moved)} moved by at most ${far}, from ${firstOf(stages)} on.`,
    ];
  }
  for (const position of moved) {
    const change = rows.get(position);
    const from = position === moved[0] ? `, from ${change?.from} on` : "";
    if (moved.length > 4) {
      parts.push(`${capital(`${side}rows`)} ${list(moved)} moved, from ${firstOf(stages)} on.`);
      break;
    }
    parts.push(
      `${capital(`${side}row`)} ${position} moved by at most ${size(change?.maxAbs ?? 0)} (in ${change?.stage})${from}.`,
    );
  }
  return parts;
}

/** The first stage that moved. */
function firstOf(stages: Stages): string {
  return stages.find(({ rows }) => rows.some((row) => !row.identical))?.stage ?? "";
}

function note(
  rows: Map<number, { stage: string; from: string; maxAbs: number } | undefined>,
  stage: string,
  { position, identical, maxAbs }: RowChange,
): void {
  const known = rows.get(position);
  if (identical) rows.set(position, known);
  else if (known === undefined) rows.set(position, { stage, from: stage, maxAbs });
  else if (maxAbs > known.maxAbs) rows.set(position, { ...known, stage, maxAbs });
}

function whatChanged(now: readonly number[], then: readonly number[], words: readonly string[]): string {
  if (now.length > then.length) return `Appended ${words[now.at(-1) ?? 0]} at position ${now.length - 1}.`;
  if (now.length < then.length) return `Removed ${words[then.at(-1) ?? 0]} at position ${then.length - 1}.`;
  const position = now.findIndex((id, at) => id !== then[at]);
  return `Position ${position}: ${words[then[position] ?? 0]} became ${words[now[position] ?? 0]}.`;
}

function differ(a: readonly number[], b: readonly number[]): boolean {
  return a.length !== b.length || a.some((id, at) => id !== b[at]);
}

function named(ids: readonly number[], words: readonly string[]): string {
  return ids.map((id) => words[id]).join(" ");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function uncapital(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
