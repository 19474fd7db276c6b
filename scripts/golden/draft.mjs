/** A recipe while it is being written, which knows which tensors of its case are not accounted for yet. */

/** Thrown where a case needs something that cannot be expressed; the message is the reason. */
export class Unsupported extends Error {}

const GRADIENT = "a gradient; training is later work";

export class Draft {
  #case;
  #models = [];
  #calls = [];
  #skipped = new Map();
  #used = new Set();

  constructor(golden) {
    this.#case = golden;
  }

  has(name) {
    return this.#case.data.has(name);
  }

  shape(name) {
    return this.tensor(name).shape;
  }

  tensor(name) {
    const found = this.#case.data.get(name);
    if (found === undefined) throw new Unsupported(`there is no tensor ${name}`);
    return found;
  }

  /** Names of tensors, all or those that match. */
  names(pattern = /(?:)/) {
    return [...this.#case.data.keys()].filter((name) => pattern.test(name));
  }

  /** What `case.json` says about a tensor: role and meaning. */
  about(name) {
    return this.#case.tensors.find((tensor) => tensor.name === name);
  }

  /** What is said about layout, and notes. */
  get remarks() {
    return [...(this.#case.layout ?? []), ...(this.#case.notes ?? [])];
  }

  /** Adds a model to build and run: `{ model, options, parameters, run, expect, losses }`. */
  model(model) {
    this.#models.push(model);
    return model;
  }

  call(call) {
    this.#calls.push(call);
    return call;
  }

  /** Marks a tensor as read by the mapping itself. */
  read(name) {
    this.#used.add(name);
    return this.tensor(name);
  }

  skip(name, reason) {
    this.#skipped.set(name, reason);
  }

  /** The recipe, with every tensor accounted for. */
  finish() {
    for (const part of [this.#models, this.#calls]) this.#collect(part);
    for (const { name, role, meaning } of this.#case.tensors) {
      if (this.#used.has(name)) this.#skipped.delete(name);
      else if (!this.#skipped.has(name)) this.#leftOver(name, role, meaning);
    }
    const skipped = [...this.#skipped].map(([tensor, reason]) => ({ tensor, reason }));
    const recipe = { models: this.#models, calls: this.#calls, skipped };
    // As a file holds it, without what is undefined.
    return JSON.parse(JSON.stringify(recipe));
  }

  #leftOver(name, role, meaning) {
    if (role === "gradient") return this.skip(name, GRADIENT);
    if (role === "intermediate") return this.skip(name, `unknown: ${meaning}`);
    throw new Unsupported(`the ${role} ${name} (${meaning}) is not known`);
  }

  /** Finds the names of tensors anywhere in a part of the recipe: only these fields hold any. */
  #collect(part) {
    if (Array.isArray(part)) {
      for (const item of part) this.#collect(item);
    } else if (typeof part === "object" && part !== null) {
      for (const [field, value] of Object.entries(part)) {
        if (["tensor", "from", "labels"].includes(field) && typeof value === "string") this.#used.add(value);
        else if (field === "concat") for (const name of value) this.#used.add(name);
        else this.#collect(value);
      }
    }
  }
}
