//! What every model is: a configuration, its parameters, and the pass through its towers.

use crate::config::Config;
use crate::error::Error;
use crate::init;
use crate::layer::{block::block, embed, head, Context, Positions};
use crate::mask::Masks;
use crate::num::random::RandomStream;
use crate::num::Float;
use crate::params::{check_finite, Parameters};
use crate::stage::{Kind, Lengths, Tower};
use crate::trace::{Pass, Plan, Prompt, Span, Start, Trace};
use alloc::{sync::Arc, vec, vec::Vec};

/// A model of any configuration: decoder, encoder or encoder-decoder. The named models are this with what is theirs.
#[derive(Clone, Debug)]
pub struct Transformer<F> {
    config: Config,
    parameters: Parameters<F>,
    positions: Positions<F>,
    plans: Plans,
}

#[derive(Clone, Debug)]
struct Plans {
    tokens: Arc<Plan>,
    rows: Arc<Plan>,
    memory: Option<Arc<Plan>>,
}

/// What a pass starts from; rows are row-major, of width D.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a, F> {
    /// Token ids.
    Tokens {
        /// The prompt's; of an encoder-decoder, the target's.
        target: &'a [u32],
        /// The source's; empty for a model without encoder.
        source: &'a [u32],
    },
    /// Rows that enter the first block.
    Rows {
        /// The prompt's; of an encoder-decoder, the target's.
        target: &'a [F],
        /// The source's; empty for a model without encoder.
        source: &'a [F],
    },
    /// Rows that enter the decoder's first block, and rows in place of what leaves the encoder.
    Memory {
        /// The target's.
        target: &'a [F],
        /// The memory.
        memory: &'a [F],
    },
}

impl<F: Float> Transformer<F> {
    /// A model whose parameters are the next draws of a stream.
    ///
    /// # Errors
    /// What [`Config::validate`] refuses, and [`Error::OutOfMemory`]; the stream is then as it was.
    pub fn new(config: &Config, stream: &mut RandomStream) -> Result<Self, Error> {
        // Whatever can be refused is refused before the first draw.
        let plan = |start| Plan::new(config, start).map(Arc::new);
        let (tokens, rows) = (plan(Start::Tokens)?, plan(Start::Rows)?);
        let memory = config.encoder.is_some().then(|| plan(Start::Memory)).transpose()?;
        let plans = Plans { tokens, rows, memory };
        let parameters = init::draw(config, stream)?;
        Ok(Transformer { config: config.clone(), parameters, positions: Positions::new(config), plans })
    }

