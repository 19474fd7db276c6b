//! One block: branches, each added to the residual stream that passes by (He et al. 2015, arXiv:1512.03385), with norms
//! before the branches or behind the sums.

use super::attention::{attention, Branch};
use super::{dense, experts, Context};
use crate::error::Error;
use crate::num::Float;
use crate::params::Role;
use crate::stage::{Input, Kind, Tower};
use crate::trace::Pass;

/// A block, from the stream that enters it to `hidden`.
///
/// # Errors
/// A score that overflows, an expert that is full where that is to be an error.
pub(crate) fn block<F: Float>(pass: &mut Pass<'_, F>, context: &Context<'_, F>) -> Result<(), Error> {
    attention(pass, context, &Branch::SELF)?;
    join(
        pass,
        context,
        [Kind::AttentionOutput, Kind::AttentionResidual, Kind::AfterAttention],
        &Input::Passing,
        [Role::AttentionGain, Role::AttentionNormBias],
    );
    if context.tower == Tower::Decoder {
        attention(pass, context, &Branch::CROSS)?;
        join(
            pass,
            context,
            [Kind::CrossOutput, Kind::CrossResidual, Kind::AfterCrossAttention],
            &Input::PassingAttention,
            [Role::CrossGain, Role::CrossNormBias],
        );
    }
    pass.step_if_planned(context.stage(Kind::FeedForwardNormalized), |earlier, out| {
        let norm = [Role::FeedForwardGain, Role::FeedForwardNormBias];
        context.normalize(norm, earlier.rows(&Input::Middle), out);
    });
    match context.config.feed_forward.experts() {
        None => dense::dense(pass, context),
        Some(mixture) => experts::experts(pass, context, mixture)?,
    }
    join(
        pass,
        context,
        [Kind::FeedForwardOutput, Kind::FeedForwardResidual, Kind::Hidden],
        &Input::PassingMiddle,
        [Role::FeedForwardGain, Role::FeedForwardNormBias],
    );
    Ok(())
}

/// A branch's contribution joins the stream: `sum = passing + contribution`, or the contribution alone where branches
/// are not added; then the norm, where norms stand behind.
fn join<F: Float>(
    pass: &mut Pass<'_, F>,
    context: &Context<'_, F>,
    [contribution, residual, joined]: [Kind; 3],
    passing: &Input,
    norm: [Role; 2],
) {
    let is_post_norm = context.config.is_post_norm();
    let sum = if is_post_norm { residual } else { joined };
    pass.step(context.stage(sum), |earlier, out| {
        let contribution = earlier.rows(&Input::Stage(contribution));
        match earlier.maybe(passing) {
            Some(passing) => {
                for ((o, &a), &b) in out.iter_mut().zip(passing).zip(contribution) {
                    *o = a + b;
                }
            }
            None => out.copy_from_slice(contribution),
        }
    });
    if is_post_norm {
        pass.step(context.stage(joined), |earlier, out| {
            context.normalize(norm, earlier.rows(&Input::Stage(residual)), out);
        });
    }
}
