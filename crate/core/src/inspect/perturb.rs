//! What a small bump does: to the branches that read the bumped row, and to everything behind it.

use crate::error::Error;
use crate::model::{Given, Transformer};
use crate::num::Float;
use crate::stage::{Input, Kind, Stage};
use crate::trace::{Change, Changes, Edit, Plan, Trace};
use alloc::{format, vec, vec::Vec};

/// A bump of one coordinate of one row of a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Bump<'a, F> {
    /// A stage of rows of width D, such as `positioned` or `blocks.0.after_attention`.
    pub stage: &'a str,
    /// Which row.
    pub position: usize,
    /// Which coordinate.
    pub coordinate: usize,
    /// What is added.
    pub amount: F,
}

/// What a bump changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The contributions of the branches that read the bumped stage, their norm included, with nothing else moved.
    pub branch: Vec<StageResponse>,
    /// Every later stage.
    pub model: Vec<StageResponse>,
}

/// What a bump changed in one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct StageResponse {
    /// The stage.
    pub stage: Stage,
    /// Every position; of a stage of the whole prompt, one row.
    pub rows: Vec<RowResponse>,
}

/// What a bump changed in one row of one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct RowResponse {
    /// The position.
    pub position: usize,
    /// The sum of the absolute changes of its cells, in float64, in their order.
    pub sum_abs: f64,
    /// How many cells changed, to the bit.
    pub cells: usize,
}

impl<F: Float> Transformer<F> {
    /// Computes a pass twice, the second time with a bump, and compares.
    ///
    /// A branch's contribution depends on what it reads alone, so that what the bumped pass makes of the branches that
    /// read the stage directly is their own response.
    ///
    /// # Errors
    /// As [`respond_changed`](Self::respond_changed); [`Error::InvalidOption`] for a stage whose rows are not of width D.
    ///
    /// ```
    /// # use glassformer::{config::Config, inspect::Bump, model::{CausalLanguageModel, Given}};
    /// let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7)?;
    /// let bump = Bump { stage: "positioned", position: 1, coordinate: 0, amount: 0.5 };
    /// let given = Given::Tokens { target: &[0, 1, 2], source: &[] };
    /// let attention = &model.transformer().perturb(given, &bump)?.branch[0];
    /// assert_eq!(attention.rows[0].sum_abs, 0.0); // an earlier row does not know of it
    /// assert!(attention.rows[1].sum_abs > 0.0 && attention.rows[2].sum_abs > 0.0);
    /// # Ok::<(), glassformer::error::Error>(())
    /// ```
    pub fn perturb(&self, given: Given<'_, F>, bump: &Bump<'_, F>) -> Result<Response, Error> {
        let plain = self.respond_changed(given, Changes::default())?;
        let stage = plain.find(bump.stage)?;
        if stage.declaration().row.axes() != ["position", "coordinate"] {
            return Err(Error::InvalidOption {
                option: "stage".into(),
                value: format!("{:?}", stage.name()),
                reason: "a bump is of a stage with a row of nModel coordinates for each position".into(),
                nearest: vec![],
            });
        }
        let index = vec![Some(bump.position), Some(bump.coordinate)];
        let edit = Edit { stage: stage.name(), index, change: Change::Add(vec![bump.amount]) };
        let bumped = self.respond_changed(given, Changes { edits: vec![edit], ..Changes::default() })?;
        let slot = plain.plan().index(stage);
        let response = |&own: &Stage| StageResponse { stage: own, rows: compared(&plain, &bumped, own) };
        let later = &plain.stages()[slot + 1..];
        let reads = |own: &&Stage| reads(plain.plan(), **own, stage);
        Ok(Response {
            branch: later.iter().filter(reads).map(response).collect(),
            model: later.iter().map(response).collect(),
        })
    }
}

/// Whether a stage is the contribution of a branch that reads another stage, itself or through its norm.
fn reads(plan: &Plan, contribution: Stage, read: Stage) -> bool {
    let (inputs, normalized, norms): (&[Input], Kind, Input) = match contribution.kind {
        Kind::AttentionOutput => (&[Input::AttentionInput], Kind::AttentionNormalized, Input::Stream),
        Kind::CrossOutput => {
            (&[Input::CrossInput, Input::Memory], Kind::CrossNormalized, Input::Stage(Kind::AfterAttention))
        }
        Kind::FeedForwardOutput => (&[Input::FeedForwardInput], Kind::FeedForwardNormalized, Input::Middle),
        _ => return false,
    };
    inputs.iter().any(|input| match plan.source(contribution, input) {
        Some(source) if source == read => true,
        Some(source) if source.kind == normalized => plan.source(source, &norms) == Some(read),
        _ => false,
    })
}

fn compared<F: Float>(plain: &Trace<F>, bumped: &Trace<F>, stage: Stage) -> Vec<RowResponse> {
    let row = |position| {
        let (before, after) = (plain.row(stage, position), bumped.row(stage, position));
        let changed = || before.iter().zip(after).filter(|(a, b)| a.bits() != b.bits());
        // Equal infinities have equal bits; 0 and -0 have not, and no distance.
        let sum_abs = changed().fold(0.0, |sum, (&a, &b)| sum + (b.to_f64() - a.to_f64()).abs());
        RowResponse { position, sum_abs, cells: changed().count() }
    };
    (0..plain.plan().rows(stage, plain.lengths())).map(row).collect()
}
