//! Values from and to JavaScript.

use crate::numbers;
use crate::options::Value;
use js_sys::{Array, JsString, Object};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::Serialize;
use std::fmt;
use wasm_bindgen::{JsCast, JsValue};

/// The entries of a plain object, in its order. The list of words is read; any other list, and nested objects, are
/// named only, so that neither length nor depth nor cycles matter.
pub(crate) fn entries(object: &JsValue) -> Result<Vec<(String, Value)>, JsValue> {
    let Some(object) = object.dyn_ref::<Object>() else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    for pair in Object::entries(object).iter() {
        let pair: Array = pair.unchecked_into();
        let name = pair.get(0).as_string().unwrap_or_default();
        let value = match pair.get(1).dyn_ref::<Array>() {
            Some(list) if name == "words" => Value::List(words(list)?),
            Some(_) => Value::Other("a list".into()),
            None => scalar(pair.get(1)),
        };
        out.push((name, value));
    }
    Ok(out)
}

/// What a word takes besides its letters: its own place, and one in the model.
const PER_WORD: f64 = 128.0;

fn words(list: &Array) -> Result<Vec<Value>, JsValue> {
    // A letter takes at most three bytes, and every word is held twice.
    let letters: f64 =
        list.iter().map(|word| word.dyn_ref::<JsString>().map_or(0.0, |w| f64::from(w.length()))).sum();
    numbers::room("the words", f64::from(list.length()) * PER_WORD + 6.0 * letters)?;
    Ok(list.iter().map(scalar).collect())
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
        let shown = |digits: &str| format!("{}n", digits.chars().take(60).collect::<String>());
        return digits.parse().map_or_else(|_| Value::Other(shown(&digits)), Value::Big);
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
