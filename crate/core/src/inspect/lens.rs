//! What the head would make of the stream on its way (nostalgebraist 2020, "interpreting GPT: the logit lens"), and what each
//! part of the stream adds to a logit (direct logit attribution, Elhage et al. 2021).

use crate::error::Error;
use crate::layer::head;
use crate::memory::{reserved, zeroed};
use crate::model::Transformer;
use crate::num::{dot, Float};
use crate::params::Role;
use crate::stage::{Kind, Stage, Tower};
use crate::trace::Trace;
use alloc::{string::String, vec, vec::Vec};

/// What each part of the stream adds to a logit.
#[derive(Clone, Debug, PartialEq)]
pub struct LogitContributions<F> {
    /// Each part's name and share.
    pub parts: Vec<(String, F)>,
    /// What no part of the stream adds: the last norm's bias through the head, and the head's bias.
    pub constant: F,
    /// The logit itself, or the difference of two.
    pub logit: F,
    /// The shares and the constant, summed, minus the logit: rounding.
    pub check: F,
}

impl<F: Float> Transformer<F> {
    /// The logits that the head would make of the stream as it enters the first block and as it leaves each: T,V, with the
    /// last norm recomputed for each, or with `is_frozen` divided by what it divides the last stream by.
    ///
    /// # Errors
    /// [`Error::ConfigConflict`] without a vocabulary or in an encoder; [`Error::OutOfMemory`].
    pub fn logit_lens(&self, trace: &Trace<F>, is_frozen: bool) -> Result<Vec<(Stage, Vec<F>)>, Error> {
        self.check_own(trace)?;
        self.check_head()?;
        let (tower, config) = (self.last_tower(), self.config());
        let blocks = config.blocks_of(tower);
        let context = self.context(&trace.changes().masks, tower, blocks);
        let last = trace.get(&Stage::of(tower, Kind::Hidden, blocks - 1).name())?;
        let mut streams = vec![Stage::of(tower, Kind::Positioned, 0)];
        streams.extend((0..blocks).map(|block| Stage::of(tower, Kind::Hidden, block)));
        let mut out = Vec::new();
        for stage in streams {
            let rows = trace.get(&stage.name())?;
            let cells = rows.data();
            let mut read: Vec<F> = zeroed("the lens", cells.len() as f64)?;
            if !config.final_norm {
                read.copy_from_slice(cells);
            } else if is_frozen {
                let pairs = cells.chunks_exact(config.n_model).zip(last.data().chunks_exact(config.n_model));
                for ((row, reference), read) in pairs.zip(read.chunks_exact_mut(config.n_model)) {
                    context.frozen(reference).apply(row, read);
                    context.affine([Role::FinalGain, Role::FinalNormBias]).apply(read);
                }
            } else {
                context.normalize([Role::FinalGain, Role::FinalNormBias], cells, &mut read);
            }
            let count = cells.len() / config.n_model * config.n_vocab;
            let mut logits = zeroed("the lens", count as f64)?;
            head::logits(&context, &read, &mut logits);
            out.push((stage, logits));
        }
        Ok(out)
    }

    /// What each part of the stream adds to the logit of a token at a position, or with `against` to how far it is above
    /// another's. The last norm's division is taken as it is there (its scale frozen), so that shares add up.
    ///
    /// # Errors
    /// As [`residual_parts`](Self::residual_parts) and [`logit_lens`](Self::logit_lens); [`Error::IndexOutOfRange`],
    /// [`Error::TokenOutOfRange`].
    pub fn logit_contributions(
        &self,
        trace: &Trace<F>,
        position: usize,
        id: u32,
        against: Option<u32>,
    ) -> Result<LogitContributions<F>, Error> {
        self.check_own(trace)?;
        self.check_head()?;
        let (tower, config) = (self.last_tower(), self.config());
        let (width, blocks) = (config.n_model, config.blocks_of(tower));
        if position >= trace.rows() {
            let (what, index) = ("position".into(), position as f64);
            return Err(Error::IndexOutOfRange { what, index, size: trace.rows() });
        }
        for token in [Some(id), against].into_iter().flatten() {
            if token as usize >= config.n_vocab {
                let id = f64::from(token);
                return Err(Error::TokenOutOfRange { position, id, vocabulary: config.n_vocab });
            }
        }
        let context = self.context(&trace.changes().masks, tower, blocks);
        let direction = self.direction(tower, id, against)?;
        let reference = trace.row(Stage::of(tower, Kind::Hidden, blocks - 1), position);
        let frozen = config.final_norm.then(|| context.frozen(reference));
        let affine = context.affine([Role::FinalGain, Role::FinalNormBias]);
        let mut read = zeroed("a part's row", width as f64)?;
        let mut share = |row: &[F]| {
            match &frozen {
                None => read.copy_from_slice(row),
                Some(frozen) => {
                    frozen.apply(row, &mut read);
                    affine.gained(&mut read);
                }
            }
            dot(&read, &direction)
        };
        let parts = self.residual_parts(trace, true)?;
        let parts: Vec<(String, F)> = parts
            .into_iter()
            .map(|part| {
                let value = share(&part.values[position * width..][..width]);
                (part.name, value)
            })
            .collect();
        let weights = context.weights();
        let bias_of = |id: u32| weights.vector(Role::HeadBias).map_or(F::ZERO, |bias| bias[id as usize]);
        let shifted = match weights.vector(Role::FinalNormBias).filter(|_| config.final_norm) {
            Some(bias) => dot(bias, &direction),
            None => F::ZERO,
        };
        let constant = shifted + (bias_of(id) - against.map_or(F::ZERO, bias_of));
        let logits = trace.row(Stage::of(tower, Kind::Logits, blocks), position);
        let logit = logits[id as usize] - against.map_or(F::ZERO, |other| logits[other as usize]);
        let sum = parts.iter().fold(constant, |sum, (_, value)| sum + *value);
        Ok(LogitContributions { parts, constant, logit, check: sum - logit })
    }

    /// The column of the head that makes a logit, less another's.
    fn direction(&self, tower: Tower, id: u32, against: Option<u32>) -> Result<Vec<F>, Error> {
        let (width, vocabulary) = (self.config().n_model, self.config().n_vocab);
        let weights = self.parameters().weights(tower, 0);
        let entry = |d: usize, id: u32| match weights.vector(Role::Head) {
            Some(head) => head[d * vocabulary + id as usize],
            None => weights.matrix(Role::Embedding)[id as usize * width + d],
        };
        let mut out = reserved("the head's column", width as f64)?;
        out.extend((0..width).map(|d| match against {
            None => entry(d, id),
            Some(other) => entry(d, id) - entry(d, other),
        }));
        Ok(out)
    }

    fn check_head(&self) -> Result<(), Error> {
        if self.config().n_vocab > 0 {
            return Ok(());
        }
        Err(Error::ConfigConflict {
            options: vec![("nVocab".into(), "0".into()), ("logits".into(), "asked".into())],
            reason: "a bare stack of blocks has no vocabulary, and so no logits".into(),
        })
    }
}
