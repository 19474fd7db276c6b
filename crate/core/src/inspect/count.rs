//! How many parameters a model has, and how many operations a token takes.

use crate::config::Config;
use crate::error::Error;
use crate::params::{roles, Role, Scope};
use crate::stage::Tower;

/// What a model is made of, and what a token costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// Parameters by part.
    pub parameters: ParameterCount,
    /// Floating-point operations for each token, or, of an encoder-decoder, for each of the target.
    pub flops: FlopCount,
    /// Of an encoder-decoder: those of its encoder, for each token of the source.
    pub encoder_flops: Option<FlopCount>,
    /// From which length on attention takes more than the feed-forward branch.
    pub crossovers: Crossovers,
}

/// Parameters by part: each is in exactly one. Biases count where their matrix does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ParameterCount {
    /// All.
    pub total: f64,
    /// The embedding tables; a tied head's too.
    pub embedding: f64,
    /// The tables of positions.
    pub position: f64,
    /// Self-attention, in all blocks.
    pub attention: f64,
    /// Cross-attention, in all blocks of a decoder that has it.
    pub cross_attention: Option<f64>,
    /// The feed-forward branches, every expert and router.
    pub feed_forward: f64,
    /// Gains and biases of norms.
    pub norms: f64,
    /// The head, where it is not tied.
    pub head: f64,
    /// One block; of an encoder-decoder, one of the decoder's.
    pub per_block: BlockCount,
    /// Of an encoder-decoder: one of the encoder's.
    pub per_encoder_block: Option<BlockCount>,
}

/// The parameters of one block by part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockCount {
    /// All of the block.
    pub total: f64,
    /// Self-attention.
    pub attention: f64,
    /// Cross-attention, in a decoder that has it.
    pub cross_attention: Option<f64>,
    /// The feed-forward branch, every expert and the router.
    pub feed_forward: f64,
    /// Gains and biases of norms.
    pub norms: f64,
}

/// Floating-point operations of one token, in all blocks of a tower: 2 for each multiplication with its addition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlopCount {
    /// Query, key, value and output of self-attention.
    pub projections: f64,
    /// Scores and mixing, for each key that the token sees: n times this at a context of n.
    pub scores_and_mixing: f64,
    /// Cross-attention, in a decoder that has it.
    pub cross_attention: Option<CrossCount>,
    /// The feed-forward branch: of a mixture the router and the chosen experts.
    pub feed_forward: f64,
    /// The head.
    pub head: f64,
}

/// Floating-point operations of cross-attention, in all blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrossCount {
    /// Query and output, for each token of the target.
    pub projections: f64,
    /// Key and value, for each row of the memory; once, whatever the target's length.
    pub memory_projections: f64,
    /// Scores and mixing, for each row of the memory that a token of the target sees.
    pub scores_and_mixing: f64,
}

/// The context lengths at which a token takes as many operations in self-attention as in the feed-forward branch; `None`
/// where a window keeps it from ever seeing so many keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossovers {
    /// Counting scores and mixing alone: 4D for heads of width D/H and a dense branch of width 4D.
    pub scores_and_mixing: Option<f64>,
    /// Counting the projections too: 2D for the same; 0 where these alone take as many.
    pub with_projections: Option<f64>,
}

/// Counts a model's parameters, and what a token takes.
///
/// # Numerics
/// A product of a row and a matrix of I inputs and O outputs counts 2·I·O, a multiplication and an addition for each
/// weight; a score 2·K and its share of the mixture 2·K for each head. Biases, norms, activations, softmax, positions and
/// the lookup of embeddings are not counted: they grow with D or n alone. Counts are whole numbers in f64; the crossovers
/// are exact quotients, and lie past `maxContext` as they may.
///
/// # Errors
/// What [`Config::validate`] refuses.
///
/// ```
/// # use glassformer::{config::Config, inspect::count};
/// let wide = count(&Config { n_model: 64, n_hidden: 256, n_heads: 4, ..Config::new(100) })?;
/// assert_eq!(wide.crossovers.scores_and_mixing, Some(256.0));
/// assert_eq!(wide.crossovers.with_projections, Some(128.0));
/// # Ok::<(), glassformer::error::Error>(())
/// ```
pub fn count(config: &Config) -> Result<Count, Error> {
    config.validate()?;
    let tower = *config.towers().last().unwrap_or(&Tower::Only);
    let flops = flops(config, tower);
    let encoder_flops = config.encoder.as_ref().map(|_| self::flops(config, Tower::Encoder));
    // Keys on both sides, where nothing hides later ones.
    let most_keys = config.window.map_or(f64::INFINITY, |window| match config.is_causal(tower) {
        true => window as f64,
        false => 2.0 * window as f64 - 1.0,
    });
    let at = |operations: f64| {
        let keys = (operations / flops.scores_and_mixing).max(0.0);
        (keys <= most_keys).then_some(keys)
    };
    let crossovers = Crossovers {
        scores_and_mixing: at(flops.feed_forward),
        with_projections: at(flops.feed_forward - flops.projections),
    };
    Ok(Count { parameters: parameters(config), flops, encoder_flops, crossovers })
}

