//! Consecutive rows of every stage, in one block of memory, shared between traces that have them in common.

use super::plan::Plan;
use crate::error::Error;
use crate::memory::{reserved, zeroed};
use crate::num::Float;
use crate::stage::{Lengths, Side, Stage};
use alloc::{format, sync::Arc, vec::Vec};

/// The rows `first..first + rows` of every stage of a plan.
///
/// The stages stand one after the other in execution order, so that a stage being written lies behind all it
/// reads; within a stage, position by position, so that the rows of a prefix are a prefix.
#[derive(Debug)]
pub(crate) struct Segment<F> {
    pub first: usize,
    /// How many positions of the prompt, and of the source: all of it in a trace's first segment, none in later ones.
    pub new: Lengths,
    /// How many keys a row of scores has room for; the mask hides all later ones.
    pub keys: Lengths,
    /// Where each stage begins, and where the last one ends.
    pub offsets: Vec<usize>,
    data: Vec<F>,
}

impl<F: Float> Segment<F> {
    /// Room for these rows of a prompt, and for a source of this length.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(plan: &Plan, first: usize, rows: usize, source: usize) -> Result<Self, Error> {
        let new = Lengths { target: rows, source: if first == 0 { source } else { 0 } };
        let keys = Lengths { target: first + rows, source };
        // In f64, because lengths multiply: an overflow must be a refusal.
        let cells = |stage| plan.rows(stage, new) as f64 * plan.row_width(stage, keys);
        let what = format!("the trace of {rows} rows");
        let data = zeroed(&what, plan.stages().iter().map(|&stage| cells(stage)).sum())?;
        let mut offsets = reserved(&what, plan.stages().len() as f64 + 1.0)?;
        let mut end = 0;
        offsets.push(end);
        for &stage in plan.stages() {
            // It fits: the sum of all was allocated.
            end += cells(stage) as usize;
            offsets.push(end);
        }
        Ok(Segment { first, new, keys, offsets, data })
    }

    /// Where stages begin, all earlier stages, and the room of the one at `slot`.
    pub(crate) fn split(&mut self, slot: usize) -> (&[usize], &[F], &mut [F]) {
        let (before, rest) = self.data.split_at_mut(self.offsets[slot]);
        (&self.offsets, before, &mut rest[..self.offsets[slot + 1] - self.offsets[slot]])
    }

    /// The rows of the stage at `slot`.
    pub(crate) fn stage(&self, slot: usize) -> &[F] {
        &self.data[self.offsets[slot]..self.offsets[slot + 1]]
    }

    /// The rows of the stage at `slot`, to be filled.
    pub(crate) fn stage_mut(&mut self, slot: usize) -> &mut [F] {
        &mut self.data[self.offsets[slot]..self.offsets[slot + 1]]
    }

    /// How many bytes the numbers take.
    pub(crate) fn bytes(&self) -> usize {
        core::mem::size_of_val(self.data.as_slice())
    }
}

/// The leading rows of a segment, as one trace uses them.
#[derive(Debug)]
pub(crate) struct Span<F> {
    pub segment: Arc<Segment<F>>,
    pub rows: usize,
}

impl<F> Clone for Span<F> {
    fn clone(&self) -> Self {
        Span { segment: Arc::clone(&self.segment), rows: self.rows }
    }
}

impl<F: Float> Span<F> {
    /// This span's rows of a stage. A stage of the whole prompt has one row in each segment, which is of its whole.
    pub(crate) fn stage(&self, plan: &Plan, stage: Stage) -> &[F] {
        let all = self.segment.stage(plan.index(stage));
        let rows = plan.rows(stage, self.segment.new);
        match stage.side() {
            Side::Target if stage.declaration().row.has_positions() && self.rows < rows => {
                &all[..all.len() / rows * self.rows]
            }
            _ => all,
        }
    }
}
