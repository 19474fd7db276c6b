//! A call's masks: an object of typed arrays.

use crate::error::thrown;
use crate::numbers;
use glassformer::error::Error;
use glassformer::mask::Masks;
use glassformer::num::Float;
use js_sys::{Float64Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};

/// The masks of one prompt.
pub(crate) fn read<F: Float>(masks: &JsValue) -> Result<Masks<F>, JsValue> {
    Ok(Masks {
        attention: added(masks, "attention")?,
        padding: marks(masks, "padding")?,
        memory: added(masks, "memory")?,
        memory_padding: marks(masks, "memoryPadding")?,
        source_padding: marks(masks, "sourcePadding")?,
    })
}

fn array(masks: &JsValue, name: &str) -> Option<Float64Array> {
    // The package makes this object: reading it runs no one's code.
    Reflect::get(masks, &name.into()).ok()?.dyn_into().ok()
}

fn added<F: Float>(masks: &JsValue, name: &str) -> Result<Option<Vec<F>>, JsValue> {
    let Some(array) = array(masks, name) else { return Ok(None) };
    let wide = numbers::read(&array)?;
    // A finite number is added; one that overflows the model's type would hide instead, without a word.
    let overflows = |x: &f64| x.is_finite() && !F::from_f64(*x).is_finite();
    if let Some(position) = wide.iter().position(overflows) {
        let padding = if name == "memory" { "memoryPadding" } else { "padding" };
        let dtype = F::DTYPE.name();
        let what = format!("what masks.{name} and masks.{padding} add, in {dtype},");
        let value = F::from_f64(wide[position]).to_f64();
        return Err(thrown(Error::NotFinite { what, position, value }));
    }
    numbers::converted(wide).map(Some)
}

fn marks(masks: &JsValue, name: &str) -> Result<Option<Vec<bool>>, JsValue> {
    let Some(array) = array(masks, name) else { return Ok(None) };
    let numbers = numbers::read(&array)?;
    let mut out = numbers::reserved(numbers.len())?;
    out.extend(numbers.iter().map(|&x| x != 0.0));
    Ok(Some(out))
}
