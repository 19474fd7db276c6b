//! Every parameter there can be, each declared once: its name, where it stands, its shape.

use crate::config::{AttentionBias, Config, Expert, FeedForward, Position};
use crate::stage::Tower;

/// What a parameter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Embedding,
    EmbeddingGain,
    EmbeddingNormBias,
    Position,
    AttentionGain,
    AttentionNormBias,
    Query,
    QueryBias,
    Key,
    KeyBias,
    Value,
    ValueBias,
    Output,
    OutputBias,
    CrossGain,
    CrossNormBias,
    CrossQuery,
    CrossQueryBias,
    CrossKey,
    CrossKeyBias,
    CrossValue,
    CrossValueBias,
    CrossOutput,
    CrossOutputBias,
    FeedForwardGain,
    FeedForwardNormBias,
    Expand,
    ExpandBias,
    Gate,
    GateBias,
    Contract,
    ContractBias,
    Router,
    ExpertExpand,
    ExpertExpandBias,
    ExpertGate,
    ExpertGateBias,
    ExpertContract,
    ExpertContractBias,
    FinalGain,
    FinalNormBias,
    Head,
    HeadBias,
}

/// How a matrix is laid out for its reader, as the lesson has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A table with a row for each token.
    Table,
    /// A table with a row for each position.
    Positions,
    /// `y = x Wᵀ`: a row for each output (PyTorch's `nn.Linear`).
    OutIn,
    /// `y = x W`: a row for each input.
    InOut,
    /// One number for each coordinate.
    Vector,
}

impl Layout {
    /// The name in lists and files.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Table => "row per token",
            Layout::Positions => "row per position",
            Layout::OutIn => "out,in",
            Layout::InOut => "in,out",
            Layout::Vector => "vector",
        }
    }
}

/// What a parameter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The tower, before its blocks.
    Front,
    /// Each block.
    Block,
    /// Each expert of each block.
    Expert,
    /// The tower, behind its blocks.
    Back,
}

/// What is said once about a parameter.
pub(crate) struct Declaration {
    pub role: Role,
    /// Its name; of a block's, what follows `blocks.N.`, of an expert's, what follows `experts.E.`.
    pub name: &'static str,
    pub scope: Scope,
    pub layout: Layout,
}

const fn declared(role: Role, name: &'static str, scope: Scope, layout: Layout) -> Declaration {
    Declaration { role, name, scope, layout }
}

