//! One block: two branches, each added to the residual stream that passes by (He et al. 2015,
//! arXiv:1512.03385; norms before the branches: Xiong et al. 2020, arXiv:2002.04745).

use super::attention::attention;
use super::dense::dense;
use super::embed::add;
use crate::config::Config;
use crate::num::Float;
use crate::params::BlockMatrices;
use crate::stage::{stream_before, Kind, Stage};
use crate::trace::Pass;

/// Block `n`, from the stream that enters it to `hidden`.
pub(crate) fn block<F: Float>(
    pass: &mut Pass<'_, F>,
    config: &Config,
    matrices: &BlockMatrices<'_, F>,
    n: usize,
) {
    let stage = |kind| Stage::new(kind, n);
    attention(pass, config, matrices, n);
    pass.step(stage(Kind::AfterAttention), |earlier, out| {
        add(earlier.rows(stream_before(n)), earlier.rows(stage(Kind::AttentionOutput)), out);
    });
    dense(pass, config, matrices, n);
    pass.step(stage(Kind::Hidden), |earlier, out| {
        add(earlier.rows(stage(Kind::AfterAttention)), earlier.rows(stage(Kind::FeedForwardOutput)), out);
    });
}
