//! Towers, positions, and what a row of a stage consists of.

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
