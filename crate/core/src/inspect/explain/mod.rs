//! The exact arithmetic of one cell: what it was computed from, in the order of the forward pass.
//!
//! Every factor is a cell, an entry of a parameter, a number that is written down, or a number on the way with its own
//! explanation; so the questions end at the embedding table, a sine, or what a caller gave.

mod attention;
mod draft;
mod ends;
mod experts;
mod feed_forward;
mod linear;
mod norm;

pub use draft::{Explanation, Factor, Of, Op, Term};

use crate::error::Error;
use crate::inspect::describe;
use crate::layer::Context;
use crate::model::Transformer;
use crate::num::Float;
use crate::stage::{Input, Kind, Stage};
use crate::trace::{hidden, Change, Edit, Start, Trace};
use alloc::{format, string::String, vec, vec::Vec};
use draft::{piece, Draft, Part};

impl<F: Float> Transformer<F> {
    /// Explains the cell at `index` (one number for each axis) of a stage of a trace, which must come from this model
    /// with its present parameters.
    ///
    /// # Errors
    /// [`Error::UnknownStage`], [`Error::ShapeMismatch`] for the wrong number of indices or the trace of another model,
    /// [`Error::IndexOutOfRange`].
    ///
    /// ```
    /// # use glassformer::{config::Config, model::CausalLanguageModel};
    /// let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7)?;
    /// let trace = model.respond_to(&[0, 1, 2])?;
    /// let cell = model.transformer().explain(&trace, "blocks.0.after_attention", &[2, 0])?;
    /// assert_eq!(cell.numbers, "0.6632 + 0.1897 = 0.8529");
    /// assert_eq!(cell.check, 0.0);
    /// # Ok::<(), glassformer::error::Error>(())
    /// ```
    pub fn explain(&self, trace: &Trace<F>, stage: &str, index: &[usize]) -> Result<Explanation, Error> {
        self.plan(trace.plan().start())?.check_same_stages(trace.plan(), "the trace to explain")?;
        let stage = trace.find(stage)?;
        let shape = trace.plan().shape(stage, trace.lengths());
        if index.len() != shape.len() {
            let what = format!("the index of {}", stage.name());
            return Err(Error::ShapeMismatch {
                what,
                expected: vec![shape.len()],
                actual: vec![index.len()],
            });
        }
        for (axis, (&i, &size)) in index.iter().zip(&shape).enumerate() {
            if i >= size {
                let what = format!("index of axis {axis} of {}", stage.name());
                return Err(Error::IndexOutOfRange { what, index: i as f64, size });
            }
        }
        let context = self.context(&trace.changes().masks, stage.tower, stage.block);
        let asker = Asker { context, trace, stage, place: Place::of(stage, index) };
        let value = asker.value(stage, asker.place);
        let symbols = describe(trace.plan(), stage).formula;
        Ok(asker.edited(asker.cell().named(symbols), &shape, index).finish(value))
    }
}

/// Where a cell stands in its stage.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The head or the expert; 0 where there is none.
    group: usize,
    /// The position; 0 in a stage of the whole prompt.
    row: usize,
    /// The coordinate, unit, key, token, choice.
    column: usize,
}

impl Place {
    fn of(stage: Stage, index: &[usize]) -> Self {
        match *index {
            [group, row, column] => Place { group, row, column },
            [row, column] => Place { group: 0, row, column },
            [column] => Place { group: 0, row: 0, column },
            _ => {
                debug_assert!(stage.declaration().row.axes().is_empty());
                Place { group: 0, row: 0, column: 0 }
            }
        }
    }

    fn index(self, stage: Stage) -> Vec<usize> {
        match stage.declaration().row.axes().len() {
            3 => vec![self.group, self.row, self.column],
            2 => vec![self.row, self.column],
            1 => vec![self.column],
            _ => Vec::new(),
        }
    }
}

/// Somebody who asks about one cell.
struct Asker<'a, F> {
    context: Context<'a, F>,
    trace: &'a Trace<F>,
    stage: Stage,
    place: Place,
}

