//! The models: layers, wired.

mod causal;
mod encoder;
mod encoder_decoder;
mod given;
mod named;
mod transformer;

pub use causal::CausalLanguageModel;
pub use encoder::EncoderModel;
pub use encoder_decoder::EncoderDecoderModel;
pub use given::Given;
pub use transformer::Transformer;
