//! The models: layers, wired.

mod causal;

pub use causal::CausalLanguageModel;
