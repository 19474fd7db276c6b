/** The root entry: the wasm is inside and is compiled when it is first needed. */

import { bytes } from "./generated/bytes.js";
import { embed } from "./wasm.js";

embed(bytes);

export * from "./api.js";
