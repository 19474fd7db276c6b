//! Attention on rows of any widths: projections, and what stands between them.

use super::either;
use crate::error::thrown;
use crate::numbers::{self, Typed};
use glassformer::error::Error;
use glassformer::math::{self, Sight};
use glassformer::num::{multiply, Float};
use js_sys::{Array, Float64Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

/// Rows of a width times a matrix that stands out,in, plus a bias: `out` has as many columns as the matrix rows.
#[wasm_bindgen]
pub fn math_project(
    x: &JsValue,
    width: usize,
    matrix: &Float64Array,
    bias: Option<Float64Array>,
    out: &JsValue,
) -> Result<(), JsValue> {
    fn run<A: Typed>(
        x: &A,
        width: usize,
        matrix: &Float64Array,
        bias: Option<Float64Array>,
        out: &JsValue,
    ) -> Result<(), JsValue> {
        let out: &A = out.unchecked_ref();
        let (x, given) = (numbers::read(x)?, numbers::read_as::<A::Number>(matrix)?);
        let columns = given.len() / width;
        let mut turned = numbers::zeros::<A::Number>(given.len())?;
        for (i, cell) in turned.iter_mut().enumerate() {
            *cell = given[i % columns * width + i / columns];
        }
        let mut rows = numbers::zeros::<A::Number>(out.count())?;
        multiply(&x, &turned, width, columns, &mut rows);
        if let Some(bias) = super::read_given::<A>(bias)? {
            for row in rows.chunks_exact_mut(columns) {
                row.iter_mut().zip(&bias).for_each(|(cell, &b)| *cell += b);
            }
        }
        out.copy_in(0, &rows);
        Ok(())
    }
    numbers::margin()?;
    either!(run, x, width, matrix, bias, out)
}

/// Attention of projected rows: `rows` are the queries T,H·K, keys S,G·K and values S,G·J, `outputs` the scores H,T,S,
/// weights H,T,S, their mean over heads T,S and mixed H,T,J; `sizes` are H, G, T, S, K and J. `window` 0 is none.
#[wasm_bindgen]
#[allow(clippy::too_many_arguments)] // What attention depends on; an object of them would have to be read first.
pub fn math_attend(
    rows: &Array,
    outputs: &Array,
    sizes: &[u32],
    causal: bool,
    window: usize,
    scale: f64,
    added: Option<Float64Array>,
    padding: Option<Float64Array>,
    slopes: Option<Float64Array>,
) -> Result<(), JsValue> {
    struct Masks {
        causal: bool,
        window: usize,
        scale: f64,
        added: Option<Float64Array>,
        padding: Option<Float64Array>,
        slopes: Option<Float64Array>,
    }
    fn run<A: Typed>(
        queries: &A,
        rows: &Array,
        outputs: &Array,
        sizes: &[u32],
        masks: Masks,
    ) -> Result<(), JsValue> {
        let [count, groups, total_t, total_s, k, j] = *sizes else { return Ok(()) };
        let [count, groups, total_t, total_s, k, j] =
            [count, groups, total_t, total_s, k, j].map(|size| size as usize);
        let array = |list: &Array, i: u32| numbers::read(list.get(i).unchecked_ref::<A>());
        let (queries, keys, values) = (numbers::read(queries)?, array(rows, 1)?, array(rows, 2)?);
        let (mut scores, mut weights) = (array(outputs, 0)?, array(outputs, 1)?);
        let (mut mean, mut mixed) = (array(outputs, 2)?, array(outputs, 3)?);
        let (added, slopes) = (super::read_given::<A>(masks.added)?, super::read_given::<A>(masks.slopes)?);
        let padding = masks.padding.map(|marks| numbers::read(&marks)).transpose()?;
        let padding: Option<Vec<bool>> = padding.map(|marks| marks.iter().map(|&x| x != 0.0).collect());
        let sight = Sight {
            causal: masks.causal,
            window: (masks.window > 0).then_some(masks.window),
            added: added.as_deref(),
            padding: padding.as_deref(),
            slopes: slopes.as_deref(),
            queries: total_t,
            keys: total_s,
        };
        let scale = <A::Number as Float>::from_f64(masks.scale);
        for h in 0..count {
            let group = h / (count / groups);
            for t in 0..total_t {
                let place = (h * total_t + t) * total_s;
                let query = &queries[t * count * k + h * k..][..k];
                let row = &mut scores[place..place + total_s];
                math::scores(
                    &sight,
                    (h, t),
                    scale,
                    query,
                    keys.chunks_exact(groups * k).map(|row| &row[group * k..(group + 1) * k]),
                    row,
                );
                // A score that overflows to -infinity would pass for one that is hidden.
                let wrong = |(s, x): &(usize, &A::Number)| !x.is_finite() && !sight.hides(h, t, *s);
                if let Some((_, x)) = row.iter().enumerate().find(wrong) {
                    let what = "a score".into();
                    return Err(thrown(Error::NotFinite { what, position: t, value: x.to_f64() }));
                }
                let out = &mut weights[place..place + total_s];
                math::weights(&sight, t, row, out);
                let mix = &mut mixed[(h * total_t + t) * j..][..j];
                math::mix(
                    &sight,
                    t,
                    out,
                    values.chunks_exact(groups * j).map(|row| &row[group * j..(group + 1) * j]),
                    mix,
                );
            }
        }
        math::average_heads(&weights, count, &mut mean);
        for (i, cells) in [&scores, &weights, &mean, &mixed].into_iter().enumerate() {
            outputs.get(i as u32).unchecked_ref::<A>().copy_in(0, cells);
        }
        Ok(())
    }
    numbers::margin()?;
    let masks = Masks { causal, window, scale, added, padding, slopes };
    let queries = rows.get(0);
    either!(run, &queries, rows, outputs, sizes, masks)
}
