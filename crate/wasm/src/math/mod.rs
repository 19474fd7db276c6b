//! The equations alone, on typed arrays: each is computed in the kind of its first array, a Float64Array or a
//! Float32Array. The package's TypeScript has checked shapes, names and ranges, and owns every array that is written to.

mod experts;
mod position;
mod rows;

pub use experts::*;
pub use position::*;
pub use rows::*;

use crate::numbers::{self, Typed};
use glassformer::error::{nearest, Error};
use js_sys::Float64Array;
use wasm_bindgen::JsValue;

/// Calls a function with its first array as what it is.
macro_rules! either {
    ($run:ident, $array:expr $(, $argument:expr)*) => {
        match wasm_bindgen::JsCast::dyn_ref::<js_sys::Float64Array>($array) {
            Some(array) => $run(array $(, $argument)*),
            None => {
                let array: &js_sys::Float32Array = wasm_bindgen::JsCast::unchecked_ref($array);
                $run(array $(, $argument)*)
            }
        }
    };
}
use either;

/// A copy of a Float64Array, where there is one, in the type that is computed in.
fn read_given<A: Typed>(array: Option<Float64Array>) -> Result<Option<Vec<A::Number>>, JsValue> {
    array.map(|array| numbers::read_as(&array)).transpose()
}

/// The one of several things that has a name.
fn named<T: Copy>(
    what: &str,
    name: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<T, JsValue> {
    all.iter().copied().find(|&one| name_of(one) == name).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|&one| name_of(one)).collect();
        let quoted: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
        crate::error::thrown(Error::InvalidOption {
            option: what.into(),
            value: format!("{name:?}"),
            reason: format!("it must be one of {}", quoted.join(", ")),
            nearest: nearest(name, names.iter().copied()),
        })
    })
}
