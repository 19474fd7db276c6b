//! Random streams.

use crate::error::thrown;
use crate::numbers::{self, Typed};
use glassformer::error::Error;
use glassformer::num::random::{Choice, Position, RandomStream};
use js_sys::Float64Array;
use wasm_bindgen::prelude::*;

/// A stream of random draws. JavaScript keeps its position and makes it anew for each call.
#[wasm_bindgen]
pub struct Stream(RandomStream);

impl Stream {
    pub(crate) fn inner_mut(&mut self) -> &mut RandomStream {
        &mut self.0
    }

    /// Fills an array with draws.
    fn fill(
        &mut self,
        out: &Float64Array,
        mut draw: impl FnMut(&mut RandomStream) -> Result<f64, Error>,
    ) -> Result<(), JsValue> {
        let mut part = [0.0; 512];
        for place in (0..out.count()).step_by(part.len()) {
            let cells = &mut part[..(out.count() - place).min(512)];
            for cell in cells.iter_mut() {
                *cell = draw(&mut self.0).map_err(thrown)?;
            }
            out.copy_in(place, cells);
        }
        Ok(())
    }
}

#[wasm_bindgen]
impl Stream {
    /// The stream of a kind and a seed, as it stands behind so many words (and half of one of them).
    #[wasm_bindgen(constructor)]
    pub fn new(kind: &str, seed: u64, words: u64, half: Option<u32>) -> Result<Stream, JsValue> {
        numbers::margin()?;
        RandomStream::at(kind, seed, Position { words, half }).map(Stream).map_err(thrown)
    }

    /// How many 64-bit words were drawn; JavaScript makes streams of at most 2^52.
    #[wasm_bindgen(getter)]
    pub fn words(&self) -> f64 {
        self.0.position().words as f64
    }

    /// The half of a word that waits for a 32-bit draw.
    #[wasm_bindgen(getter)]
    pub fn half(&self) -> Option<u32> {
        self.0.position().half
    }

    /// Fills an array with standard normal draws.
    pub fn normal(&mut self, out: &Float64Array) -> Result<(), JsValue> {
        self.fill(out, |stream| Ok(stream.normal()))
    }

    /// Fills an array with uniform draws from [0, 1).
    pub fn random(&mut self, out: &Float64Array) -> Result<(), JsValue> {
        self.fill(out, |stream| Ok(stream.random()))
    }

    /// Fills an array with whole numbers from `low` to `high - 1`; both are safe integers, so every draw is a number.
    pub fn integers(&mut self, low: f64, high: f64, out: &Float64Array) -> Result<(), JsValue> {
        // Bounds are refused also where nothing is drawn.
        self.0.clone().integers(low as i64, high as i64).map_err(thrown)?;
        self.fill(out, |stream| stream.integers(low as i64, high as i64).map(|x| x as f64))
    }

    /// Fills an array with indices drawn with the probabilities `p`, which may have been float32 numbers.
    pub fn choice(&mut self, p: &Float64Array, single: bool, out: &Float64Array) -> Result<(), JsValue> {
        let p = numbers::read(p)?;
        let choice = if single { Choice::of_float32(&p) } else { Choice::new(&p) }.map_err(thrown)?;
        self.fill(out, |stream| Ok(stream.choose(&choice) as f64))
    }
}
