//! How a cell comes about, and from what.

use super::Kind;

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
