//! What a refusal carries, by name, so that bindings need not know the variants.

use super::Error;
use alloc::{string::String, vec::Vec};

/// A value that an [`Error`] carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// A list of texts.
    Texts(Vec<String>),
    /// A list of numbers.
    Numbers(Vec<f64>),
    /// True or false.
    Flag(bool),
    /// A list of anything.
    List(Vec<Field>),
}

impl From<f64> for Field {
    fn from(x: f64) -> Self {
        Field::Number(x)
    }
}

impl From<bool> for Field {
    fn from(x: bool) -> Self {
        Field::Flag(x)
    }
}

impl From<&str> for Field {
    fn from(x: &str) -> Self {
        Field::Text(x.into())
    }
}

impl Error {
    /// The values this refusal carries, by the names they have in JavaScript.
    pub fn fields(&self) -> Vec<(&'static str, Field)> {
        let text = |s: &String| Field::Text(s.clone());
        let size = |n: &usize| Field::Number(*n as f64);
        let sizes = |v: &Vec<usize>| Field::Numbers(v.iter().map(|&n| n as f64).collect());
        let mut out = Vec::new();
        match self {
            Error::InvalidOption { option, value, reason, nearest } => {
                out.push(("option", text(option)));
                out.push(("value", text(value)));
                out.push(("reason", text(reason)));
                out.push(("nearest", Field::Texts(nearest.clone())));
            }
            Error::ConfigConflict { options, reason } => {
                out.push(("options", Field::Texts(options.iter().map(|(name, _)| name.clone()).collect())));
                out.push(("values", Field::List(options.iter().map(|(_, value)| value.clone()).collect())));
                out.push(("reason", text(reason)));
            }
            Error::NotAnInteger { what, position, value } => {
                out.push(("what", text(what)));
                if let Some(position) = position {
                    out.push(("position", size(position)));
                }
                out.push(("value", text(value)));
            }
            Error::TokenOutOfRange { position, id, vocabulary } => {
                out.push(("position", size(position)));
                out.push(("id", Field::Number(*id)));
                out.push(("vocabulary", size(vocabulary)));
            }
            Error::IndexOutOfRange { what, index, size: bound } => {
                out.push(("what", text(what)));
                out.push(("index", Field::Number(*index)));
                out.push(("size", size(bound)));
            }
            Error::EmptyPrompt => {}
            Error::ContextExceeded { length, max_context } => {
                out.push(("length", size(length)));
                out.push(("maxContext", size(max_context)));
            }
            Error::ShapeMismatch { what, expected, actual } => {
                out.push(("what", text(what)));
                out.push(("expected", sizes(expected)));
                out.push(("actual", sizes(actual)));
            }
            Error::UnknownStage { name, nearest } => {
                out.push(("stage", text(name)));
                out.push(("nearest", Field::Texts(nearest.clone())));
            }
            Error::UnknownParameter { name, nearest } => {
                out.push(("parameter", text(name)));
                out.push(("nearest", Field::Texts(nearest.clone())));
            }
            Error::NotFinite { what, position, value } => {
                out.push(("what", text(what)));
                out.push(("position", size(position)));
                out.push(("value", Field::Number(*value)));
            }
            Error::CapacityExceeded { stage, position, expert, capacity } => {
                out.push(("stage", text(stage)));
                out.push(("position", size(position)));
                out.push(("expert", size(expert)));
                out.push(("capacity", size(capacity)));
            }
            Error::OutOfMemory { what, bytes } => {
                out.push(("what", text(what)));
                out.push(("bytes", Field::Number(*bytes)));
            }
        }
        out
    }
}
