//! What options are before and after they are read.

use crate::config::Config;
use crate::num::DType;
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// An option's value, whatever it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Left out.
    Absent,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A whole number that may exceed what a float holds exactly.
    Big(u64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// Options of an option.
    Object(Vec<(String, Value)>),
    /// Anything else, in words.
    Other(String),
}

impl Value {
    /// The value in a few words.
    pub fn words(&self) -> String {
        match self {
            Value::Absent => "undefined".into(),
            Value::Bool(x) => x.to_string(),
            Value::Number(x) => x.to_string(),
            Value::Big(x) => format!("{x}n"),
            // An option may be of any length; a message should not.
            Value::Text(x) => format!("{:?}", x.chars().take(60).collect::<String>()),
            Value::List(x) => format!("a list of {}", x.len()),
            Value::Object(_) => "an object".into(),
            Value::Other(x) => x.clone(),
        }
    }
}

/// Where the seed comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seed {
    /// A number.
    Given(u64),
    /// Whatever the environment calls random.
    Random,
}

impl Seed {
    /// The seed, where it is a number already.
    pub fn given(self) -> Option<u64> {
        match self {
            Seed::Given(seed) => Some(seed),
            Seed::Random => None,
        }
    }
}

/// All options of a model.
#[derive(Clone, Debug)]
pub struct Options {
    /// What shapes the model and its passes.
    pub config: Config,
    /// What it computes in.
    pub dtype: DType,
    /// What its parameters are drawn from.
    pub seed: Seed,
    /// Labels of the vocabulary.
    pub words: Option<Vec<String>>,
    /// Labels of the source's vocabulary.
    pub source_words: Option<Vec<String>>,
}
