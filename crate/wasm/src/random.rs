//! Random streams.

use crate::error::thrown;
use glassformer::error::Error;
use glassformer::num::random::{Choice, Position, RandomStream};
use wasm_bindgen::prelude::*;

/// A stream of random draws.
#[wasm_bindgen]
pub struct Stream(RandomStream);

impl Stream {
    pub(crate) fn inner_mut(&mut self) -> &mut RandomStream {
        &mut self.0
    }

    /// Draws `n` numbers, or none where they cannot be held or one is refused.
    fn drawn(
        &mut self,
        n: usize,
        mut draw: impl FnMut(&mut RandomStream) -> Result<f64, Error>,
    ) -> Result<Vec<f64>, JsValue> {
        let mut out = Vec::new();
        let bytes = n as f64 * size_of::<f64>() as f64;
        let refused = |_| thrown(Error::OutOfMemory { what: "the draws".into(), bytes });
        out.try_reserve_exact(n).map_err(refused)?;
        for _ in 0..n {
            out.push(draw(&mut self.0).map_err(thrown)?);
        }
        Ok(out)
    }
}

#[wasm_bindgen]
impl Stream {
    /// The stream of a kind and a seed, as it stands behind so many words (and half of the last one).
    #[wasm_bindgen(constructor)]
    pub fn new(kind: &str, seed: u64, words: u64, half: bool) -> Result<Stream, JsValue> {
        RandomStream::at(kind, seed, Position { words, half }).map(Stream).map_err(thrown)
    }

    /// How many 64-bit words were drawn.
    #[wasm_bindgen(getter)]
    pub fn words(&self) -> u64 {
        self.0.position().words
    }

    /// Whether half of the last word waits for a 32-bit draw.
    #[wasm_bindgen(getter)]
    pub fn half(&self) -> bool {
        self.0.position().half
    }

    /// Standard normal draws.
    pub fn normal(&mut self, n: usize) -> Result<Vec<f64>, JsValue> {
        self.drawn(n, |stream| Ok(stream.normal()))
    }

    /// Uniform draws from [0, 1).
    pub fn random(&mut self, n: usize) -> Result<Vec<f64>, JsValue> {
        self.drawn(n, |stream| Ok(stream.random()))
    }

    /// Whole numbers from `low` to `high - 1`; both are safe integers, so every draw is a number.
    pub fn integers(&mut self, low: f64, high: f64, n: usize) -> Result<Vec<f64>, JsValue> {
        if n == 0 {
            // Refused all the same when the bounds are.
            self.0.clone().integers(low as i64, high as i64).map_err(thrown)?;
        }
        self.drawn(n, |stream| stream.integers(low as i64, high as i64).map(|x| x as f64))
    }

    /// Indices drawn with these probabilities.
    pub fn choice(&mut self, p: &[f64], n: usize) -> Result<Vec<f64>, JsValue> {
        let choice = Choice::new(p).map_err(thrown)?;
        self.drawn(n, |stream| Ok(stream.choose(&choice) as f64))
    }
}
