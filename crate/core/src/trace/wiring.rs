//! Which stage is read where.

use super::plan::Plan;
use crate::params::{role_named, Scope};
use crate::stage::{Input, Kind, Stage, Tower};
use alloc::{format, string::String, vec::Vec};

impl Plan {
    /// Whether the model has a parameter of this name, in its blocks or outside.
    pub fn has_parameter(&self, tower: Tower, name: &str) -> bool {
        role_named(name).is_some_and(|role| role.shape(self.config(), tower).is_some())
    }

    /// The stage that an input of `reader` is in this pass, or `None` where there is none.
    pub fn source(&self, reader: Stage, input: &Input) -> Option<Stage> {
        let Stage { tower, block, .. } = reader;
        let at = |kind| Some(Stage::of(tower, kind, block)).filter(|&stage| self.has(stage));
        let adds = |stage: Option<Stage>| stage.filter(|_| self.config().residual);
        let stream = || self.stream(tower, block);
        let middle = || at(Kind::AfterCrossAttention).or_else(|| at(Kind::AfterAttention));
        match *input {
            Input::Stage(kind) => at(kind),
            Input::Embedded => at(Kind::EmbeddingNormalized).or_else(|| at(Kind::Embedding)),
            Input::Stream => stream(),
            Input::Passing => adds(stream()),
            Input::AttentionInput => at(Kind::AttentionNormalized).or_else(stream),
            Input::Queries => at(Kind::QueryRotated).or_else(|| at(Kind::Query)),
            Input::Keys => at(Kind::KeyRotated).or_else(|| at(Kind::Key)),
            Input::CrossInput => at(Kind::CrossNormalized).or_else(|| at(Kind::AfterAttention)),
            Input::Memory => at(Kind::Memory).or_else(|| self.last_of(Tower::Encoder)),
            Input::PassingAttention => adds(at(Kind::AfterAttention)),
            Input::Middle if self.config().parallel => stream(),
            Input::Middle => middle(),
            Input::FeedForwardInput => {
                at(Kind::FeedForwardNormalized).or_else(|| self.source(reader, &Input::Middle))
            }
            Input::PassingMiddle => {
                // Parallel branches are both added, the first into the middle, whatever passes by.
                middle().filter(|_| self.config().residual || self.config().parallel)
            }
            Input::HeadInput => self.last_of(tower),
            Input::With(kind, input) => at(kind).and_then(|_| self.source(reader, input)),
            Input::Without(kind, input) => match at(kind) {
                None => self.source(reader, input),
                Some(_) => None,
            },
            Input::Parameter(_) | Input::TiedTable | Input::Tokens => None,
        }
    }

    /// What leaves a tower: normalized once more, where there is a final norm.
    fn last_of(&self, tower: Tower) -> Option<Stage> {
        let blocks = self.config().blocks_of(tower);
        let last = Stage::of(tower, Kind::FinalNormalized, blocks);
        Some(last).filter(|&stage| self.has(stage)).or_else(|| self.stream(tower, blocks))
    }

    /// The stage that holds the residual stream as it enters `block`.
    fn stream(&self, tower: Tower, block: usize) -> Option<Stage> {
        let stage = match block.checked_sub(1) {
            None => Stage::of(tower, Kind::Positioned, 0),
            Some(previous) => Stage::of(tower, Kind::Hidden, previous),
        };
        Some(stage).filter(|&stage| self.has(stage))
    }

    /// The names of what a stage's cells are computed from; parameters are marked by a leading `parameter `. Rows that a
    /// caller gave come from nothing.
    pub fn input_names(&self, stage: Stage) -> Vec<String> {
        stage.declaration().inputs.iter().filter_map(|input| self.input_name(stage, input)).collect()
    }

    fn input_name(&self, reader: Stage, input: &Input) -> Option<String> {
        let Stage { tower, block, .. } = reader;
        match input {
            Input::Tokens => Some(String::from("tokens")),
            Input::TiedTable => {
                self.config().tied_head.then(|| format!("parameter {}embedding", tower.prefix()))
            }
            Input::Parameter(name) => {
                let role = role_named(name).filter(|_| self.has_parameter(tower, name))?;
                let block = match role.declaration().scope {
                    Scope::Front | Scope::Back => String::new(),
                    Scope::Block | Scope::Expert => format!("blocks.{block}."),
                };
                // One name for the parameters of all experts.
                let name = name.replace("experts.", "experts.*.");
                Some(format!("parameter {}{block}{name}", tower.prefix()))
            }
            Input::With(kind, input) => {
                self.has(Stage::of(tower, *kind, block)).then(|| self.input_name(reader, input))?
            }
            Input::Without(kind, input) => {
                (!self.has(Stage::of(tower, *kind, block))).then(|| self.input_name(reader, input))?
            }
            _ => self.source(reader, input).map(Stage::name),
        }
    }
}
