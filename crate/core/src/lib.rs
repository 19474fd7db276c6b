//! A transformer block with nothing hidden.
//!
//! A small causal language model whose forward pass keeps every intermediate number under a name, and gives
//! the same bits on every platform.
//!
//! - [`config`]: what can be chosen; [`model`]: the model; [`trace`]: what a pass computed.
//! - [`stage`]: the stages, each declared once: name, axes, formula, what it is computed from.
//! - `layer`: attention, feed-forward, block, head; [`math`]: their equations alone.
//! - [`inspect`]: what a stage is, what a cell was computed from, how two traces differ, what the stream is made of.
//! - [`generate`]: continuing a prompt.
//! - [`num`]: floats, the matrix product, random streams; [`params`] and `init`: parameters and their draws.
//!
//! # What this crate does not do
//! No training, no tokenizer, no files, no threads; no model whose attention has learned anything: the
//! parameters are random until a caller sets them.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod config;
pub mod error;
pub mod generate;
mod init;
pub mod inspect;
mod layer;
pub mod mask;
pub mod math;
mod memory;
pub mod model;
pub mod num;
pub mod options;
pub mod params;
pub mod stage;
pub mod tensor;
pub mod trace;
