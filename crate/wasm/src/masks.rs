//! A call's masks: an object of typed arrays.

use crate::numbers;
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
    array(masks, name).map(|array| numbers::read_as(&array)).transpose()
}

fn marks(masks: &JsValue, name: &str) -> Result<Option<Vec<bool>>, JsValue> {
    let Some(array) = array(masks, name) else { return Ok(None) };
    let numbers = numbers::read(&array)?;
    let mut out = numbers::reserved(numbers.len())?;
    out.extend(numbers.iter().map(|&x| x != 0.0));
    Ok(Some(out))
}
