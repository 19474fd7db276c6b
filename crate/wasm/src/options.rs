//! Options as JavaScript writes them, to and from the core's configuration.

use glassformer::config::{Config, Init};
use glassformer::error::{nearest, Error};
use glassformer::math::Activation;
use glassformer::num::DType;

/// An option's value, whatever it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Absent,
    Bool(bool),
    Number(f64),
    Big(u64),
    Text(String),
    List(Vec<Value>),
    Other(String),
}

impl Value {
    fn words(&self) -> String {
        match self {
            Value::Absent => "undefined".into(),
            Value::Bool(x) => x.to_string(),
            Value::Number(x) => x.to_string(),
            Value::Big(x) => format!("{x}n"),
            // An option may be of any length; a message should not.
            Value::Text(x) => format!("{:?}", x.chars().take(60).collect::<String>()),
            Value::List(x) => format!("a list of {}", x.len()),
            Value::Other(x) => x.clone(),
        }
    }
}

/// Where the seed comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Seed {
    Given(u64),
    Random,
}

impl Seed {
    /// The seed, where it is a number already.
    pub(crate) fn given(self) -> Option<u64> {
        match self {
            Seed::Given(seed) => Some(seed),
            Seed::Random => None,
        }
    }
}

/// All options of a model.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub config: Config,
    pub dtype: DType,
    pub seed: Seed,
    pub words: Option<Vec<String>>,
}

/// The options that are read, in the order of the documentation.
const NAMES: [&str; 26] = [
    "nVocab",
    "nModel",
    "nHeads",
    "headWidth",
    "nKeyValueHeads",
    "nBlocks",
    "nHidden",
    "maxContext",
    "dtype",
    "words",
    "seed",
    "init",
    "branchScale",
    "norm",
    "normPlacement",
    "normAffine",
    "epsilon",
    "finalNorm",
    "residual",
    "parallel",
    "activation",
    "feedForward",
    "position",
    "mask",
    "bias",
    "tiedHead",
];
const SCORE_SCALE: &str = "scoreScale";

/// Options that belong to blocks this version does not have, whatever their value.
const LATER: [&str; 3] = ["window", "rotary", "alibiSlopes"];

/// 2^64, the first number that is no seed.
const SEEDS: f64 = 18_446_744_073_709_551_616.0;

/// Options whose other values belong to blocks that this version does not have.
const FIXED: [(&str, Fixed); 10] = [
    ("norm", Fixed::Text("layer")),
    ("normPlacement", Fixed::Text("pre")),
    ("normAffine", Fixed::Bool(false)),
    ("residual", Fixed::Bool(true)),
    ("parallel", Fixed::Bool(false)),
    ("feedForward", Fixed::Text("dense")),
    ("position", Fixed::Text("sinusoidal")),
    ("mask", Fixed::Text("causal")),
    ("bias", Fixed::Bool(false)),
    ("tiedHead", Fixed::Bool(false)),
];

#[derive(Clone, Copy)]
pub(crate) enum Fixed {
    Text(&'static str),
    Bool(bool),
}

impl Fixed {
    fn value(self) -> Value {
        match self {
            Fixed::Text(x) => Value::Text(x.into()),
            Fixed::Bool(x) => Value::Bool(x),
        }
    }
}

/// The options that `entries` name, the rest filled in.
///
/// # Errors
/// [`Error::InvalidOption`], [`Error::ConfigConflict`]; the core checks the configuration again as a whole.
pub(crate) fn parse(entries: &[(String, Value)]) -> Result<Options, Error> {
    let given = Given(entries);
    given.refuse_unknown()?;
    for (name, fixed) in FIXED {
        given.refuse_other(name, &fixed.value())?;
    }
    let n_vocab = given.size("nVocab")?.ok_or_else(|| refused("nVocab", &Value::Absent, "it is required"))?;
    let lesson = Config::new(n_vocab);
    let n_model = given.size("nModel")?.unwrap_or(lesson.n_model);
    let n_heads = given.size("nHeads")?.unwrap_or(lesson.n_heads);
    let config = Config {
        n_model,
        n_heads,
        n_blocks: given.size("nBlocks")?.unwrap_or(lesson.n_blocks),
        n_hidden: given.size("nHidden")?.unwrap_or(n_model.saturating_mul(2)),
        max_context: given.size("maxContext")?.unwrap_or(lesson.max_context),
        epsilon: given.number("epsilon")?.unwrap_or(lesson.epsilon),
        final_norm: given.bool("finalNorm")?.unwrap_or(lesson.final_norm),
        activation: given
            .choice("activation", &Activation::ALL.map(|a| (a.name(), a)))?
            .unwrap_or(lesson.activation),
        score_scale: given.number(SCORE_SCALE)?,
        init: given.choice("init", &Init::ALL.map(|i| (i.name(), i)))?.unwrap_or(lesson.init),
        branch_scale: given.number("branchScale")?.unwrap_or(lesson.branch_scale),
        n_vocab,
    };
    config.validate()?;
    given.refuse_other("headWidth", &Value::Number(config.head_width() as f64))?;
    given.refuse_other("nKeyValueHeads", &Value::Number(n_heads as f64))?;
    let dtypes = [DType::Float64, DType::Float32].map(|t| (t.name(), t));
    Ok(Options {
        config,
        dtype: given.choice("dtype", &dtypes)?.unwrap_or(DType::Float64),
        seed: given.seed()?,
        words: given.words(n_vocab)?,
    })
}

/// Every option of a model with its value, in the order of the documentation, but for seed and words.
pub(crate) fn fill_in(config: &Config, dtype: DType) -> Vec<(&'static str, Value)> {
    let number = |x: usize| Value::Number(x as f64);
    let text = |x: &str| Value::Text(x.into());
    let own = |name| match name {
        "nVocab" => Some(number(config.n_vocab)),
        "nModel" => Some(number(config.n_model)),
        "nHeads" | "nKeyValueHeads" => Some(number(config.n_heads)),
        "headWidth" => Some(number(config.head_width())),
        "nBlocks" => Some(number(config.n_blocks)),
        "nHidden" => Some(number(config.n_hidden)),
        "maxContext" => Some(number(config.max_context)),
        "dtype" => Some(text(dtype.name())),
        "init" => Some(text(config.init.name())),
        "branchScale" => Some(Value::Number(config.branch_scale)),
        "epsilon" => Some(Value::Number(config.epsilon)),
        "finalNorm" => Some(Value::Bool(config.final_norm)),
        "activation" => Some(text(config.activation.name())),
        SCORE_SCALE => Some(Value::Number(config.score_scale())),
        _ => FIXED.iter().find(|(fixed, _)| *fixed == name).map(|(_, fixed)| fixed.value()),
    };
    NAMES.into_iter().chain([SCORE_SCALE]).filter_map(|name| Some((name, own(name)?))).collect()
}

struct Given<'a>(&'a [(String, Value)]);

