//! From token ids, or a caller's rows, to what enters the first block.

use super::Context;
use crate::config::Position;
use crate::math::sinusoid;
use crate::num::Float;
use crate::params::Role;
use crate::stage::{Input, Kind};
use crate::trace::Pass;

/// Token rows of the table, normalized and scaled where that was chosen, plus position rows.
pub(crate) fn embed<F: Float>(pass: &mut Pass<'_, F>, context: &Context<'_, F>, tokens: &[u32]) {
    let (config, weights, width) = (context.config, context.weights(), context.config.n_model);
    let scale = F::from_f64(config.embedding_scale);
    let is_scaled = config.embedding_scale != 1.0;
    pass.step(context.stage(Kind::Embedding), |_, out| {
        let table = weights.matrix(Role::Embedding);
        for (row, &token) in out.chunks_exact_mut(width).zip(tokens) {
            row.copy_from_slice(&table[token as usize * width..][..width]);
        }
    });
    pass.step_if_planned(context.stage(Kind::EmbeddingNormalized), |earlier, out| {
        let rows = earlier.rows(&Input::Stage(Kind::Embedding));
        let norm = [Role::EmbeddingGain, Role::EmbeddingNormBias];
        context.normalize(norm, rows, out);
    });
    pass.step_if_planned(context.stage(Kind::Position), |earlier, out| {
        let first = earlier.first();
        for (t, row) in out.chunks_exact_mut(width).enumerate() {
            match config.position {
                Position::Learned => {
                    let table = weights.matrix(Role::Position);
                    row.copy_from_slice(&table[(first + t) * width..][..width]);
                }
                _ => sinusoid(first + t, row),
            }
        }
    });
    pass.step(context.stage(Kind::Positioned), |earlier, out| {
        out.copy_from_slice(earlier.rows(&Input::Embedded));
        if is_scaled {
            out.iter_mut().for_each(|x| *x = scale * *x);
        }
        if let Some(position) = earlier.maybe(&Input::Stage(Kind::Position)) {
            out.iter_mut().zip(position).for_each(|(x, &p)| *x += p);
        }
    });
}

/// A caller's rows, as they are.
pub(crate) fn given<F: Float>(pass: &mut Pass<'_, F>, context: &Context<'_, F>, kind: Kind, rows: &[F]) {
    pass.step(context.stage(kind), |_, out| out.copy_from_slice(rows));
}
