//! Attention with all its heads: projections, scores, weights, mixture, output
//! (Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2).

use super::{average_heads, mix, scores, weights, Sight};
use crate::error::Error;
use crate::num::{dot, Float};

/// A matrix, laid out out,in, and a bias; each may be missing, and then changes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Projection<'a, F> {
    /// `y = x W^T`.
    pub matrix: Option<&'a [F]>,
    /// Added last.
    pub bias: Option<&'a [F]>,
}

impl<F: Float> Projection<'_, F> {
    /// Cell `j` of a row's image.
    fn cell(&self, row: &[F], j: usize) -> F {
        let cell = match self.matrix {
            Some(matrix) => dot(row, &matrix[j * row.len()..][..row.len()]),
            None => row[j],
        };
        self.bias.map_or(cell, |bias| cell + bias[j])
    }

    /// The images of rows by head: `out[h,t,k]` is cell `h K + k` of row t.
    fn by_head(&self, x: &[F], rows: usize, heads: usize, out: &mut [F]) {
        let (inputs, width) = (x.len() / rows, out.len() / (rows * heads));
        for (i, head_row) in out.chunks_exact_mut(width.max(1)).enumerate() {
            let (h, row) = (i / rows, &x[i % rows * inputs..][..inputs]);
            for (k, cell) in head_row.iter_mut().enumerate() {
                *cell = self.cell(row, h * width + k);
            }
        }
    }
}

/// Multi-head attention, with fewer key and value heads where `groups` is less than `heads` (Ainslie et al. 2023,
/// arXiv:2305.13245): query head h reads key and value head ⌊h / (heads / groups)⌋.
#[derive(Clone, Copy, Debug)]
pub struct MultiHead<'a, F> {
    /// H.
    pub heads: usize,
    /// G, which divides H.
    pub groups: usize,
    /// What scores are multiplied by.
    pub scale: F,
    /// H·K from the query's width.
    pub query: Projection<'a, F>,
    /// G·K from the key's width.
    pub key: Projection<'a, F>,
    /// G·J from the value's width; J, a value head's width, may be another than K.
    pub value: Projection<'a, F>,
    /// Any width from H·J.
    pub output: Projection<'a, F>,
}

/// Where everything goes that is computed on the way.
#[derive(Debug)]
pub struct Attended<'a, F> {
    /// H,T,K.
    pub query: &'a mut [F],
    /// G,S,K.
    pub key: &'a mut [F],
    /// G,S,J.
    pub value: &'a mut [F],
    /// H,T,S.
    pub scores: &'a mut [F],
    /// H,T,S.
    pub weights: &'a mut [F],
    /// T,S: the mean over heads.
    pub average: &'a mut [F],
    /// H,T,J.
    pub mixed: &'a mut [F],
    /// T and the output's width.
    pub output: &'a mut [F],
}

