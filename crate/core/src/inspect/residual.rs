//! The residual stream taken apart: what each branch, and each head, has written into it
//! (Elhage et al. 2021, "A mathematical framework for transformer circuits").

use crate::error::Error;
use crate::layer::attention::Branch;
use crate::memory::{reserved, zeroed};
use crate::model::Transformer;
use crate::num::{add_scaled, Float};
use crate::params::{Parameters, Role};
use crate::stage::{Input, Kind, Stage, Tower};
use crate::trace::{Start, Trace};
use alloc::{format, string::String, vec, vec::Vec};

/// One part of the residual stream.
#[derive(Clone, Debug, PartialEq)]
pub struct ResidualPart<F> {
    /// The stage that wrote it, such as `blocks.0.feed_forward.output`; of a head, that stage with `.head.0`, of a bias
    /// with `.bias`, of what an edit added with `.edit`.
    pub name: String,
    /// The stage that wrote it.
    pub stage: Stage,
    /// Which head.
    pub head: Option<usize>,
    /// T,D, row-major.
    pub values: Vec<F>,
}

impl<F: Float> Transformer<F> {
    /// The parts of the stream that leaves the last block: of an encoder-decoder, the decoder's. They sum to it within
    /// rounding.
    ///
    /// In order: embedding (scaled) and position, or the rows that were given; of each block the heads of attention (and of
    /// cross-attention), the output bias, and the feed-forward branch; with `by_head` false each attention branch whole.
    ///
    /// # Errors
    /// [`Error::ConfigConflict`] where branches are not simply added: post-norm, or no residual additions;
    /// [`Error::OutOfMemory`].
    pub fn residual_parts(&self, trace: &Trace<F>, by_head: bool) -> Result<Vec<ResidualPart<F>>, Error> {
        self.check_parts(trace)?;
        let plan = trace.plan();
        let tower = self.last_tower();
        let cells = |stage: Stage| trace.get(&stage.name()).map(crate::tensor::Tensor::into_data);
        let part =
            |stage: Stage, values: Vec<F>| ResidualPart { name: stage.name(), stage, head: None, values };
        let at = |kind, block| Stage::of(tower, kind, block);
        let mut parts = Vec::new();
        let positioned = at(Kind::Positioned, 0);
        if plan.start() == Start::Tokens {
            let embedded = plan.source(positioned, &Input::Embedded).unwrap_or(positioned);
            let (mut values, scale) = (cells(embedded)?, self.config().embedding_scale);
            if scale != 1.0 {
                values.iter_mut().for_each(|x| *x = F::from_f64(scale) * *x);
            }
            parts.push(part(embedded, values));
            if let Some(position) = plan.source(positioned, &Input::Stage(Kind::Position)) {
                parts.push(part(position, cells(position)?));
            }
        } else {
            parts.push(part(positioned, cells(positioned)?));
        }
        self.edit_part(trace, positioned, 0, &mut parts)?;
        for block in 0..self.config().blocks_of(tower) {
            let branches = [
                (Kind::AttentionOutput, Kind::AfterAttention),
                (Kind::CrossOutput, Kind::AfterCrossAttention),
                (Kind::FeedForwardOutput, Kind::Hidden),
            ];
            for (output, stream) in branches {
                let (output, stream) = (at(output, block), at(stream, block));
                if !plan.has(output) {
                    continue;
                }
                let before = parts.len();
                if by_head && output.kind != Kind::FeedForwardOutput {
                    self.push_heads(trace, output, &mut parts)?;
                    self.edit_part(trace, output, before, &mut parts)?;
                } else {
                    parts.push(part(output, cells(output)?));
                }
                self.edit_part(trace, stream, 0, &mut parts)?;
            }
        }
        Ok(parts)
    }

