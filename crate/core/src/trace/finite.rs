//! Where the numbers of a pass stop being finite.

use super::{is_scores, Plan, Segment};
use crate::error::Error;
use crate::math::Sight;
use crate::num::Float;
use crate::stage::{Kind, Side, Stage};
use alloc::format;

/// Whether every number of the first `stages` of a segment is finite, but for scores that are hidden; of a pass with
/// masks any may be.
///
/// # Errors
/// [`Error::NotFinite`] with the first stage in which one is not.
pub(super) fn check<F: Float>(
    plan: &Plan,
    segment: &Segment<F>,
    stages: usize,
    masked: bool,
) -> Result<(), Error> {
    for (slot, &stage) in plan.stages().iter().enumerate().take(stages) {
        let cells = segment.stage(slot);
        let rows = plan.rows(stage, segment.new);
        let (width, groups) = (cells.len() / rows.max(1), plan.groups(stage));
        let first = if stage.side() == Side::Target { segment.first } else { 0 };
        let is_hidden = |i: usize| {
            let (t, s) = (first + i / width, i % (width / groups));
            is_scores(stage) && (masked || !sees::<F>(plan, stage, t, s))
        };
        let is_fine = |i: usize| cells[i].is_finite() || (cells[i] == F::NEG_INFINITY && is_hidden(i));
        if let Some(i) = (0..cells.len()).find(|&i| !is_fine(i)) {
            return Err(Error::NotFinite {
                what: format!("stage {}", stage.name()),
                position: first + i / width,
                value: cells[i].to_f64(),
            });
        }
    }
    Ok(())
}

/// Whether the model itself lets the query at `t` see the key at `s`.
fn sees<F: Float>(plan: &Plan, stage: Stage, t: usize, s: usize) -> bool {
    if stage.kind == Kind::CrossScores {
        return true;
    }
    let (config, keys) = (plan.config(), s.max(t) + 1);
    let causal = config.is_causal(stage.tower);
    let sight = Sight::<F> { causal, window: config.window, ..Sight::all(keys, keys) };
    sight.range(t).contains(&s)
}
