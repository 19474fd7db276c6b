//! Numbers from and to JavaScript's typed arrays.
//!
//! Memory is asked for before anything is copied, on either side: glue that allocates by itself would end the
//! module, or leave an object borrowed, where there is no memory left.

use crate::error::thrown;
use glassformer::error::Error;
use glassformer::num::Float;
use js_sys::{Array, Float32Array, Float64Array, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

/// Float64Array and Float32Array alike.
pub(crate) trait Typed: JsCast {
    /// What it holds.
    type Number: Float;
    /// How many.
    fn count(&self) -> usize;
    /// Copies all of it out.
    fn copy_out(&self, out: &mut [Self::Number]);
    /// Copies `cells` in, from a place on.
    fn copy_in(&self, place: usize, cells: &[Self::Number]);
}

macro_rules! typed {
    ($array:ty, $number:ty) => {
        impl Typed for $array {
            type Number = $number;
            fn count(&self) -> usize {
                self.length() as usize
            }
            fn copy_out(&self, out: &mut [$number]) {
                self.copy_to(out);
            }
            fn copy_in(&self, place: usize, cells: &[$number]) {
                self.subarray(place as u32, (place + cells.len()) as u32).copy_from(cells);
            }
        }
    };
}

typed!(Float64Array, f64);
typed!(Float32Array, f32);

/// An element type that has a typed array.
pub(crate) trait Number: Float {
    /// That array.
    type Array: Typed<Number = Self>;
}

impl Number for f64 {
    type Array = Float64Array;
}

impl Number for f32 {
    type Array = Float32Array;
}

/// A copy of a typed array.
pub(crate) fn read<A: Typed>(array: &A) -> Result<Vec<A::Number>, JsValue> {
    let mut out = zeros(array.count())?;
    array.copy_out(&mut out);
    Ok(out)
}

/// A copy of a Float64Array in a model's own element type.
pub(crate) fn read_as<F: Float>(array: &Float64Array) -> Result<Vec<F>, JsValue> {
    converted(read(array)?)
}

/// Numbers in a model's own element type.
pub(crate) fn converted<F: Float>(wide: Vec<f64>) -> Result<Vec<F>, JsValue> {
    let mut out = reserved(wide.len())?;
    out.extend(wide.into_iter().map(F::from_f64));
    Ok(out)
}

/// `n` zeros.
pub(crate) fn zeros<F: Float>(n: usize) -> Result<Vec<F>, JsValue> {
    let mut out = reserved(n)?;
    out.resize(n, F::ZERO);
    Ok(out)
}

/// An empty list with room for `n`.
pub(crate) fn reserved<F>(n: usize) -> Result<Vec<F>, JsValue> {
    let mut out = Vec::new();
    let bytes = n as f64 * size_of::<F>() as f64;
    let refused = || thrown(Error::OutOfMemory { what: format!("{n} numbers"), bytes });
    out.try_reserve_exact(n).map_err(|_| refused())?;
    // As in the core: a large one leaves a margin for the small ones that follow.
    if bytes >= 65536.0 {
        Vec::<u8>::new().try_reserve_exact(MARGIN).map_err(|_| refused())?;
    }
    Ok(out)
}

/// Numbers of either type as a new Float64Array. The engine is asked for it by a call that can fail: where it has no memory
/// it throws, and must not throw through Rust.
pub(crate) fn wide<F: Float>(values: &[F]) -> Result<Float64Array, JsValue> {
    let mut out: Vec<f64> = reserved(values.len())?;
    out.extend(values.iter().map(|x| x.to_f64()));
    let refused = |_| {
        let (what, bytes) = (format!("{} numbers", out.len()), out.len() as f64 * 8.0);
        thrown(Error::OutOfMemory { what, bytes })
    };
    let constructor = Object::constructor(&Float64Array::new_with_length(0));
    let length = Array::of1(&JsValue::from(out.len() as f64));
    let array = Reflect::construct(&constructor, &length).map_err(refused)?;
    let array: Float64Array = array.unchecked_into();
    array.copy_from(&out);
    Ok(array)
}

/// What a call's small allocations take at most, those of its refusal included.
const MARGIN: usize = 1 << 18;

/// Whether a call's small allocations can be had: asked at the beginning of each.
pub(crate) fn margin() -> Result<(), JsValue> {
    room("this call", MARGIN as f64)
}

/// Whether so many bytes can be had: asked before a call that allocates in many small pieces, which cannot be refused
/// one by one.
pub(crate) fn room(what: &str, bytes: f64) -> Result<(), JsValue> {
    let refused = || thrown(Error::OutOfMemory { what: what.into(), bytes });
    if bytes >= f64::from(i32::MAX) {
        return Err(refused());
    }
    Vec::<u8>::new().try_reserve_exact(bytes as usize).map_err(|_| refused())
}
