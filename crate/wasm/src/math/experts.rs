//! The choice of experts.

use super::{either, named};
use crate::error::thrown;
use crate::numbers::{self, Typed};
use glassformer::error::Error;
use glassformer::math::{self, Overflow, Router};
use js_sys::Array;
use wasm_bindgen::prelude::*;

/// The choices of every row, in their order, from the router's logits. `outputs` are seven arrays of the kind of the
/// logits: probabilities N,E, which hold the logits at first; selected and gates N,k; importance, load and overflow E; and
/// two numbers, the squared coefficients of variation of importance and load.
///
/// Gives the flat place, in N,E, of the choice that was refused because its expert was full; -1 where none was.
#[wasm_bindgen]
pub fn math_route(
    outputs: &Array,
    selected: usize,
    renormalize: bool,
    capacity: Option<u32>,
    overflow: &str,
) -> Result<f64, JsValue> {
    fn run<A: Typed>(probabilities: &A, outputs: [&A; 6], mut router: Router) -> Result<f64, JsValue> {
        let [selected, gates, importance, load, overflow, variations] = outputs;
        let experts = importance.count();
        router.experts = experts;
        let logits = numbers::read(probabilities)?;
        let mut out = numbers::zeros(logits.len())?;
        let mut choices = numbers::zeros(selected.count())?;
        let mut weights = numbers::zeros(gates.count())?;
        let mut filled = numbers::reserved(experts)?;
        filled.resize(experts, 0);
        let mut counts = [numbers::zeros(experts)?, numbers::zeros(experts)?, numbers::zeros(experts)?];
        let [important, loads, overflows] = &mut counts;
        let rows = logits.chunks_exact(experts).zip(out.chunks_exact_mut(experts));
        let chosen = choices.chunks_exact_mut(router.selected).zip(weights.chunks_exact_mut(router.selected));
        for (n, ((row, p), (choices, weights))) in rows.zip(chosen).enumerate() {
            math::softmax(row, p);
            if let Err(e) = router.choose(p, &mut filled, choices, weights, important, loads, overflows) {
                return Ok((n * experts + e) as f64);
            }
        }
        variations.copy_in(0, &[math::squared_variation(important), math::squared_variation(loads)]);
        probabilities.copy_in(0, &out);
        selected.copy_in(0, &choices);
        gates.copy_in(0, &weights);
        for (array, count) in [importance, load, overflow].into_iter().zip(&counts) {
            array.copy_in(0, count);
        }
        Ok(-1.0)
    }
    numbers::margin()?;
    let overflow = named("overflow", overflow, &Overflow::ALL, Overflow::name)?;
    if capacity.is_none() && overflow != Overflow::Drop {
        let options = [("overflow", overflow.name().into()), ("capacity", "none".into())];
        return Err(thrown(Error::ConfigConflict {
            options: options.map(|(name, value)| (name.to_string(), value)).into(),
            reason: "without a capacity no expert is ever full".to_string(),
        }));
    }
    let router = Router {
        experts: 0,
        selected,
        renormalize,
        capacity: capacity.map(|capacity| capacity as usize),
        overflow,
    };
    fn unpack<A: Typed>(probabilities: &A, outputs: &Array, router: Router) -> Result<f64, JsValue> {
        let arrays: [A; 6] = std::array::from_fn(|i| outputs.get(i as u32 + 1).unchecked_into());
        run(probabilities, arrays.each_ref(), router)
    }
    let probabilities = outputs.get(0);
    either!(unpack, &probabilities, outputs, router)
}
