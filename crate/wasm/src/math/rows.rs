//! Functions of single numbers, and of rows.

use super::{either, named, read_given};
use crate::numbers::{self, Typed};
use glassformer::math::{self, Activation, Affine};
use glassformer::num::Float;
use js_sys::Float64Array;
use wasm_bindgen::prelude::*;

fn activation(name: &str) -> Result<Activation, JsValue> {
    named("activation", name, &Activation::ALL, Activation::name)
}

/// Replaces each number by its activation.
#[wasm_bindgen]
pub fn math_activate(x: &JsValue, name: &str) -> Result<(), JsValue> {
    fn run<A: Typed>(x: &A, f: Activation) -> Result<(), JsValue> {
        let mut cells = numbers::read(x)?;
        cells.iter_mut().for_each(|cell| *cell = f.apply(*cell));
        x.copy_in(0, &cells);
        Ok(())
    }
    numbers::margin()?;
    either!(run, x, activation(name)?)
}

/// Multiplies each number by the activation of its gate.
#[wasm_bindgen]
pub fn math_gate(value: &JsValue, gate: &Float64Array, name: &str) -> Result<(), JsValue> {
    fn run<A: Typed>(value: &A, gate: &Float64Array, f: Activation) -> Result<(), JsValue> {
        let mut cells = numbers::read(value)?;
        let gate: Vec<A::Number> = numbers::read_as(gate)?;
        for (cell, &gate) in cells.iter_mut().zip(&gate) {
            *cell = *cell * f.apply(gate);
        }
        value.copy_in(0, &cells);
        Ok(())
    }
    numbers::margin()?;
    either!(run, value, gate, activation(name)?)
}

/// Normalizes each row in its place.
#[wasm_bindgen]
pub fn math_normalize(
    x: &JsValue,
    width: usize,
    rms: bool,
    epsilon: f64,
    offset: f64,
    gain: Option<Float64Array>,
    bias: Option<Float64Array>,
) -> Result<(), JsValue> {
    type Given = Option<Float64Array>;
    fn run<A: Typed>(
        x: &A,
        width: usize,
        rms: bool,
        epsilon: f64,
        offset: f64,
        (gain, bias): (Given, Given),
    ) -> Result<(), JsValue> {
        let (gain, bias) = (read_given::<A>(gain)?, read_given::<A>(bias)?);
        let offset = A::Number::from_f64(offset);
        let affine = Affine { gain: gain.as_deref(), offset, bias: bias.as_deref() };
        let cells = numbers::read(x)?;
        let mut out = numbers::zeros(cells.len())?;
        let norm = if rms { math::rms_norm } else { math::layer_norm };
        norm(&cells, width, A::Number::from_f64(epsilon), affine, &mut out);
        x.copy_in(0, &out);
        Ok(())
    }
    numbers::margin()?;
    either!(run, x, width, rms, epsilon, offset, (gain, bias))
}

/// Replaces each row by its softmax, or by the logarithm of that.
#[wasm_bindgen]
pub fn math_softmax(x: &JsValue, width: usize, logarithm: bool) -> Result<(), JsValue> {
    fn run<A: Typed>(x: &A, width: usize, logarithm: bool) -> Result<(), JsValue> {
        let cells = numbers::read(x)?;
        let mut out = numbers::zeros(cells.len())?;
        let f = if logarithm { math::log_softmax } else { math::softmax };
        for (row, out) in cells.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
            f(row, out);
        }
        x.copy_in(0, &out);
        Ok(())
    }
    numbers::margin()?;
    either!(run, x, width, logarithm)
}

/// The logarithm of each row's sum of exponentials; `out` is of the kind of `x`, as everywhere here.
#[wasm_bindgen]
pub fn math_log_sum_exp(x: &JsValue, width: usize, out: &JsValue) -> Result<(), JsValue> {
    numbers::margin()?;
    fn run<A: Typed>(x: &A, width: usize, out: &JsValue) -> Result<(), JsValue> {
        each_row(x, width, math::log_sum_exp, out)
    }
    either!(run, x, width, out)
}

/// Each row's squared coefficient of variation.
#[wasm_bindgen]
pub fn math_squared_variation(x: &JsValue, width: usize, out: &JsValue) -> Result<(), JsValue> {
    numbers::margin()?;
    fn run<A: Typed>(x: &A, width: usize, out: &JsValue) -> Result<(), JsValue> {
        each_row(x, width, math::squared_variation, out)
    }
    either!(run, x, width, out)
}

fn each_row<A: Typed>(
    x: &A,
    width: usize,
    f: impl Fn(&[A::Number]) -> A::Number,
    out: &JsValue,
) -> Result<(), JsValue> {
    let cells = numbers::read(x)?;
    let mut values = numbers::reserved(cells.len() / width)?;
    values.extend(cells.chunks_exact(width).map(f));
    out.unchecked_ref::<A>().copy_in(0, &values);
    Ok(())
}

/// The cross-entropy of each row, 0 where its label is NaN: that row is ignored. `mean`, of one number, takes the mean of
/// the others, which is NaN where there are none.
#[wasm_bindgen]
pub fn math_cross_entropy(
    logits: &JsValue,
    width: usize,
    labels: &Float64Array,
    smoothing: f64,
    losses: &JsValue,
    mean: &JsValue,
) -> Result<(), JsValue> {
    fn run<A: Typed>(
        logits: &A,
        width: usize,
        labels: &Float64Array,
        smoothing: f64,
        losses: &JsValue,
        mean: &JsValue,
    ) -> Result<(), JsValue> {
        let smoothing = A::Number::from_f64(smoothing);
        let (logits, labels) = (numbers::read(logits)?, numbers::read(labels)?);
        let mut out = numbers::zeros(labels.len())?;
        let (mut sum, mut count) = (A::Number::ZERO, A::Number::ZERO);
        for ((row, &label), out) in logits.chunks_exact(width).zip(&labels).zip(&mut out) {
            if !label.is_nan() {
                *out = math::cross_entropy(row, label as usize, smoothing);
                sum += *out;
                count += A::Number::ONE;
            }
        }
        losses.unchecked_ref::<A>().copy_in(0, &out);
        mean.unchecked_ref::<A>().copy_in(0, &[sum / count]);
        Ok(())
    }
    numbers::margin()?;
    either!(run, logits, width, labels, smoothing, losses, mean)
}
