//! From the last block to the vocabulary.

use crate::config::Config;
use crate::math::{layer_norm, softmax, Affine};
use crate::num::{multiply, Float};
use crate::stage::{stream_before, Kind, Stage};
use crate::trace::Pass;

/// The last norm, where there is one.
pub(crate) fn final_norm<F: Float>(pass: &mut Pass<'_, F>, config: &Config) {
    let blocks = config.n_blocks;
    if config.final_norm {
        pass.step(Stage::new(Kind::FinalNormalized, blocks), |earlier, out| {
            layer_norm(
                earlier.rows(stream_before(blocks)),
                config.n_model,
                F::from_f64(config.epsilon),
                Affine::default(),
                out,
            );
        });
    }
}

/// Scores and probabilities of the next token, at every position; `matrix` is D,V.
pub(crate) fn head<F: Float>(pass: &mut Pass<'_, F>, config: &Config, matrix: &[F]) {
    let blocks = config.n_blocks;
    let [normalized, logits, probabilities] =
        [Kind::FinalNormalized, Kind::Logits, Kind::Probabilities].map(|kind| Stage::new(kind, blocks));
    let input = if config.final_norm { normalized } else { stream_before(blocks) };
    pass.step(logits, |earlier, out| {
        multiply(earlier.rows(input), matrix, config.n_model, config.n_vocab, out);
    });
    pass.step(probabilities, |earlier, out| {
        let rows = earlier.rows(logits).chunks_exact(config.n_vocab);
        for (scores, row) in rows.zip(out.chunks_exact_mut(config.n_vocab)) {
            softmax(scores, row);
        }
    });
}
