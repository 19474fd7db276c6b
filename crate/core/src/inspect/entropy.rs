//! How widely each query spreads its attention.

use crate::error::Error;
use crate::memory::{reserved, zeroed};
use crate::num::float::log2;
use crate::num::Float;
use crate::stage::{Kind, Stage};
use crate::tensor::Tensor;
use crate::trace::Trace;
use alloc::{vec, vec::Vec};

/// The entropies of one stage of attention weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Entropy {
    /// The stage.
    pub stage: Stage,
    /// H,T: the entropy of each query's weights, in bits (Shannon 1948).
    pub bits: Tensor<f64>,
    /// H,T: the most it could be, log2 of how many keys the query sees.
    pub bound: Tensor<f64>,
}

impl<F: Float> Trace<F> {
    /// The entropy of every row of attention weights, `-Σ_s A log2 A` with 0 log2 0 = 0, beside its bound: that of equal
    /// weights on all the keys that the query sees. Of a causal model without window or masks that is log2 t, the
    /// position t counted from 1; otherwise those keys are counted whose score is not -infinity.
    ///
    /// # Shapes
    /// One entry for each stage of attention weights, in execution order, of H,T numbers each.
    ///
    /// # Numerics
    /// In float64, whatever the trace is of; terms are added in the order of the keys. A query that sees nothing has 0 and
    /// a bound of 0. Weights that an edit made negative have no entropy: NaN.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// # use glassformer::{config::Config, model::CausalLanguageModel};
    /// let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7)?;
    /// let entropies = model.respond_to(&[0, 1, 2])?.entropies()?;
    /// assert_eq!(entropies[0].bits.at(&[1, 0])?, 0.0);
    /// assert_eq!(entropies[0].bound.at(&[1, 1])?, 1.0);
    /// # Ok::<(), glassformer::error::Error>(())
    /// ```
    pub fn entropies(&self) -> Result<Vec<Entropy>, Error> {
        let stages = self.stages().iter().filter_map(|&stage| Some((stage, scores_of(stage)?)));
        let mut out = reserved("the entropies", stages.clone().count() as f64)?;
        for (stage, scores) in stages {
            let (rows, heads) = (self.plan().rows(stage, self.lengths()), self.plan().groups(stage));
            let cells = rows as f64 * heads as f64;
            let mut bits = zeroed("the entropies", cells)?;
            let mut bound = zeroed("the entropies", cells)?;
            for t in 0..rows {
                let (weights, scores) = (self.row(stage, t), self.row(scores, t));
                let keys = weights.len() / heads;
                let by_head = weights.chunks_exact(keys).zip(scores.chunks_exact(keys));
                for (h, (weights, scores)) in by_head.enumerate() {
                    bits[h * rows + t] = entropy(weights);
                    let seen = scores.iter().filter(|&&score| score != F::NEG_INFINITY).count();
                    bound[h * rows + t] = log2(seen.max(1) as f64);
                }
            }
            let shape = vec![heads, rows];
            out.push(Entropy {
                stage,
                bits: Tensor::new(shape.clone(), bits)?,
                bound: Tensor::new(shape, bound)?,
            });
        }
        Ok(out)
    }
}

/// The scores that a stage of attention weights is made of.
fn scores_of(stage: Stage) -> Option<Stage> {
    let kind = match stage.kind {
        Kind::Weights => Kind::Scores,
        Kind::CrossWeights => Kind::CrossScores,
        _ => return None,
    };
    Some(Stage { kind, ..stage })
}

fn entropy<F: Float>(weights: &[F]) -> f64 {
    let terms = weights.iter().map(|w| w.to_f64()).filter(|&w| w != 0.0);
    terms.fold(0.0, |sum, w| sum - w * log2(w))
}
