//! Values from and to JavaScript.

use crate::options::Value;
use js_sys::{Array, Object};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::Serialize;
use std::fmt;
use wasm_bindgen::{JsCast, JsValue};

/// The entries of a plain object, in its order; nested objects are named, not read, so that neither depth nor
/// cycles matter.
pub(crate) fn entries(object: &JsValue) -> Vec<(String, Value)> {
    let Some(object) = object.dyn_ref::<Object>() else { return Vec::new() };
    let pair = |pair: JsValue| {
        let pair: Array = pair.unchecked_into();
        (pair.get(0).as_string().unwrap_or_default(), value(pair.get(1)))
    };
    Object::entries(object).iter().map(pair).collect()
}

fn value(js: JsValue) -> Value {
    match js.dyn_ref::<Array>() {
        Some(list) => Value::List(list.iter().map(scalar).collect()),
        None => scalar(js),
    }
}

fn scalar(js: JsValue) -> Value {
    // `undefined` is an option left out; `null` is a value, and the wrong one.
    if js.is_null() {
        return Value::Other("null".into());
    }
    if js.is_object() || js.is_function() || js.is_symbol() {
        let kind = js.js_typeof().as_string().unwrap_or_default();
        return Value::Other(format!("a value of type {kind}"));
    }
    if js.is_bigint() {
        let digits = js.unchecked_ref::<js_sys::BigInt>().to_string(10);
        let digits = digits.map(String::from).unwrap_or_default();
        return digits.parse().map_or(Value::Other(format!("{digits}n")), Value::Big);
    }
    serde_wasm_bindgen::from_value(js).unwrap_or_else(|error| Value::Other(error.to_string()))
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;
        impl Visitor<'_> for Scalar {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a text, true or false")
            }
            fn visit_bool<E: Error>(self, x: bool) -> Result<Value, E> {
                Ok(Value::Bool(x))
            }
            fn visit_i64<E: Error>(self, x: i64) -> Result<Value, E> {
                Ok(Value::Number(x as f64))
            }
            fn visit_u64<E: Error>(self, x: u64) -> Result<Value, E> {
                Ok(Value::Number(x as f64))
            }
            fn visit_f64<E: Error>(self, x: f64) -> Result<Value, E> {
                Ok(Value::Number(x))
            }
            fn visit_str<E: Error>(self, x: &str) -> Result<Value, E> {
                Ok(Value::Text(x.into()))
            }
            fn visit_unit<E: Error>(self) -> Result<Value, E> {
                Ok(Value::Absent)
            }
        }
        deserializer.deserialize_any(Scalar)
    }
}

/// A plain object or list of what can be serialized.
pub(crate) fn plain(report: &impl Serialize) -> JsValue {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    // A report holds numbers, texts and lists: nothing of which serializing can fail.
    report.serialize(&serializer).unwrap_or(JsValue::UNDEFINED)
}
