//! What a call changes about its pass: masks, and edits of stages.

use crate::error::thrown;
use crate::masks;
use crate::numbers;
use glassformer::error::Error;
use glassformer::num::Float;
use glassformer::trace::{Change, Changes, Edit};
use js_sys::{Array, Float64Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};

/// The masks and edits of one prompt: `{ masks, edits }`, of which each edit is `{ stage, index, change, values }` with
/// -1 in `index` for all places of an axis.
pub(crate) fn read<F: Float>(changes: &JsValue) -> Result<Changes<F>, JsValue> {
    let masks = masks::read(&field(changes, "masks"))?;
    let mut edits = Vec::new();
    if let Some(list) = field(changes, "edits").dyn_ref::<Array>() {
        numbers::room("the edits", f64::from(list.length()) * PER_EDIT)?;
        for edit in list.iter() {
            edits.push(read_edit(&edit)?);
        }
    }
    Ok(Changes { masks, edits })
}

/// What an edit takes besides its values.
const PER_EDIT: f64 = 256.0;

fn field(object: &JsValue, name: &str) -> JsValue {
    // The package makes this object: reading it runs no one's code.
    Reflect::get(object, &name.into()).unwrap_or_default()
}

fn read_edit<F: Float>(edit: &JsValue) -> Result<Edit<F>, JsValue> {
    let stage = field(edit, "stage").as_string().unwrap_or_default();
    let index = field(edit, "index").dyn_into::<Float64Array>().map(|list| numbers::read(&list));
    let index = index.unwrap_or_else(|_| Ok(Vec::new()))?;
    let index = index.into_iter().map(|i| (i >= 0.0).then_some(i as usize)).collect();
    let wide = match field(edit, "values").dyn_into::<Float64Array>() {
        Ok(list) => numbers::read(&list)?,
        Err(_) => Vec::new(),
    };
    // A number past the largest of the model's type is no value of it, and must not become one that hides.
    let overflows = |x: &f64| x.is_finite() && !F::from_f64(*x).is_finite();
    if let Some(position) = wide.iter().position(overflows) {
        let what = format!("a value of an edit of {stage}, in {},", F::DTYPE.name());
        return Err(thrown(Error::NotFinite { what, position, value: F::from_f64(wide[position]).to_f64() }));
    }
    let values = numbers::converted(wide)?;
    let change = match field(edit, "change").as_string().as_deref() {
        Some("add") => Change::Add(values),
        Some("scale") => Change::Scale(values),
        _ => Change::Set(values),
    };
    Ok(Edit { stage, index, change })
}