/// In the order they are drawn.
pub(crate) const DECLARATIONS: [Declaration; 43] = {
    use Layout::{InOut, OutIn, Positions, Table, Vector};
    use Scope::{Back, Block, Expert, Front};
    [
        declared(Role::Embedding, "embedding", Front, Table),
        declared(Role::EmbeddingGain, "embedding.norm.gain", Front, Vector),
        declared(Role::EmbeddingNormBias, "embedding.norm.bias", Front, Vector),
        declared(Role::Position, "position", Front, Positions),
        declared(Role::AttentionGain, "attention.norm.gain", Block, Vector),
        declared(Role::AttentionNormBias, "attention.norm.bias", Block, Vector),
        declared(Role::Query, "attention.query", Block, OutIn),
        declared(Role::QueryBias, "attention.query_bias", Block, Vector),
        declared(Role::Key, "attention.key", Block, OutIn),
        declared(Role::KeyBias, "attention.key_bias", Block, Vector),
        declared(Role::Value, "attention.value", Block, OutIn),
        declared(Role::ValueBias, "attention.value_bias", Block, Vector),
        declared(Role::Output, "attention.output", Block, OutIn),
        declared(Role::OutputBias, "attention.output_bias", Block, Vector),
        declared(Role::CrossGain, "cross_attention.norm.gain", Block, Vector),
        declared(Role::CrossNormBias, "cross_attention.norm.bias", Block, Vector),
        declared(Role::CrossQuery, "cross_attention.query", Block, OutIn),
        declared(Role::CrossQueryBias, "cross_attention.query_bias", Block, Vector),
        declared(Role::CrossKey, "cross_attention.key", Block, OutIn),
        declared(Role::CrossKeyBias, "cross_attention.key_bias", Block, Vector),
        declared(Role::CrossValue, "cross_attention.value", Block, OutIn),
        declared(Role::CrossValueBias, "cross_attention.value_bias", Block, Vector),
        declared(Role::CrossOutput, "cross_attention.output", Block, OutIn),
        declared(Role::CrossOutputBias, "cross_attention.output_bias", Block, Vector),
        declared(Role::FeedForwardGain, "feed_forward.norm.gain", Block, Vector),
        declared(Role::FeedForwardNormBias, "feed_forward.norm.bias", Block, Vector),
        declared(Role::Expand, "feed_forward.expand", Block, InOut),
        declared(Role::ExpandBias, "feed_forward.expand_bias", Block, Vector),
        declared(Role::Gate, "feed_forward.gate", Block, InOut),
        declared(Role::GateBias, "feed_forward.gate_bias", Block, Vector),
        declared(Role::Contract, "feed_forward.contract", Block, InOut),
        declared(Role::ContractBias, "feed_forward.contract_bias", Block, Vector),
        declared(Role::Router, "feed_forward.router", Block, OutIn),
        declared(Role::ExpertExpand, "expand", Expert, InOut),
        declared(Role::ExpertExpandBias, "expand_bias", Expert, Vector),
        declared(Role::ExpertGate, "gate", Expert, InOut),
        declared(Role::ExpertGateBias, "gate_bias", Expert, Vector),
        declared(Role::ExpertContract, "contract", Expert, InOut),
        declared(Role::ExpertContractBias, "contract_bias", Expert, Vector),
        declared(Role::FinalGain, "final.norm.gain", Back, Vector),
        declared(Role::FinalNormBias, "final.norm.bias", Back, Vector),
        declared(Role::Head, "head", Back, InOut),
        declared(Role::HeadBias, "head_bias", Back, Vector),
    ]
};

