//! From a configuration back to named values.

use super::parse::NAMES;
use super::value::Value;
use crate::config::{AttentionBias, Bias, Config, Experts, FeedForward, Position, Rotary};
use crate::math::{alibi_slopes, RotaryScaling};
use crate::num::DType;
use alloc::{string::ToString, vec, vec::Vec};

/// Every option of a model with its value, in the order of the documentation, but for seed and words. What a model has
/// no use for, such as the width of a window where there is none, is left out.
pub fn fill_in(config: &Config, dtype: DType) -> Vec<(&'static str, Value)> {
    NAMES.into_iter().filter_map(|name| Some((name, value(config, dtype, name)?))).collect()
}

fn number(x: usize) -> Value {
    Value::Number(x as f64)
}

fn text(x: &str) -> Value {
    Value::Text(x.into())
}

fn value(config: &Config, dtype: DType, name: &str) -> Option<Value> {
    Some(match name {
        "nVocab" => number(config.n_vocab),
        "nSourceVocab" => number(config.encoder.as_ref()?.n_vocab),
        "nModel" => number(config.n_model),
        "nHeads" => number(config.n_heads),
        "headWidth" => number(config.head_width()),
        "nKeyValueHeads" => number(config.n_key_value_heads()),
        "nBlocks" => number(config.n_blocks),
        "nEncoderBlocks" => number(config.encoder.as_ref()?.n_blocks),
        "nHidden" => number(config.n_hidden),
        "maxContext" => number(config.max_context),
        "dtype" => text(dtype.name()),
        "init" => text(config.init.name()),
        "branchScale" => Value::Number(config.branch_scale),
        "norm" => text(config.norm.name()),
        "normPlacement" => text(config.norm_placement.name()),
        "normAffine" => Value::Bool(config.norm_affine),
        "gainOffset" => Value::Number(config.gain_offset),
        "epsilon" => Value::Number(config.epsilon),
        "finalNorm" => Value::Bool(config.final_norm),
        "embeddingNorm" => Value::Bool(config.embedding_norm),
        "embeddingScale" => Value::Number(config.embedding_scale),
        "residual" => Value::Bool(config.residual),
        "parallel" => Value::Bool(config.parallel),
        "activation" => text(config.activation.name()),
        "feedForward" => match &config.feed_forward {
            FeedForward::Experts(experts) => experts_value(experts),
            other => text(other.name()),
        },
        "position" => text(config.position.name()),
        "rotary" => match &config.position {
            Position::Rotary(rotary) => rotary_value(config, rotary),
            _ => return None,
        },
        "alibiSlopes" => match &config.position {
            Position::Alibi(slopes) => {
                let slopes = slopes.clone().unwrap_or_else(|| alibi_slopes(config.n_heads));
                Value::List(slopes.into_iter().map(Value::Number).collect())
            }
            _ => return None,
        },
        "mask" => text(config.mask.name()),
        "window" => number(config.window?),
        "scoreScale" => Value::Number(config.score_scale()),
        "scaleByLayer" => Value::Bool(config.scale_by_layer),
        "bias" => bias_value(config.bias),
        "tiedHead" => Value::Bool(config.tied_head),
        _ => return None,
    })
}

fn object(entries: Vec<(&str, Option<Value>)>) -> Value {
    let there = entries.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
    Value::Object(there.collect())
}

fn experts_value(experts: &Experts) -> Value {
    object(vec![
        ("experts", Some(number(experts.experts))),
        ("selected", Some(number(experts.selected))),
        ("expert", Some(text(experts.expert.name()))),
        ("renormalize", Some(Value::Bool(experts.renormalize))),
        ("capacity", experts.capacity.map(number)),
        ("overflow", Some(text(experts.overflow.name()))),
        ("noise", Some(Value::Number(experts.noise))),
        ("noiseSeed", Some(Value::Number(experts.noise_seed as f64))),
    ])
}

fn rotary_value(config: &Config, rotary: &Rotary) -> Value {
    let scaling = rotary.scaling.as_ref().map(|scaling| match *scaling {
        RotaryScaling::Linear { factor } => {
            object(vec![("kind", Some(text("linear"))), ("factor", Some(Value::Number(factor)))])
        }
        RotaryScaling::Llama3 { factor, low_frequency_factor, high_frequency_factor, original_context } => {
            object(vec![
                ("kind", Some(text("llama3"))),
                ("factor", Some(Value::Number(factor))),
                ("lowFrequencyFactor", Some(Value::Number(low_frequency_factor))),
                ("highFrequencyFactor", Some(Value::Number(high_frequency_factor))),
                ("originalContext", Some(Value::Number(original_context))),
            ])
        }
    });
    object(vec![
        ("base", Some(Value::Number(rotary.base))),
        ("pairing", Some(text(rotary.pairing.name()))),
        ("width", Some(number(config.rotary_width()))),
        ("scaling", scaling),
    ])
}

/// `false` for none, as the lessons' models have it.
fn bias_value(bias: Bias) -> Value {
    if bias == Bias::NONE {
        return Value::Bool(false);
    }
    let attention = match bias.attention {
        AttentionBias::None => Value::Bool(false),
        AttentionBias::Qkv => text("qkv"),
        AttentionBias::All => Value::Bool(true),
    };
    object(vec![
        ("attention", Some(attention)),
        ("feedForward", Some(Value::Bool(bias.feed_forward))),
        ("norm", Some(Value::Bool(bias.norm))),
        ("head", Some(Value::Bool(bias.head))),
    ])
}
