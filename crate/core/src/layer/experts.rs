//! A mixture of experts in the feed-forward branch (Shazeer et al. 2017, arXiv:1701.06538; Fedus et al. 2021,
//! arXiv:2101.03961): each row is sent to the experts that its router finds most probable.
//!
//! Every expert is applied to every row, chosen or not, so that each choice can be compared with what it left out.

use super::dense::activate;
use super::linear::linear;
use super::Context;
use crate::config::Experts;
use crate::error::Error;
use crate::math::{softmax, squared_variation, Router};
use crate::memory::zeroed;
use crate::num::random::RandomStream;
use crate::num::{add_scaled, Float};
use crate::params::Role;
use crate::stage::{Input, Kind, Stage};
use crate::trace::{Earlier, Pass};
use alloc::vec::Vec;

/// The branch, from what it reads to its contribution.
///
/// # Errors
/// [`Error::CapacityExceeded`] where a full expert is to be an error; [`Error::OutOfMemory`].
pub(crate) fn experts<F: Float>(
    pass: &mut Pass<'_, F>,
    context: &Context<'_, F>,
    mixture: &Experts,
) -> Result<(), Error> {
    let (config, weights) = (context.config, context.weights());
    let (width, count) = (config.n_model, mixture.experts);
    pass.step(context.stage(Kind::RouterLogits), |earlier, out| {
        let rows = earlier.rows(&Input::FeedForwardInput);
        linear(rows, weights.matrix(Role::Router), None, (width, count), out);
    });
    pass.step_if_planned(context.stage(Kind::RouterNoise), |earlier, out| {
        let mut stream = RandomStream::numpy(mixture.noise_seed.wrapping_add(context.block as u64));
        // The draws of earlier rows come first, whoever computes them.
        (0..earlier.first() * count).for_each(|_| {
            stream.normal();
        });
        out.iter_mut().for_each(|cell| *cell = F::from_f64(stream.normal() * mixture.noise));
    });
    pass.step(context.stage(Kind::Router), |earlier, out| {
        out.copy_from_slice(earlier.rows(&Input::Stage(Kind::RouterLogits)));
        if let Some(noise) = earlier.maybe(&Input::Stage(Kind::RouterNoise)) {
            out.iter_mut().zip(noise).for_each(|(a, &n)| *a += n);
        }
        let mut logits = Vec::with_capacity(count);
        for row in out.chunks_exact_mut(count) {
            logits.clear();
            logits.extend_from_slice(row);
            softmax(&logits, row);
        }
    });

    let stage = context.stage(Kind::Selected);
    let mut routes = None;
    pass.try_step(stage, |earlier, out| {
        let found = route(mixture, earlier).map_err(|refusal| match refusal {
            Refusal::Full { position, expert } => Error::CapacityExceeded {
                stage: stage.name(),
                position,
                expert,
                capacity: mixture.capacity.unwrap_or(0),
            },
            Refusal::Memory(error) => error,
        })?;
        // Those of rows that an earlier pass computed.
        let skipped = found.selected.len() - out.len();
        out.copy_from_slice(&found.selected[skipped..]);
        routes = Some((found, skipped));
        Ok(())
    })?;
    let Some((routes, skipped)) = routes else { return Ok(()) };
    pass.try_step(context.stage(Kind::Gates), |earlier, out| {
        if !earlier.is_edited(Kind::Selected) {
            out.copy_from_slice(&routes.gates[skipped..]);
            return Ok(());
        }
        // Choices that are the caller's get the router's weights; a row that was left keeps its gates.
        let found = (routes.selected[skipped..].chunks_exact(mixture.selected))
            .zip(routes.gates[skipped..].chunks_exact(mixture.selected));
        let selected = earlier.rows(&Input::Stage(Kind::Selected));
        check_choices(stage, count, selected)?;
        let rows = earlier.rows(&Input::Stage(Kind::Router)).chunks_exact(count);
        let choices = selected.chunks_exact(mixture.selected);
        let rows = out.chunks_exact_mut(mixture.selected).zip(choices).zip(rows).zip(found);
        for (((gates, choices), row), (found, weights)) in rows {
            if choices == found {
                gates.copy_from_slice(weights);
            } else {
                router(mixture).weigh(row, choices, gates);
            }
        }
        Ok(())
    })?;

    every_expert(pass, context, mixture);

    pass.step(context.stage(Kind::Importance), |_, out| out.copy_from_slice(&routes.importance));
    pass.step(context.stage(Kind::ImportanceVariation), |_, out| {
        out[0] = squared_variation(&routes.importance);
    });
    pass.step(context.stage(Kind::Load), |_, out| out.copy_from_slice(&routes.load));
    pass.step_if_planned(context.stage(Kind::Overflow), |_, out| out.copy_from_slice(&routes.overflow));

    pass.step(context.stage(Kind::FeedForwardOutput), |earlier, out| {
        let selected = earlier.rows(&Input::Stage(Kind::Selected)).chunks_exact(mixture.selected);
        let gates = earlier.rows(&Input::Stage(Kind::Gates)).chunks_exact(mixture.selected);
        let outputs = earlier.rows(&Input::Stage(Kind::ExpertOutput)).chunks_exact(count * width);
        let rows = out.chunks_exact_mut(width).zip(selected).zip(gates).zip(outputs);
        for (((row, selected), gates), outputs) in rows {
            row.fill(F::ZERO);
            for (&expert, &gate) in selected.iter().zip(gates) {
                // -1 stands for a choice that found no room.
                if expert >= F::ZERO {
                    let expert = expert.to_f64() as usize;
                    add_scaled(gate, &outputs[expert * width..][..width], row);
                }
            }
        }
    });
    Ok(())
}