impl Role {
    pub(crate) fn declaration(self) -> &'static Declaration {
        &DECLARATIONS[self as usize]
    }

    /// The two sizes in the order of the layout (a vector's second is 1), or `None` where a tower has no such
    /// parameter. In f64: sizes are a caller's and may exceed every integer type when multiplied.
    pub(crate) fn shape(self, config: &Config, tower: Tower) -> Option<[f64; 2]> {
        let wide = |n: usize| n as f64;
        let (v, d, f) = (wide(config.vocabulary_of(tower)), wide(config.n_model), wide(config.n_hidden));
        let width = wide(config.head_width.unwrap_or(config.n_model / config.n_heads));
        let (queries, keys) = (wide(config.n_heads) * width, wide(config.n_key_value_heads()) * width);
        let experts = config.feed_forward.experts();
        let has_table = v > 0.0;
        let has_head = has_table && tower != Tower::Encoder;
        let has_cross = tower == Tower::Decoder;
        let (qkv_bias, output_bias) =
            (config.bias.attention != AttentionBias::None, config.bias.attention == AttentionBias::All);
        let has_gate =
            matches!(config.feed_forward, FeedForward::Glu | FeedForward::SwiGlu | FeedForward::GeGlu);
        let has_expert_gate = experts.is_some_and(|e| e.expert == Expert::SwiGlu);
        let (gain, norm_bias) = (config.has_gain(), config.has_norm_bias());
        let bias = config.bias.feed_forward;
        let (is, shape) = match self {
            Role::Embedding => (has_table, [v, d]),
            Role::EmbeddingGain => (gain && has_table && config.embedding_norm, [d, 1.0]),
            Role::EmbeddingNormBias => (norm_bias && has_table && config.embedding_norm, [d, 1.0]),
            Role::Position => {
                (has_table && config.position == Position::Learned, [wide(config.max_context), d])
            }
            Role::AttentionGain | Role::FeedForwardGain => (gain, [d, 1.0]),
            Role::AttentionNormBias | Role::FeedForwardNormBias => (norm_bias, [d, 1.0]),
            Role::CrossGain => (gain && has_cross, [d, 1.0]),
            Role::CrossNormBias => (norm_bias && has_cross, [d, 1.0]),
            Role::Query => (true, [queries, d]),
            Role::Key | Role::Value => (true, [keys, d]),
            Role::Output => (true, [d, queries]),
            Role::CrossQuery => (has_cross, [queries, d]),
            Role::CrossKey | Role::CrossValue => (has_cross, [keys, d]),
            Role::CrossOutput => (has_cross, [d, queries]),
            Role::QueryBias => (qkv_bias, [queries, 1.0]),
            Role::KeyBias | Role::ValueBias => (qkv_bias, [keys, 1.0]),
            Role::OutputBias => (output_bias, [d, 1.0]),
            Role::CrossQueryBias => (qkv_bias && has_cross, [queries, 1.0]),
            Role::CrossKeyBias | Role::CrossValueBias => (qkv_bias && has_cross, [keys, 1.0]),
            Role::CrossOutputBias => (output_bias && has_cross, [d, 1.0]),
            Role::Expand => (experts.is_none(), [d, f]),
            Role::ExpandBias => (experts.is_none() && bias, [f, 1.0]),
            Role::Gate => (has_gate, [d, f]),
            Role::GateBias => (has_gate && bias, [f, 1.0]),
            Role::Contract => (experts.is_none(), [f, d]),
            Role::ContractBias => (experts.is_none() && bias, [d, 1.0]),
            Role::Router => (experts.is_some(), [experts.map_or(0.0, |e| wide(e.experts)), d]),
            Role::ExpertExpand => (experts.is_some(), [d, f]),
            Role::ExpertExpandBias => (experts.is_some() && bias, [f, 1.0]),
            Role::ExpertGate => (has_expert_gate, [d, f]),
            Role::ExpertGateBias => (has_expert_gate && bias, [f, 1.0]),
            Role::ExpertContract => (experts.is_some(), [f, d]),
            Role::ExpertContractBias => (experts.is_some() && bias, [d, 1.0]),
            Role::FinalGain => (gain && config.final_norm, [d, 1.0]),
            Role::FinalNormBias => (norm_bias && config.final_norm, [d, 1.0]),
            Role::Head => (has_head && !config.tied_head, [d, v]),
            Role::HeadBias => (has_head && config.bias.head, [v, 1.0]),
        };
        is.then_some(shape)
    }

    /// Whether it is a matrix at the end of a branch.
    pub(crate) fn is_branch_end(self) -> bool {
        matches!(self, Role::Output | Role::CrossOutput | Role::Contract | Role::ExpertContract)
    }

    /// Whether it is a norm's gain, which begins as 1 and is not drawn.
    pub(crate) fn is_gain(self) -> bool {
        matches!(
            self,
            Role::EmbeddingGain
                | Role::AttentionGain
                | Role::CrossGain
                | Role::FeedForwardGain
                | Role::FinalGain
        )
    }

    /// Whether it is a norm's gain or bias.
    pub(crate) fn is_of_norm(self) -> bool {
        let is_bias = matches!(
            self,
            Role::EmbeddingNormBias
                | Role::AttentionNormBias
                | Role::CrossNormBias
                | Role::FeedForwardNormBias
                | Role::FinalNormBias
        );
        is_bias || self.is_gain()
    }

    /// Whether it is one of the feed-forward branch's drawn matrices.
    pub(crate) fn is_feed_forward(self) -> bool {
        (Role::Expand..=Role::ExpertContractBias).contains(&self) && self != Role::Router
    }
}

/// Every role, in the order they are drawn.
pub(crate) fn roles() -> impl Iterator<Item = Role> {
    DECLARATIONS.iter().map(|d| d.role)
}

/// The role of the parameter that a block (or the whole of a tower) knows by this name; an expert's stands for each.
pub(crate) fn role_named(name: &str) -> Option<Role> {
    let plain = name.strip_prefix("feed_forward.experts.");
    let found = DECLARATIONS.iter().find(|d| match plain {
        Some(own) => d.scope == Scope::Expert && d.name == own,
        None => d.scope != Scope::Expert && d.name == name,
    });
    found.map(|d| d.role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_roles() {
        for (i, declaration) in DECLARATIONS.iter().enumerate() {
            assert_eq!(declaration.role as usize, i, "{}", declaration.name);
        }
        assert_eq!(DECLARATIONS.len(), Role::HeadBias as usize + 1);
    }
}
