//! From the last block to the vocabulary.

use super::linear::linear;
use super::Context;
use crate::math::softmax;
use crate::num::{dot, Float};
use crate::params::Role;
use crate::stage::{Input, Kind};
use crate::trace::Pass;

/// The last norm, where there is one.
pub(crate) fn final_norm<F: Float>(pass: &mut Pass<'_, F>, context: &Context<'_, F>) {
    pass.step_if_planned(context.stage(Kind::FinalNormalized), |earlier, out| {
        context.normalize([Role::FinalGain, Role::FinalNormBias], earlier.rows(&Input::Stream), out);
    });
}

/// Scores and probabilities of the next token, at every position, where there is a vocabulary.
///
/// # Numerics
/// A tied head reads the embedding table by its rows, its terms in the order of an untied head's: equal numbers give
/// equal bits.
pub(crate) fn head<F: Float>(pass: &mut Pass<'_, F>, context: &Context<'_, F>) {
    let vocabulary = context.config.n_vocab;
    pass.step_if_planned(context.stage(Kind::Logits), |earlier, out| {
        logits(context, earlier.rows(&Input::HeadInput), out);
    });
    pass.step_if_planned(context.stage(Kind::Probabilities), |earlier, out| {
        let rows = earlier.rows(&Input::Stage(Kind::Logits)).chunks_exact(vocabulary);
        for (scores, row) in rows.zip(out.chunks_exact_mut(vocabulary)) {
            softmax(scores, row);
        }
    });
}

/// The scores of rows of width D.
pub(crate) fn logits<F: Float>(context: &Context<'_, F>, rows: &[F], out: &mut [F]) {
    let (width, vocabulary, weights) = (context.config.n_model, context.config.n_vocab, context.weights());
    let bias = weights.vector(Role::HeadBias);
    match weights.vector(Role::Head) {
        Some(head) => linear(rows, head, bias, (width, vocabulary), out),
        None => {
            let table = weights.matrix(Role::Embedding);
            for (row, logits) in rows.chunks_exact(width).zip(out.chunks_exact_mut(vocabulary)) {
                for (v, (logit, token)) in logits.iter_mut().zip(table.chunks_exact(width)).enumerate() {
                    *logit = dot(row, token);
                    if let Some(bias) = bias {
                        *logit += bias[v];
                    }
                }
            }
        }
    }
}
