//! Which stages a pass has, and the shape of each.

use crate::config::Config;
use crate::error::Error;
use crate::memory::reserved;
use crate::stage::{Kind, Row, Stage, DECLARATIONS};
use alloc::{format, vec, vec::Vec};

/// How many kinds of stages there are.
const KINDS: usize = DECLARATIONS.len();

/// What a pass starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Token ids, through the embedding table.
    Tokens,
    /// Rows of the residual stream, given by the caller as `positioned`.
    Rows,
}

/// The stages of one kind of pass of one model, in execution order.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    start: Start,
    stages: Vec<Stage>,
    n_vocab: usize,
    n_model: usize,
    n_heads: usize,
    n_hidden: usize,
    n_blocks: usize,
    /// How many stages a block has.
    per_block: usize,
    /// The first place of each kind; all blocks have the same stages.
    firsts: [Option<usize>; KINDS],
}

impl Plan {
    /// The plan of a model.
    ///
    /// # Errors
    /// What [`Config::validate`] refuses, and [`Error::OutOfMemory`].
    pub fn new(config: &Config, start: Start) -> Result<Self, Error> {
        config.validate()?;
        let has = |kind| match kind {
            Kind::Embedding | Kind::Position => start == Start::Tokens,
            Kind::FinalNormalized => config.final_norm,
            Kind::Logits | Kind::Probabilities => config.n_vocab > 0,
            _ => true,
        };
        let whole = |before: fn(Kind) -> bool, block| {
            DECLARATIONS
                .iter()
                .filter(move |d| !d.per_block && before(d.kind) && has(d.kind))
                .map(move |d| Stage::new(d.kind, block))
        };
        let most = config.n_blocks as f64 * DECLARATIONS.len() as f64 + DECLARATIONS.len() as f64;
        let mut stages: Vec<Stage> = reserved(&format!("the stages of {} blocks", config.n_blocks), most)?;
        stages.extend(whole(|kind| kind <= Kind::Positioned, 0));
        for n in 0..config.n_blocks {
            stages.extend(DECLARATIONS.iter().filter(|d| d.per_block).map(|d| Stage::new(d.kind, n)));
        }
        stages.extend(whole(|kind| kind > Kind::Positioned, config.n_blocks));
        let mut firsts = [None; KINDS];
        for (slot, stage) in stages.iter().enumerate() {
            firsts[stage.kind as usize].get_or_insert(slot);
        }
        Ok(Plan {
            firsts,
            start,
            stages,
            n_vocab: config.n_vocab,
            n_model: config.n_model,
            n_heads: config.n_heads,
            n_hidden: config.n_hidden,
            n_blocks: config.n_blocks,
            per_block: DECLARATIONS.iter().filter(|d| d.per_block).count(),
        })
    }

    /// What the pass starts from.
    pub fn start(&self) -> Start {
        self.start
    }

    /// The stages in execution order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The size of each axis of a stage, outermost first, for a trace of this many rows.
    pub fn shape(&self, stage: Stage, rows: usize) -> Vec<usize> {
        let head_width = self.n_model / self.n_heads;
        match stage.declaration().row {
            Row::Model => vec![rows, self.n_model],
            Row::Heads => vec![self.n_heads, rows, head_width],
            Row::Keys => vec![self.n_heads, rows, rows],
            Row::Units => vec![rows, self.n_hidden],
            Row::Vocabulary => vec![rows, self.n_vocab],
        }
    }

    /// How many numbers a stage has for one position, where this many keys can be seen.
    pub(crate) fn row_width(&self, stage: Stage, keys: usize) -> f64 {
        match stage.declaration().row {
            Row::Model | Row::Heads => self.n_model as f64,
            Row::Keys => self.n_heads as f64 * keys as f64,
            Row::Units => self.n_hidden as f64,
            Row::Vocabulary => self.n_vocab as f64,
        }
    }

    pub(crate) fn n_heads(&self) -> usize {
        self.n_heads
    }

    /// Whether the pass has a stage.
    pub fn has(&self, stage: Stage) -> bool {
        let first = self.firsts[stage.kind as usize];
        first.is_some_and(|slot| !self.stages[slot].declaration().per_block || stage.block < self.n_blocks)
    }

    /// The place of a stage in the execution order.
    ///
    /// # Panics
    /// When the plan does not have it: a layer asks for stages of its own plan only.
    pub(crate) fn index(&self, stage: Stage) -> usize {
        let first = self.firsts[stage.kind as usize].expect("a layer asks for stages of its own plan only");
        let blocks = if stage.declaration().per_block { stage.block } else { 0 };
        first + blocks * self.per_block
    }

    /// D, the width of the residual stream.
    pub fn n_model(&self) -> usize {
        self.n_model
    }

    /// How many blocks there are.
    pub fn n_blocks(&self) -> usize {
        self.n_blocks
    }
}
