//! The decoder-only model.

use crate::config::Config;
use crate::error::Error;
use crate::init;
use crate::layer::{block::block, embed, head};
use crate::num::random::RandomStream;
use crate::num::Float;
use crate::params::{check_finite, Parameters};
use crate::trace::{Pass, Plan, Span, Start, Trace};
use alloc::{sync::Arc, vec, vec::Vec};

/// A decoder that predicts each next token from the ones before it.
///
/// ```
/// # use glassformer::{config::Config, model::CausalLanguageModel};
/// let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7)?;
/// let (cat, dog) = (model.respond_to(&[0, 1, 2])?, model.respond_to(&[0, 1, 3])?);
/// let identical: Vec<bool> = cat.diff(&dog)?.rows.iter().map(|row| row.identical).collect();
/// assert_eq!(identical, [true, true, false]);
/// # Ok::<(), glassformer::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CausalLanguageModel<F> {
    config: Config,
    parameters: Parameters<F>,
    from_tokens: Arc<Plan>,
    from_rows: Arc<Plan>,
}

impl<F: Float> CausalLanguageModel<F> {
    /// A model whose parameters are the next draws of a stream.
    ///
    /// # Errors
    /// What [`Config::validate`] refuses, and [`Error::OutOfMemory`]; the stream is then as it was.
    pub fn new(config: &Config, stream: &mut RandomStream) -> Result<Self, Error> {
        // Whatever can be refused is refused before the first draw.
        let from_tokens = Arc::new(Plan::new(config, Start::Tokens)?);
        let from_rows = Arc::new(Plan::new(config, Start::Rows)?);
        let parameters = init::draw(config, stream)?;
        Ok(CausalLanguageModel { config: config.clone(), parameters, from_tokens, from_rows })
    }

    /// A model from a fresh stream of the kind that its `init` draws from.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_seed(config: &Config, seed: u64) -> Result<Self, Error> {
        Self::new(config, &mut config.init.stream(seed))
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

    /// The stages of a pass that starts from tokens or rows, in execution order.
    pub fn plan(&self, start: Start) -> &Arc<Plan> {
        match start {
            Start::Tokens => &self.from_tokens,
            Start::Rows => &self.from_rows,
        }
    }

    /// The trace of a prompt.
    ///
    /// # Shapes
    /// T ids; every stage of the trace has T rows.
    ///
    /// # Errors
    /// [`Error::EmptyPrompt`], [`Error::ContextExceeded`], [`Error::TokenOutOfRange`], [`Error::OutOfMemory`];
    /// [`Error::NotFinite`] when the numbers overflow on the way.
    pub fn respond_to(&self, tokens: &[u32]) -> Result<Trace<F>, Error> {
        self.check_tokens(tokens)?;
        self.run(tokens, Vec::new())
    }

    /// The trace of a prompt, computing only the rows behind the longest prefix that `earlier` has in common
    /// with it; the result is the same to the bit, and shares those rows.
    ///
    /// The last position is always computed. `earlier` must come from this model with its present parameters.
    ///
    /// # Errors
    /// As [`respond_to`](Self::respond_to), and [`Error::ShapeMismatch`] when `earlier` comes from a model of
    /// other stages.
    pub fn respond_to_reusing(&self, tokens: &[u32], earlier: &Trace<F>) -> Result<Trace<F>, Error> {
        self.check_tokens(tokens)?;
        if *earlier.plan() != *self.from_tokens {
            let sizes = |plan: &Plan| vec![plan.stages().len(), plan.n_blocks(), plan.n_model()];
            return Err(Error::ShapeMismatch {
                what: "the trace to reuse (its stages, blocks and width)".into(),
                expected: sizes(&self.from_tokens),
                actual: sizes(earlier.plan()),
            });
        }
        let shared = tokens.iter().zip(earlier.tokens()).take_while(|(a, b)| a == b).count();
        self.run(tokens, earlier.prefix(shared.min(tokens.len() - 1)))
    }

    /// The trace of a pass that starts at `positioned` with the caller's rows.
    ///
    /// # Shapes
    /// `rows` T,D, row-major.
    ///
    /// # Errors
    /// [`Error::EmptyPrompt`], [`Error::ShapeMismatch`] when the number of values is no multiple of D,
    /// [`Error::ContextExceeded`], [`Error::NotFinite`], [`Error::OutOfMemory`].
    pub fn respond_to_rows(&self, rows: &[F]) -> Result<Trace<F>, Error> {
        let width = self.config.n_model;
        if !rows.len().is_multiple_of(width) {
            return Err(Error::ShapeMismatch {
                what: "rows".into(),
                expected: vec![rows.len() / width + 1, width],
                actual: vec![rows.len()],
            });
        }
        self.check_length(rows.len() / width)?;
        check_finite("rows", rows)?;
        let mut pass = Pass::new(&self.from_rows, &[], rows.len() / width)?;
        embed::given(&mut pass, rows);
        self.blocks_and_head(&mut pass);
        let segment = pass.finish();
        let trace = Trace::new(Arc::clone(&self.from_rows), Vec::new(), Vec::new(), segment);
        trace.check_finite()?;
        Ok(trace)
    }

    fn run(&self, tokens: &[u32], past: Vec<Span<F>>) -> Result<Trace<F>, Error> {
        let shared: usize = past.iter().map(|span| span.rows).sum();
        let new = &tokens[shared..];
        let mut pass = Pass::new(&self.from_tokens, &past, new.len())?;
        embed::embed(&mut pass, self.parameters.embedding(), self.config.n_model, new);
        self.blocks_and_head(&mut pass);
        let segment = pass.finish();
        let trace = Trace::new(Arc::clone(&self.from_tokens), tokens.to_vec(), past, segment);
        trace.check_finite()?;
        Ok(trace)
    }

    fn blocks_and_head(&self, pass: &mut Pass<'_, F>) {
        for n in 0..self.config.n_blocks {
            block(pass, &self.config, &self.parameters.block(n), n);
        }
        head::final_norm(pass, &self.config);
        if self.config.n_vocab > 0 {
            head::head(pass, &self.config, self.parameters.head());
        }
    }

    fn check_length(&self, length: usize) -> Result<(), Error> {
        if length == 0 {
            return Err(Error::EmptyPrompt);
        }
        if length > self.config.max_context {
            return Err(Error::ContextExceeded { length, max_context: self.config.max_context });
        }
        Ok(())
    }

    fn check_tokens(&self, tokens: &[u32]) -> Result<(), Error> {
        self.check_length(tokens.len())?;
        let vocabulary = self.config.n_vocab;
        match tokens.iter().position(|&id| id as usize >= vocabulary) {
            None => Ok(()),
            Some(position) => {
                Err(Error::TokenOutOfRange { position, id: f64::from(tokens[position]), vocabulary })
            }
        }
    }
}
