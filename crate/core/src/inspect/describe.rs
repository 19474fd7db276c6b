//! What a stage is, in the pass it stands in.

use super::facts::Says;
use super::formula::fill_in;
use crate::config::Position;
use crate::stage::{Kind, Operation, Side, Stage};
use crate::trace::{Plan, Start};
use alloc::{
    string::{String, ToString},
    vec::Vec,
};

/// What is said about a stage of one particular pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Its full name.
    pub name: String,
    /// TransformerLens's names for the same numbers.
    pub hooks: Vec<String>,
    /// The letter it has in formulas.
    pub symbol: &'static str,
    /// The names of its axes, outermost first.
    pub axes: &'static [&'static str],
    /// How a cell comes about.
    pub operation: Operation,
    /// One sentence for a reader.
    pub meaning: String,
    /// One cell's equation.
    pub formula: String,
    /// The names of what a cell is computed from; parameters are marked by a leading `parameter `.
    pub inputs: Vec<String>,
    /// Whose positions its rows have.
    pub side: Side,
    /// Whether its numbers are whole: indices and counts.
    pub is_integer: bool,
}

/// What there is to say about a stage of a plan's passes.
///
/// ```
/// # use glassformer::{config::Config, inspect::describe, stage::{Kind, Stage}};
/// # use glassformer::trace::{Plan, Start};
/// let plan = Plan::new(&Config::new(7), Start::Tokens)?;
/// let hidden = describe(&plan, Stage::new(Kind::Hidden, 0));
/// assert_eq!(hidden.formula, "z[t,d] = y[t,d] + b[t,d]");
/// assert_eq!(hidden.inputs, ["blocks.0.after_attention", "blocks.0.feed_forward.output"]);
/// # Ok::<(), glassformer::error::Error>(())
/// ```
pub fn describe(plan: &Plan, stage: Stage) -> Description {
    let declaration = stage.declaration();
    let config = plan.config();
    let is_given = stage.kind == Kind::Positioned && plan.start() != Start::Tokens;
    let says = Says { plan, stage };
    let is_normalized = match stage.kind {
        Kind::AfterAttention | Kind::AfterCrossAttention | Kind::Hidden => config.is_post_norm(),
        _ => false,
    };
    let operation = match stage.kind {
        _ if is_given => Operation::Given,
        _ if is_normalized => Operation::Normalization,
        Kind::Position if config.position == Position::Learned => Operation::Lookup,
        Kind::FeedForwardOutput if config.feed_forward.experts().is_some() => Operation::Mixture,
        _ => declaration.operation,
    };
    Description {
        name: stage.name(),
        hooks: stage.hooks(config.n_blocks, config.feed_forward.is_gated()),
        symbol: declaration.symbol,
        axes: declaration.row.axes(),
        operation,
        meaning: if is_given {
            "The caller's rows: what enters the first block.".to_string()
        } else {
            fill_in(declaration.meaning, &says)
        },
        formula: if is_given { "x[t,d] is given".to_string() } else { fill_in(declaration.formula, &says) },
        inputs: if is_given { Vec::new() } else { plan.input_names(stage) },
        side: stage.side(),
        is_integer: matches!(stage.kind, Kind::Selected | Kind::Load | Kind::Overflow),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Norm, Rotary};

    fn of(config: &Config, start: Start, kind: Kind, block: usize) -> Description {
        describe(&Plan::new(config, start).unwrap(), Stage::new(kind, block))
    }

    #[test]
    fn letters_that_depend_on_the_pass_are_explained() {
        let config = Config { n_blocks: 2, final_norm: false, ..Config::new(7) };
        let formula = |kind, block| of(&config, Start::Tokens, kind, block).formula;
        assert_eq!(formula(Kind::AfterAttention, 0), "y[t,d] = x[t,d] + o[t,d]");
        assert_eq!(formula(Kind::AfterAttention, 1), "y[t,d] = x[t,d] + o[t,d], x = blocks.0.hidden");
        assert_eq!(formula(Kind::Logits, 2), "l[t,v] = Σ_d ẑ[t,d] · W_head[d,v], ẑ = blocks.1.hidden");
        assert_eq!(formula(Kind::Activated, 0), "r[t,f] = φ(u[t,f]), φ(u) = max(u, 0)");
        assert_eq!(formula(Kind::Mixed, 0), "M[h,t,k] = Σ_{s ≤ t} A[h,t,s] · V[h,s,k]");
        assert_eq!(
            formula(Kind::AttentionNormalized, 0),
            "n[t,d] = (x[t,d] − mean x[t]) / √(variance x[t] + ε)"
        );
    }

    #[test]
    fn choices_show_in_formulas() {
        let position = Position::Rotary(Rotary::default());
        let config = Config {
            norm: Norm::Rms,
            norm_affine: true,
            gain_offset: 1.0,
            n_key_value_heads: Some(1),
            position,
            ..Config::new(7)
        };
        let formula = |kind| of(&config, Start::Tokens, kind, 0).formula;
        assert_eq!(formula(Kind::AttentionNormalized), "n[t,d] = x[t,d] / √(mean x[t]² + ε) · (1 + γ[d])");
        assert_eq!(
            formula(Kind::Scores),
            "S[h,t,s] = c · Σ_k Q̂[h,t,k] · K̂[⌊h/2⌋,s,k] for s ≤ t, −∞ for s > t"
        );
    }

    #[test]
    fn rows_that_a_caller_gave_are_given() {
        let config = Config::new(0);
        assert_eq!(of(&config, Start::Rows, Kind::Positioned, 0).operation, Operation::Given);
        let config = Config::new(1);
        assert_eq!(of(&config, Start::Tokens, Kind::Positioned, 0).operation, Operation::Sum);
    }
}