impl Given<'_> {
    fn refuse_unknown(&self) -> Result<(), Error> {
        let known = || NAMES.into_iter().chain([SCORE_SCALE]);
        for name in LATER {
            if let Some(value) = self.get(name) {
                return Err(refused(name, value, "this version does not have it"));
            }
        }
        let is_unknown = |name: &str| !known().chain(LATER).any(|k| k == name);
        match self.0.iter().find(|(name, _)| is_unknown(name)) {
            None => Ok(()),
            Some((name, value)) => Err(Error::InvalidOption {
                option: name.chars().take(60).collect(),
                value: value.words(),
                reason: "there is no such option".into(),
                nearest: nearest(name, known()),
            }),
        }
    }

    /// `undefined` counts as not given, as everywhere in JavaScript.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(n, v)| n == name && *v != Value::Absent).map(|(_, v)| v)
    }

    fn refuse_other(&self, name: &str, only: &Value) -> Result<(), Error> {
        match self.get(name) {
            Some(value) if value != only => {
                Err(refused(name, value, &format!("this version has {} only", only.words())))
            }
            _ => Ok(()),
        }
    }

    fn size(&self, name: &str) -> Result<Option<usize>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(&Value::Number(x)) if (0.0..=f64::from(u32::MAX)).contains(&x) && x.fract() == 0.0 => {
                Ok(Some(x as usize))
            }
            Some(value) => Err(refused(name, value, "it must be a whole number from 0 to 4294967295")),
        }
    }

    fn number(&self, name: &str) -> Result<Option<f64>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(&Value::Number(x)) if x.is_finite() => Ok(Some(x)),
            Some(value) => Err(refused(name, value, "it must be a finite number")),
        }
    }

    fn bool(&self, name: &str) -> Result<Option<bool>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(&Value::Bool(x)) => Ok(Some(x)),
            Some(value) => Err(refused(name, value, "it must be true or false")),
        }
    }

    fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let chosen = choices.iter().find(|(word, _)| matches!(value, Value::Text(x) if x == word));
        let words = || choices.iter().map(|(word, _)| format!("{word:?}")).collect::<Vec<_>>().join(", ");
        match chosen {
            Some(&(_, choice)) => Ok(Some(choice)),
            None => {
                let given = match value {
                    Value::Text(x) => x.as_str(),
                    _ => "",
                };
                Err(Error::InvalidOption {
                    option: name.into(),
                    value: value.words(),
                    reason: format!("it must be one of {}", words()),
                    nearest: nearest(given, choices.iter().map(|(word, _)| *word)),
                })
            }
        }
    }

    fn seed(&self) -> Result<Seed, Error> {
        match self.get("seed") {
            None => Ok(Seed::Given(7)),
            Some(&Value::Big(x)) => Ok(Seed::Given(x)),
            Some(Value::Text(x)) if x == "random" => Ok(Seed::Random),
            Some(&Value::Number(x)) if (0.0..SEEDS).contains(&x) && x.fract() == 0.0 => {
                Ok(Seed::Given(x as u64))
            }
            Some(value) => Err(refused(
                "seed",
                value,
                "it must be a whole number from 0 to 2^64-1, \"random\" or a random stream",
            )),
        }
    }

    fn words(&self, n_vocab: usize) -> Result<Option<Vec<String>>, Error> {
        let Some(value) = self.get("words") else { return Ok(None) };
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
                Some((i, word)) => refused("words", word, &format!("{reason}, and that stands at {i}")),
                None => refused("words", value, reason),
            }
        })?;
        if words.len() != n_vocab {
            return Err(Error::ConfigConflict {
                options: vec![("words".into(), words.len() as f64), ("nVocab".into(), n_vocab as f64)],
                reason: format!("{} words for a vocabulary of {n_vocab}", words.len()),
            });
        }
        Ok(Some(words))
    }
}

fn refused(name: &str, value: &Value, reason: &str) -> Error {
    Error::InvalidOption { option: name.into(), value: value.words(), reason: reason.into(), nearest: vec![] }
}