    /// What each head of a block's attention writes into the stream: H,T,D.
    ///
    /// # Errors
    /// [`Error::UnknownStage`] for a stage that is no attention branch's output; [`Error::OutOfMemory`].
    pub fn head_results(&self, trace: &Trace<F>, output: &str) -> Result<Vec<F>, Error> {
        self.check_own(trace)?;
        let stage = trace.find(output)?;
        let (mixed, matrix) = match stage.kind {
            Kind::AttentionOutput => (Kind::Mixed, Branch::SELF.output.1[0]),
            Kind::CrossOutput => (Kind::CrossMixed, Branch::CROSS.output.1[0]),
            _ => {
                return Err(Error::InvalidOption {
                    option: "stage".into(),
                    value: format!("{:?}", stage.name()),
                    reason: "only an attention branch's output is made of heads".into(),
                    nearest: vec![],
                })
            }
        };
        let config = self.config();
        let (model, width) = (config.n_model, config.head_width());
        let mixed = trace.get(&Stage { kind: mixed, ..stage }.name())?;
        let rows = mixed.shape()[1];
        let matrix = self.parameters().weights(stage.tower, stage.block).matrix(matrix);
        let mut out: Vec<F> = zeroed("the heads' results", (mixed.shape()[0] * rows * model) as f64)?;
        for (i, (cells, row)) in mixed.data().chunks_exact(width).zip(out.chunks_exact_mut(model)).enumerate()
        {
            let columns = matrix[i / rows * width * model..].chunks_exact(model);
            cells.iter().zip(columns).for_each(|(&cell, column)| add_scaled(cell, column, row));
        }
        Ok(out)
    }

    /// The heads' results of a branch, and its bias.
    fn push_heads(
        &self,
        trace: &Trace<F>,
        output: Stage,
        parts: &mut Vec<ResidualPart<F>>,
    ) -> Result<(), Error> {
        let results = self.head_results(trace, &output.name())?;
        let size = trace.rows() * self.config().n_model;
        for (head, values) in results.chunks_exact(size).enumerate() {
            let name = format!("{}.head.{head}", output.name());
            parts.push(ResidualPart { name, stage: output, head: Some(head), values: values.to_vec() });
        }
        let role = if output.kind == Kind::CrossOutput { Role::CrossOutputBias } else { Role::OutputBias };
        if let Some(bias) = weights_of(self.parameters(), output, role) {
            let mut values = reserved("the bias", size as f64)?;
            (0..trace.rows()).for_each(|_| values.extend_from_slice(bias));
            parts.push(ResidualPart {
                name: format!("{}.bias", output.name()),
                stage: output,
                head: None,
                values,
            });
        }
        Ok(())
    }

    /// Where a caller edited a stage, what it has beyond the parts from `first` on.
    fn edit_part(
        &self,
        trace: &Trace<F>,
        stage: Stage,
        first: usize,
        parts: &mut Vec<ResidualPart<F>>,
    ) -> Result<(), Error> {
        if trace.changes().edits_of(stage).next().is_none() {
            return Ok(());
        }
        let mut values = trace.get(&stage.name())?.into_data();
        for part in &parts[first..] {
            values.iter_mut().zip(&part.values).for_each(|(x, &y)| *x = *x - y);
        }
        parts.push(ResidualPart { name: format!("{}.edit", stage.name()), stage, head: None, values });
        Ok(())
    }

    pub(super) fn last_tower(&self) -> Tower {
        *self.config().towers().last().unwrap_or(&Tower::Only)
    }

    pub(super) fn check_own(&self, trace: &Trace<F>) -> Result<(), Error> {
        self.plan(trace.plan().start())?.check_same_stages(trace.plan(), "the trace")
    }

    fn check_parts(&self, trace: &Trace<F>) -> Result<(), Error> {
        self.check_own(trace)?;
        let config = self.config();
        let refused = |option: &str, value: &str, reason: &str| Error::ConfigConflict {
            options: vec![(option.into(), value.into()), ("residualParts".into(), "asked".into())],
            reason: reason.into(),
        };
        if config.is_post_norm() {
            let reason = "norms behind the sums rescale the stream, which is then no sum of parts";
            return Err(refused("normPlacement", "\"post\"", reason));
        }
        if !config.residual {
            return Err(refused("residual", "false", "branches are not added to the stream"));
        }
        Ok(())
    }
}

fn weights_of<F: Float>(parameters: &Parameters<F>, stage: Stage, role: Role) -> Option<&[F]> {
    parameters.weights(stage.tower, stage.block).vector(role)
}
