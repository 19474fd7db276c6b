//! From scores to the distribution that a token is drawn from.

use super::refused;
use crate::error::Error;
use crate::math::softmax;
use crate::num::Float;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// What is done to a distribution before a token is drawn: a temperature, then the `top_k` most probable tokens (Fan, Lewis
/// & Dauphin 2018, arXiv:1805.04833), then of what is left the smallest number of tokens that together have a probability
/// of `top_p` (Holtzman et al. 2019, arXiv:1904.09751).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filter {
    /// What logits are divided by.
    pub temperature: f64,
    /// How many tokens are kept at most.
    pub top_k: Option<usize>,
    /// What probability is kept at least; 1 keeps every token that has any.
    pub top_p: Option<f64>,
}

impl Default for Filter {
    fn default() -> Self {
        Filter { temperature: 1.0, top_k: None, top_p: None }
    }
}

impl Filter {
    /// Whether the numbers are in range.
    ///
    /// # Errors
    /// [`Error::InvalidOption`].
    pub fn check(&self) -> Result<(), Error> {
        // Written so that NaN is refused.
        if !(self.temperature > 0.0 && self.temperature.is_finite()) {
            let reason = "it must be a finite number above 0; greedy takes the most probable token";
            return refused("temperature", self.temperature, reason);
        }
        if self.top_k == Some(0) {
            return refused("topK", 0.0, "at least one token must be kept");
        }
        match self.top_p {
            Some(p) if !(p > 0.0 && p <= 1.0) => refused("topP", p, "it must be above 0 and at most 1"),
            _ => Ok(()),
        }
    }

    /// The distribution before the filters, the one after them, and the mass that they removed.
    ///
    /// # Shapes
    /// `logits`, `distribution` and `filtered` V.
    ///
    /// # Numerics
    /// `distribution = softmax(logits / temperature)`; where a quotient would overflow, the largest logit is subtracted
    /// before. Of equally probable tokens the lower index is kept first; tokens of
    /// probability 0 are never kept. Masses are summed from the most probable token on; what is kept is divided by its
    /// mass, unless nothing was removed.
    ///
    /// # Panics
    /// When the lengths differ.
    ///
    /// ```
    /// # use glassformer::generate::Filter;
    /// let filter = Filter { top_k: Some(2), ..Filter::default() };
    /// let (mut before, mut after) = ([0.0f64; 3], [0.0; 3]);
    /// let removed = filter.apply(&[0.5f64.ln(), 0.25f64.ln(), 0.25f64.ln()], &mut before, &mut after);
    /// assert_eq!(after.map(|p| (p * 1e9).round() / 1e9), [0.666666667, 0.333333333, 0.0]);
    /// assert!((removed - 0.25).abs() < 1e-15);
    /// ```
    pub fn apply<F: Float>(&self, logits: &[F], distribution: &mut [F], filtered: &mut [F]) -> F {
        softmax(&scaled(logits, self.temperature), distribution);
        filtered.copy_from_slice(distribution);
        if self.top_k.is_none() && self.top_p.is_none() {
            return F::ZERO;
        }
        let mut ranked: Vec<usize> =
            (0..distribution.len()).filter(|&id| distribution[id] > F::ZERO).collect();
        // A stable sort leaves equals in the order of their indices.
        ranked.sort_by(|&a, &b| distribution[b].partial_cmp(&distribution[a]).unwrap_or(Ordering::Equal));
        let all = ranked.len();
        if let Some(k) = self.top_k {
            ranked.truncate(k);
        }
        if let Some(p) = self.top_p.filter(|&p| p < 1.0) {
            let mass = sum(&ranked, distribution);
            let mut reached = F::ZERO;
            let enough = ranked.iter().position(|&id| {
                reached += distribution[id] / mass;
                reached.to_f64() >= p
            });
            ranked.truncate(enough.map_or(ranked.len(), |last| last + 1));
        }
        if ranked.len() == all {
            return F::ZERO;
        }
        let mass = sum(&ranked, distribution);
        filtered.fill(F::ZERO);
        for &id in &ranked {
            filtered[id] = distribution[id] / mass;
        }
        // What was removed, summed: 1 less the rest would be rounding where little was.
        (0..distribution.len())
            .filter(|&id| filtered[id] == F::ZERO)
            .fold(F::ZERO, |sum, id| sum + distribution[id])
    }
}

/// Logits, divided by a temperature.
fn scaled<F: Float>(logits: &[F], temperature: f64) -> Vec<F> {
    let divisor = F::from_f64(temperature);
    if logits.iter().all(|&x| !x.is_finite() || (x / divisor).is_finite()) {
        return logits.iter().map(|&x| x / divisor).collect();
    }
    // So small a temperature (in float32 it may round to 0) leaves the largest alone, which needs a number to stand at.
    let max = logits.iter().fold(f64::NEG_INFINITY, |max, x| max.max(x.to_f64()));
    logits.iter().map(|x| F::from_f64((x.to_f64() - max) / temperature)).collect()
}

fn sum<F: Float>(ids: &[usize], distribution: &[F]) -> F {
    ids.iter().fold(F::ZERO, |sum, &id| sum + distribution[id])
}

/// The most probable token, of equal ones the first.
pub(super) fn largest<F: Float>(distribution: &[F]) -> usize {
    let larger = |best: usize, id: usize| if distribution[id] > distribution[best] { id } else { best };
    (0..distribution.len()).fold(0, larger)
}
