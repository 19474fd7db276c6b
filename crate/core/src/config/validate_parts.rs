//! Which choices about the feed-forward branch and about positions can stand.

use super::validate::{conflict, invalid};
use super::{Config, Expert, Experts, FeedForward, Position, Rotary};
use crate::error::Error;
use crate::math::{Activation, Overflow, RotaryScaling};
use alloc::{format, string::ToString};

impl Config {
    pub(super) fn check_feed_forward(&self) -> Result<(), Error> {
        let fits = match &self.feed_forward {
            FeedForward::Dense | FeedForward::Glu => true,
            FeedForward::SwiGlu => self.activation == Activation::Silu,
            FeedForward::GeGlu => matches!(
                self.activation,
                Activation::Gelu | Activation::GeluTanh | Activation::GeluBloom | Activation::QuickGelu
            ),
            FeedForward::Experts(experts) => {
                experts.expert == Expert::Dense || self.activation == Activation::Silu
            }
        };
        if !fits {
            let kind = match &self.feed_forward {
                FeedForward::Experts(_) => "a swiglu expert",
                other => other.name(),
            };
            let reason = format!(
                "the gate of {kind} is not {}; feedForward \"glu\" takes any activation",
                self.activation.name()
            );
            return Err(conflict(
                [("activation", self.activation.name().into()), ("feedForward", kind.into())],
                reason,
            ));
        }
        match &self.feed_forward {
            FeedForward::Experts(experts) => check_experts(experts),
            _ => Ok(()),
        }
    }

    pub(super) fn check_position(&self) -> Result<(), Error> {
        match &self.position {
            Position::Rotary(rotary) => self.check_rotary(rotary),
            Position::Alibi(Some(slopes)) => {
                if slopes.len() != self.n_heads {
                    let reason = format!("{} slopes for {} heads", slopes.len(), self.n_heads);
                    let options = [
                        ("alibiSlopes", (slopes.len() as f64).into()),
                        ("nHeads", (self.n_heads as f64).into()),
                    ];
                    return Err(conflict(options, reason));
                }
                match slopes.iter().find(|slope| !slope.is_finite()) {
                    Some(&slope) => Err(invalid("alibiSlopes", slope, "every slope must be a finite number")),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn check_rotary(&self, rotary: &Rotary) -> Result<(), Error> {
        if !(rotary.base.is_finite() && rotary.base > 0.0) {
            return Err(invalid("rotary.base", rotary.base, "it must be a finite number above 0"));
        }
        let (width, head) = (self.rotary_width(), self.head_width());
        let options = [("rotary.width", (width as f64).into()), ("headWidth", (head as f64).into())];
        if width == 0 || width > head {
            let reason = format!("{width} turning coordinates in a head of width {head}");
            return Err(conflict(options, reason));
        }
        if !width.is_multiple_of(2) {
            let reason = format!("coordinates turn in pairs, and {width} is odd");
            return Err(conflict(options, reason));
        }
        let above_zero = |option, number: f64| {
            if number.is_finite() && number > 0.0 {
                Ok(())
            } else {
                Err(invalid(option, number, "it must be a finite number above 0"))
            }
        };
        match &rotary.scaling {
            None => Ok(()),
            Some(RotaryScaling::Linear { factor }) => above_zero("rotary.scaling.factor", *factor),
            Some(RotaryScaling::Llama3 {
                factor,
                low_frequency_factor: low,
                high_frequency_factor: high,
                original_context,
            }) => {
                above_zero("rotary.scaling.factor", *factor)?;
                above_zero("rotary.scaling.lowFrequencyFactor", *low)?;
                above_zero("rotary.scaling.highFrequencyFactor", *high)?;
                above_zero("rotary.scaling.originalContext", *original_context)?;
                if high > low {
                    return Ok(());
                }
                let options = [
                    ("rotary.scaling.highFrequencyFactor", (*high).into()),
                    ("rotary.scaling.lowFrequencyFactor", (*low).into()),
                ];
                Err(conflict(options, format!("{high} must be above {low}")))
            }
        }
    }
}

fn check_experts(experts: &Experts) -> Result<(), Error> {
    let Experts { experts: count, selected, capacity, overflow, noise, noise_seed, .. } = experts;
    let sizes = [
        ("feedForward.experts", *count),
        ("feedForward.selected", *selected),
        ("feedForward.capacity", capacity.unwrap_or(1)),
    ];
    for (option, size) in sizes {
        if size == 0 {
            return Err(invalid(option, 0.0, "it must be at least 1"));
        }
    }
    if *count > Config::MOST_EXPERTS {
        let reason = format!("it must be at most {}", Config::MOST_EXPERTS);
        return Err(invalid("feedForward.experts", *count as f64, &reason));
    }
    if selected > count {
        let reason = format!("a row cannot take {selected} of {count} experts");
        let options = [
            ("feedForward.selected", (*selected as f64).into()),
            ("feedForward.experts", (*count as f64).into()),
        ];
        return Err(conflict(options, reason));
    }
    if capacity.is_none() && *overflow != Overflow::Drop {
        let reason = "without a capacity no expert is ever full".to_string();
        let options =
            [("feedForward.overflow", overflow.name().into()), ("feedForward.capacity", "none".into())];
        return Err(conflict(options, reason));
    }
    if !(noise.is_finite() && *noise >= 0.0) {
        return Err(invalid("feedForward.noise", *noise, "it must be a finite number, 0 or more"));
    }
    if *noise_seed != 0 && *noise == 0.0 {
        let reason = "without noise nothing is drawn from a seed".to_string();
        let options =
            [("feedForward.noiseSeed", (*noise_seed as f64).into()), ("feedForward.noise", 0.0.into())];
        return Err(conflict(options, reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_rotary_width_is_a_conflict() {
        let position = Position::Rotary(Rotary { width: Some(1), ..Rotary::default() });
        let error = Config { position, ..Config::new(7) }.validate().unwrap_err();
        assert_eq!(
            error.to_string(),
            "options rotary.width and headWidth disagree: coordinates turn in pairs, and 1 is odd"
        );
    }
}
