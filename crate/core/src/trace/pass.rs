//! A forward pass while it runs: one stage after another is written, and only earlier ones can be read.

use super::edit::Changes;
use super::finite;
use super::plan::Plan;
use super::segment::{Segment, Span};
use crate::error::Error;
use crate::num::Float;
use crate::stage::{Input, Kind, Lengths, Stage};

/// A forward pass over the positions `first..first + rows`.
pub(crate) struct Pass<'a, F> {
    plan: &'a Plan,
    changes: &'a Changes<F>,
    past: &'a [Span<F>],
    segment: Segment<F>,
    next: usize,
}

impl<'a, F: Float> Pass<'a, F> {
    /// A pass over `rows` positions behind those that `past` holds already, with a source of this length.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; for edits that do not fit, as [`Changes`] says.
    pub(crate) fn new(
        plan: &'a Plan,
        changes: &'a Changes<F>,
        past: &'a [Span<F>],
        rows: usize,
        source: usize,
    ) -> Result<Self, Error> {
        let first: usize = past.iter().map(|span| span.rows).sum();
        changes.check_edits(plan, Lengths { target: first + rows, source })?;
        Ok(Pass { plan, changes, past, segment: Segment::new(plan, first, rows, source)?, next: 0 })
    }

    /// Computes `stage`, which must be the plan's next one: `compute` reads what came before and fills the
    /// stage's new rows.
    pub(crate) fn step(&mut self, stage: Stage, compute: impl FnOnce(&Earlier<'_, F>, &mut [F])) {
        let infallible = self.try_step(stage, |earlier, out| {
            compute(earlier, out);
            Ok(())
        });
        debug_assert!(infallible.is_ok());
    }

    /// As [`step`](Self::step), where computing may be refused.
    ///
    /// # Errors
    /// What `compute` refuses.
    pub(crate) fn try_step(
        &mut self,
        stage: Stage,
        compute: impl FnOnce(&Earlier<'_, F>, &mut [F]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        assert_eq!(self.plan.stages()[self.next], stage, "stages run in the order of the plan");
        let (first, keys) = (self.segment.first, self.segment.keys);
        let (offsets, data, out) = self.segment.split(self.next);
        let (plan, changes) = (self.plan, self.changes);
        let earlier = Earlier { plan, changes, past: self.past, stage, offsets, data, first, keys };
        if let Err(refusal) = compute(&earlier, out) {
            // What cannot be computed may come from a stage before, which is then the one to name.
            let before = match refusal {
                Error::NotFinite { .. } => finite::check(plan, &self.segment, self.next, true),
                _ => Ok(()),
            };
            return before.and(Err(refusal));
        }
        for edit in changes.edits_of(stage) {
            edit.make(plan, stage, keys, first, out);
        }
        self.next += 1;
        Ok(())
    }

    /// As [`step`](Self::step), for a stage that not every plan has.
    pub(crate) fn step_if_planned(&mut self, stage: Stage, compute: impl FnOnce(&Earlier<'_, F>, &mut [F])) {
        if self.plan.has(stage) {
            self.step(stage, compute);
        }
    }

    /// What the pass wrote, once every stage is there.
    pub(crate) fn finish(self) -> Segment<F> {
        assert_eq!(self.next, self.plan.stages().len(), "every stage of the plan was computed");
        self.segment
    }
}

/// The stages that are finished, as the one that is being computed reads them.
pub(crate) struct Earlier<'a, F> {
    plan: &'a Plan,
    changes: &'a Changes<F>,
    past: &'a [Span<F>],
    stage: Stage,
    offsets: &'a [usize],
    data: &'a [F],
    first: usize,
    keys: Lengths,
}

impl<'a, F: Float> Earlier<'a, F> {
    /// The rows of an input that this pass computed.
    pub(crate) fn rows(&self, input: &Input) -> &'a [F] {
        self.maybe(input).expect("a layer reads what its plan has")
    }

    /// The rows of an input that this pass computed, where the plan has it.
    pub(crate) fn maybe(&self, input: &Input) -> Option<&'a [F]> {
        self.plan.source(self.stage, input).map(|stage| self.own(stage))
    }

    /// All rows of an input from position 0 on, in runs that stand together in memory; the last run is the one
    /// that this pass computed.
    pub(crate) fn runs(&self, input: &Input) -> impl Iterator<Item = &'a [F]> + '_ {
        let stage = self.plan.source(self.stage, input).expect("a layer reads what its plan has");
        self.past.iter().map(move |span| span.stage(self.plan, stage)).chain([self.own(stage)])
    }

    /// The position of the first row that is being computed.
    pub(crate) fn first(&self) -> usize {
        match self.stage.side() {
            crate::stage::Side::Target => self.first,
            crate::stage::Side::Source => 0,
        }
    }

    /// How many positions there are to this pass, the earlier ones included.
    pub(crate) fn lengths(&self) -> Lengths {
        self.keys
    }

    /// Whether the stage that is being computed stands behind those of a kind.
    pub(crate) fn comes_after(&self, kind: Kind) -> bool {
        self.stage.kind > kind
    }

    /// Whether the caller edits the stage of this kind, here.
    pub(crate) fn is_edited(&self, kind: Kind) -> bool {
        let Stage { tower, block, .. } = self.stage;
        self.changes.edits_of(Stage::of(tower, kind, block)).next().is_some()
    }

    fn own(&self, stage: Stage) -> &'a [F] {
        let slot = self.plan.index(stage);
        assert!(slot < self.plan.index(self.stage), "a stage reads earlier ones only");
        &self.data[self.offsets[slot]..self.offsets[slot + 1]]
    }
}
