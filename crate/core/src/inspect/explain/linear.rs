//! Rows times matrices.

use super::draft::{piece, Draft, Part, Piece};
use super::{Asker, Of, Place};
use crate::num::Float;
use crate::params::{Layout, Role};
use crate::stage::{Input, Kind, Stage};
use alloc::{vec, vec::Vec};

impl<F: Float> Asker<'_, F> {
    /// A cell of a row times a matrix, with its bias.
    pub(super) fn linear(&self) -> Draft<F> {
        let (matrix, bias, input) = match self.stage.kind {
            Kind::Query => (Role::Query, Role::QueryBias, Input::AttentionInput),
            Kind::Key => (Role::Key, Role::KeyBias, Input::AttentionInput),
            Kind::Value => (Role::Value, Role::ValueBias, Input::AttentionInput),
            Kind::AttentionOutput => (Role::Output, Role::OutputBias, Input::Stage(Kind::Mixed)),
            Kind::CrossQuery => (Role::CrossQuery, Role::CrossQueryBias, Input::CrossInput),
            Kind::CrossKey => (Role::CrossKey, Role::CrossKeyBias, Input::Memory),
            Kind::CrossValue => (Role::CrossValue, Role::CrossValueBias, Input::Memory),
            Kind::CrossOutput => (Role::CrossOutput, Role::CrossOutputBias, Input::Stage(Kind::CrossMixed)),
            Kind::Pre => (Role::Expand, Role::ExpandBias, Input::FeedForwardInput),
            Kind::Gate => (Role::Gate, Role::GateBias, Input::FeedForwardInput),
            Kind::RouterLogits => return self.product(Input::FeedForwardInput, Role::Router, None, 0),
            Kind::ExpertPre => (Role::ExpertExpand, Role::ExpertExpandBias, Input::FeedForwardInput),
            Kind::ExpertGate => (Role::ExpertGate, Role::ExpertGateBias, Input::FeedForwardInput),
            Kind::ExpertOutput => {
                (Role::ExpertContract, Role::ExpertContractBias, Input::Stage(Kind::ExpertActivated))
            }
            Kind::Logits => (Role::Head, Role::HeadBias, Input::HeadInput),
            _ => (Role::Contract, Role::ContractBias, Input::Stage(Kind::Activated)),
        };
        let expert = if Self::is_of_expert(self.stage) { self.place.group } else { 0 };
        self.product(input, matrix, Some(bias), expert)
    }

    fn is_of_expert(stage: Stage) -> bool {
        matches!(stage.kind, Kind::ExpertPre | Kind::ExpertGate | Kind::ExpertOutput | Kind::ExpertActivated)
    }

    fn product(&self, input: Input, matrix: Role, bias: Option<Role>, expert: usize) -> Draft<F> {
        let read = self.input(&input);
        let groups = self.trace.plan().groups(read);
        let width = self.trace.row(read, self.place.row).len() / groups;
        // Heads stand side by side in what the matrix reads; of experts it reads its own.
        let heads = if Self::is_of_expert(read) { expert..expert + 1 } else { 0..groups };
        let column = match Self::is_of_expert(self.stage) {
            true => self.place.column,
            false => self.place.group * self.width_of_group() + self.place.column,
        };
        let cells = heads.flat_map(|group| (0..width).map(move |c| (group, c)));
        let mut pieces: Vec<Piece<F>> = cells
            .enumerate()
            .map(|(i, (group, c))| {
                let cell = self.at(read, Place { group, row: self.place.row, column: c });
                piece(i, vec![cell, self.entry(matrix, expert, i, column)])
            })
            .collect();
        if let Some(bias) = bias.and_then(|role| self.vector_entry(role, expert, column)) {
            pieces.push(piece("bias", vec![bias]));
        }
        Draft::sum("", pieces)
    }

    /// How many cells a head of the stage has.
    fn width_of_group(&self) -> usize {
        self.trace.row(self.stage, self.place.row).len() / self.trace.plan().groups(self.stage)
    }

    /// The entry of a matrix that leads from an input to an output, by the index of its layout.
    pub(super) fn entry(&self, role: Role, expert: usize, input: usize, output: usize) -> Part<F> {
        let (parameter, stored) =
            self.context.weights().named(role, expert).expect("a cell is explained by its own parameters");
        let index = match parameter.layout() {
            Layout::OutIn => vec![output, input],
            _ => vec![input, output],
        };
        let outputs = stored.len() / parameter.inputs();
        Part { of: Of::Parameter(parameter.name(), index), value: stored[input * outputs + output] }
    }

    /// The entry of a vector, where the model has it.
    pub(super) fn vector_entry(&self, role: Role, expert: usize, i: usize) -> Option<Part<F>> {
        let (parameter, stored) = self.context.weights().named(role, expert)?;
        Some(Part { of: Of::Parameter(parameter.name(), vec![i]), value: stored[i] })
    }
}
