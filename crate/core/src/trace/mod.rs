//! The record of a forward pass: every stage, every row.
//!
//! The pass computes in the record itself (`Pass` writes a `Segment`), so nothing is copied to be kept.

mod edit;
mod finite;
mod pass;
mod plan;
mod segment;
mod wiring;

pub use edit::{Change, Changes, Edit};
pub(crate) use pass::{Earlier, Pass};
pub use plan::{Plan, Start};
pub(crate) use segment::{Segment, Span};

use crate::error::{nearest, Error};
use crate::memory::zeroed;
use crate::num::Float;
use crate::stage::{Kind, Lengths, Side, Stage};
use crate::tensor::Tensor;
use alloc::{string::String, sync::Arc, vec, vec::Vec};
use core::ops::Range;

/// What a prompt was made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompt {
    /// The tokens; of an encoder-decoder, the target's. Empty when the pass started from rows.
    pub tokens: Vec<u32>,
    /// The source's tokens.
    pub source: Vec<u32>,
}

/// Everything that a forward pass computed, by the names of its stages.
#[derive(Clone, Debug)]
pub struct Trace<F> {
    plan: Arc<Plan>,
    prompt: Prompt,
    /// What the caller changed about the pass.
    changes: Arc<Changes<F>>,
    source_rows: usize,
    spans: Vec<Span<F>>,
    computed: Range<usize>,
}

impl<F: Float> Trace<F> {
    pub(crate) fn new(
        plan: Arc<Plan>,
        prompt: Prompt,
        changes: Arc<Changes<F>>,
        mut past: Vec<Span<F>>,
        new: Segment<F>,
    ) -> Self {
        let (rows, source_rows) = (new.new.target, new.keys.source);
        let computed = new.first..new.first + rows;
        past.push(Span { rows, segment: Arc::new(new) });
        Trace { plan, prompt, changes, source_rows, spans: past, computed }
    }

    /// The plan whose stages this trace holds.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The prompt; empty when the pass started from rows.
    pub fn tokens(&self) -> &[u32] {
        &self.prompt.tokens
    }

    /// The source's tokens; empty when there is no source, or it was rows.
    pub fn source_tokens(&self) -> &[u32] {
        &self.prompt.source
    }

    /// What the caller changed about the pass: masks besides the model's, and edits.
    pub fn changes(&self) -> &Arc<Changes<F>> {
        &self.changes
    }

    /// T, the number of positions.
    pub fn rows(&self) -> usize {
        self.computed.end
    }

    /// How many positions there are, the source's too.
    pub fn lengths(&self) -> Lengths {
        Lengths { target: self.rows(), source: self.source_rows }
    }

    /// The positions that were computed for this trace; the earlier ones are shared with the trace it reused.
    pub fn computed_rows(&self) -> Range<usize> {
        self.computed.clone()
    }

    /// How many bytes the numbers take, those shared with other traces included.
    pub fn bytes(&self) -> usize {
        self.spans.iter().map(|span| span.segment.bytes()).sum()
    }

    /// The stages in execution order.
    pub fn stages(&self) -> &[Stage] {
        self.plan.stages()
    }

    /// The stage with this name (`blocks.0.attention.query`), or TransformerLens's name for it
    /// (`blocks.0.attn.hook_q`).
    ///
    /// # Errors
    /// [`Error::UnknownStage`] with the nearest names.
    pub fn find(&self, name: &str) -> Result<Stage, Error> {
        let hooks = |stage: &Stage| {
            let config = self.plan.config();
            stage.hooks(config.n_blocks, config.feed_forward.is_gated())
        };
        let found = self.stages().iter().find(|s| s.name() == name || hooks(s).iter().any(|h| h == name));
        found.copied().ok_or_else(|| {
            // A misspelt name of TransformerLens's is compared with those.
            let of = |stage: &Stage| if name.contains("hook") { hooks(stage) } else { vec![stage.name()] };
            let names: Vec<String> = self.stages().iter().flat_map(of).collect();
            Error::UnknownStage {
                name: name.chars().take(60).collect(),
                nearest: nearest(name, names.iter().map(|n| n.as_str())),
            }
        })
    }

    /// A copy of a stage, its axes as its declaration says (heads outermost).
    ///
    /// # Errors
    /// [`Error::UnknownStage`] with the nearest names.
    ///
    /// ```
    /// # use glassformer::{config::Config, model::CausalLanguageModel};
    /// let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7)?;
    /// let weights = model.respond_to(&[0, 1, 2])?.get("blocks.0.attention.weights")?;
    /// assert_eq!(weights.shape(), [2, 3, 3]);
    /// assert_eq!(format!("{:.4}", weights.at(&[0, 2, 0])?), "0.3988");
    /// # Ok::<(), glassformer::error::Error>(())
    /// ```
    pub fn get(&self, name: &str) -> Result<Tensor<F>, Error> {
        let stage = self.find(name)?;
        let shape = self.plan.shape(stage, self.lengths());
        let mut data = zeroed("the tensor", shape.iter().product::<usize>() as f64)?;
        self.write(self.plan.index(stage), &mut data);
        Tensor::new(shape, data)
    }

