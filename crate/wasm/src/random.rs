//! Random streams.

use glassformer::num::random::RandomStream;
use wasm_bindgen::prelude::*;

/// A stream of random draws.
#[wasm_bindgen]
pub struct Stream(RandomStream);

impl Stream {
    pub(crate) fn inner_mut(&mut self) -> &mut RandomStream {
        &mut self.0
    }
}
