//! Which stages a pass has, and the shape of each.

use crate::config::{Config, Position};
use crate::error::Error;
use crate::memory::reserved;
use crate::stage::{Kind, Lengths, Row, Side, Stage, Tower, DECLARATIONS};
use alloc::{format, vec, vec::Vec};

/// How many kinds of stages there are.
const KINDS: usize = DECLARATIONS.len();

/// What a pass starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Token ids, through the embedding tables.
    Tokens,
    /// Rows of the residual stream, given by the caller as `positioned`.
    Rows,
    /// Such rows for the decoder, and rows in place of what leaves the encoder.
    Memory,
}

/// The stages of one kind of pass of one model, in execution order.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    start: Start,
    config: Config,
    stages: Vec<Stage>,
    towers: Vec<Places>,
}

/// Where the stages of one tower stand: all its blocks have the same ones.
#[derive(Clone, Debug, PartialEq)]
struct Places {
    tower: Tower,
    firsts: [Option<usize>; KINDS],
    per_block: usize,
}

impl Plan {
    /// The plan of a model.
    ///
    /// # Errors
    /// What [`Config::validate`] refuses, [`Error::InvalidOption`] for memory without an encoder-decoder, and
    /// [`Error::OutOfMemory`].
    pub fn new(config: &Config, start: Start) -> Result<Self, Error> {
        config.validate()?;
        if start == Start::Memory && config.encoder.is_none() {
            return Err(Error::InvalidOption {
                option: "memory".into(),
                value: "rows".into(),
                reason: "only an encoder-decoder has a memory".into(),
                nearest: vec![],
            });
        }
        let towers = config.towers().iter().copied();
        let towers: Vec<Tower> =
            towers.filter(|&tower| start != Start::Memory || tower != Tower::Encoder).collect();
        let blocks: usize = towers.iter().map(|&tower| config.blocks_of(tower)).sum();
        let most = (blocks as f64 + towers.len() as f64) * KINDS as f64;
        let mut stages: Vec<Stage> = reserved(&format!("the stages of {blocks} blocks"), most)?;
        let mut places = Vec::new();
        for tower in towers {
            places.push(list_tower(config, start, tower, &mut stages));
        }
        Ok(Plan { start, config: config.clone(), stages, towers: places })
    }

    /// What the pass starts from.
    pub fn start(&self) -> Start {
        self.start
    }

    /// What was chosen about the model.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The stages in execution order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The size of each axis of a stage, outermost first.
    pub fn shape(&self, stage: Stage, lengths: Lengths) -> Vec<usize> {
        let rows = self.rows(stage, lengths);
        let row = stage.declaration().row;
        let inner = self.inner(stage, lengths) as usize;
        match row {
            Row::OfExperts => vec![inner],
            Row::Single => vec![],
            _ if row.axes().len() == 3 => vec![self.groups(stage), rows, inner],
            _ => vec![rows, inner],
        }
    }

    /// How many rows a stage has: one for each position, or one in all.
    pub(crate) fn rows(&self, stage: Stage, lengths: Lengths) -> usize {
        match stage.side() {
            _ if !stage.declaration().row.has_positions() => 1,
            Side::Target => lengths.target,
            Side::Source => lengths.source,
        }
    }

    /// In how many groups a row of a stage is divided: heads or experts, or one.
    pub(crate) fn groups(&self, stage: Stage) -> usize {
        match stage.declaration().row {
            Row::Heads | Row::Keys | Row::MemoryKeys => self.config.n_heads,
            Row::KeyHeads => self.config.n_key_value_heads(),
            Row::ExpertUnits | Row::ExpertRows => self.config.feed_forward.experts().map_or(1, |e| e.experts),
            _ => 1,
        }
    }

    /// How many numbers one group of a row has.
    fn inner(&self, stage: Stage, lengths: Lengths) -> f64 {
        let experts = self.config.feed_forward.experts();
        let size = match stage.declaration().row {
            Row::Model | Row::ExpertRows => self.config.n_model,
            Row::Heads | Row::KeyHeads => self.config.head_width(),
            Row::Keys if stage.side() == Side::Target => lengths.target,
            Row::Keys | Row::MemoryKeys => lengths.source,
            Row::Units | Row::ExpertUnits => self.config.n_hidden,
            Row::Vocabulary => self.config.vocabulary_of(stage.tower),
            Row::Experts | Row::OfExperts => experts.map_or(0, |e| e.experts),
            Row::Choices => experts.map_or(0, |e| e.selected),
            Row::Single => 1,
        };
        size as f64
    }

    /// How many numbers a row of a stage has, where this many keys can be seen.
    pub(crate) fn row_width(&self, stage: Stage, keys: Lengths) -> f64 {
        self.groups(stage) as f64 * self.inner(stage, keys)
    }