fn flops(config: &Config, tower: Tower) -> FlopCount {
    let wide = |n: usize| n as f64;
    let (d, f, blocks) = (wide(config.n_model), wide(config.n_hidden), wide(config.blocks_of(tower)));
    let queries = wide(config.n_heads) * wide(config.head_width());
    let keys = wide(config.n_key_value_heads()) * wide(config.head_width());
    let matrices = if config.feed_forward.is_gated() { 3.0 } else { 2.0 };
    let one = 2.0 * matrices * d * f;
    let feed_forward = match config.feed_forward.experts() {
        None => one,
        Some(experts) => wide(experts.selected) * one + 2.0 * d * wide(experts.experts),
    };
    let has_head = tower != Tower::Encoder;
    FlopCount {
        projections: blocks * 4.0 * d * (queries + keys),
        scores_and_mixing: blocks * 4.0 * queries,
        cross_attention: (tower == Tower::Decoder).then_some(CrossCount {
            projections: blocks * 4.0 * d * queries,
            memory_projections: blocks * 4.0 * d * keys,
            scores_and_mixing: blocks * 4.0 * queries,
        }),
        feed_forward: blocks * feed_forward,
        head: if has_head { 2.0 * d * wide(config.n_vocab) } else { 0.0 },
    }
}

/// Sums of the declared shapes: no model has to be made.
fn parameters(config: &Config) -> ParameterCount {
    let mut out = ParameterCount::default();
    let experts = config.feed_forward.experts().map_or(0.0, |e| e.experts as f64);
    for &tower in config.towers() {
        let has_cross = tower == Tower::Decoder;
        let mut block = BlockCount { cross_attention: has_cross.then_some(0.0), ..BlockCount::default() };
        let blocks = config.blocks_of(tower) as f64;
        out.cross_attention = out.cross_attention.or(block.cross_attention);
        for role in roles() {
            let Some([rows, columns]) = role.shape(config, tower) else { continue };
            let (part, scope) = (part_of(role), role.declaration().scope);
            let times = if scope == Scope::Expert { experts } else { 1.0 };
            let cells = rows * columns * times;
            let in_block = matches!(scope, Scope::Block | Scope::Expert);
            let all = if in_block { cells * blocks } else { cells };
            out.total += all;
            if in_block {
                block.total += cells;
                match part {
                    Part::Attention => block.attention += cells,
                    Part::CrossAttention => *block.cross_attention.get_or_insert(0.0) += cells,
                    Part::FeedForward => block.feed_forward += cells,
                    _ => block.norms += cells,
                }
            }
            match part {
                Part::Embedding => out.embedding += all,
                Part::Position => out.position += all,
                Part::Attention => out.attention += all,
                Part::CrossAttention => *out.cross_attention.get_or_insert(0.0) += all,
                Part::FeedForward => out.feed_forward += all,
                Part::Norms => out.norms += all,
                Part::Head => out.head += all,
            }
        }
        match tower {
            Tower::Encoder => out.per_encoder_block = Some(block),
            Tower::Only | Tower::Decoder => out.per_block = block,
        }
    }
    out
}

enum Part {
    Embedding,
    Position,
    Attention,
    CrossAttention,
    FeedForward,
    Norms,
    Head,
}

fn part_of(role: Role) -> Part {
    match role {
        _ if role.is_of_norm() => Part::Norms,
        Role::Embedding => Part::Embedding,
        Role::Position => Part::Position,
        Role::Head | Role::HeadBias => Part::Head,
        _ if (Role::Query..=Role::OutputBias).contains(&role) => Part::Attention,
        _ if (Role::CrossQuery..=Role::CrossOutputBias).contains(&role) => Part::CrossAttention,
        _ => Part::FeedForward,
    }
}
