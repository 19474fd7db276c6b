//! What can be refused, and with which words.

mod field;
mod nearest;

pub use field::Field;
pub use nearest::nearest;

use alloc::{format, string::String, vec::Vec};
use core::fmt;

/// A refusal. Nothing is changed by a call that returns one.
///
/// Every variant has a stable [`code`](Error::code) and carries the values that a person needs to mend
/// the call; [`fields`](Error::fields) lists them by name, so that bindings need not know the variants.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// An option that does not exist, or whose value is of the wrong type or out of its range.
    InvalidOption {
        /// The option's name as it was given.
        option: String,
        /// Its value as it was given, in words.
        value: String,
        /// What would be accepted, or what is wrong.
        reason: String,
        /// Names of existing options close to an unknown one.
        nearest: Vec<String>,
    },
    /// Two options, each right alone, that disagree.
    ConfigConflict {
        /// The options that disagree, each with its value: its own, or how many it has.
        options: Vec<(String, Field)>,
        /// Why, with their values.
        reason: String,
    },
    /// A value that must be a whole number and is not one.
    NotAnInteger {
        /// What the value is.
        what: String,
        /// Its place in the list it was given in.
        position: Option<usize>,
        /// The value in words.
        value: String,
    },
    /// A token id outside the vocabulary.
    TokenOutOfRange {
        /// Its place in the prompt.
        position: usize,
        /// The id; a float, because it may be any whole number a caller can write.
        id: f64,
        /// The number of tokens; ids run from 0 to one less.
        vocabulary: usize,
    },
    /// An index outside its axis.
    IndexOutOfRange {
        /// The axis.
        what: String,
        /// The index.
        index: f64,
        /// The size of the axis.
        size: usize,
    },
    /// A prompt without tokens, or rows without rows.
    EmptyPrompt,
    /// A prompt longer than the model's longest.
    ContextExceeded {
        /// The prompt's length.
        length: usize,
        /// The longest that is allowed.
        max_context: usize,
    },
    /// Values whose number or shape does not fit.
    ShapeMismatch {
        /// What has the shape.
        what: String,
        /// The shape that would fit.
        expected: Vec<usize>,
        /// The shape that was given.
        actual: Vec<usize>,
    },
    /// A stage that this trace does not have.
    UnknownStage {
        /// The name as it was given.
        name: String,
        /// Existing names close to it.
        nearest: Vec<String>,
    },
    /// A parameter that this model does not have.
    UnknownParameter {
        /// The name as it was given.
        name: String,
        /// Existing names close to it.
        nearest: Vec<String>,
    },
    /// A number that is infinite or not a number where a finite one is needed.
    NotFinite {
        /// What the number is part of: an input, or the first stage that left the finite numbers.
        what: String,
        /// Its flat place in the list, or the position of its row.
        position: usize,
        /// The value.
        value: f64,
    },
    /// A choice of an expert that is full, where that is to be an error.
    CapacityExceeded {
        /// The stage whose choice it is.
        stage: String,
        /// The position of the row that chose.
        position: usize,
        /// The expert.
        expert: usize,
        /// How many choices it takes.
        capacity: usize,
    },
    /// Memory for this many bytes cannot be had.
    OutOfMemory {
        /// What the memory is for.
        what: String,
        /// How many bytes were asked for; a float, because the number may exceed every integer type.
        bytes: f64,
    },
}

impl Error {
    /// The stable code of this refusal, the same in Rust and in JavaScript.
    pub fn code(&self) -> &'static str {
        match self {
            Error::InvalidOption { .. } => "invalid_option",
            Error::ConfigConflict { .. } => "config_conflict",
            Error::NotAnInteger { .. } => "not_an_integer",
            Error::TokenOutOfRange { .. } => "token_out_of_range",
            Error::IndexOutOfRange { .. } => "index_out_of_range",
            Error::EmptyPrompt => "empty_prompt",
            Error::ContextExceeded { .. } => "context_exceeded",
            Error::ShapeMismatch { .. } => "shape_mismatch",
            Error::UnknownStage { .. } => "unknown_stage",
            Error::UnknownParameter { .. } => "unknown_parameter",
            Error::NotFinite { .. } => "not_finite",
            Error::CapacityExceeded { .. } => "capacity_exceeded",
            Error::OutOfMemory { .. } => "out_of_memory",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InvalidOption { option, value, reason, nearest } => {
                write!(f, "option {option}: {value} is refused; {reason}{}", did_you_mean(nearest))
            }
            Error::ConfigConflict { options, reason } => {
                let names: Vec<&str> = options.iter().map(|(name, _)| name.as_str()).collect();
                write!(f, "options {} disagree: {reason}", names.join(" and "))
            }
            Error::NotAnInteger { what, position, value } => {
                write!(f, "{what}{} must be a whole number, got {value}", at(position))
            }
            Error::TokenOutOfRange { position, id, vocabulary: 0 } => write!(
                f,
                "token id {id} at position {position}: this model has no vocabulary; it responds to rows"
            ),
            Error::TokenOutOfRange { position, id, vocabulary } => write!(
                f,
                "token id {id} at position {position} is outside the vocabulary; ids run from 0 to {}",
                vocabulary.saturating_sub(1)
            ),
            Error::IndexOutOfRange { what, index, size } => {
                write!(f, "{what} {index} is out of range; the axis has {size}, counted from 0")
            }
            Error::EmptyPrompt => write!(f, "the prompt is empty; it needs at least one token, or row"),
            Error::ContextExceeded { length, max_context } => {
                write!(f, "the prompt has {length} rows; this model reads at most {max_context}")
            }
            Error::ShapeMismatch { what, expected, actual } => {
                write!(f, "{what} has shape {actual:?}, expected {expected:?}")
            }
            Error::UnknownStage { name, nearest } => {
                write!(f, "there is no stage {name:?} in this trace{}", did_you_mean(nearest))
            }
            Error::UnknownParameter { name, nearest } => {
                write!(f, "there is no parameter {name:?} in this model{}", did_you_mean(nearest))
            }
            Error::NotFinite { what, position, value } => {
                write!(f, "{what} is {value} at {position}; only finite numbers are allowed")
            }
            Error::CapacityExceeded { stage, position, expert, capacity } => write!(
                f,
                "{stage}: the row at position {position} chose expert {expert}, which is full with {capacity}; \
                 feedForward.overflow says what else may happen"
            ),
            Error::OutOfMemory { what, bytes } => {
                write!(f, "memory for {what}: {bytes} bytes are more than can be had")
            }
        }
    }
}

impl core::error::Error for Error {}

fn at(position: &Option<usize>) -> String {
    position.map_or(String::new(), |p| format!(" at position {p}"))
}

fn did_you_mean(nearest: &[String]) -> String {
    if nearest.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", nearest.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_message_names_the_offending_value() {
        let e = Error::TokenOutOfRange { position: 2, id: 9.0, vocabulary: 7 };
        assert_eq!(e.code(), "token_out_of_range");
        assert_eq!(e.to_string(), "token id 9 at position 2 is outside the vocabulary; ids run from 0 to 6");
    }
}