    /// Writes the stage at a place of the execution order, as [`get`](Self::get) gives it.
    ///
    /// # Panics
    /// When `out` has not the stage's size.
    pub fn write(&self, slot: usize, out: &mut [F]) {
        let stage = self.stages()[slot];
        let (lengths, groups) = (self.lengths(), self.plan.groups(stage));
        assert_eq!(out.len(), self.plan.shape(stage, lengths).iter().product());
        let rows = self.plan.rows(stage, lengths);
        let per_group = out.len() / rows.max(1) / groups;
        for t in 0..rows {
            let row = self.row(stage, t);
            for (g, part) in row.chunks_exact(row.len() / groups).enumerate() {
                let place = (g * rows + t) * per_group;
                let cells = &mut out[place..place + per_group];
                // A shared row of scores ends before the keys that came later, which its mask hides.
                let (seen, later) = cells.split_at_mut(part.len().min(per_group));
                seen.copy_from_slice(&part[..seen.len()]);
                later.fill(hidden(stage));
            }
        }
    }

    /// A trace from the numbers of all its stages, one after the other, each as [`write`](Self::write) gives it, and
    /// what was changed about its pass.
    ///
    /// # Errors
    /// [`Error::EmptyPrompt`], [`Error::ShapeMismatch`] for the wrong number of values, [`Error::NotFinite`],
    /// [`Error::OutOfMemory`]; for masks and edits that do not fit, as a pass refuses them.
    pub fn from_block(
        plan: Arc<Plan>,
        prompt: Prompt,
        changes: Changes<F>,
        lengths: Lengths,
        block: &[F],
    ) -> Result<Self, Error> {
        let has_source = plan.config().encoder.is_some();
        if lengths.target == 0 || (lengths.source == 0) == has_source {
            return Err(Error::EmptyPrompt);
        }
        let of_tokens = plan.start() == Start::Tokens;
        for (what, tokens, rows) in
            [("tokens", &prompt.tokens, lengths.target), ("source tokens", &prompt.source, lengths.source)]
        {
            let expected = if of_tokens { rows } else { 0 };
            if tokens.len() != expected {
                let (expected, actual) = (vec![expected], vec![tokens.len()]);
                return Err(Error::ShapeMismatch { what: what.into(), expected, actual });
            }
        }
        changes.masks.check(plan.config(), lengths, has_source && plan.start() != Start::Memory)?;
        changes.check_edits(&plan, lengths)?;
        let mut segment = Segment::new(&plan, 0, lengths.target, lengths.source)?;
        if block.len() != segment.offsets[plan.stages().len()] {
            return Err(Error::ShapeMismatch {
                what: "the trace's numbers".into(),
                expected: vec![segment.offsets[plan.stages().len()]],
                actual: vec![block.len()],
            });
        }
        for (slot, &stage) in plan.stages().iter().enumerate() {
            let (groups, rows) = (plan.groups(stage), plan.rows(stage, lengths));
            let from = &block[segment.offsets[slot]..segment.offsets[slot + 1]];
            let per_group = from.len() / rows / groups;
            for (i, cells) in segment.stage_mut(slot).chunks_exact_mut(per_group).enumerate() {
                let (t, g) = (i / groups, i % groups);
                cells.copy_from_slice(&from[(g * rows + t) * per_group..][..per_group]);
            }
        }
        let trace = Trace::new(plan, prompt, Arc::new(changes), Vec::new(), segment);
        trace.check_finite()?;
        Ok(trace)
    }

    /// One position's numbers of a stage: heads one after the other; a row of scores with as many keys as
    /// were there when it was computed. A stage of the whole prompt has one row.
    pub(crate) fn row(&self, stage: Stage, position: usize) -> &[F] {
        let slot = self.plan.index(stage);
        let span = match stage.side() {
            _ if !stage.declaration().row.has_positions() => self.spans.last(),
            Side::Source => self.spans.first(),
            Side::Target => self.spans.iter().find(|span| position < span.segment.first + span.rows),
        };
        let segment = &span.expect("the position is one of the trace's").segment;
        let (all, rows) = (segment.stage(slot), self.plan.rows(stage, segment.new));
        let width = all.len() / rows;
        let own = match stage.side() {
            _ if !stage.declaration().row.has_positions() => 0,
            Side::Target => position - segment.first,
            Side::Source => position,
        };
        &all[own * width..][..width]
    }

    /// The spans that hold the first `rows` positions, for a pass that goes on behind them.
    pub(crate) fn prefix(&self, rows: usize) -> Vec<Span<F>> {
        let shared = |span: &Span<F>| {
            let rows = rows.saturating_sub(span.segment.first).min(span.rows);
            (rows > 0).then(|| Span { segment: Arc::clone(&span.segment), rows })
        };
        self.spans.iter().filter_map(shared).collect()
    }

    /// Whether every number that was computed last is finite, but for the scores that the mask hides.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the first stage in which one is not: a number that overflowed may become a 0
    /// further on, and would then be wrong without a word.
    pub(crate) fn check_finite(&self) -> Result<(), Error> {
        let Some(last) = self.spans.last() else { return Ok(()) };
        finite::check(&self.plan, &last.segment, self.stages().len(), !self.changes.is_none())
    }
}

fn is_scores(stage: Stage) -> bool {
    matches!(stage.kind, Kind::Scores | Kind::CrossScores)
}

/// What stands in a cell that the mask hides.
pub(crate) fn hidden<F: Float>(stage: Stage) -> F {
    if is_scores(stage) {
        F::NEG_INFINITY
    } else {
        F::ZERO
    }
}
