//! Attention with all its heads.

use super::{either, read_given};
use crate::error::thrown;
use crate::numbers::{self, Typed};
use glassformer::math::{average_heads, Attended, MultiHead, Projection, Sight};
use glassformer::num::Float;
use js_sys::{Array, Float64Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen::JsCast;

/// Attention of one prompt. `arrays` are eleven of one kind: the rows of query, key and value, and for what is computed,
/// query H,T,K, key G,S,K, value G,S,J, scores, weights H,T,S, their mean T,S, mixed H,T,J and output. `given` are
/// Float64Arrays or undefined: query, its bias, key, its bias, value, its bias, output, its bias; numbers added to the scores;
/// marks of hidden keys; slopes.
// As many arguments as there are things to choose.
#[allow(clippy::too_many_arguments)]
#[wasm_bindgen]
pub fn math_attention(
    arrays: &Array,
    given: &Array,
    heads: usize,
    groups: usize,
    keys: usize,
    scale: f64,
    causal: bool,
    window: Option<u32>,
) -> Result<(), JsValue> {
    fn run<A: Typed>(
        _kind: &A,
        arrays: &Array,
        given: &Array,
        (heads, groups, keys): (usize, usize, usize),
        scale: f64,
        (causal, window): (bool, Option<u32>),
    ) -> Result<(), JsValue> {
        let array = |i: u32| arrays.get(i).unchecked_into::<A>();
        let number = |i: u32| read_given::<A>(given.get(i).dyn_into::<Float64Array>().ok());
        let [query, key, value] =
            [numbers::read(&array(0))?, numbers::read(&array(1))?, numbers::read(&array(2))?];
        let mut out = numbers::reserved(OUTPUTS as usize)?;
        for i in 0..OUTPUTS {
            out.push(numbers::zeros(array(INPUTS + i).count())?);
        }
        let mut parameters = numbers::reserved(8)?;
        for i in 0..8 {
            parameters.push(number(i)?);
        }
        let projection =
            |i: usize| Projection { matrix: parameters[i].as_deref(), bias: parameters[i + 1].as_deref() };
        let (added, marks, slopes) = (number(8)?, number(9)?, number(10)?);
        let padding = match &marks {
            None => None,
            Some(marks) => {
                let mut padding = numbers::reserved(marks.len())?;
                padding.extend(marks.iter().map(|&mark| mark != A::Number::ZERO));
                Some(padding)
            }
        };
        let multi = MultiHead {
            heads,
            groups,
            scale: A::Number::from_f64(scale),
            query: projection(0),
            key: projection(2),
            value: projection(4),
            output: projection(6),
        };
        if let [q, k, v, scores, weights, average, mixed, output] = &mut out[..] {
            let sight = Sight {
                causal,
                window: window.map(|window| window as usize),
                added: added.as_deref(),
                padding: padding.as_deref(),
                slopes: slopes.as_deref(),
                ..Sight::all(average.len() / keys, keys)
            };
            let attended = Attended { query: q, key: k, value: v, scores, weights, average, mixed, output };
            multi.attend([&query, &key, &value], &sight, attended).map_err(thrown)?;
        }
        for (i, cells) in out.iter().enumerate() {
            array(INPUTS + i as u32).copy_in(0, cells);
        }
        Ok(())
    }
    numbers::margin()?;
    let query = arrays.get(0);
    either!(run, &query, arrays, given, (heads, groups, keys), scale, (causal, window))
}

/// The mean of the heads' weights, H,T,S to T,S.
#[wasm_bindgen]
pub fn math_average_heads(weights: &JsValue, heads: usize, out: &JsValue) -> Result<(), JsValue> {
    fn run<A: Typed>(weights: &A, heads: usize, out: &JsValue) -> Result<(), JsValue> {
        let out: &A = out.unchecked_ref();
        let mut mean = numbers::zeros(out.count())?;
        average_heads(&numbers::read(weights)?, heads, &mut mean);
        out.copy_in(0, &mean);
        Ok(())
    }
    numbers::margin()?;
    either!(run, weights, heads, out)
}

const INPUTS: u32 = 3;
const OUTPUTS: u32 = 8;
