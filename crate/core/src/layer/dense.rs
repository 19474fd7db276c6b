//! The feed-forward branch: each row alone, through a wider layer and back
//! (Vaswani et al. 2017, arXiv:1706.03762, section 3.3).

use crate::config::Config;
use crate::math::{layer_norm, Affine};
use crate::num::{multiply, Float};
use crate::params::BlockMatrices;
use crate::stage::{Kind, Stage};
use crate::trace::Pass;

/// The branch of block `n`, from the residual stream to its contribution.
pub(crate) fn dense<F: Float>(
    pass: &mut Pass<'_, F>,
    config: &Config,
    matrices: &BlockMatrices<'_, F>,
    n: usize,
) {
    let (width, hidden) = (config.n_model, config.n_hidden);
    let stage = |kind| Stage::new(kind, n);
    pass.step(stage(Kind::FeedForwardNormalized), |earlier, out| {
        layer_norm(
            earlier.rows(stage(Kind::AfterAttention)),
            width,
            F::from_f64(config.epsilon),
            Affine::default(),
            out,
        );
    });
    pass.step(stage(Kind::Pre), |earlier, out| {
        multiply(earlier.rows(stage(Kind::FeedForwardNormalized)), matrices.expand, width, hidden, out);
    });
    pass.step(stage(Kind::Activated), |earlier, out| {
        for (o, &x) in out.iter_mut().zip(earlier.rows(stage(Kind::Pre))) {
            *o = config.activation.apply(x);
        }
    });
    pass.step(stage(Kind::FeedForwardOutput), |earlier, out| {
        multiply(earlier.rows(stage(Kind::Activated)), matrices.contract, hidden, width, out);
    });
}
