//! JavaScript bindings of glassformer.
use wasm_bindgen::prelude::*;

/// The version of this build.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}
