//! Beam search: several continuations side by side, of which the best are kept (Graves 2012, arXiv:1211.3711; with the
//! length penalty of Wu et al. 2016, arXiv:1609.08144, in its plain form).

use super::{check, check_end, logits, refused};
use crate::error::Error;
use crate::math::log_softmax;
use crate::memory::{reserved, zeroed};
use crate::model::{Given, Transformer};
use crate::num::float::pow;
use crate::num::Float;
use crate::trace::{Changes, Trace};
use alloc::{vec, vec::Vec};
use core::cmp::Ordering;

/// How beams are searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beams {
    /// How many continuations are kept.
    pub width: usize,
    /// How many tokens each has at most.
    pub max_new_tokens: usize,
    /// The token that finishes a continuation.
    pub end: Option<u32>,
    /// A continuation's score is its log-probability divided by its length to this power; 0 leaves it as it is.
    pub length_penalty: f64,
}

/// One continuation.
#[derive(Clone, Debug, PartialEq)]
pub struct Beam {
    /// Its tokens, the end token included.
    pub tokens: Vec<u32>,
    /// The sum of their log-probabilities, in float64.
    pub log_probability: f64,
    /// What it is ranked by.
    pub score: f64,
}

/// A continuation on its way: with the trace of its context, until it is finished.
struct Path<F> {
    beam: Beam,
    trace: Option<Trace<F>>,
}

impl<F: Float> Transformer<F> {
    /// The best continuations that a search of this width finds, best first.
    ///
    /// In each step every unfinished continuation is tried with every token; of all, and the finished ones, the `width` best
    /// scores are kept, of equal ones the first by its tokens. Once the width reaches V^(n−1) nothing is lost and the result
    /// is that of an exhaustive search; a narrower one can miss the best. A search ends quietly where contexts have grown to
    /// what the model can read.
    ///
    /// # Errors
    /// As [`generate`](Self::generate); [`Error::InvalidOption`] for a width of 0, or a penalty that is no finite
    /// number or to which the longest length has no power above 0.
    pub fn beams(&self, ids: &[u32], search: &Beams) -> Result<Vec<Beam>, Error> {
        let config = self.config();
        check(config)?;
        check_end(config, search.end)?;
        let room = config.max_context.saturating_sub(ids.len()).saturating_add(1);
        let most = search.max_new_tokens.min(room);
        search.check(most)?;
        let given = Given::Tokens { target: ids, source: &[] };
        let trace = Some(self.respond_changed(given, Changes::default())?);
        let beam = Beam { tokens: Vec::new(), log_probability: 0.0, score: 0.0 };
        let mut paths = vec![Path { beam, trace }];
        for step in 0..most {
            if step > 0 {
                self.read_on(ids, &mut paths)?;
            }
            let candidates = self.candidates(&paths, search)?;
            if candidates.iter().all(|(_, beam)| beam.is_none()) {
                break;
            }
            let next = candidates.into_iter().map(|(from, beam)| match beam {
                None => Path { beam: paths[from].beam.clone(), trace: None },
                Some(beam) => {
                    let is_end = search.end.is_some() && beam.tokens.last().copied() == search.end;
                    let trace = if is_end { None } else { paths[from].trace.clone() };
                    Path { beam, trace }
                }
            });
            paths = next.collect();
        }
        if search.max_new_tokens == 0 {
            return Ok(Vec::new());
        }
        Ok(paths.into_iter().map(|path| path.beam).collect())
    }

    /// Reads the last token of each unfinished continuation.
    fn read_on(&self, ids: &[u32], paths: &mut [Path<F>]) -> Result<(), Error> {
        for path in paths {
            if let Some(earlier) = path.trace.take() {
                let mut context = reserved("the context", ids.len() as f64 + path.beam.tokens.len() as f64)?;
                context.extend_from_slice(ids);
                context.extend_from_slice(&path.beam.tokens);
                path.trace = Some(self.respond_reusing(&context, &[], Changes::default(), &earlier)?);
            }
        }
        Ok(())
    }

    /// The best next continuations, each with the path that it comes from; without a beam where that path is finished.
    fn candidates(&self, paths: &[Path<F>], search: &Beams) -> Result<Vec<(usize, Option<Beam>)>, Error> {
        let vocabulary = self.config().n_vocab;
        // Score, log-probability, path, token.
        let most = paths.len() as f64 * vocabulary as f64;
        let mut all: Vec<(f64, f64, usize, Option<u32>)> = reserved("the candidates", most)?;
        let mut logs: Vec<F> = zeroed("a distribution", vocabulary as f64)?;
        for (from, path) in paths.iter().enumerate() {
            let Some(trace) = &path.trace else {
                all.push((path.beam.score, path.beam.log_probability, from, None));
                continue;
            };
            log_softmax(trace.row(logits(self.config()), trace.rows() - 1), &mut logs);
            let length = path.beam.tokens.len() as f64 + 1.0;
            let divisor = pow(length, search.length_penalty);
            for (token, log) in logs.iter().enumerate() {
                let sum = path.beam.log_probability + log.to_f64();
                all.push((sum / divisor, sum, from, Some(token as u32)));
            }
        }
        let tokens = |&(_, _, from, token): &(f64, f64, usize, Option<u32>)| {
            paths[from].beam.tokens.iter().copied().chain(token)
        };
        all.sort_by(|a, b| {
            let by_score = b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal);
            by_score.then_with(|| tokens(a).cmp(tokens(b)))
        });
        all.truncate(search.width);
        let beam = |(score, log_probability, from, token): (f64, f64, usize, Option<u32>)| {
            let beam = token.map(|token| {
                let mut tokens = paths[from].beam.tokens.clone();
                tokens.push(token);
                Beam { tokens, log_probability, score }
            });
            (from, beam)
        };
        Ok(all.into_iter().map(beam).collect())
    }
}

impl Beams {
    fn check(&self, most: usize) -> Result<(), Error> {
        if self.width == 0 {
            return refused("width", 0.0, "at least one continuation must be kept");
        }
        if !self.length_penalty.is_finite() {
            return refused("lengthPenalty", self.length_penalty, "it must be a finite number");
        }
        // Scores over infinity are all alike, and 0 over 0 has no rank.
        let divisor = pow(most.max(1) as f64, self.length_penalty);
        if !(divisor.is_finite() && divisor > 0.0) {
            let reason = "the number of new tokens to this power must be a finite number above 0";
            return refused("lengthPenalty", self.length_penalty, reason);
        }
        Ok(())
    }
}
