/** The entry without the wasm: `init` must be given it before anything is constructed. */

export * from "./api.js";
