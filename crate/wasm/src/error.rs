//! Refusals on their way to JavaScript, where the package makes a `GlassformerError` of them.

use glassformer::error::{Error, Field};
use js_sys::{Array, Object, Reflect};
use wasm_bindgen::JsValue;

/// `{ code, message, fields }` of a refusal.
pub(crate) fn thrown(error: Error) -> JsValue {
    let fields = Object::new();
    for (name, field) in error.fields() {
        let value = js(field);
        set(&fields, name, value);
    }
    let out = Object::new();
    set(&out, "code", error.code().into());
    set(&out, "message", error.to_string().into());
    set(&out, "fields", fields.into());
    out.into()
}

fn js(field: Field) -> JsValue {
    match field {
        Field::Text(text) => text.into(),
        Field::Number(number) => number.into(),
        Field::Flag(flag) => flag.into(),
        Field::Texts(texts) => texts.into_iter().map(JsValue::from).collect::<Array>().into(),
        Field::Numbers(numbers) => numbers.into_iter().map(JsValue::from).collect::<Array>().into(),
        Field::List(fields) => fields.into_iter().map(js).collect::<Array>().into(),
    }
}

fn set(object: &Object, name: &str, value: JsValue) {
    // Setting a property of a fresh plain object cannot fail.
    let _ = Reflect::set(object, &name.into(), &value);
}