/// Every expert's stages for every row: a row's experts stand one after the other.
fn every_expert<F: Float>(pass: &mut Pass<'_, F>, context: &Context<'_, F>, mixture: &Experts) {
    let (config, weights, count) = (context.config, context.weights(), mixture.experts);
    let (width, hidden) = (config.n_model, config.n_hidden);
    let projections = [
        (Kind::ExpertPre, [Role::ExpertExpand, Role::ExpertExpandBias]),
        (Kind::ExpertGate, [Role::ExpertGate, Role::ExpertGateBias]),
    ];
    for (kind, [matrix, bias]) in projections {
        pass.step_if_planned(context.stage(kind), |earlier, out| {
            let rows = earlier.rows(&Input::FeedForwardInput).chunks_exact(width);
            for (row, out) in rows.zip(out.chunks_exact_mut(count * hidden)) {
                for (e, units) in out.chunks_exact_mut(hidden).enumerate() {
                    let matrix = weights.of_expert(matrix, e).unwrap_or(&[]);
                    linear(row, matrix, weights.of_expert(bias, e), (width, hidden), units);
                }
            }
        });
    }
    pass.step(context.stage(Kind::ExpertActivated), |earlier, out| {
        let units = earlier.rows(&Input::Stage(Kind::ExpertPre));
        activate(context, units, earlier.maybe(&Input::Stage(Kind::ExpertGate)), out);
    });
    pass.step(context.stage(Kind::ExpertOutput), |earlier, out| {
        let units = earlier.rows(&Input::Stage(Kind::ExpertActivated)).chunks_exact(hidden);
        for (i, (units, row)) in units.zip(out.chunks_exact_mut(width)).enumerate() {
            let matrix = weights.of_expert(Role::ExpertContract, i % count).unwrap_or(&[]);
            let bias = weights.of_expert(Role::ExpertContractBias, i % count);
            linear(units, matrix, bias, (hidden, width), row);
        }
    });
}

/// The rule of choice of a mixture.
pub(crate) fn router(mixture: &Experts) -> Router {
    Router {
        experts: mixture.experts,
        selected: mixture.selected,
        renormalize: mixture.renormalize,
        capacity: mixture.capacity,
        overflow: mixture.overflow,
    }
}

/// Whether choices that a caller edited are experts, or -1 for none.
fn check_choices<F: Float>(stage: Stage, count: usize, selected: &[F]) -> Result<(), Error> {
    let is_choice = |x: f64| x == -1.0 || (0..count).any(|e| x == e as f64);
    match selected.iter().map(|x| x.to_f64()).find(|&x| !is_choice(x)) {
        None => Ok(()),
        Some(index) => {
            let what = alloc::format!("an edited choice in {} (an expert, or -1 for none)", stage.name());
            Err(Error::IndexOutOfRange { what, index, size: count })
        }
    }
}

/// What the rows of a whole prompt chose.
struct Routes<F> {
    selected: Vec<F>,
    gates: Vec<F>,
    importance: Vec<F>,
    load: Vec<F>,
    overflow: Vec<F>,
}

enum Refusal {
    Full { position: usize, expert: usize },
    Memory(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Memory(error)
    }
}

/// The choices of all rows from position 0 on, in their order: how full an expert is depends on the rows before.
fn route<F: Float>(mixture: &Experts, earlier: &Earlier<'_, F>) -> Result<Routes<F>, Refusal> {
    let router = router(mixture);
    let count = mixture.experts;
    let rows: usize = earlier.runs(&Input::Stage(Kind::Router)).map(|run| run.len() / count).sum();
    let choices = rows as f64 * mixture.selected as f64;
    let what = "the choices of experts";
    let mut routes = Routes {
        selected: zeroed(what, choices)?,
        gates: zeroed(what, choices)?,
        importance: zeroed(what, count as f64)?,
        load: zeroed(what, count as f64)?,
        overflow: zeroed(what, count as f64)?,
    };
    let mut filled: Vec<usize> = zeroed(what, count as f64)?;
    let probabilities = earlier.runs(&Input::Stage(Kind::Router)).flat_map(|run| run.chunks_exact(count));
    let k = mixture.selected;
    for (position, row) in probabilities.enumerate() {
        let own = position * k..(position + 1) * k;
        let Routes { selected, gates, importance, load, overflow } = &mut routes;
        router
            .choose(row, &mut filled, &mut selected[own.clone()], &mut gates[own], importance, load, overflow)
            .map_err(|expert| Refusal::Full { position, expert })?;
    }
    Ok(routes)
}