impl<F: Float> MultiHead<'_, F> {
    /// Computes everything of one prompt, from its rows `query` (T of any width), `key` and `value` (S of any widths).
    ///
    /// # Shapes
    /// As [`Attended`] has them; T and S, at least 1 each, are the sight's.
    ///
    /// # Numerics
    /// As in the models, to the bit: products start at 0 and take their terms in order, a bias is added last. A query that
    /// sees no key has weights of 0, and the output's bias alone for an output.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a visible score that overflows.
    ///
    /// # Panics
    /// When lengths do not fit.
    ///
    /// ```
    /// # use glassformer::math::{Attended, MultiHead, Projection, Sight};
    /// let plain = Projection::default();
    /// let one = MultiHead { heads: 1, groups: 1, scale: 1.0, query: plain, key: plain, value: plain, output: plain };
    /// let (mut q, mut k, mut v, mut m, mut o) = ([0.0], [0.0; 2], [0.0; 2], [0.0], [0.0]);
    /// let (mut s, mut a, mut mean) = ([0.0; 2], [0.0; 2], [0.0; 2]);
    /// let attended = Attended {
    ///     query: &mut q, key: &mut k, value: &mut v, scores: &mut s, weights: &mut a,
    ///     average: &mut mean, mixed: &mut m, output: &mut o,
    /// };
    /// // Both keys fit the query alike, so the values 3 and 5 are mixed half and half.
    /// one.attend([&[1.0], &[2.0, 2.0], &[3.0, 5.0]], &Sight::all(1, 2), attended).unwrap();
    /// assert_eq!((s, a, o), ([2.0, 2.0], [0.5, 0.5], [4.0]));
    /// ```
    pub fn attend(
        &self,
        [query, key, value]: [&[F]; 3],
        sight: &Sight<'_, F>,
        out: Attended<'_, F>,
    ) -> Result<(), Error> {
        let (queries, keys) = (sight.queries, sight.keys);
        self.query.by_head(query, queries, self.heads, out.query);
        self.key.by_head(key, keys, self.groups, out.key);
        self.value.by_head(value, keys, self.groups, out.value);
        let width = out.query.len() / (self.heads * queries);
        let value_width = out.value.len() / (self.groups * keys);
        let shared = self.heads / self.groups;
        for i in 0..self.heads * queries {
            let (h, t) = (i / queries, i % queries);
            let group = h / shared * keys;
            let own = |width: usize| group * width..(group + keys) * width;
            let key_rows = out.key[own(width)].chunks_exact(width);
            let row = &mut out.scores[i * keys..][..keys];
            scores(sight, (h, t), self.scale, &out.query[i * width..][..width], key_rows, row);
            let wrong = |(s, x): &(usize, &F)| !x.is_finite() && !sight.hides(h, t, *s);
            if let Some((_, x)) = row.iter().enumerate().find(wrong) {
                return Err(Error::NotFinite { what: "scores".into(), position: t, value: x.to_f64() });
            }
            let seen = &mut out.weights[i * keys..][..keys];
            weights(sight, t, row, seen);
            let value_rows = out.value[own(value_width)].chunks_exact(value_width);
            mix(sight, t, seen, value_rows, &mut out.mixed[i * value_width..][..value_width]);
        }
        average_heads(out.weights, self.heads, out.average);
        self.join(queries, value_width, out.mixed, out.output);
        Ok(())
    }

    /// The heads' mixtures side by side, head 0 first, through the output's matrix.
    fn join(&self, queries: usize, width: usize, mixed: &[F], out: &mut [F]) {
        let outputs = out.len() / queries;
        for (t, out_row) in out.chunks_exact_mut(outputs.max(1)).enumerate() {
            let cell = |i: usize| mixed[(i / width * queries + t) * width + i % width];
            for (j, o) in out_row.iter_mut().enumerate() {
                let inputs = self.heads * width;
                let sum = match self.output.matrix {
                    Some(matrix) => {
                        let row = &matrix[j * inputs..][..inputs];
                        row.iter().enumerate().fold(F::ZERO, |sum, (i, &w)| sum + cell(i) * w)
                    }
                    None => cell(j),
                };
                *o = self.output.bias.map_or(sum, |bias| sum + bias[j]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    struct Made {
        key: Vec<f64>,
        weights: Vec<f64>,
        average: Vec<f64>,
        mixed: Vec<f64>,
        output: Vec<f64>,
    }

    /// With heads of width 2.
    fn attend(multi: MultiHead<'_, f64>, rows: [&[f64]; 3], sight: Sight<'_, f64>, outputs: usize) -> Made {
        let (h, g, t, s) = (multi.heads, multi.groups, sight.queries, sight.keys);
        let zeros = |n: usize| vec![0.0; n];
        let (mut query, mut key, mut value) = (zeros(h * t * 2), zeros(g * s * 2), zeros(g * s * 2));
        let (mut scores, mut weights, mut average) = (zeros(h * t * s), zeros(h * t * s), zeros(t * s));
        let (mut mixed, mut output) = (zeros(h * t * 2), zeros(t * outputs));
        let out = Attended {
            query: &mut query,
            key: &mut key,
            value: &mut value,
            scores: &mut scores,
            weights: &mut weights,
            average: &mut average,
            mixed: &mut mixed,
            output: &mut output,
        };
        multi.attend(rows, &sight, out).unwrap();
        Made { key, weights, average, mixed, output }
    }

    fn plain(heads: usize, groups: usize) -> MultiHead<'static, f64> {
        let none = Projection::default();
        MultiHead { heads, groups, scale: 0.5, query: none, key: none, value: none, output: none }
    }

    const ROWS: [f64; 12] = [0.3, -1.0, 2.0, 0.5, 1.0, 0.0, -0.7, 0.2, 0.1, 0.9, -1.5, 0.4];

    #[test]
    fn heads_read_their_own_columns_and_stand_side_by_side() {
        let made = attend(plain(2, 2), [&ROWS; 3], Sight::all(3, 3), 4);
        assert_eq!(made.key[..6], [0.3, -1.0, 1.0, 0.0, 0.1, 0.9]);
        for t in 0..3 {
            assert_eq!(made.output[t * 4..][..2], made.mixed[t * 2..][..2]);
            assert_eq!(made.output[t * 4 + 2..][..2], made.mixed[6 + t * 2..][..2]);
            let row: f64 = made.average[t * 3..][..3].iter().sum();
            assert!((row - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_group_of_keys_equals_its_copies() {
        let keys = [0.2, 0.8, -0.4, 1.0, 0.6, -0.6];
        let twice: Vec<f64> = keys.chunks(2).flat_map(|row| [row, row].concat()).collect();
        let shared = attend(plain(2, 1), [&ROWS, &keys, &keys], Sight::all(3, 3), 4);
        let copied = attend(plain(2, 2), [&ROWS, &twice, &twice], Sight::all(3, 3), 4);
        assert_eq!((shared.weights, shared.output), (copied.weights, copied.output));
    }

    #[test]
    fn a_row_that_sees_nothing_gives_the_bias_alone() {
        let matrix = [1.0, 2.0, 3.0, 4.0];
        let output = Projection { matrix: Some(&matrix), bias: Some(&[0.5]) };
        let padding = [true, true];
        let sight = Sight { padding: Some(&padding), ..Sight::all(1, 2) };
        let made =
            attend(MultiHead { output, ..plain(2, 2) }, [&ROWS[..4], &ROWS[..8], &ROWS[..8]], sight, 1);
        assert_eq!((made.weights, made.output), (vec![0.0; 4], vec![0.5]));
    }

    #[test]
    fn a_visible_score_that_overflows_is_refused() {
        let (mut q, mut k, mut v, mut m, mut o) = ([0.0], [0.0], [0.0], [0.0], [0.0]);
        let (mut s, mut a, mut mean) = ([0.0], [0.0], [0.0]);
        let out = Attended {
            query: &mut q,
            key: &mut k,
            value: &mut v,
            scores: &mut s,
            weights: &mut a,
            average: &mut mean,
            mixed: &mut m,
            output: &mut o,
        };
        let refused = plain(1, 1).attend([&[1e200], &[1e200], &[1.0]], &Sight::all(1, 1), out);
        assert_eq!(refused.unwrap_err().code(), "not_finite");
    }
}
