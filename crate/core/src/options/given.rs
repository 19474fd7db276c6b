//! Named values, read one by one.

use super::value::{Seed, Value};
use crate::error::{nearest, Error, Field};
use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

/// 2^64, the first number that is no seed.
const SEEDS: f64 = 18_446_744_073_709_551_616.0;

/// The options of a model, or of one of its options.
pub(super) struct Given<'a> {
    /// What an error's names begin with, such as `rotary.`.
    pub path: &'static str,
    pub entries: &'a [(String, Value)],
}

impl<'a> Given<'a> {
    /// Refuses what is none of these names.
    pub(super) fn refuse_unknown(&self, names: &[&str]) -> Result<(), Error> {
        match self.entries.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, value)) => Err(Error::InvalidOption {
                option: self.full(&name.chars().take(60).collect::<String>()),
                value: value.words(),
                reason: "there is no such option".into(),
                nearest: nearest(name, names.iter().copied()),
            }),
        }
    }

    fn full(&self, name: &str) -> String {
        format!("{}{name}", self.path)
    }

    /// `undefined` counts as not given, as everywhere in JavaScript.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.entries.iter().find(|(n, v)| n == name && *v != Value::Absent).map(|(_, v)| v)
    }

    pub(super) fn refused(&self, name: &str, value: &Value, reason: &str) -> Error {
        Error::InvalidOption {
            option: self.full(name),
            value: value.words(),
            reason: reason.into(),
            nearest: vec![],
        }
    }

    pub(super) fn required(&self, name: &str) -> Error {
        self.refused(name, &Value::Absent, "it is required")
    }

    pub(super) fn size(&self, name: &str) -> Result<Option<usize>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(&Value::Number(x)) if (0.0..=f64::from(u32::MAX)).contains(&x) && x as u32 as f64 == x => {
                Ok(Some(x as usize))
            }
            Some(value) => Err(self.refused(name, value, "it must be a whole number from 0 to 4294967295")),
        }
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(&Value::Number(x)) if x.is_finite() => Ok(Some(x)),
            Some(value) => Err(self.refused(name, value, "it must be a finite number")),
        }
    }

    pub(super) fn bool(&self, name: &str) -> Result<Option<bool>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(&Value::Bool(x)) => Ok(Some(x)),
            Some(value) => Err(self.refused(name, value, "it must be true or false")),
        }
    }

    pub(super) fn choice<T: Copy>(
        &self,
        name: &str,
        choices: impl Iterator<Item = (&'static str, T)> + Clone,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let chosen = choices.clone().find(|(word, _)| matches!(value, Value::Text(x) if x == word));
        match chosen {
            Some((_, choice)) => Ok(Some(choice)),
            None => {
                let words: Vec<String> = choices.clone().map(|(word, _)| format!("{word:?}")).collect();
                let given = match value {
                    Value::Text(x) => x.as_str(),
                    _ => "",
                };
                Err(Error::InvalidOption {
                    option: self.full(name),
                    value: value.words(),
                    reason: format!("it must be one of {}", words.join(", ")),
                    nearest: nearest(given, choices.map(|(word, _)| word)),
                })
            }
        }
    }

    pub(super) fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, Error> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let reason = "it must be a list of finite numbers";
        let Value::List(list) = value else { return Err(self.refused(name, value, reason)) };
        let read = |(i, value): (usize, &Value)| match value {
            Value::Number(x) if x.is_finite() => Ok(*x),
            _ => Err(self.refused(name, value, &format!("{reason}, and that stands at {i}"))),
        };
        list.iter().enumerate().map(read).collect::<Result<_, _>>().map(Some)
    }

    /// A whole number from 0 to 2^64-1.
    pub(super) fn big(&self, name: &str) -> Result<Option<u64>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(&Value::Big(x)) => Ok(Some(x)),
            Some(&Value::Number(x)) if (0.0..SEEDS).contains(&x) && x as u64 as f64 == x => {
                Ok(Some(x as u64))
            }
            Some(value) => Err(self.refused(name, value, "it must be a whole number from 0 to 2^64-1")),
        }
    }

    pub(super) fn seed(&self) -> Result<Seed, Error> {
        match self.get("seed") {
            Some(Value::Text(x)) if x == "random" => Ok(Seed::Random),
            value => match (self.big("seed"), value) {
                (Ok(seed), _) => Ok(Seed::Given(seed.unwrap_or(7))),
                (Err(_), Some(value)) => Err(self.refused(
                    "seed",
                    value,
                    "it must be a whole number from 0 to 2^64-1, \"random\" or a random stream",
                )),
                (Err(error), None) => Err(error),
            },
        }
    }

    /// A list of texts, one for each token.
    pub(super) fn words(
        &self,
        name: &str,
        (size_name, size): (&str, usize),
    ) -> Result<Option<Vec<String>>, Error> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = |value: &Value| match value {
            Value::Text(x) => Some(x.clone()),
            _ => None,
        };
        let words: Option<Vec<String>> = match value {
            Value::List(list) => list.iter().map(text).collect(),
            _ => None,
        };
        let words = words.ok_or_else(|| {
            let wrong = match value {
                Value::List(list) => list.iter().enumerate().find(|(_, word)| text(word).is_none()),
                _ => None,
            };
            let reason = "it must be a list of texts";
            match wrong {
                Some((i, word)) => self.refused(name, word, &format!("{reason}, and that stands at {i}")),
                None => self.refused(name, value, reason),
            }
        })?;
        if words.len() != size {
            let reason = format!("{} words for a vocabulary of {size}", words.len());
            return Err(disagree(
                [(name, (words.len() as f64).into()), (size_name, (size as f64).into())],
                reason,
            ));
        }
        Ok(Some(words))
    }
}

pub(super) fn disagree(options: [(&str, Field); 2], reason: String) -> Error {
    Error::ConfigConflict { options: options.map(|(name, value)| (name.to_string(), value)).into(), reason }
}
