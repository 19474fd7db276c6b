//! A forward pass while it runs: one stage after another is written, and only earlier ones can be read.

use super::plan::Plan;
use super::segment::{Segment, Span};
use crate::error::Error;
use crate::num::Float;
use crate::stage::Stage;

/// A forward pass over the positions `first..first + rows`.
pub(crate) struct Pass<'a, F> {
    plan: &'a Plan,
    past: &'a [Span<F>],
    segment: Segment<F>,
    next: usize,
}

impl<'a, F: Float> Pass<'a, F> {
    /// A pass over `rows` positions behind those that `past` holds already.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(plan: &'a Plan, past: &'a [Span<F>], rows: usize) -> Result<Self, Error> {
        let first = past.iter().map(|span| span.rows).sum();
        Ok(Pass { plan, past, segment: Segment::new(plan, first, rows, first + rows)?, next: 0 })
    }

    /// Computes `stage`, which must be the plan's next one: `compute` reads what came before and fills the
    /// stage's new rows.
    pub(crate) fn step(&mut self, stage: Stage, compute: impl FnOnce(&Earlier<'_, F>, &mut [F])) {
        assert_eq!(self.plan.stages()[self.next], stage, "stages run in the order of the plan");
        let (offsets, data, out) = self.segment.split(self.next);
        let earlier = Earlier { plan: self.plan, past: self.past, done: self.next, offsets, data };
        compute(&earlier, out);
        self.next += 1;
    }

    /// The position of the first row that this pass computes.
    pub(crate) fn first(&self) -> usize {
        self.segment.first
    }

    /// How many keys a row of scores has room for.
    pub(crate) fn keys(&self) -> usize {
        self.segment.keys
    }

    /// What the pass wrote, once every stage is there.
    pub(crate) fn finish(self) -> Segment<F> {
        assert_eq!(self.next, self.plan.stages().len(), "every stage of the plan was computed");
        self.segment
    }
}

/// The stages that are finished.
pub(crate) struct Earlier<'a, F> {
    plan: &'a Plan,
    past: &'a [Span<F>],
    done: usize,
    offsets: &'a [usize],
    data: &'a [F],
}

impl<'a, F: Float> Earlier<'a, F> {
    /// The rows of a stage that this pass computed.
    pub(crate) fn rows(&self, stage: Stage) -> &'a [F] {
        let slot = self.slot(stage);
        &self.data[self.offsets[slot]..self.offsets[slot + 1]]
    }

    /// All rows of a stage from position 0 on, in runs that stand together in memory; the last run is the one
    /// that this pass computed.
    pub(crate) fn runs(&self, stage: Stage) -> impl Iterator<Item = &'a [F]> + '_ {
        let slot = self.slot(stage);
        self.past.iter().map(move |span| span.stage(slot)).chain([self.rows(stage)])
    }

    fn slot(&self, stage: Stage) -> usize {
        let slot = self.plan.index(stage);
        assert!(slot < self.done, "a stage reads earlier ones only");
        slot
    }
}
