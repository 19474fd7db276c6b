//! What every model is: a configuration, its parameters, and the pass through its towers.

use super::Given;
use crate::config::Config;
use crate::error::Error;
use crate::init;
use crate::layer::{block::block, embed, head, Context, Positions};
use crate::mask::Masks;
use crate::num::random::RandomStream;
use crate::num::Float;
use crate::params::Parameters;
use crate::stage::{Kind, Stage, Tower};
use crate::trace::{Changes, Pass, Plan, Prompt, Span, Start, Trace};
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

impl Plans {
    fn new(config: &Config) -> Result<Self, Error> {
        let plan = |start| Plan::new(config, start).map(Arc::new);
        let (tokens, rows) = (plan(Start::Tokens)?, plan(Start::Rows)?);
        let memory = config.encoder.is_some().then(|| plan(Start::Memory)).transpose()?;
        Ok(Plans { tokens, rows, memory })
    }
}

impl<F: Float> Transformer<F> {
    /// A model whose parameters are the next draws of a stream.
    ///
    /// # Errors
    /// What [`Config::validate`] refuses, and [`Error::OutOfMemory`]; the stream is then as it was.
    pub fn new(config: &Config, stream: &mut RandomStream) -> Result<Self, Error> {
        // Whatever can be refused is refused before the first draw.
        let plans = Plans::new(config)?;
        Ok(Self::assembled(config, plans, init::draw(config, stream)?))
    }

    /// A model of given parameters, one after the other as [`Parameters::block`] has them.
    ///
    /// # Errors
    /// As [`new`](Self::new), and as [`Parameters::set_block`].
    pub fn of_block(config: &Config, block: &[F]) -> Result<Self, Error> {
        let plans = Plans::new(config)?;
        let mut parameters = Parameters::zeroed(config)?;
        parameters.set_block(block)?;
        Ok(Self::assembled(config, plans, parameters))
    }

