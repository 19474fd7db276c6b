//! From named values to a configuration.

use super::given::Given;
use super::parts;
use super::value::{Options, Value};
use crate::config::{Config, Encoder, Expert, FeedForward, Init, Mask, Norm, Placement};
use crate::error::Error;
use crate::math::Activation;
use crate::num::DType;
use alloc::string::String;

/// The options that are read, in the order of the documentation.
pub(super) const NAMES: [&str; 37] = [
    "nVocab",
    "nSourceVocab",
    "nModel",
    "nHeads",
    "headWidth",
    "nKeyValueHeads",
    "nBlocks",
    "nEncoderBlocks",
    "nHidden",
    "maxContext",
    "dtype",
    "words",
    "sourceWords",
    "seed",
    "init",
    "branchScale",
    "norm",
    "normPlacement",
    "normAffine",
    "gainOffset",
    "epsilon",
    "finalNorm",
    "embeddingNorm",
    "embeddingScale",
    "residual",
    "parallel",
    "activation",
    "feedForward",
    "position",
    "rotary",
    "alibiSlopes",
    "mask",
    "window",
    "scoreScale",
    "scaleByLayer",
    "bias",
    "tiedHead",
];

/// The options that `entries` name, the rest filled in.
///
/// # Errors
/// [`Error::InvalidOption`], [`Error::ConfigConflict`].
pub fn parse(entries: &[(String, Value)]) -> Result<Options, Error> {
    let given = Given { path: "", entries };
    given.refuse_unknown(&NAMES)?;
    let n_vocab = given.size("nVocab")?.ok_or_else(|| given.required("nVocab"))?;
    let lesson = Config::new(n_vocab);
    let n_model = given.size("nModel")?.unwrap_or(lesson.n_model);
    let norm = given.choice("norm", Norm::ALL.iter().map(|x| (x.name(), *x)))?.unwrap_or(lesson.norm);
    let feed_forward = parts::feed_forward(&given)?;
    let activation = given
        .choice("activation", Activation::ALL.iter().map(|x| (x.name(), *x)))?
        .unwrap_or_else(|| usual_activation(&feed_forward));
    let placements = Placement::ALL.iter().map(|x| (x.name(), *x));
    let mut config = Config {
        n_model,
        n_heads: given.size("nHeads")?.unwrap_or(lesson.n_heads),
        head_width: given.size("headWidth")?,
        n_key_value_heads: given.size("nKeyValueHeads")?,
        n_blocks: given.size("nBlocks")?.unwrap_or(lesson.n_blocks),
        n_hidden: given.size("nHidden")?.unwrap_or(n_model.saturating_mul(2)),
        max_context: given.size("maxContext")?.unwrap_or(lesson.max_context),
        norm,
        norm_placement: given.choice("normPlacement", placements)?.unwrap_or(lesson.norm_placement),
        norm_affine: given.bool("normAffine")?.unwrap_or(lesson.norm_affine),
        gain_offset: given.number("gainOffset")?.unwrap_or(lesson.gain_offset),
        epsilon: given.number("epsilon")?.unwrap_or(lesson.epsilon),
        // Without norms there is no last one either, unless it is asked for, which is then refused.
        final_norm: given.bool("finalNorm")?.unwrap_or(norm != Norm::None),
        embedding_norm: given.bool("embeddingNorm")?.unwrap_or(lesson.embedding_norm),
        embedding_scale: given.number("embeddingScale")?.unwrap_or(lesson.embedding_scale),
        residual: given.bool("residual")?.unwrap_or(lesson.residual),
        parallel: given.bool("parallel")?.unwrap_or(lesson.parallel),
        activation,
        feed_forward,
        position: parts::position(&given)?,
        mask: given.choice("mask", Mask::ALL.iter().map(|x| (x.name(), *x)))?.unwrap_or(lesson.mask),
        window: given.size("window")?,
        score_scale: given.number("scoreScale")?,
        scale_by_layer: given.bool("scaleByLayer")?.unwrap_or(lesson.scale_by_layer),
        tied_head: given.bool("tiedHead")?.unwrap_or(lesson.tied_head),
        init: given.choice("init", Init::ALL.iter().map(|x| (x.name(), *x)))?.unwrap_or(lesson.init),
        branch_scale: given.number("branchScale")?.unwrap_or(lesson.branch_scale),
        encoder: encoder(&given, n_vocab)?,
        ..lesson
    };
    config.bias = parts::bias(&given, &config)?;
    config.validate()?;
    let dtypes = [DType::Float64, DType::Float32].into_iter().map(|t| (t.name(), t));
    let dtype = given.choice("dtype", dtypes)?.unwrap_or(DType::Float64);
    refuse_overflow(&given, &config, dtype)?;
    let source_vocabulary = config.encoder.as_ref().map_or(0, |encoder| encoder.n_vocab);
    Ok(Options {
        config,
        dtype,
        seed: given.seed()?,
        words: given.words("words", ("nVocab", n_vocab))?,
        source_words: given.words("sourceWords", ("nSourceVocab", source_vocabulary))?,
    })
}

/// Refuses a number that the element type does not hold: a pass would stop at some stage that only shows it.
fn refuse_overflow(given: &Given, config: &Config, dtype: DType) -> Result<(), Error> {
    let numbers = [
        ("scoreScale", config.score_scale()),
        ("embeddingScale", config.embedding_scale),
        ("gainOffset", config.gain_offset),
        ("epsilon", config.epsilon),
    ];
    match numbers.into_iter().find(|&(_, x)| dtype == DType::Float32 && !(x as f32).is_finite()) {
        None => Ok(()),
        Some((name, x)) => Err(given.refused(name, &Value::Number(x), "float32 does not hold it")),
    }
}

/// The activation that a feed-forward branch has where none is chosen.
fn usual_activation(feed_forward: &FeedForward) -> Activation {
    match feed_forward {
        FeedForward::Dense => Activation::Relu,
        FeedForward::Glu => Activation::Sigmoid,
        FeedForward::SwiGlu => Activation::Silu,
        FeedForward::GeGlu => Activation::Gelu,
        FeedForward::Experts(experts) if experts.expert == Expert::SwiGlu => Activation::Silu,
        FeedForward::Experts(_) => Activation::Relu,
    }
}

/// The encoder, where there is a number of its blocks.
fn encoder(given: &Given, n_vocab: usize) -> Result<Option<Encoder>, Error> {
    let Some(n_blocks) = given.size("nEncoderBlocks")? else {
        return match ["nSourceVocab", "sourceWords"].into_iter().find_map(|n| Some((n, given.get(n)?))) {
            None => Ok(None),
            Some((name, value)) => Err(given.refused(name, value, "only an encoder-decoder has a source")),
        };
    };
    Ok(Some(Encoder { n_vocab: given.size("nSourceVocab")?.unwrap_or(n_vocab), n_blocks }))
}
