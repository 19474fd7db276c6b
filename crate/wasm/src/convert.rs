//! Values from and to JavaScript.

use crate::numbers;
use glassformer::options::Value;
use js_sys::{Array, JsString, Object};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::Serialize;
use std::fmt;
use wasm_bindgen::{JsCast, JsValue};

/// How deep options of options are read; what lies deeper is named only, so that neither depth nor cycles matter.
const DEPTH: usize = 3;

/// How many values of a list, or entries of an object, are read: no option but the words has more.
const MOST: u32 = 4096;

/// The entries of a plain object, in its order.
pub(crate) fn entries(object: &JsValue) -> Result<Vec<(String, Value)>, JsValue> {
    entries_within(object, DEPTH)
}

fn entries_within(object: &JsValue, depth: usize) -> Result<Vec<(String, Value)>, JsValue> {
    let Some(object) = object.dyn_ref::<Object>() else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    for pair in Object::entries(object).iter().take(MOST as usize) {
        let pair: Array = pair.unchecked_into();
        let name = pair.get(0).as_string().unwrap_or_default();
        let value = pair.get(1);
        let value = match value.dyn_ref::<Array>() {
            Some(list) if matches!(name.as_str(), "words" | "sourceWords") => Value::List(words(list)?),
            Some(list) if list.length() <= MOST => Value::List(list.iter().map(scalar).collect()),
            Some(_) => Value::Other("a list".into()),
            None if depth > 1 && is_plain(&value) => Value::Object(entries_within(&value, depth - 1)?),
            None => scalar(value),
        };
        out.push((name, value));
    }
    Ok(out)
}

fn is_plain(value: &JsValue) -> bool {
    value.is_object() && !value.is_function() && !value.is_null()
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
    match serde_wasm_bindgen::from_value(js) {
        Ok(Scalar(value)) => value,
        Err(error) => Value::Other(error.to_string()),
    }
}

/// A value that is neither list nor object.
struct Scalar(Value);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Scalar;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a text, true or false")
            }
            fn visit_bool<E: Error>(self, x: bool) -> Result<Scalar, E> {
                Ok(Scalar(Value::Bool(x)))
            }
            fn visit_i64<E: Error>(self, x: i64) -> Result<Scalar, E> {
                Ok(Scalar(Value::Number(x as f64)))
            }
            fn visit_u64<E: Error>(self, x: u64) -> Result<Scalar, E> {
                Ok(Scalar(Value::Number(x as f64)))
            }
            fn visit_f64<E: Error>(self, x: f64) -> Result<Scalar, E> {
                Ok(Scalar(Value::Number(x)))
            }
            fn visit_str<E: Error>(self, x: &str) -> Result<Scalar, E> {
                Ok(Scalar(Value::Text(x.into())))
            }
            fn visit_unit<E: Error>(self) -> Result<Scalar, E> {
                Ok(Scalar(Value::Absent))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// A plain object or list of what can be serialized.
pub(crate) fn plain(report: &impl Serialize) -> JsValue {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    // A report holds numbers, texts and lists: nothing of which serializing can fail.
    report.serialize(&serializer).unwrap_or(JsValue::UNDEFINED)
}
