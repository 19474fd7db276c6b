//! How probable a continuation is.

use super::{check, logits};
use crate::error::Error;
use crate::math::log_softmax;
use crate::memory::zeroed;
use crate::model::{Given, Transformer};
use crate::num::Float;
use crate::stage::Tower;
use crate::trace::Changes;
use alloc::vec::Vec;

impl<F: Float> Transformer<F> {
    /// The log-probability of `ids[from..]` after `ids[..from]`: the sum, in float64, of each token's log-probability after
    /// those before it (the chain rule). One pass reads all but the last; in a model without a causal mask, whose rows would
    /// see the tokens that they are asked about, each beginning is read by itself, as [`generate`](Self::generate) reads it.
    ///
    /// # Errors
    /// As [`respond`](Self::respond) for the tokens but the last; [`Error::ConfigConflict`] without a vocabulary or with an
    /// encoder; [`Error::TokenOutOfRange`]; [`Error::IndexOutOfRange`] for a `from` outside `1..ids.len()`.
    pub fn sequence_log_probability(&self, ids: &[u32], from: usize) -> Result<f64, Error> {
        let config = self.config();
        check(config)?;
        if ids.is_empty() {
            return Err(Error::EmptyPrompt);
        }
        if let Some(position) = ids.iter().position(|&id| id as usize >= config.n_vocab) {
            let (id, vocabulary) = (f64::from(ids[position]), config.n_vocab);
            return Err(Error::TokenOutOfRange { position, id, vocabulary });
        }
        if from == 0 || from >= ids.len() {
            let (what, size) = ("from (1 is the second token)".into(), ids.len());
            return Err(Error::IndexOutOfRange { what, index: from as f64, size });
        }
        let read = |count: usize| {
            let given = Given::Tokens { target: &ids[..count], source: &[] };
            self.respond_changed(given, Changes::default())
        };
        let mut trace = read(ids.len() - 1)?;
        let looks_ahead = !config.is_causal(Tower::Only);
        let mut logs: Vec<F> = zeroed("a distribution", config.n_vocab as f64)?;
        let mut sum = 0.0;
        for (position, &id) in ids.iter().enumerate().skip(from) {
            if looks_ahead {
                trace = read(position)?;
            }
            log_softmax(trace.row(logits(config), position - 1), &mut logs);
            sum += logs[id as usize].to_f64();
        }
        Ok(sum)
    }
}
