//! The named stages of the forward pass, each declared once in [`DECLARATIONS`].
//!
//! Trace, difference, documentation and page read that one declaration.

mod table;

use alloc::{format, string::String, vec::Vec};
pub use table::DECLARATIONS;

/// One step of the forward pass whose numbers are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // Each is described by its declaration.
pub enum Kind {
    Embedding,
    Position,
    Positioned,
    AttentionNormalized,
    Query,
    Key,
    Value,
    Scores,
    Weights,
    Mixed,
    AttentionOutput,
    AfterAttention,
    FeedForwardNormalized,
    Pre,
    Activated,
    FeedForwardOutput,
    Hidden,
    FinalNormalized,
    Logits,
    Probabilities,
}

/// What one row of a stage (the numbers of one position) consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// D coordinates of the residual stream.
    Model,
    /// H heads of K coordinates each; shown as H,T,K.
    Heads,
    /// H heads of one number for each key; shown as H,T,S.
    Keys,
    /// F units of the feed-forward branch.
    Units,
    /// V numbers, one for each token of the vocabulary.
    Vocabulary,
}

impl Row {
    /// The names of the axes of a whole stage with such rows, outermost first.
    pub fn axes(self) -> &'static [&'static str] {
        match self {
            Row::Model => &["position", "coordinate"],
            Row::Heads => &["head", "position", "coordinate"],
            Row::Keys => &["head", "query", "key"],
            Row::Units => &["position", "unit"],
            Row::Vocabulary => &["position", "vocabulary"],
        }
    }
}

/// How a cell comes from its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Given by the caller.
    Given,
    /// Read from a table.
    Lookup,
    /// A function of the position alone.
    Function,
    /// The sum of two cells.
    Sum,
    /// A row times a matrix of parameters.
    Linear,
    /// A cell less its row's mean, over the root of its row's variance.
    Normalization,
    /// A scaled inner product of two rows of one pass.
    Product,
    /// An exponential over the sum of its row's exponentials.
    Softmax,
    /// Rows weighted and summed.
    Mixture,
    /// A function of one cell.
    Elementwise,
}

impl Operation {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Given => "given",
            Operation::Lookup => "lookup",
            Operation::Function => "function",
            Operation::Sum => "sum",
            Operation::Linear => "linear",
            Operation::Normalization => "normalization",
            Operation::Product => "product",
            Operation::Softmax => "softmax",
            Operation::Mixture => "mixture",
            Operation::Elementwise => "elementwise",
        }
    }
}

/// Something that a cell is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A stage of the same block, or of the whole pass.
    Stage(Kind),
    /// The residual stream that enters the block, or that leaves the last one: `positioned`, or the block
    /// before's `hidden`.
    Stream,
    /// What the head reads: `final.normalized`, or the residual stream where there is no final norm.
    HeadInput,
    /// The parameter with this name, in this block where it belongs to one.
    Parameter(&'static str),
    /// The prompt's token ids.
    Tokens,
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
    /// One cell's equation.
    pub formula: &'static str,
    /// What a cell is computed from.
    pub inputs: &'static [Input],
    /// TransformerLens's name for the same numbers; within a block, what follows `blocks.N.`.
    pub hook: Option<&'static str>,
}

/// A stage of one particular pass: a kind, and the block it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Which stage.
    pub kind: Kind,
    /// Its block, counted from 0; for a stage outside the blocks, how many blocks stand before it.
    pub block: usize,
}

impl Stage {
    /// The stage of this kind in, before or after this block.
    pub fn new(kind: Kind, block: usize) -> Self {
        Stage { kind, block }
    }

    /// What is said about it.
    pub fn declaration(self) -> &'static Declaration {
        &DECLARATIONS[self.kind as usize]
    }

    /// Its full name, such as `blocks.0.attention.query`: the same in Rust, JavaScript, files and the page.
    pub fn name(self) -> String {
        self.qualified(self.declaration().name)
    }

    /// TransformerLens's names for the same numbers, such as `blocks.0.attn.hook_q`, where it has some. What leaves
    /// a block is also what enters the next of the `blocks` there are.
    pub fn hooks(self, blocks: usize) -> Vec<String> {
        let entered = match self.kind {
            Kind::Positioned => Some(0),
            Kind::Hidden => Some(self.block + 1),
            _ => None,
        };
        let own = self.declaration().hook.map(|hook| self.qualified(hook));
        let next = entered.filter(|&n| n < blocks).map(|n| format!("blocks.{n}.hook_resid_pre"));
        own.into_iter().chain(next).collect()
    }

    /// The names of what its cells are computed from in a pass that `has` some stages; parameters are marked
    /// by a leading `parameter `. Rows that a caller gave come from nothing.
    pub fn input_names(self, has: impl Fn(Stage) -> bool) -> Vec<String> {
        let stage_name = |stage: Stage| has(stage).then(|| stage.name());
        let final_norm = Stage::new(Kind::FinalNormalized, self.block);
        let resolve = |input: &Input| match *input {
            Input::Stage(kind) => stage_name(Stage::new(kind, self.block)),
            Input::Stream => stage_name(stream_before(self.block)),
            Input::HeadInput => stage_name(final_norm).or_else(|| stage_name(stream_before(self.block))),
            Input::Parameter(name) => Some(format!("parameter {}", self.qualified(name))),
            Input::Tokens => Some(String::from("tokens")),
        };
        self.declaration().inputs.iter().filter_map(resolve).collect()
    }

    fn qualified(self, name: &str) -> String {
        if self.declaration().per_block {
            format!("blocks.{}.{name}", self.block)
        } else {
            String::from(name)
        }
    }
}

/// The stage that holds the residual stream as it enters `block`.
pub fn stream_before(block: usize) -> Stage {
    match block.checked_sub(1) {
        None => Stage::new(Kind::Positioned, 0),
        Some(previous) => Stage::new(Kind::Hidden, previous),
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
        assert_eq!(Stage::new(Kind::Weights, 0).hooks(1), ["blocks.0.attn.hook_pattern"]);
        assert_eq!(
            Stage::new(Kind::Hidden, 0).hooks(2),
            ["blocks.0.hook_resid_post", "blocks.1.hook_resid_pre"]
        );
        assert_eq!(Stage::new(Kind::Hidden, 1).hooks(2), ["blocks.1.hook_resid_post"]);
        assert_eq!(Stage::new(Kind::Logits, 2).name(), "logits");
    }

    #[test]
    fn the_head_reads_the_stream_where_there_is_no_final_norm() {
        let (stream, norm, head) =
            (Stage::new(Kind::Hidden, 0), Stage::new(Kind::FinalNormalized, 1), Stage::new(Kind::Logits, 1));
        assert_eq!(
            head.input_names(|s| [stream, norm, head].contains(&s)),
            ["final.normalized", "parameter head"]
        );
        assert_eq!(head.input_names(|s| [stream, head].contains(&s)), ["blocks.0.hidden", "parameter head"]);
    }
}
