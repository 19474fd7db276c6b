//! What a stage's declared texts may ask of the pass they stand in.

use super::formula::Facts;
use crate::config::{Norm, Position};
use crate::math::{Overflow, Pairing, RotaryScaling};
use crate::stage::{Input, Kind, Stage, Tower};
use crate::trace::Plan;
use alloc::{
    format,
    string::{String, ToString},
};

/// What a stage's texts may ask.
pub(super) struct Says<'a> {
    pub plan: &'a Plan,
    pub stage: Stage,
}

impl Facts for Says<'_> {
    fn has(&self, name: &str) -> bool {
        let (config, tower) = (self.plan.config(), self.stage.tower);
        let experts = config.feed_forward.experts();
        match name {
            "residual" => config.residual,
            "adds" => config.residual || config.parallel,
            "parallel" => config.parallel,
            "gated" => config.feed_forward.is_gated(),
            "grouped" => config.n_key_value_heads() < config.n_heads,
            "alibi" => matches!(config.position, Position::Alibi(_)),
            "learned" => config.position == Position::Learned,
            "causal" => config.is_causal(tower),
            "tied" => config.tied_head,
            "scale" => config.embedding_scale != 1.0,
            "head" => config.n_vocab > 0 && tower != Tower::Encoder,
            "renormalize" => experts.is_some_and(|e| e.renormalize),
            "drops" => experts.is_some_and(|e| e.capacity.is_some() && e.overflow == Overflow::Drop),
            "capacity" => experts.is_some_and(|e| e.capacity.is_some()),
            _ => self.has_stage(name) || self.plan.has_parameter(tower, name),
        }
    }

    fn text(&self, name: &str) -> String {
        let config = self.plan.config();
        let experts = config.feed_forward.experts();
        let stream = || match self.plan.source(self.stage, &Input::Stream) {
            Some(stage) if stage.kind != Kind::Positioned => format!(", x = {}", stage.name()),
            _ => String::new(),
        };
        match name {
            "NORMED" => {
                let normed = match config.norm {
                    Norm::Rms => "divided by the root of its mean square",
                    _ => "brought to mean 0 and variance 1",
                };
                let gained = if config.has_gain() { ", times a gain for each coordinate" } else { "" };
                let shifted = if config.has_norm_bias() { ", plus a bias" } else { "" };
                format!("{normed}{gained}{shifted}")
            }
            "SCALE" => config.embedding_scale.to_string(),
            "EMBEDDED" => match (config.embedding_norm, config.embedding_scale) {
                (true, _) => "ē".to_string(),
                (false, 1.0) => "e".to_string(),
                (false, scale) => format!("{scale} · e"),
            },
            "POSITIONED" => {
                if self.has("position") && self.has_stage("position") {
                    "Token plus position: what enters the first block.".to_string()
                } else {
                    "What enters the first block: the token alone.".to_string()
                }
            }
            "STREAM" => self.plan.source(self.stage, &Input::HeadInput).map_or(String::new(), Stage::name),
            "X" => stream(),
            "MU" => match self.plan.source(self.stage, &Input::Memory) {
                Some(memory) if memory.kind != Kind::Memory => format!(", μ = {}", memory.name()),
                _ => String::new(),
            },
            "MIDDLE" if config.parallel => "x".to_string(),
            "MIDDLE" | "MID" => if self.stage.tower == Tower::Decoder { "w" } else { "y" }.to_string(),
            "GROUP" => (config.n_heads / config.n_key_value_heads()).to_string(),
            "ACTIVATION" => config.activation.formula().to_string(),
            "ANGLE" => angle(config.rotary_width(), &config.position, "t"),
            "KEY_ANGLE" => angle(config.rotary_width(), &config.position, "s"),
            "MASK" => self.visible(),
            "RANGE" => match (config.is_causal(self.stage.tower), config.window) {
                (true, None) => "{s ≤ t}".to_string(),
                (true, Some(window)) => format!("{{t − {window} < s ≤ t}}"),
                (false, None) => "s".to_string(),
                (false, Some(window)) => format!("{{abs(t − s) < {window}}}"),
            },
            "HIDDEN" => match (config.is_causal(self.stage.tower), config.window) {
                (true, None) => "; −∞ where the mask hides a later position",
                (true, Some(_)) => "; −∞ where the mask hides a later position or one too far back",
                (false, Some(_)) => "; −∞ where the mask hides a position too far away",
                (false, None) => "; −∞ where a mask of the call hides a key",
            }
            .to_string(),
            "MEMORY_HIDDEN" => "; −∞ where a mask of the call hides a row".to_string(),
            "MEMORY_MASK" | "SLOPES" if name == "MEMORY_MASK" || !self.has("alibi") => self.layer_scale(),
            "SLOPES" => format!("{}, m_h the slope of head h", self.layer_scale()),
            "NOISE" => experts.map_or(String::new(), |e| e.noise.to_string()),
            "ROOM" => experts.and_then(|e| e.capacity).map_or(String::new(), |c| c.to_string()),
            "CAPACITY" => match experts.and_then(|e| Some((e.capacity?, e.overflow))) {
                None => String::new(),
                Some((room, Overflow::Reroute)) => {
                    format!(" that has taken fewer than {room} choices of this prompt")
                }
                Some((room, _)) => format!(", −1 where that expert has taken {room} choices of this prompt"),
            },
            "SHARED" => match experts.and_then(|e| e.capacity) {
                Some(_) => ", but for the experts that earlier rows have filled".to_string(),
                None => String::new(),
            },
            _ => String::new(),
        }
    }

    fn norm(&self, row: &str, place: &str) -> String {
        let (config, tower) = (self.plan.config(), self.stage.tower);
        let cell = row.replace("[t]", "[t,d]");
        let normalized = match config.norm {
            Norm::Layer => format!("({cell} − mean {row}) / √(variance {row} + ε)"),
            Norm::Rms => format!("{cell} / √(mean {row}² + ε)"),
            Norm::None => cell,
        };
        let gain = match config.gain_offset {
            0.0 => "γ[d]".to_string(),
            offset => format!("({offset} + γ[d])"),
        };
        let gained = self.plan.has_parameter(tower, &format!("{place}.gain"));
        let shifted = self.plan.has_parameter(tower, &format!("{place}.bias"));
        match (gained, shifted) {
            (true, true) => format!("{normalized} · {gain} + β[d]"),
            (true, false) => format!("{normalized} · {gain}"),
            (false, true) => format!("{normalized} + β[d]"),
            (false, false) => normalized,
        }
    }
}

