//! A prompt, continued token by token.

use super::filter::largest;
use super::{check, check_end, logits, Filter};
use crate::error::Error;
use crate::memory::{reserved, zeroed};
use crate::model::{Given, Transformer};
use crate::num::random::{Choice, RandomStream};
use crate::num::{DType, Float};
use crate::trace::{Changes, Trace};
use alloc::vec::Vec;

/// How a prompt is continued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// How many tokens are written at most.
    pub max_new_tokens: usize,
    /// Whether the most probable token is taken, and nothing drawn.
    pub greedy: bool,
    /// What is done to a distribution before.
    pub filter: Filter,
    /// The seed of the run's one stream, NumPy's `default_rng(seed)`.
    pub seed: u64,
    /// The token after which nothing is written.
    pub end: Option<u32>,
}

/// One token of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<F> {
    /// How many tokens of the whole were there before.
    pub context: usize,
    /// `softmax(logits / temperature)`, V.
    pub distribution: Vec<F>,
    /// The same after the filters, V.
    pub filtered: Vec<F>,
    /// The probability that the filters removed.
    pub removed_mass: F,
    /// The token.
    pub token: u32,
    /// Its probability after the filters.
    pub probability: F,
}

impl<F: Float> Transformer<F> {
    /// Continues a prompt; each step computes its new row alone and takes the others over.
    ///
    /// A token is drawn as `default_rng(seed).choice(V, p=filtered)` draws it: the first whose running sum, divided by the
    /// last, exceeds the draw. The run ends behind the end token, after `max_new_tokens`, or quietly where the context has
    /// grown to what the model can read: from a context of that length one more token is still written.
    ///
    /// # Errors
    /// As [`respond`](Self::respond); [`Error::ConfigConflict`] without a vocabulary or with an encoder,
    /// [`Error::InvalidOption`] for the filter, [`Error::TokenOutOfRange`] for the end token.
    ///
    /// ```
    /// # use glassformer::{config::Config, generate::{Filter, Run}, model::CausalLanguageModel};
    /// let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7)?;
    /// let run = Run { max_new_tokens: 5, greedy: false, filter: Filter::default(), seed: 0, end: Some(6) };
    /// let steps = model.transformer().generate(&[0, 1, 2], &run)?;
    /// let tokens: Vec<u32> = steps.iter().map(|step| step.token).collect();
    /// assert_eq!(tokens, [3, 1, 0, 0, 5]);
    /// # Ok::<(), glassformer::error::Error>(())
    /// ```
    pub fn generate(&self, ids: &[u32], run: &Run) -> Result<Vec<Step<F>>, Error> {
        let config = self.config();
        check(config)?;
        run.filter.check()?;
        check_end(config, run.end)?;
        let mut stream = RandomStream::numpy(run.seed);
        let mut context = reserved("the context", ids.len() as f64)?;
        context.extend_from_slice(ids);
        let mut steps = Vec::new();
        let mut earlier: Option<Trace<F>> = None;
        // A prompt that is too long, or empty, is refused also where nothing would be written.
        while steps.len() < run.max_new_tokens.max(1) {
            if !steps.is_empty() && context.len() > config.max_context {
                break;
            }
            let given = Given::Tokens { target: &context, source: &[] };
            let trace = match &earlier {
                None => self.respond_changed(given, Changes::default())?,
                Some(earlier) => self.respond_reusing(&context, &[], Changes::default(), earlier)?,
            };
            if run.max_new_tokens == 0 {
                break;
            }
            let step = next(trace.row(logits(config), context.len() - 1), context.len(), run, &mut stream)?;
            context.push(step.token);
            let is_end = run.end == Some(step.token);
            steps.push(step);
            earlier = Some(trace);
            if is_end {
                break;
            }
        }
        Ok(steps)
    }
}

/// The next token after scores.
fn next<F: Float>(
    scores: &[F],
    context: usize,
    run: &Run,
    stream: &mut RandomStream,
) -> Result<Step<F>, Error> {
    let mut distribution = zeroed("a distribution", scores.len() as f64)?;
    let mut filtered = zeroed("a distribution", scores.len() as f64)?;
    let removed_mass = run.filter.apply(scores, &mut distribution, &mut filtered);
    let token = if run.greedy {
        largest(&filtered)
    } else {
        let p: Vec<f64> = filtered.iter().map(|p| p.to_f64()).collect();
        let choice = match F::DTYPE {
            DType::Float64 => Choice::new(&p),
            DType::Float32 => Choice::of_float32(&p),
        };
        stream.choose(&choice?)
    };
    let probability = filtered[token];
    Ok(Step { context, distribution, filtered, removed_mass, token: token as u32, probability })
}
