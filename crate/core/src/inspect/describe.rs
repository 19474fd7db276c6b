//! What a stage is, in the pass it stands in.

use crate::math::Activation;
use crate::stage::{stream_before, Input, Kind, Operation, Stage};
use crate::trace::Plan;
use alloc::{format, string::String, vec::Vec};

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
    pub meaning: &'static str,
    /// One cell's equation.
    pub formula: String,
    /// The names of what a cell is computed from; parameters are marked by a leading `parameter `.
    pub inputs: Vec<String>,
}

/// What there is to say about a stage of a plan's passes, with the activation its model has.
///
/// ```
/// # use glassformer::{config::Config, inspect::describe, math::Activation, stage::{Kind, Stage}};
/// # use glassformer::trace::{Plan, Start};
/// let plan = Plan::new(&Config::new(7), Start::Tokens)?;
/// let hidden = describe(&plan, Stage::new(Kind::Hidden, 0), Activation::Relu);
/// assert_eq!(hidden.formula, "z[t,d] = y[t,d] + b[t,d]");
/// assert_eq!(hidden.inputs, ["blocks.0.after_attention", "blocks.0.feed_forward.output"]);
/// # Ok::<(), glassformer::error::Error>(())
/// ```
pub fn describe(plan: &Plan, stage: Stage, activation: Activation) -> Description {
    let declaration = stage.declaration();
    let inputs = stage.input_names(|stage| plan.has(stage));
    let is_given = stage.kind == Kind::Positioned && inputs.is_empty();
    Description {
        name: stage.name(),
        hooks: stage.hooks(plan.n_blocks()),
        symbol: declaration.symbol,
        axes: declaration.row.axes(),
        operation: if is_given { Operation::Given } else { declaration.operation },
        meaning: if is_given {
            "The caller's rows: what enters the first block."
        } else {
            declaration.meaning
        },
        formula: if is_given { String::from("x[t,d] is given") } else { formula(plan, stage, activation) },
        inputs,
    }
}

/// The declared formula, with what its letters stand for where that depends on the pass.
fn formula(plan: &Plan, stage: Stage, activation: Activation) -> String {
    let declaration = stage.declaration();
    let stream = stream_before(stage.block).name();
    let reads = |input| declaration.inputs.contains(&input);
    let normalized = plan.has(Stage::new(Kind::FinalNormalized, plan.n_blocks()));
    let formula = declaration.formula;
    if stage.kind == Kind::Activated {
        format!("{formula}, φ(u) = {}", activation.formula())
    } else if stage.kind != Kind::FinalNormalized && reads(Input::Stream) && stage.block > 0 {
        format!("{formula}, x = {stream}")
    } else if reads(Input::HeadInput) && !normalized {
        format!("{formula}, ẑ = {stream}")
    } else {
        String::from(formula)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::trace::Start;

    fn of(config: &Config, start: Start, kind: Kind, block: usize) -> Description {
        let plan = Plan::new(config, start).unwrap();
        describe(&plan, Stage::new(kind, block), config.activation)
    }

    #[test]
    fn letters_that_depend_on_the_pass_are_explained() {
        let config = Config { n_blocks: 2, final_norm: false, ..Config::new(7) };
        let formula = |kind, block| of(&config, Start::Tokens, kind, block).formula;
        assert_eq!(formula(Kind::AfterAttention, 0), "y[t,d] = x[t,d] + o[t,d]");
        assert_eq!(formula(Kind::AfterAttention, 1), "y[t,d] = x[t,d] + o[t,d], x = blocks.0.hidden");
        assert_eq!(formula(Kind::Logits, 2), "l[t,v] = Σ_d ẑ[t,d] · W_head[d,v], ẑ = blocks.1.hidden");
        assert_eq!(formula(Kind::Activated, 0), "r[t,f] = φ(u[t,f]), φ(u) = max(u, 0)");
    }

    #[test]
    fn rows_that_a_caller_gave_are_given() {
        let config = Config::new(0);
        assert_eq!(of(&config, Start::Rows, Kind::Positioned, 0).operation, Operation::Given);
        assert_eq!(of(&config, Start::Tokens, Kind::Positioned, 0).operation, Operation::Sum);
    }
}
