//! Functions of positions.

use super::{either, named};
use crate::numbers::{self, Typed};
use glassformer::math::{self, Pairing, RotaryScaling};
use js_sys::Float64Array;
use wasm_bindgen::prelude::*;

/// The sinusoidal rows of the positions from 0 on.
#[wasm_bindgen]
pub fn math_sinusoid(width: usize, concatenated: bool, out: &Float64Array) -> Result<(), JsValue> {
    numbers::margin()?;
    let mut row = numbers::zeros(width)?;
    let fill = if concatenated { math::sinusoid_concatenated } else { math::sinusoid };
    for position in 0..out.count() / width {
        fill(position, &mut row);
        out.copy_in(position * width, &row);
    }
    Ok(())
}

/// Rotary frequencies; `scaling` holds nothing, or linear's factor, or llama3's four numbers in the core's order.
#[wasm_bindgen]
pub fn math_rotary_frequencies(
    width: usize,
    base: f64,
    scaling: &Float64Array,
    out: &Float64Array,
) -> Result<(), JsValue> {
    numbers::margin()?;
    numbers::room("frequencies", 4.0 * width as f64)?;
    let scaling = match *numbers::read(scaling)? {
        [factor] => Some(RotaryScaling::Linear { factor }),
        [factor, low_frequency_factor, high_frequency_factor, original_context] => {
            Some(RotaryScaling::Llama3 {
                factor,
                low_frequency_factor,
                high_frequency_factor,
                original_context,
            })
        }
        _ => None,
    };
    out.copy_in(0, &math::rotary_frequencies(width, base, scaling.as_ref()));
    Ok(())
}

/// Rotates each row of a width in its place, by the position that is its own: `positions` are taken in turn.
#[wasm_bindgen]
pub fn math_rotate(
    x: &JsValue,
    width: usize,
    positions: &Float64Array,
    frequencies: &Float64Array,
    pairing: &str,
) -> Result<(), JsValue> {
    fn run<A: Typed>(
        x: &A,
        width: usize,
        positions: &Float64Array,
        frequencies: &Float64Array,
        pairing: Pairing,
    ) -> Result<(), JsValue> {
        let (positions, frequencies) = (numbers::read(positions)?, numbers::read(frequencies)?);
        let mut cells = numbers::read(x)?;
        for (row, &position) in cells.chunks_exact_mut(width).zip(positions.iter().cycle()) {
            math::rotate(row, position, &frequencies, pairing);
        }
        x.copy_in(0, &cells);
        Ok(())
    }
    numbers::margin()?;
    let pairing = named("pairing", pairing, &Pairing::ALL, Pairing::name)?;
    either!(run, x, width, positions, frequencies, pairing)
}

/// ALiBi's slopes, one for each head.
#[wasm_bindgen]
pub fn math_alibi_slopes(out: &Float64Array) -> Result<(), JsValue> {
    numbers::margin()?;
    numbers::room("slopes", 8.0 * out.count() as f64)?;
    out.copy_in(0, &math::alibi_slopes(out.count()));
    Ok(())
}

/// What ALiBi adds to scores: `-slope * |t - s|`, for each head, query and key.
#[wasm_bindgen]
pub fn math_alibi_bias(
    slopes: &Float64Array,
    queries: usize,
    keys: usize,
    out: &Float64Array,
) -> Result<(), JsValue> {
    numbers::margin()?;
    let mut row = numbers::zeros(keys)?;
    for (h, slope) in numbers::read(slopes)?.into_iter().enumerate() {
        for t in 0..queries {
            for (s, cell) in row.iter_mut().enumerate() {
                *cell = -(slope * s.abs_diff(t) as f64);
            }
            out.copy_in((h * queries + t) * keys, &row);
        }
    }
    Ok(())
}
