//! The attention branch: causal multi-head self-attention (Vaswani et al. 2017, arXiv:1706.03762, section 3.2).

use crate::config::Config;
use crate::math::{layer_norm, softmax, Affine};
use crate::num::{add_scaled, dot, multiply, Float};
use crate::params::BlockMatrices;
use crate::stage::{stream_before, Kind, Stage};
use crate::trace::{hidden, Earlier, Pass};

/// The branch of block `n`, from the residual stream to its contribution.
///
/// # Numerics
/// Each row goes through its visible keys in order, so later rows cannot change its bits.
pub(crate) fn attention<F: Float>(
    pass: &mut Pass<'_, F>,
    config: &Config,
    matrices: &BlockMatrices<'_, F>,
    n: usize,
) {
    let width = config.n_model;
    let stage = |kind| Stage::new(kind, n);

    pass.step(stage(Kind::AttentionNormalized), |earlier, out| {
        layer_norm(
            earlier.rows(stream_before(n)),
            width,
            F::from_f64(config.epsilon),
            Affine::default(),
            out,
        );
    });
    let projections =
        [(Kind::Query, matrices.query), (Kind::Key, matrices.key), (Kind::Value, matrices.value)];
    for (kind, matrix) in projections {
        pass.step(stage(kind), |earlier, out| {
            multiply(earlier.rows(stage(Kind::AttentionNormalized)), matrix, width, width, out);
        });
    }

    let heads =
        Heads { count: config.n_heads, width: config.head_width(), first: pass.first(), keys: pass.keys() };
    let scale = F::from_f64(config.score_scale());
    pass.step(stage(Kind::Scores), |earlier, out| heads.scores(earlier, n, scale, out));
    pass.step(stage(Kind::Weights), |earlier, out| heads.weights(earlier, n, out));
    pass.step(stage(Kind::Mixed), |earlier, out| heads.mix(earlier, n, out));

    pass.step(stage(Kind::AttentionOutput), |earlier, out| {
        multiply(earlier.rows(stage(Kind::Mixed)), matrices.output, width, width, out);
    });
}

/// How rows divide into heads: head h owns the coordinates hK..(h+1)K, or in a row of scores the keys hS..(h+1)S.
struct Heads {
    count: usize,
    width: usize,
    first: usize,
    keys: usize,
}

impl Heads {
    /// `S[h,t,s] = scale · Σ_k Q[h,t,k] K[h,s,k]`, -infinity where s > t.
    fn scores<F: Float>(&self, earlier: &Earlier<'_, F>, n: usize, scale: F, out: &mut [F]) {
        let query = earlier.rows(Stage::new(Kind::Query, n));
        out.fill(hidden(Stage::new(Kind::Scores, n)));
        for (i, (row, q)) in self.score_rows(out).zip(query.chunks_exact(self.width)).enumerate() {
            let (t, h) = self.place(i);
            for (score, k) in row[..=t].iter_mut().zip(self.head_rows(earlier, Stage::new(Kind::Key, n), h)) {
                *score = dot(q, k) * scale;
            }
        }
    }

    /// Softmax of each row's visible scores; exactly 0 elsewhere.
    fn weights<F: Float>(&self, earlier: &Earlier<'_, F>, n: usize, out: &mut [F]) {
        let scores = earlier.rows(Stage::new(Kind::Scores, n));
        for (i, (row, scores)) in self.score_rows(out).zip(scores.chunks_exact(self.keys)).enumerate() {
            let (t, _) = self.place(i);
            softmax(&scores[..=t], &mut row[..=t]);
            row[t + 1..].fill(F::ZERO);
        }
    }

    /// `M[h,t,k] = Σ_{s ≤ t} A[h,t,s] V[h,s,k]`.
    fn mix<F: Float>(&self, earlier: &Earlier<'_, F>, n: usize, out: &mut [F]) {
        let weights = earlier.rows(Stage::new(Kind::Weights, n));
        let rows = out.chunks_exact_mut(self.width).zip(weights.chunks_exact(self.keys));
        for (i, (row, weights)) in rows.enumerate() {
            let (t, h) = self.place(i);
            row.fill(F::ZERO);
            for (&a, v) in weights[..=t].iter().zip(self.head_rows(earlier, Stage::new(Kind::Value, n), h)) {
                add_scaled(a, v, row);
            }
        }
    }

    /// Position and head of the `i`th part of a stage whose rows are divided by head.
    fn place(&self, i: usize) -> (usize, usize) {
        (self.first + i / self.count, i % self.count)
    }

    fn score_rows<'o, F>(&self, out: &'o mut [F]) -> core::slice::ChunksExactMut<'o, F> {
        out.chunks_exact_mut(self.keys)
    }

    /// Head `h` of every row of a stage, from position 0 on.
    fn head_rows<'e, F: Float>(
        &self,
        earlier: &'e Earlier<'_, F>,
        stage: Stage,
        h: usize,
    ) -> impl Iterator<Item = &'e [F]> {
        let (own, all) = (h * self.width..(h + 1) * self.width, self.count * self.width);
        earlier.runs(stage).flat_map(move |run| run.chunks_exact(all)).map(move |row| &row[own.clone()])
    }
}
