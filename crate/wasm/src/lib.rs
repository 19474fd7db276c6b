//! JavaScript bindings of glassformer: delegations to the core. What a user of the package sees is made of
//! them in TypeScript.

mod changes;
mod convert;
mod error;
mod explain;
mod generate;
mod masks;
mod math;
mod measures;
mod model;
mod numbers;
mod plan;
mod random;
mod report;
mod residual;
mod trace;

pub use generate::math_filter_logits;
pub use math::*;
pub use model::Model;
pub use plan::{describe_stages, fill_in, stage_shapes, trace_from_block};
pub use random::Stream;
pub use trace::Trace;

use wasm_bindgen::prelude::*;

/// The version of this build.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}

/// Runs when the module is instantiated.
#[wasm_bindgen(start)]
fn start() {
    // A panic is a defect; in debug builds the console says where. Release builds leave the texts out.
    #[cfg(debug_assertions)]
    console_error_panic_hook::set_once();
}

/// The names closest to a misspelt one, best first.
#[wasm_bindgen]
pub fn nearest_names(name: &str, names: Vec<String>) -> Vec<String> {
    glassformer::error::nearest(name, names.iter().map(String::as_str))
}
