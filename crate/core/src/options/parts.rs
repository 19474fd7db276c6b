//! Options that have options of their own.

use super::given::{disagree, Given};
use super::value::Value;
use crate::config::{AttentionBias, Bias, Config, Expert, Experts, FeedForward, Position, Rotary};
use crate::error::Error;
use crate::math::{Overflow, Pairing, RotaryScaling};
use alloc::format;

const FEED_FORWARDS: [&str; 4] = ["dense", "glu", "swiglu", "geglu"];
const EXPERTS: [&str; 8] =
    ["experts", "selected", "expert", "renormalize", "capacity", "overflow", "noise", "noiseSeed"];
const POSITIONS: [&str; 5] = ["sinusoidal", "learned", "rotary", "alibi", "none"];
const ROTARY: [&str; 4] = ["base", "pairing", "width", "scaling"];
const SCALING: [&str; 5] = ["kind", "factor", "lowFrequencyFactor", "highFrequencyFactor", "originalContext"];
const BIAS: [&str; 4] = ["attention", "feedForward", "norm", "head"];

/// What stands in the feed-forward branch: a name, or the options of a mixture of experts.
pub(super) fn feed_forward(given: &Given) -> Result<FeedForward, Error> {
    let Some(Value::Object(entries)) = given.get("feedForward") else {
        let named = given.choice("feedForward", FEED_FORWARDS.into_iter().map(|name| (name, name)))?;
        return Ok(match named {
            Some("glu") => FeedForward::Glu,
            Some("swiglu") => FeedForward::SwiGlu,
            Some("geglu") => FeedForward::GeGlu,
            _ => FeedForward::Dense,
        });
    };
    let own = Given { path: "feedForward.", entries };
    own.refuse_unknown(&EXPERTS)?;
    let size = |name| own.size(name)?.ok_or_else(|| own.required(name));
    let usual = Experts::new(size("experts")?, size("selected")?);
    Ok(FeedForward::Experts(Experts {
        expert: own.choice("expert", Expert::ALL.iter().map(|x| (x.name(), *x)))?.unwrap_or(usual.expert),
        renormalize: own.bool("renormalize")?.unwrap_or(usual.renormalize),
        capacity: own.size("capacity")?,
        overflow: own
            .choice("overflow", Overflow::ALL.iter().map(|x| (x.name(), *x)))?
            .unwrap_or(usual.overflow),
        noise: own.number("noise")?.unwrap_or(usual.noise),
        noise_seed: noise_seed(&own)?.unwrap_or(usual.noise_seed),
        ..usual
    }))
}

/// A seed that a float holds exactly, because options give it back as one.
fn noise_seed(own: &Given) -> Result<Option<u64>, Error> {
    match (own.big("noiseSeed"), own.get("noiseSeed")) {
        (Ok(seed), _) if seed.is_none_or(|seed| seed < 1 << 53) => Ok(seed),
        (_, Some(value)) => {
            Err(own.refused("noiseSeed", value, "it must be a whole number from 0 to 2^53-1"))
        }
        (refusal, None) => refusal,
    }
}

/// What tells positions apart, with the options of its kind.
pub(super) fn position(given: &Given) -> Result<Position, Error> {
    let named = given.choice("position", POSITIONS.into_iter().map(|name| (name, name)))?;
    let name = named.unwrap_or("sinusoidal");
    for (option, kind) in [("rotary", "rotary"), ("alibiSlopes", "alibi")] {
        if given.get(option).is_some() && name != kind {
            let reason =
                format!("{option} says more about the position {kind:?}, and the position is {name:?}");
            return Err(disagree([(option, "given".into()), ("position", name.into())], reason));
        }
    }
    Ok(match name {
        "learned" => Position::Learned,
        "rotary" => Position::Rotary(rotary(given)?),
        "alibi" => Position::Alibi(given.numbers("alibiSlopes")?),
        "none" => Position::None,
        _ => Position::Sinusoidal,
    })
}

fn rotary(given: &Given) -> Result<Rotary, Error> {
    let usual = Rotary::default();
    let entries = match given.get("rotary") {
        None => return Ok(usual),
        Some(Value::Object(entries)) => entries,
        Some(value) => return Err(given.refused("rotary", value, "it must be an object of options")),
    };
    let own = Given { path: "rotary.", entries };
    own.refuse_unknown(&ROTARY)?;
    Ok(Rotary {
        base: own.number("base")?.unwrap_or(usual.base),
        pairing: own.choice("pairing", Pairing::ALL.iter().map(|x| (x.name(), *x)))?.unwrap_or(usual.pairing),
        width: own.size("width")?,
        scaling: scaling(&own)?,
    })
}

fn scaling(rotary: &Given) -> Result<Option<RotaryScaling>, Error> {
    let entries = match rotary.get("scaling") {
        None => return Ok(None),
        Some(Value::Object(entries)) => entries,
        Some(value) => return Err(rotary.refused("scaling", value, "it must be an object of options")),
    };
    let own = Given { path: "rotary.scaling.", entries };
    own.refuse_unknown(&SCALING)?;
    let number = |name| own.number(name)?.ok_or_else(|| own.required(name));
    let kind = own.choice("kind", ["linear", "llama3"].into_iter().map(|name| (name, name)))?;
    let factor = number("factor")?;
    match kind {
        None => Err(own.required("kind")),
        Some("linear") => {
            own.refuse_unknown(&SCALING[..2])?;
            Ok(Some(RotaryScaling::Linear { factor }))
        }
        Some(_) => Ok(Some(RotaryScaling::Llama3 {
            factor,
            low_frequency_factor: number("lowFrequencyFactor")?,
            high_frequency_factor: number("highFrequencyFactor")?,
            original_context: number("originalContext")?,
        })),
    }
}

/// Which layers have a bias, of a model that is chosen otherwise.
pub(super) fn bias(given: &Given, config: &Config) -> Result<Bias, Error> {
    let entries = match given.get("bias") {
        None | Some(Value::Bool(false)) => return Ok(Bias::NONE),
        Some(Value::Bool(true)) => return Ok(Bias::all(config)),
        Some(Value::Object(entries)) => entries,
        Some(value) => {
            let reason = "it must be true, false or an object of attention, feedForward, norm and head";
            return Err(given.refused("bias", value, reason));
        }
    };
    let own = Given { path: "bias.", entries };
    own.refuse_unknown(&BIAS)?;
    let attention = match own.get("attention") {
        None | Some(Value::Bool(false)) => AttentionBias::None,
        Some(Value::Bool(true)) => AttentionBias::All,
        Some(Value::Text(text)) if text == "qkv" => AttentionBias::Qkv,
        Some(value) => return Err(own.refused("attention", value, "it must be true, false or \"qkv\"")),
    };
    Ok(Bias {
        attention,
        feed_forward: own.bool("feedForward")?.unwrap_or(false),
        norm: own.bool("norm")?.unwrap_or(false),
        head: own.bool("head")?.unwrap_or(false),
    })
}
