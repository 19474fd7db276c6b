//! The attention branches: multi-head self-attention, and a decoder's cross-attention to the memory
//! (Vaswani et al. 2017, arXiv:1706.03762, section 3.2), with fewer key and value heads where they were chosen (Ainslie
//! et al. 2023, arXiv:2305.13245).

use super::linear::linear;
use super::Context;
use crate::config::Position;
use crate::error::Error;
use crate::math::{mix, rotate, scores, weights, Sight};
use crate::num::Float;
use crate::params::Role;
use crate::stage::{Input, Kind, Lengths, Side};
use crate::trace::{Earlier, Pass};

/// The stages and parameters of one of the two.
pub(crate) struct Branch {
    normalized: Kind,
    norm: ([Role; 2], Input),
    query: (Kind, [Role; 2], Input),
    key: (Kind, [Role; 2], Input),
    pub(crate) value: (Kind, [Role; 2], Input),
    pub(crate) scores: (Kind, [Input; 2]),
    pub(crate) weights: Kind,
    mixed: Kind,
    pub(crate) output: (Kind, [Role; 2]),
    is_cross: bool,
}

impl Branch {
    pub(crate) const SELF: Branch = Branch {
        normalized: Kind::AttentionNormalized,
        norm: ([Role::AttentionGain, Role::AttentionNormBias], Input::Stream),
        query: (Kind::Query, [Role::Query, Role::QueryBias], Input::AttentionInput),
        key: (Kind::Key, [Role::Key, Role::KeyBias], Input::AttentionInput),
        value: (Kind::Value, [Role::Value, Role::ValueBias], Input::AttentionInput),
        scores: (Kind::Scores, [Input::Queries, Input::Keys]),
        weights: Kind::Weights,
        mixed: Kind::Mixed,
        output: (Kind::AttentionOutput, [Role::Output, Role::OutputBias]),
        is_cross: false,
    };

    pub(crate) const CROSS: Branch = Branch {
        normalized: Kind::CrossNormalized,
        norm: ([Role::CrossGain, Role::CrossNormBias], Input::Stage(Kind::AfterAttention)),
        query: (Kind::CrossQuery, [Role::CrossQuery, Role::CrossQueryBias], Input::CrossInput),
        key: (Kind::CrossKey, [Role::CrossKey, Role::CrossKeyBias], Input::Memory),
        value: (Kind::CrossValue, [Role::CrossValue, Role::CrossValueBias], Input::Memory),
        scores: (Kind::CrossScores, [Input::Stage(Kind::CrossQuery), Input::Stage(Kind::CrossKey)]),
        weights: Kind::CrossWeights,
        mixed: Kind::CrossMixed,
        output: (Kind::CrossOutput, [Role::CrossOutput, Role::CrossOutputBias]),
        is_cross: true,
    };
}

/// The branch, from the residual stream to its contribution.
///
/// # Numerics
/// Each row goes through its visible keys in order, so later rows cannot change its bits.
///
/// # Errors
/// [`Error::NotFinite`] for a visible score that overflows.
pub(crate) fn attention<F: Float>(
    pass: &mut Pass<'_, F>,
    context: &Context<'_, F>,
    branch: &Branch,
) -> Result<(), Error> {
    let (config, parameters) = (context.config, context.weights());
    let (model, heads, width) = (config.n_model, config.n_heads, config.head_width());
    let (norm, read) = &branch.norm;
    pass.step_if_planned(context.stage(branch.normalized), |earlier, out| {
        context.normalize(*norm, earlier.rows(read), out);
    });
    let projections = [
        (&branch.query, heads * width),
        (&branch.key, config.n_key_value_heads() * width),
        (&branch.value, config.n_key_value_heads() * width),
    ];
    for ((kind, [matrix, bias], read), outputs) in projections {
        pass.step(context.stage(*kind), |earlier, out| {
            let (matrix, bias) = (parameters.matrix(*matrix), parameters.vector(*bias));
            linear(earlier.rows(read), matrix, bias, (model, outputs), out);
        });
    }
    if !branch.is_cross {
        for (kind, turned) in [(Kind::Query, Kind::QueryRotated), (Kind::Key, Kind::KeyRotated)] {
            let groups = if kind == Kind::Query { heads } else { config.n_key_value_heads() };
            pass.step_if_planned(context.stage(turned), |earlier, out| {
                out.copy_from_slice(earlier.rows(&Input::Stage(kind)));
                turn(context, earlier.first(), groups, out);
            });
        }
    }

    let by_head = Heads { count: heads, per_group: heads / config.n_key_value_heads(), width };
    let scale = Branch::scale(context);
    let (kind, inputs) = &branch.scores;
    let stage = context.stage(*kind);
    pass.try_step(stage, |earlier, out| {
        let sight = sight(context, branch, earlier);
        match by_head.scores(earlier, &sight, inputs, scale, out) {
            None => Ok(()),
            Some((position, value)) => {
                let what = alloc::format!("stage {}", stage.name());
                Err(Error::NotFinite { what, position, value })
            }
        }
    })?;
    pass.step(context.stage(branch.weights), |earlier, out| {
        let sight = sight(context, branch, earlier);
        let rows = earlier.rows(&Input::Stage(*kind)).chunks_exact(sight.keys);
        for (i, (row, scores)) in out.chunks_exact_mut(sight.keys).zip(rows).enumerate() {
            weights(&sight, earlier.first() + i / heads, scores, row);
        }
    });
    pass.step(context.stage(branch.mixed), |earlier, out| {
        let sight = sight(context, branch, earlier);
        by_head.mix(earlier, &sight, [branch.weights, branch.value.0], out);
    });
    let (kind, [matrix, bias]) = &branch.output;
    pass.step(context.stage(*kind), |earlier, out| {
        let (matrix, bias) = (parameters.matrix(*matrix), parameters.vector(*bias));
        linear(earlier.rows(&Input::Stage(branch.mixed)), matrix, bias, (heads * width, model), out);
    });
    Ok(())
}