impl Says<'_> {
    fn has_stage(&self, name: &str) -> bool {
        let of_kind = crate::stage::DECLARATIONS.iter().find(|d| d.name == name);
        of_kind.is_some_and(|d| self.plan.has(Stage::of(self.stage.tower, d.kind, self.stage.block)))
    }

    fn visible(&self) -> String {
        let config = self.plan.config();
        match (config.is_causal(self.stage.tower), config.window) {
            (true, None) => " for s ≤ t, −∞ for s > t".to_string(),
            (true, Some(window)) => format!(" for t − {window} < s ≤ t, else −∞"),
            (false, Some(window)) => format!(" for abs(t − s) < {window}, else −∞"),
            (false, None) => String::new(),
        }
    }

    fn layer_scale(&self) -> String {
        let config = self.plan.config();
        if config.scale_by_layer {
            format!(", c = {} / {}", config.score_scale(), self.stage.block + 1)
        } else {
            String::new()
        }
    }
}

fn angle(width: usize, position: &Position, letter: &str) -> String {
    let Position::Rotary(rotary) = position else { return String::new() };
    let pair = match rotary.pairing {
        Pairing::Adjacent => "(a, b) = (2j, 2j+1)".to_string(),
        Pairing::Half => format!("(a, b) = (j, j+{})", width / 2),
    };
    let scaled = match &rotary.scaling {
        None => "",
        Some(RotaryScaling::Linear { .. }) => ", the angles divided by the scaling's factor",
        Some(RotaryScaling::Llama3 { .. }) => ", slow angles divided by the scaling's factor",
    };
    format!("{pair}, θ = {letter} · {}^(−2j/{width}), j < {}{scaled}", rotary.base, width / 2)
}