    /// Whether the pass has a stage.
    pub fn has(&self, stage: Stage) -> bool {
        self.slot(stage).is_some()
    }

    /// Whether another plan has the same stages, of the same sizes.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] where it has not; `what` is whose plan the other is.
    pub(crate) fn check_same_stages(&self, other: &Plan, what: &str) -> Result<(), Error> {
        if self.stages != other.stages {
            return Err(Error::ShapeMismatch {
                what: format!("the list of stages of {what}"),
                expected: vec![self.stages.len()],
                actual: vec![other.stages.len()],
            });
        }
        let one = Lengths { target: 1, source: 1 };
        for &stage in &self.stages {
            let (expected, actual) = (self.shape(stage, one), other.shape(stage, one));
            if expected != actual {
                let what = format!("one row of {} in {what}", stage.name());
                return Err(Error::ShapeMismatch { what, expected, actual });
            }
        }
        Ok(())
    }

    /// The place of a stage in the execution order.
    ///
    /// # Panics
    /// When the plan does not have it: a layer asks for stages of its own plan only.
    pub(crate) fn index(&self, stage: Stage) -> usize {
        self.slot(stage).expect("a layer asks for stages of its own plan only")
    }

    fn slot(&self, stage: Stage) -> Option<usize> {
        let places = self.towers.iter().find(|places| places.tower == stage.tower)?;
        let first = places.firsts[stage.kind as usize]?;
        if !stage.declaration().per_block {
            return Some(first);
        }
        (stage.block < self.config.blocks_of(stage.tower)).then(|| first + stage.block * places.per_block)
    }
}

/// Lists the stages of one tower.
fn list_tower(config: &Config, start: Start, tower: Tower, stages: &mut Vec<Stage>) -> Places {
    let blocks = config.blocks_of(tower);
    let kinds = |per_block: bool| {
        DECLARATIONS.iter().filter(move |d| d.per_block == per_block && has(config, start, tower, d.kind))
    };
    let begin = stages.len();
    stages.extend(kinds(false).filter(|d| d.kind <= Kind::Positioned).map(|d| Stage::of(tower, d.kind, 0)));
    for n in 0..blocks {
        stages.extend(kinds(true).map(|d| Stage::of(tower, d.kind, n)));
    }
    stages
        .extend(kinds(false).filter(|d| d.kind > Kind::Positioned).map(|d| Stage::of(tower, d.kind, blocks)));
    let mut firsts = [None; KINDS];
    for (slot, stage) in stages.iter().enumerate().skip(begin) {
        firsts[stage.kind as usize].get_or_insert(slot);
    }
    Places { tower, firsts, per_block: kinds(true).count() }
}

/// Whether a tower has stages of a kind.
fn has(config: &Config, start: Start, tower: Tower, kind: Kind) -> bool {
    let experts = config.feed_forward.experts();
    let is_gated = config.feed_forward.is_gated();
    match kind {
        Kind::Memory => start == Start::Memory && tower == Tower::Decoder,
        Kind::Embedding => start == Start::Tokens,
        Kind::EmbeddingNormalized => start == Start::Tokens && config.embedding_norm,
        Kind::Position => {
            start == Start::Tokens && matches!(config.position, Position::Sinusoidal | Position::Learned)
        }
        Kind::AttentionNormalized | Kind::FeedForwardNormalized => config.is_pre_norm(),
        Kind::AttentionResidual | Kind::FeedForwardResidual => config.is_post_norm(),
        Kind::QueryRotated | Kind::KeyRotated => matches!(config.position, Position::Rotary(_)),
        Kind::CrossNormalized => tower == Tower::Decoder && config.is_pre_norm(),
        Kind::CrossResidual => tower == Tower::Decoder && config.is_post_norm(),
        Kind::CrossQuery
        | Kind::CrossKey
        | Kind::CrossValue
        | Kind::CrossScores
        | Kind::CrossWeights
        | Kind::CrossMixed
        | Kind::CrossOutput
        | Kind::AfterCrossAttention => tower == Tower::Decoder,
        Kind::Pre | Kind::Activated => experts.is_none(),
        Kind::Gate => experts.is_none() && is_gated,
        Kind::RouterNoise => experts.is_some_and(|e| e.noise != 0.0),
        Kind::ExpertGate => experts.is_some() && is_gated,
        Kind::Overflow => experts.is_some_and(|e| e.capacity.is_some()),
        Kind::RouterLogits
        | Kind::Router
        | Kind::Selected
        | Kind::Gates
        | Kind::ExpertPre
        | Kind::ExpertActivated
        | Kind::ExpertOutput
        | Kind::Importance
        | Kind::ImportanceVariation
        | Kind::Load => experts.is_some(),
        Kind::FinalNormalized => config.final_norm,
        Kind::Logits | Kind::Probabilities => config.n_vocab > 0 && tower != Tower::Encoder,
        _ => true,
    }
}