/// What the queries of a branch see as a stage is computed, which may read what a caller edited.
fn sight<'a, F: Float>(context: &Context<'a, F>, branch: &Branch, earlier: &Earlier<'_, F>) -> Sight<'a, F> {
    let opens = |kind| earlier.comes_after(kind) && earlier.is_edited(kind);
    branch.sight(context, earlier.lengths(), opens(branch.scores.0) || opens(branch.weights))
}

impl Branch {
    /// What the queries see. A caller who edits scores or weights may open what the model hides: then every key is looked
    /// at, of which hidden ones weigh 0.
    pub(crate) fn sight<'a, F: Float>(
        &self,
        context: &Context<'a, F>,
        lengths: Lengths,
        is_opened: bool,
    ) -> Sight<'a, F> {
        let (config, masks) = (context.config, context.masks);
        let is_source = context.stage(self.scores.0).side() == Side::Source;
        let length = if is_source { lengths.source } else { lengths.target };
        let all = Sight::all(length, if self.is_cross { lengths.source } else { length });
        if is_opened {
            return all;
        }
        if self.is_cross {
            let padding = masks.memory_padding.as_deref();
            return Sight { added: masks.memory.as_deref(), padding, ..all };
        }
        let slopes = context.positions.slopes.as_deref();
        let causal = config.is_causal(context.tower);
        let (added, padding) = match is_source {
            true => (None, masks.source_padding.as_deref()),
            false => (masks.attention.as_deref(), masks.padding.as_deref()),
        };
        Sight { causal, window: config.window, added, padding, slopes, ..all }
    }

    /// Whether it looks at the memory.
    pub(crate) fn is_cross(&self) -> bool {
        self.is_cross
    }

    /// What scores are multiplied by.
    pub(crate) fn scale<F: Float>(context: &Context<'_, F>) -> F {
        let config = context.config;
        let layer = if config.scale_by_layer { context.block as f64 + 1.0 } else { 1.0 };
        F::from_f64(config.score_scale() / layer)
    }
}

/// Turns each head of each row by its position.
fn turn<F: Float>(context: &Context<'_, F>, first: usize, heads: usize, rows: &mut [F]) {
    let Position::Rotary(rotary) = &context.config.position else { return };
    for (i, row) in rows.chunks_exact_mut(context.config.head_width()).enumerate() {
        let position = (first + i / heads) as f64;
        rotate(row, position, &context.positions.frequencies, rotary.pairing);
    }
}

/// How rows divide into heads: query head h owns the coordinates hK..(h+1)K and reads key head ⌊h/(H/G)⌋.
struct Heads {
    count: usize,
    per_group: usize,
    width: usize,
}

impl Heads {
    /// The scores of every head and row; gives back the first visible one that is no finite number, and its position.
    fn scores<F: Float>(
        &self,
        earlier: &Earlier<'_, F>,
        sight: &Sight<'_, F>,
        [queries, keys]: &[Input; 2],
        scale: F,
        out: &mut [F],
    ) -> Option<(usize, f64)> {
        let queries = earlier.rows(queries).chunks_exact(self.width);
        let mut bad = None;
        for (i, (row, query)) in out.chunks_exact_mut(sight.keys).zip(queries).enumerate() {
            let (t, h) = (earlier.first() + i / self.count, i % self.count);
            scores(sight, (h, t), scale, query, self.head_rows(earlier, keys, h), row);
            if bad.is_none() {
                let wrong = |(s, x): &(usize, &F)| !x.is_finite() && !sight.hides(h, t, *s);
                bad = row.iter().enumerate().find(wrong).map(|(_, x)| (t, x.to_f64()));
            }
        }
        bad
    }

    fn mix<F: Float>(
        &self,
        earlier: &Earlier<'_, F>,
        sight: &Sight<'_, F>,
        [weights, values]: [Kind; 2],
        out: &mut [F],
    ) {
        let weights = earlier.rows(&Input::Stage(weights)).chunks_exact(sight.keys);
        for (i, (row, weights)) in out.chunks_exact_mut(self.width).zip(weights).enumerate() {
            let (t, h) = (earlier.first() + i / self.count, i % self.count);
            mix(sight, t, weights, self.head_rows(earlier, &Input::Stage(values), h), row);
        }
    }

    /// What query head `h` reads of every row of keys or values, from position 0 on.
    fn head_rows<'e, F: Float>(
        &self,
        earlier: &'e Earlier<'_, F>,
        input: &Input,
        h: usize,
    ) -> impl Iterator<Item = &'e [F]> {
        let group = h / self.per_group;
        let (own, all) =
            (group * self.width..(group + 1) * self.width, self.count / self.per_group * self.width);
        earlier.runs(input).flat_map(move |run| run.chunks_exact(all)).map(move |row| &row[own.clone()])
    }
}
