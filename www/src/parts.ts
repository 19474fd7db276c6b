/** The parts of a model, from the names of its stages and parameters. */

export interface Part {
  readonly id: string;
  readonly title: string;
}

const INPUT = ["embedding", "position", "positioned"];

/** The part that a stage or a parameter stands in. */
export function partOf(name: string): Part {
  const [first = "", ...rest] = name.split(".");
  const title =
    first === "encoder" || first === "decoder"
      ? `${first === "encoder" ? "Encoder" : "Decoder"}, ${titleOf(rest).toLowerCase()}`
      : titleOf([first, ...rest]);
  return { id: title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"), title };
}

function titleOf([first = "", block, branch = "", inner, expert]: readonly string[]): string {
  if (first !== "blocks") return INPUT.includes(first) ? "Input" : "Output";
  if (branch === "attention" || branch === "after_attention") return `Block ${block}: attention`;
  if (branch === "cross_attention" || branch === "after_cross_attention") {
    return `Block ${block}: cross-attention`;
  }
  return inner === "experts" ? `Block ${block}: expert ${expert}` : `Block ${block}: feed-forward`;
}
