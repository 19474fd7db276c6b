//! The named stages of the forward pass, each declared once in [`DECLARATIONS`].
//!
//! Trace, difference, documentation and page read that one declaration.

mod attention;
mod ends;
mod feed_forward;
mod table;

use alloc::{format, string::String, vec::Vec};
pub use table::DECLARATIONS;

/// A stack of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tower {
    /// The only one of a model.
    Only,
    /// The encoder of an encoder-decoder, over the source.
    Encoder,
    /// The decoder of an encoder-decoder, over the target.
    Decoder,
}

impl Tower {
    /// What its names begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            Tower::Only => "",
            Tower::Encoder => "encoder.",
            Tower::Decoder => "decoder.",
        }
    }
}

/// Whose positions a stage has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The prompt's; of an encoder-decoder, the target's.
    Target,
    /// The source's.
    Source,
}

/// How many positions there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// T, those of the prompt; of an encoder-decoder, of the target.
    pub target: usize,
    /// S, those of the source; 0 where there is none.
    pub source: usize,
}

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

/// What one row of a stage (the numbers of one position) consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// D coordinates of the residual stream.
    Model,
    /// H heads of K coordinates each; shown as H,T,K.
    Heads,
    /// G key and value heads of K coordinates each; shown as G,T,K.
    KeyHeads,
    /// H heads of one number for each key; shown as H,T,S.
    Keys,
    /// H heads of one number for each row of the memory; shown as H,T,S.
    MemoryKeys,
    /// F units of the feed-forward branch.
    Units,
    /// V numbers, one for each token of the vocabulary.
    Vocabulary,
    /// E numbers, one for each expert.
    Experts,
    /// k numbers, one for each choice of an expert, the best first.
    Choices,
    /// E experts of F units each; shown as E,T,F.
    ExpertUnits,
    /// E experts of D coordinates each; shown as E,T,D.
    ExpertRows,
    /// No row: E numbers of the whole prompt.
    OfExperts,
    /// No row: one number of the whole prompt.
    Single,
}

impl Row {
    /// The names of the axes of a whole stage with such rows, outermost first.
    pub fn axes(self) -> &'static [&'static str] {
        match self {
            Row::Model => &["position", "coordinate"],
            Row::Heads | Row::KeyHeads => &["head", "position", "coordinate"],
            Row::Keys | Row::MemoryKeys => &["head", "query", "key"],
            Row::Units => &["position", "unit"],
            Row::Vocabulary => &["position", "vocabulary"],
            Row::Experts => &["position", "expert"],
            Row::Choices => &["position", "choice"],
            Row::ExpertUnits => &["expert", "position", "unit"],
            Row::ExpertRows => &["expert", "position", "coordinate"],
            Row::OfExperts => &["expert"],
            Row::Single => &[],
        }
    }

    /// Whether it has a row for each position; other stages are of the whole prompt.
    pub fn has_positions(self) -> bool {
        !matches!(self, Row::OfExperts | Row::Single)
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
    /// A function of one cell, or of two.
    Elementwise,
    /// The largest of a row, by their places or their values.
    Selection,
    /// A number of the whole prompt.
    Statistic,
    /// Drawn from a random stream.
    Draw,
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
            Operation::Selection => "selection",
            Operation::Statistic => "statistic",
            Operation::Draw => "draw",
        }
    }
}

/// Something that a cell is computed from. Which stage that is depends on the pass: its plan resolves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A stage of the same block, or of the whole tower, where the pass has it.
    Stage(Kind),
    /// What the embedding hands on: `embedding.normalized`, or `embedding`.
    Embedded,
    /// The residual stream that enters the block, or that leaves the last one: `positioned`, or the block
    /// before's `hidden`.
    Stream,
    /// The stream, where branches are added to it.
    Passing,
    /// What the attention branch reads: `attention.normalized`, or the stream.
    AttentionInput,
    /// The queries that scores are made of, turned or not.
    Queries,
    /// The keys that scores are made of, turned or not.
    Keys,
    /// What the cross-attention branch reads: `cross_attention.normalized`, or `after_attention`.
    CrossInput,
    /// What cross-attention looks at: `memory`, or what leaves the encoder.
    Memory,
    /// `after_attention`, where branches are added to it.
    PassingAttention,
    /// What the feed-forward branch, or its norm, reads: the stream behind the attention branches; of parallel
    /// branches, the block's.
    Middle,
    /// What the feed-forward branch reads: `feed_forward.normalized`, or [`Middle`](Self::Middle).
    FeedForwardInput,
    /// The stream behind the attention branches, where branches are added to it.
    PassingMiddle,
    /// What the head reads: `final.normalized`, or the residual stream where there is no final norm.
    HeadInput,
    /// The parameter with this name, in this block where it belongs to one, where the model has it; what begins with
    /// `feed_forward.experts.` stands for each expert's.
    Parameter(&'static str),
    /// The embedding table, where the head is tied to it.
    TiedTable,
    /// An input that there is where the pass has a stage.
    With(Kind, &'static Input),
    /// An input that there is where the pass has not that stage.
    Without(Kind, &'static Input),
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