impl<F: Float> Asker<'_, F> {
    /// What the forward pass did, as if nobody had edited the cell.
    fn cell(&self) -> Draft<F> {
        match self.stage.kind {
            Kind::Memory => Draft::given("", self.value(self.stage, self.place), "given by the caller"),
            Kind::Embedding => self.embedding(),
            Kind::EmbeddingNormalized => self.normalized(self.input(&Input::Stage(Kind::Embedding))),
            Kind::Position => self.position(),
            Kind::Positioned if self.trace.plan().start() != Start::Tokens => {
                Draft::given("", self.value(self.stage, self.place), "given by the caller")
            }
            Kind::Positioned => self.positioned(),
            Kind::AttentionNormalized | Kind::FinalNormalized => self.normalized(self.input(&Input::Stream)),
            Kind::CrossNormalized => self.normalized(self.input(&Input::Stage(Kind::AfterAttention))),
            Kind::FeedForwardNormalized => self.normalized(self.input(&Input::Middle)),
            Kind::Query
            | Kind::Key
            | Kind::Value
            | Kind::CrossQuery
            | Kind::CrossKey
            | Kind::CrossValue
            | Kind::AttentionOutput
            | Kind::CrossOutput
            | Kind::Pre
            | Kind::Gate
            | Kind::RouterLogits
            | Kind::ExpertPre
            | Kind::ExpertGate
            | Kind::ExpertOutput => self.linear(),
            Kind::QueryRotated => self.rotated(Kind::Query),
            Kind::KeyRotated => self.rotated(Kind::Key),
            Kind::Scores | Kind::CrossScores => self.score(),
            Kind::Weights | Kind::CrossWeights => self.weight(),
            Kind::Mixed | Kind::CrossMixed => self.mixed(),
            Kind::AttentionResidual => self.joined(&Input::Passing, Kind::AttentionOutput),
            Kind::AfterAttention => {
                self.behind(Kind::AttentionResidual, &Input::Passing, Kind::AttentionOutput)
            }
            Kind::CrossResidual => self.joined(&Input::PassingAttention, Kind::CrossOutput),
            Kind::AfterCrossAttention => {
                self.behind(Kind::CrossResidual, &Input::PassingAttention, Kind::CrossOutput)
            }
            Kind::FeedForwardResidual => self.joined(&Input::PassingMiddle, Kind::FeedForwardOutput),
            Kind::Hidden => {
                self.behind(Kind::FeedForwardResidual, &Input::PassingMiddle, Kind::FeedForwardOutput)
            }
            Kind::Activated => self.activated(Kind::Pre, Kind::Gate),
            Kind::ExpertActivated => self.activated(Kind::ExpertPre, Kind::ExpertGate),
            Kind::RouterNoise => self.noise(),
            Kind::Router => self.router(),
            Kind::Selected => self.selected(),
            Kind::Gates => self.gate(),
            Kind::Importance => self.importance(),
            Kind::ImportanceVariation => self.variation(),
            Kind::Load => self.load(),
            Kind::Overflow => self.overflow(),
            Kind::FeedForwardOutput if self.context.config.feed_forward.experts().is_some() => {
                self.combined()
            }
            Kind::FeedForwardOutput => self.linear(),
            Kind::Logits => self.logit(),
            Kind::Probabilities => self.probability(),
        }
    }

    /// The sum of the stream that passes by and a branch's contribution.
    fn joined(&self, passing: &Input, contribution: Kind) -> Draft<F> {
        let own =
            piece("the branch's contribution", vec![self.here(self.input(&Input::Stage(contribution)))]);
        match self.trace.plan().source(self.stage, passing) {
            Some(stream) => Draft::sum("", vec![piece("the stream", vec![self.here(stream)]), own]),
            None => Draft::sum("", vec![own]),
        }
    }

    /// What the stream holds behind a branch: that sum, or where norms stand behind it, its norm.
    fn behind(&self, residual: Kind, passing: &Input, contribution: Kind) -> Draft<F> {
        match self.trace.plan().source(self.stage, &Input::Stage(residual)) {
            Some(sum) => self.normalized(sum),
            None => self.joined(passing, contribution),
        }
    }

    /// The edits that a caller made of the cell, one after the other.
    fn edited(&self, draft: Draft<F>, shape: &[usize], index: &[usize]) -> Draft<F> {
        let edits = self.trace.changes().edits_of(self.stage);
        edits.fold(draft, |before, edit| match edit.value_of(shape, index) {
            Some(value) => edited_by(before, edit, value),
            None => before,
        })
    }

    fn input(&self, input: &Input) -> Stage {
        self.trace.plan().source(self.stage, input).expect("a cell is explained by what its plan has")
    }

    /// The cell of the same place in another stage.
    fn here(&self, stage: Stage) -> Part<F> {
        self.at(stage, self.place)
    }

    fn at(&self, stage: Stage, place: Place) -> Part<F> {
        Part { of: Of::Cell(stage, place.index(stage)), value: self.value(stage, place) }
    }

    fn value(&self, stage: Stage, place: Place) -> F {
        let row = self.trace.row(stage, place.row);
        let part = row.len() / self.trace.plan().groups(stage);
        // A row of scores that was taken over ends before the keys that came later, which its mask hides.
        if place.column < part {
            row[place.group * part + place.column]
        } else {
            hidden(stage)
        }
    }
}

fn edited_by<F: Float>(before: Draft<F>, edit: &Edit<F>, value: F) -> Draft<F> {
    let note = match edit.change {
        Change::Set(_) => "set by an edit",
        Change::Add(_) => "added to by an edit",
        Change::Scale(_) => "scaled by an edit",
    };
    let amount = Part::constant(edit.change.name(), value);
    let symbols: String = format!("edited: {}", edit.change.name());
    match edit.change {
        Change::Set(_) => Draft::same(&symbols, "set", amount),
        Change::Add(_) if value == F::ZERO => return before,
        Change::Add(_) => Draft::sum(
            &symbols,
            vec![piece("computed", vec![before.part("computed")]), piece("added", vec![amount])],
        ),
        Change::Scale(_) => {
            Draft::product(&symbols, vec![("computed", before.part("computed")), ("scale", amount)])
        }
    }
    .noted(note)
}
