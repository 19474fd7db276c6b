//! The named stages of the forward pass, each declared once in [`DECLARATIONS`].
//!
//! Trace, difference, documentation and page read that one declaration.

mod attention;
mod ends;
mod feed_forward;
mod input;
mod row;
mod table;

use alloc::{format, string::String, vec::Vec};
pub use input::{Input, Operation};
pub use row::{Lengths, Row, Side, Tower};
pub use table::DECLARATIONS;

/// One step of the forward pass whose numbers are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // Each is described by its declaration.
pub enum Kind {
    Memory,
    Embedding,
    EmbeddingNormalized,
    Position,
    Positioned,
    AttentionNormalized,
    Query,
    Key,
    Value,
    QueryRotated,
    KeyRotated,
    Scores,
    Weights,
    Mixed,
    AttentionOutput,
    AttentionResidual,
    AfterAttention,
    CrossNormalized,
    CrossQuery,
    CrossKey,
    CrossValue,
    CrossScores,
    CrossWeights,
    CrossMixed,
    CrossOutput,
    CrossResidual,
    AfterCrossAttention,
    FeedForwardNormalized,
    Pre,
    Gate,
    Activated,
    RouterLogits,
    RouterNoise,
    Router,
    Selected,
    Gates,
    ExpertPre,
    ExpertGate,
    ExpertActivated,
    ExpertOutput,
    Importance,
    ImportanceVariation,
    Load,
    Overflow,
    FeedForwardOutput,
    FeedForwardResidual,
    Hidden,
    FinalNormalized,
    Logits,
    Probabilities,
}

/// Everything that is said once about a stage.
#[derive(Debug)]
pub struct Declaration {
    /// Which stage.
    pub kind: Kind,
    /// Its name; within a block, what follows `blocks.N.`.
    pub name: &'static str,
    /// Whether every block has one.
    pub per_block: bool,
    /// What its rows consist of.
    pub row: Row,
    /// The letter it has in formulas.
    pub symbol: &'static str,
    /// How a cell comes about.
    pub operation: Operation,
    /// One sentence for a reader.
    pub meaning: &'static str,
    /// One cell's equation, with `{…}` where it depends on the pass; [`describe`](crate::inspect::describe) fills it in.
    pub formula: &'static str,
    /// What a cell is computed from.
    pub inputs: &'static [Input],
    /// TransformerLens's name for the same numbers; within a block, what follows `blocks.N.`.
    pub hook: Option<&'static str>,
}

/// A stage of one particular pass: a kind, and the tower and block it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Which stage.
    pub kind: Kind,
    /// Its tower.
    pub tower: Tower,
    /// Its block, counted from 0; for a stage outside the blocks, how many blocks stand before it.
    pub block: usize,
}

impl Stage {
    /// The stage of this kind in, before or after this block of a model that has one tower.
    pub fn new(kind: Kind, block: usize) -> Self {
        Stage { kind, tower: Tower::Only, block }
    }

    /// The stage of this kind in, before or after this block of a tower.
    pub fn of(tower: Tower, kind: Kind, block: usize) -> Self {
        Stage { kind, tower, block }
    }

    /// What is said about it.
    pub fn declaration(self) -> &'static Declaration {
        DECLARATIONS[self.kind as usize]
    }

    /// Its full name, such as `blocks.0.attention.query`: the same in Rust, JavaScript, files and the page.
    pub fn name(self) -> String {
        self.qualified(self.declaration().name)
    }

    /// Whose positions its rows have.
    pub fn side(self) -> Side {
        match self.kind {
            Kind::Memory | Kind::CrossKey | Kind::CrossValue => Side::Source,
            _ if self.tower == Tower::Encoder => Side::Source,
            _ => Side::Target,
        }
    }

    /// TransformerLens's names for the same numbers, such as `blocks.0.attn.hook_q`, where it has some. What leaves
    /// a block is also what enters the next of the `blocks` there are. With gates, TransformerLens calls `hook_pre`
    /// what is before the gate's activation.
    pub fn hooks(self, blocks: usize, is_gated: bool) -> Vec<String> {
        if self.tower != Tower::Only {
            return Vec::new();
        }
        let entered = match self.kind {
            Kind::Positioned => Some(0),
            Kind::Hidden => Some(self.block + 1),
            _ => None,
        };
        let own = match self.kind {
            Kind::Pre if is_gated => Some("mlp.hook_pre_linear"),
            _ => self.declaration().hook,
        };
        let own = own.map(|hook| self.qualified(hook));
        let next = entered.filter(|&n| n < blocks).map(|n| format!("blocks.{n}.hook_resid_pre"));
        own.into_iter().chain(next).collect()
    }

    fn qualified(self, name: &str) -> String {
        let tower = match self.kind {
            Kind::Memory => "",
            _ => self.tower.prefix(),
        };
        if self.declaration().per_block {
            format!("{tower}blocks.{}.{name}", self.block)
        } else {
            format!("{tower}{name}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_kinds() {
        for (i, declaration) in DECLARATIONS.iter().enumerate() {
            assert_eq!(declaration.kind as usize, i, "{}", declaration.name);
        }
        assert_eq!(DECLARATIONS.len(), Kind::Probabilities as usize + 1);
    }

    #[test]
    fn a_stage_is_computed_from_earlier_stages_only() {
        for declaration in DECLARATIONS {
            for input in declaration.inputs {
                if let Input::Stage(kind) = input {
                    assert!(*kind < declaration.kind, "{} reads a later stage", declaration.name);
                }
            }
        }
    }

    #[test]
    fn names_are_those_of_the_contract() {
        assert_eq!(Stage::new(Kind::Query, 3).name(), "blocks.3.attention.query");
        assert_eq!(Stage::new(Kind::Weights, 0).hooks(1, false), ["blocks.0.attn.hook_pattern"]);
        assert_eq!(
            Stage::new(Kind::Hidden, 0).hooks(2, false),
            ["blocks.0.hook_resid_post", "blocks.1.hook_resid_pre"]
        );
        assert_eq!(Stage::new(Kind::Hidden, 1).hooks(2, false), ["blocks.1.hook_resid_post"]);
        assert_eq!(Stage::new(Kind::Logits, 2).name(), "logits");
    }
}
