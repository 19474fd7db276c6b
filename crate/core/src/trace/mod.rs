//! The record of a forward pass: every stage, every row.
//!
//! The pass computes in the record itself (`Pass` writes a `Segment`), so nothing is copied to be kept.

mod pass;
mod plan;
mod segment;

pub(crate) use pass::{Earlier, Pass};
pub use plan::{Plan, Start};
pub(crate) use segment::{Segment, Span};

use crate::error::{nearest, Error};
use crate::memory::zeroed;
use crate::num::Float;
use crate::stage::{Kind, Row, Stage};
use crate::tensor::Tensor;
use alloc::{format, string::String, sync::Arc, vec, vec::Vec};
use core::ops::Range;

/// Everything that a forward pass computed, by the names of its stages.
#[derive(Clone, Debug)]
pub struct Trace<F> {
    plan: Arc<Plan>,
    tokens: Vec<u32>,
    spans: Vec<Span<F>>,
    computed: Range<usize>,
}

impl<F: Float> Trace<F> {
    pub(crate) fn new(plan: Arc<Plan>, tokens: Vec<u32>, mut past: Vec<Span<F>>, new: Segment<F>) -> Self {
        let computed = new.first..new.first + new.rows;
        past.push(Span { rows: new.rows, segment: Arc::new(new) });
        Trace { plan, tokens, spans: past, computed }
    }

    /// The plan whose stages this trace holds.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The prompt; empty when the pass started from rows.
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// T, the number of positions.
    pub fn rows(&self) -> usize {
        self.computed.end
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
        let blocks = self.plan.n_blocks();
        let found =
            self.stages().iter().find(|s| s.name() == name || s.hooks(blocks).iter().any(|h| h == name));
        found.copied().ok_or_else(|| {
            // A misspelt name of TransformerLens's is compared with those.
            let of =
                |stage: &Stage| if name.contains("hook") { stage.hooks(blocks) } else { vec![stage.name()] };
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
        let slot = self.plan.index(stage);
        let shape = self.plan.shape(stage, self.rows());
        let mut data = zeroed("the tensor", shape.iter().product::<usize>() as f64)?;
        self.write(slot, &mut data);
        Tensor::new(shape, data)
    }

    /// Writes the stage at a place of the execution order, as [`get`](Self::get) gives it.
    ///
    /// # Panics
    /// When `out` has not the stage's size.
    pub fn write(&self, slot: usize, out: &mut [F]) {
        let stage = self.stages()[slot];
        assert_eq!(out.len(), self.plan.shape(stage, self.rows()).iter().product());
        let rows = self.rows();
        let width = out.len() / rows.max(1);
        let per_head = width / self.heads(stage);
        for t in 0..rows {
            let row = self.row(slot, t);
            for (h, part) in row.chunks_exact(row.len() / self.heads(stage)).enumerate() {
                let place = (h * rows + t) * per_head;
                let cells = &mut out[place..place + per_head];
                // A shared row of scores ends before the keys that came later, which its mask hides.
                let (seen, later) = cells.split_at_mut(part.len().min(per_head));
                seen.copy_from_slice(&part[..seen.len()]);
                later.fill(hidden(stage));
            }
        }
    }

    /// A trace from the numbers of all its stages, one after the other, each as [`write`](Self::write) gives it.
    ///
    /// # Errors
    /// [`Error::EmptyPrompt`], [`Error::ShapeMismatch`] for the wrong number of values, [`Error::OutOfMemory`].
    pub fn from_block(plan: Arc<Plan>, tokens: Vec<u32>, rows: usize, block: &[F]) -> Result<Self, Error> {
        if rows == 0 {
            return Err(Error::EmptyPrompt);
        }
        if plan.start() == Start::Tokens && tokens.len() != rows {
            return Err(Error::ShapeMismatch {
                what: "tokens".into(),
                expected: vec![rows],
                actual: vec![tokens.len()],
            });
        }
        let mut segment = Segment::new(&plan, 0, rows, rows)?;
        if block.len() != segment.offsets[plan.stages().len()] {
            return Err(Error::ShapeMismatch {
                what: "the trace's numbers".into(),
                expected: vec![segment.offsets[plan.stages().len()]],
                actual: vec![block.len()],
            });
        }
        let mut trace = Trace { plan, tokens, spans: Vec::new(), computed: 0..rows };
        for slot in 0..trace.stages().len() {
            let heads = trace.heads(trace.stages()[slot]);
            let from = &block[segment.offsets[slot]..segment.offsets[slot + 1]];
            let per_head = from.len() / rows / heads;
            for (i, cells) in segment.stage_mut(slot).chunks_exact_mut(per_head).enumerate() {
                let (t, h) = (i / heads, i % heads);
                cells.copy_from_slice(&from[(h * rows + t) * per_head..][..per_head]);
            }
        }
        trace.spans.push(Span { rows, segment: Arc::new(segment) });
        trace.check_finite()?;
        Ok(trace)
    }

    /// One position's numbers of a stage: heads one after the other; a row of scores with as many keys as
    /// were there when it was computed.
    pub(crate) fn row(&self, slot: usize, position: usize) -> &[F] {
        let span = self.spans.iter().find(|span| position < span.segment.first + span.rows);
        span.expect("the position is one of the trace's").row(slot, position)
    }

    /// In how many heads a row of this stage is divided.
    pub(crate) fn heads(&self, stage: Stage) -> usize {
        match stage.declaration().row {
            Row::Heads | Row::Keys => self.plan.n_heads(),
            _ => 1,
        }
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
        let Segment { first, rows, keys, .. } = *last.segment;
        for (slot, stage) in self.stages().iter().enumerate() {
            let cells = last.segment.stage(slot);
            let width = cells.len() / rows;
            let hidden = |i: usize| stage.kind == Kind::Scores && i % keys > first + i / width;
            let bad = cells.iter().enumerate().find(|(i, x)| !x.is_finite() && !hidden(*i));
            if let Some((i, value)) = bad {
                return Err(Error::NotFinite {
                    what: format!("stage {}", stage.name()),
                    position: first + i / width,
                    value: value.to_f64(),
                });
            }
        }
        Ok(())
    }
}

/// What stands in a cell that the mask hides.
pub(crate) fn hidden<F: Float>(stage: Stage) -> F {
    if stage.kind == Kind::Scores {
        F::NEG_INFINITY
    } else {
        F::ZERO
    }
}