    fn assembled(config: &Config, plans: Plans, parameters: Parameters<F>) -> Self {
        Transformer { config: config.clone(), parameters, positions: Positions::new(config), plans }
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

    /// What a layer has at hand, at a place of a pass with these masks.
    pub(crate) fn context<'a>(&'a self, masks: &'a Masks<F>, tower: Tower, block: usize) -> Context<'a, F> {
        let (config, parameters, positions) = (&self.config, &self.parameters, &self.positions);
        Context { config, parameters, positions, masks, tower, block }
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
        self.respond_changed(given, Changes::of_masks(masks.clone()))
    }

    /// The trace of a pass of which a caller changes something.
    ///
    /// # Errors
    /// As [`respond`](Self::respond); for edits that do not fit [`Error::UnknownStage`], [`Error::ShapeMismatch`],
    /// [`Error::IndexOutOfRange`] and [`Error::NotFinite`].
    pub fn respond_changed(&self, given: Given<'_, F>, changes: Changes<F>) -> Result<Trace<F>, Error> {
        self.run(given, Arc::new(changes), None)
    }

    /// The trace of a pass from tokens, computing only the rows behind the longest prefix that `earlier` has in common
    /// with it; the result is the same to the bit, and shares those rows.
    ///
    /// The last position is always computed. `earlier` must come from this model with its present parameters. Where
    /// rows may look ahead, where `earlier` comes from rows or another source, and where the two passes are changed in
    /// different ways (or in the same, but at different lengths), nothing can be shared and everything is computed.
    ///
    /// # Errors
    /// As [`respond_changed`](Self::respond_changed), and [`Error::ShapeMismatch`] when `earlier` comes from a model of
    /// other stages.
    pub fn respond_reusing(
        &self,
        target: &[u32],
        source: &[u32],
        changes: Changes<F>,
        earlier: &Trace<F>,
    ) -> Result<Trace<F>, Error> {
        if let Ok(plan) = self.plan(earlier.plan().start()) {
            plan.check_same_stages(earlier.plan(), "the trace to reuse")?;
        }
        self.run(Given::Tokens { target, source }, Arc::new(changes), Some(earlier))
    }

    /// The trace of a pass of one tower from rows, computing only those behind the longest prefix that `earlier` has in
    /// common with them, where they do not look ahead; the last one always.
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub(crate) fn respond_to_rows_reusing(&self, rows: &[F], earlier: &Trace<F>) -> Result<Trace<F>, Error> {
        self.run(Given::Rows { target: rows, source: &[] }, Arc::default(), Some(earlier))
    }

    fn run(
        &self,
        given: Given<'_, F>,
        changes: Arc<Changes<F>>,
        earlier: Option<&Trace<F>>,
    ) -> Result<Trace<F>, Error> {
        let (start, lengths) = self.check(given)?;
        let (plan, masks) = (self.plan(start)?, &changes.masks);
        masks.check(&self.config, lengths, self.config.encoder.is_some() && start != Start::Memory)?;
        let past = match (given, earlier) {
            (Given::Tokens { target, source }, Some(earlier)) => {
                self.shared(target, source, &changes, earlier)
            }
            (Given::Rows { target, .. }, Some(earlier)) => self.shared_rows(target, &changes, earlier),
            _ => Vec::new(),
        };
        let done: usize = past.iter().map(|span| span.rows).sum();
        let mut pass = Pass::new(plan, &changes, &past, lengths.target - done, lengths.source)?;
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
        let trace = Trace::new(Arc::clone(plan), prompt, changes, past, segment);
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
        let at = |block| self.context(masks, tower, block);
        let is_source = tower == Tower::Encoder;
        match given {
            // A source is computed with the first rows of the target.
            Given::Tokens { source, .. } if is_source => {
                embed::embed(pass, &at(0), if done == 0 { source } else { &[] });
            }
            Given::Tokens { target, .. } => embed::embed(pass, &at(0), &target[done..]),
            Given::Rows { target, source } => {
                let behind = &target[done * self.config.n_model..];
                embed::given(pass, &at(0), Kind::Positioned, if is_source { source } else { behind });
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
    fn shared(
        &self,
        target: &[u32],
        source: &[u32],
        changes: &Changes<F>,
        earlier: &Trace<F>,
    ) -> Vec<Span<F>> {
        let last = *self.config.towers().last().unwrap_or(&Tower::Only);
        let is_same_source = earlier.plan().start() == Start::Tokens && earlier.source_tokens() == source;
        if !self.config.is_causal(last) || !is_same_source || **earlier.changes() != *changes {
            return Vec::new();
        }
        // Edits may look ahead (a score that the mask hid may be set), so that rows know of later ones.
        let looks_ahead = !changes.edits.is_empty();
        if !changes.is_none() && (looks_ahead || earlier.rows() != target.len()) {
            return Vec::new();
        }
        let shared = target.iter().zip(earlier.tokens()).take_while(|(a, b)| a == b).count();
        earlier.prefix(shared.min(target.len() - 1))
    }

    /// As [`shared`](Self::shared), of a pass from rows.
    fn shared_rows(&self, rows: &[F], changes: &Changes<F>, earlier: &Trace<F>) -> Vec<Span<F>> {
        let unchanged = changes.is_none() && earlier.changes().is_none();
        let of_rows = earlier.plan().start() == Start::Rows && self.config.encoder.is_none();
        if !self.config.is_causal(Tower::Only) || !of_rows || !unchanged {
            return Vec::new();
        }
        let rows = rows.chunks_exact(self.config.n_model);
        let (last, positioned) = (rows.len() - 1, Stage::new(Kind::Positioned, 0));
        let is_same = |&(t, row): &(usize, &[F])| {
            t < earlier.rows()
                && row.iter().zip(earlier.row(positioned, t)).all(|(a, b)| a.bits() == b.bits())
        };
        earlier.prefix(rows.enumerate().take_while(is_same).count().min(last))
    }
}

fn copied(tokens: &[u32]) -> Result<Vec<u32>, Error> {
    let mut out = crate::memory::reserved("the prompt", tokens.len() as f64)?;
    out.extend_from_slice(tokens);
    Ok(out)
}