    /// What was chosen.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters<F> {
        &self.parameters
    }

    /// The parameters, to be set. Traces that exist already keep their numbers.
    pub fn parameters_mut(&mut self) -> &mut Parameters<F> {
        &mut self.parameters
    }

    /// The stages of a pass, in execution order.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for memory without an encoder-decoder.
    pub fn plan(&self, start: Start) -> Result<&Arc<Plan>, Error> {
        match (start, &self.plans.memory) {
            (Start::Tokens, _) => Ok(&self.plans.tokens),
            (Start::Rows, _) => Ok(&self.plans.rows),
            (Start::Memory, Some(plan)) => Ok(plan),
            (Start::Memory, None) => Err(Error::InvalidOption {
                option: "memory".into(),
                value: "rows".into(),
                reason: "only an encoder-decoder has a memory".into(),
                nearest: vec![],
            }),
        }
    }

    /// The trace of a pass.
    ///
    /// # Errors
    /// [`Error::EmptyPrompt`], [`Error::ContextExceeded`], [`Error::TokenOutOfRange`], [`Error::ShapeMismatch`] for rows
    /// that are none or masks that do not fit, [`Error::InvalidOption`] for what the model has no use for,
    /// [`Error::CapacityExceeded`], [`Error::OutOfMemory`]; [`Error::NotFinite`] for such rows, and when the numbers
    /// overflow on the way.
    pub fn respond(&self, given: Given<'_, F>, masks: &Masks<F>) -> Result<Trace<F>, Error> {
        self.run(given, masks, None)
    }

    /// The trace of a prompt, computing only the rows behind the longest prefix that `earlier` has in common
    /// with it; the result is the same to the bit, and shares those rows.
    ///
    /// The last position is always computed. `earlier` must come from this model with its present parameters. Where
    /// rows may look ahead, or masks were used, nothing can be shared and everything is computed.
    ///
    /// # Errors
    /// As [`respond`](Self::respond), and [`Error::ShapeMismatch`] when `earlier` comes from a model of other stages.
    pub fn respond_reusing(
        &self,
        target: &[u32],
        source: &[u32],
        earlier: &Trace<F>,
    ) -> Result<Trace<F>, Error> {
        if *earlier.plan() != *self.plans.tokens {
            let sizes =
                |plan: &Plan| vec![plan.stages().len(), plan.config().n_blocks, plan.config().n_model];
            return Err(Error::ShapeMismatch {
                what: "the trace to reuse (its stages, blocks and width)".into(),
                expected: sizes(&self.plans.tokens),
                actual: sizes(earlier.plan()),
            });
        }
        self.run(Given::Tokens { target, source }, &Masks::default(), Some(earlier))
    }

    fn run(
        &self,
        given: Given<'_, F>,
        masks: &Masks<F>,
        earlier: Option<&Trace<F>>,
    ) -> Result<Trace<F>, Error> {
        let (start, lengths) = self.check(given)?;
        let plan = self.plan(start)?;
        masks.check(&self.config, lengths, self.config.encoder.is_some() && start != Start::Memory)?;
        let past = match (given, earlier) {
            (Given::Tokens { target, source }, Some(earlier)) => self.shared(target, source, earlier),
            _ => Vec::new(),
        };
        let done: usize = past.iter().map(|span| span.rows).sum();
        let mut pass = Pass::new(plan, &past, lengths.target - done, lengths.source)?;
        for &tower in self.config.towers() {
            if tower == Tower::Encoder && start == Start::Memory {
                continue;
            }
            self.enter(&mut pass, given, masks, tower, done)?;
        }
        let segment = pass.finish();
        let prompt = match given {
            Given::Tokens { target, source } => Prompt { tokens: copied(target)?, source: copied(source)? },
            _ => Prompt::default(),
        };
        let trace = Trace::new(Arc::clone(plan), prompt, !masks.is_none(), past, segment);
        trace.check_finite()?;
        Ok(trace)
    }

    /// The pass through one tower, over what lies behind the `done` positions of the target.
    fn enter(
        &self,
        pass: &mut Pass<'_, F>,
        given: Given<'_, F>,
        masks: &Masks<F>,
        tower: Tower,
        done: usize,
    ) -> Result<(), Error> {
        let (parameters, positions) = (&self.parameters, &self.positions);
        let at = |block| Context { config: &self.config, parameters, positions, masks, tower, block };
        let is_source = tower == Tower::Encoder;
        match given {
            // A source is computed with the first rows of the target.
            Given::Tokens { source, .. } if is_source => {
                embed::embed(pass, &at(0), if done == 0 { source } else { &[] });
            }
            Given::Tokens { target, .. } => embed::embed(pass, &at(0), &target[done..]),
            Given::Rows { target, source } => {
                embed::given(pass, &at(0), Kind::Positioned, if is_source { source } else { target });
            }
            Given::Memory { target, memory } => {
                embed::given(pass, &at(0), Kind::Memory, memory);
                embed::given(pass, &at(0), Kind::Positioned, target);
            }
        }
        let blocks = self.config.blocks_of(tower);
        for n in 0..blocks {
            block(pass, &at(n))?;
        }
        head::final_norm(pass, &at(blocks));
        head::head(pass, &at(blocks));
        Ok(())
    }

    /// What of `earlier` a pass can go on behind.
    fn shared(&self, target: &[u32], source: &[u32], earlier: &Trace<F>) -> Vec<Span<F>> {
        let last = *self.config.towers().last().unwrap_or(&Tower::Only);
        if !self.config.is_causal(last) || earlier.is_masked() || earlier.source_tokens() != source {
            return Vec::new();
        }
        let shared = target.iter().zip(earlier.tokens()).take_while(|(a, b)| a == b).count();
        earlier.prefix(shared.min(target.len() - 1))
    }

    /// Whether what is given can be read, and how long it is.
    fn check(&self, given: Given<'_, F>) -> Result<(Start, Lengths), Error> {
        let has_encoder = self.config.encoder.is_some();
        let (start, target, source) = match given {
            Given::Tokens { target, source } => {
                if has_encoder || !source.is_empty() {
                    check_tokens(source, self.config.vocabulary_of(Tower::Encoder))?;
                }
                check_tokens(target, self.config.n_vocab)?;
                (Start::Tokens, target.len(), source.len())
            }
            Given::Rows { target, source } => {
                (Start::Rows, self.check_rows("rows", target)?, self.check_rows("source rows", source)?)
            }
            Given::Memory { target, memory } => {
                (Start::Memory, self.check_rows("rows", target)?, self.check_rows("memory", memory)?)
            }
        };
        if source > 0 && !has_encoder {
            return Err(Error::InvalidOption {
                option: "source".into(),
                value: "a source".into(),
                reason: "only an encoder-decoder reads one".into(),
                nearest: vec![],
            });
        }
        self.check_length(target)?;
        if has_encoder {
            self.check_length(source)?;
        }
        Ok((start, Lengths { target, source }))
    }

    fn check_rows(&self, what: &str, rows: &[F]) -> Result<usize, Error> {
        let width = self.config.n_model;
        if !rows.len().is_multiple_of(width) {
            return Err(Error::ShapeMismatch {
                what: what.into(),
                expected: vec![rows.len() / width + 1, width],
                actual: vec![rows.len()],
            });
        }
        self.check_most(rows.len() / width)?;
        check_finite(what, rows)?;
        Ok(rows.len() / width)
    }

    fn check_length(&self, length: usize) -> Result<(), Error> {
        if length == 0 {
            return Err(Error::EmptyPrompt);
        }
        self.check_most(length)
    }

    fn check_most(&self, length: usize) -> Result<(), Error> {
        if length > self.config.max_context {
            return Err(Error::ContextExceeded { length, max_context: self.config.max_context });
        }
        Ok(())
    }
}

fn check_tokens(tokens: &[u32], vocabulary: usize) -> Result<(), Error> {
    match tokens.iter().position(|&id| id as usize >= vocabulary) {
        None => Ok(()),
        Some(position) => {
            Err(Error::TokenOutOfRange { position, id: f64::from(tokens[position]), vocabulary })
        }
    }
}

fn copied(tokens: &[u32]) -> Result<Vec<u32>, Error> {
    let mut out = crate::memory::reserved("the prompt", tokens.len() as f64)?;
    out.extend_from_slice(tokens);
    Ok(out)
}
