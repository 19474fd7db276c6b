//! Attention of one query of one head: scores, weights, mixture (Vaswani et al. 2017, arXiv:1706.03762, section 3.2).

use super::softmax;
use crate::num::{add_scaled, dot, Float};
use core::ops::Range;

/// Which keys a query sees, and what is added to its scores.
///
/// A key is hidden when the order of positions hides it (`causal`, `window`), when its padding does, or when what is
/// added for it is -infinity.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a, F> {
    /// Whether a query at position t sees no key behind t.
    pub causal: bool,
    /// How many keys a query sees on each side at most, its own included.
    pub window: Option<usize>,
    /// T,S or H,T,S numbers that are added to the scores.
    pub added: Option<&'a [F]>,
    /// S marks: whether a key is padding.
    pub padding: Option<&'a [bool]>,
    /// H slopes of a penalty on the distance of query and key (Press et al. 2021, arXiv:2108.12409).
    pub slopes: Option<&'a [F]>,
    /// T, the number of queries.
    pub queries: usize,
    /// S, the number of keys.
    pub keys: usize,
}

impl<F: Float> Sight<'_, F> {
    /// Everything is seen, nothing added.
    pub fn all(queries: usize, keys: usize) -> Self {
        Sight { causal: false, window: None, added: None, padding: None, slopes: None, queries, keys }
    }

    /// The keys that the order of positions leaves to the query at `t`.
    pub fn range(&self, t: usize) -> Range<usize> {
        let end = if self.causal { (t + 1).min(self.keys) } else { self.keys };
        match self.window {
            None => 0..end,
            Some(window) => {
                let start = (t + 1).saturating_sub(window).min(end);
                start..end.min(t.saturating_add(window)).max(start)
            }
        }
    }

    /// Whether key `s` is hidden from the query at `t` of head `h`.
    pub fn hides(&self, h: usize, t: usize, s: usize) -> bool {
        !self.range(t).contains(&s) || self.masks(h, t, s)
    }

    /// Whether padding or what is added hides a key that the order of positions leaves.
    fn masks(&self, h: usize, t: usize, s: usize) -> bool {
        self.padding.is_some_and(|padding| padding[s]) || self.added(h, t, s) == Some(F::NEG_INFINITY)
    }

    pub(crate) fn added(&self, h: usize, t: usize, s: usize) -> Option<F> {
        self.added.map(|added| {
            let head = if added.len() == self.queries * self.keys { 0 } else { h };
            added[(head * self.queries + t) * self.keys + s]
        })
    }
}

/// The scores of the query at `t` of head `h`: `out[s] = scale · Σ_k q[k] K[s,k] − slope_h · |t − s| + added[h,t,s]`.
///
/// # Shapes
/// `query` K; `keys` the rows of K numbers from position 0 on; `out` S.
///
/// # Numerics
/// The product's terms are added in order, from 0; then it is scaled, then what there is is subtracted and added. A
/// hidden key's score is -infinity and nothing is computed for it.
pub fn scores<'k, F: Float>(
    sight: &Sight<'_, F>,
    (h, t): (usize, usize),
    scale: F,
    query: &[F],
    keys: impl Iterator<Item = &'k [F]>,
    out: &mut [F],
) {
    out.fill(F::NEG_INFINITY);
    let Range { start, end } = sight.range(t);
    for (s, key) in keys.enumerate().take(end).skip(start) {
        if sight.masks(h, t, s) {
            continue;
        }
        let mut score = dot(query, key) * scale;
        if let Some(slopes) = sight.slopes {
            score += -(slopes[h] * F::from_f64(t.abs_diff(s) as f64));
        }
        if let Some(added) = sight.added(h, t, s) {
            score += added;
        }
        out[s] = score;
    }
}

/// The weights of the query at `t`: softmax of its scores, exactly 0 where hidden, all 0 where every key is
/// (PyTorch gives NaN there, or 0, as it computes one way or another).
pub fn weights<F: Float>(sight: &Sight<'_, F>, t: usize, scores: &[F], out: &mut [F]) {
    let range = sight.range(t);
    out.fill(F::ZERO);
    softmax(&scores[range.clone()], &mut out[range]);
}

/// The values, weighted and summed in order, from 0: `out[k] = Σ_s A[s] V[s,k]` over the keys that the order of
/// positions leaves to the query at `t`.
pub fn mix<'v, F: Float>(
    sight: &Sight<'_, F>,
    t: usize,
    weights: &[F],
    values: impl Iterator<Item = &'v [F]>,
    out: &mut [F],
) {
    out.fill(F::ZERO);
    let Range { start, end } = sight.range(t);
    for (&weight, value) in weights.iter().zip(values).take(end).skip(start) {
        add_scaled(weight, value, out);
    }
}

/// The mean of the heads' weights, H,T,S to T,S: what PyTorch returns unless it is told otherwise. Heads are added in
/// order, from 0, and the sum is divided.
pub fn average_heads<F: Float>(weights: &[F], heads: usize, out: &mut [F]) {
    let size = weights.len() / heads.max(1);
    for (i, cell) in out.iter_mut().enumerate() {
        let sum = weights.iter().skip(i).step_by(size).fold(F::ZERO, |sum, &w| sum + w);
        *cell = sum / F::from_f64(heads as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_of_a_tenth_lowers_the_score_at_distance_three_by_three_tenths() {
        let sight = Sight { causal: true, slopes: Some(&[0.1]), ..Sight::all(4, 4) };
        let keys = [[1.0], [1.0], [1.0], [1.0]];
        let mut out = [0.0; 4];
        scores(&sight, (0, 3), 1.0, &[2.0], keys.iter().map(|k| k.as_slice()), &mut out);
        assert_eq!(out.map(|x: f64| (x * 1e9).round() / 1e9), [1.7, 1.8, 1.9, 2.0]);
    }

    #[test]
    fn a_window_of_two_is_the_query_and_the_key_before() {
        let sight = Sight::<f64> { causal: true, window: Some(2), ..Sight::all(4, 4) };
        assert_eq!([0, 1, 2, 3].map(|t| sight.range(t)), [0..1, 0..2, 1..3, 2..4]);
        let both = Sight::<f64> { causal: false, ..sight };
        assert_eq!([0, 1, 3].map(|t| both.range(t)), [0..2, 0..3, 2..4]);
    }

    #[test]
    fn a_query_that_sees_nothing_takes_nothing() {
        let sight = Sight { padding: Some(&[true, true]), ..Sight::all(1, 2) };
        let keys = [[1.0], [2.0]];
        let (mut s, mut a, mut m) = ([0.0f64; 2], [1.0; 2], [1.0; 1]);
        scores(&sight, (0, 0), 1.0, &[1.0], keys.iter().map(|k| k.as_slice()), &mut s);
        weights(&sight, 0, &s, &mut a);
        mix(&sight, 0, &a, keys.iter().map(|k| k.as_slice()), &mut m);
        assert_eq!((s, a, m), ([f64::NEG_INFINITY; 2], [0.0; 2], [0.0]));
    }
}
