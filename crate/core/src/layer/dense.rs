//! The feed-forward branch: each row alone, through a wider layer and back
//! (Vaswani et al. 2017, arXiv:1706.03762, section 3.3), with gates where they were chosen (Shazeer 2020,
//! arXiv:2002.05202).

use super::linear::linear;
use super::Context;
use crate::num::Float;
use crate::params::Role;
use crate::stage::{Input, Kind};
use crate::trace::Pass;

/// The branch, from what it reads to its contribution.
pub(crate) fn dense<F: Float>(pass: &mut Pass<'_, F>, context: &Context<'_, F>) {
    let (config, weights) = (context.config, context.weights());
    let (width, hidden) = (config.n_model, config.n_hidden);
    pass.step(context.stage(Kind::Pre), |earlier, out| {
        let bias = weights.vector(Role::ExpandBias);
        let rows = earlier.rows(&Input::FeedForwardInput);
        linear(rows, weights.matrix(Role::Expand), bias, (width, hidden), out);
    });
    pass.step_if_planned(context.stage(Kind::Gate), |earlier, out| {
        let bias = weights.vector(Role::GateBias);
        let rows = earlier.rows(&Input::FeedForwardInput);
        linear(rows, weights.matrix(Role::Gate), bias, (width, hidden), out);
    });
    pass.step(context.stage(Kind::Activated), |earlier, out| {
        let units = earlier.rows(&Input::Stage(Kind::Pre));
        activate(context, units, earlier.maybe(&Input::Stage(Kind::Gate)), out);
    });
    pass.step(context.stage(Kind::FeedForwardOutput), |earlier, out| {
        let bias = weights.vector(Role::ContractBias);
        let rows = earlier.rows(&Input::Stage(Kind::Activated));
        linear(rows, weights.matrix(Role::Contract), bias, (hidden, width), out);
    });
}

/// `φ(u)`, or with gates `u · φ(gate)`, cell by cell.
pub(crate) fn activate<F: Float>(context: &Context<'_, F>, units: &[F], gates: Option<&[F]>, out: &mut [F]) {
    let activation = context.config.activation;
    match gates {
        None => {
            for (o, &u) in out.iter_mut().zip(units) {
                *o = activation.apply(u);
            }
        }
        Some(gates) => {
            for ((o, &u), &gate) in out.iter_mut().zip(units).zip(gates) {
                *o = u * activation.apply(gate);
            }
        }
    }
}
