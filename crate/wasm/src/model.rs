//! A model, of either element type.

use crate::changes;
use crate::convert::{entries, plain};
use crate::error::thrown;
use crate::numbers::{self, Number, Typed};
use crate::random::Stream;
use crate::report::{self, Labels};
use crate::trace::{self, Trace};
use glassformer::config::Config;
use glassformer::error::Error;
use glassformer::model::{Given, Transformer};
use glassformer::num::random::RandomStream;
use glassformer::num::{DType, Float};
use glassformer::options::{self, Options, Seed};
use glassformer::trace::{Start, Trace as CoreTrace};
use js_sys::{Float32Array, Float64Array};
use wasm_bindgen::prelude::*;

pub(crate) enum Either {
    F64(Transformer<f64>),
    F32(Transformer<f32>),
}

/// Does the same with a model of either element type.
macro_rules! with {
    ($either:expr, $model:ident => $body:expr) => {
        match $either {
            Either::F64($model) => $body,
            Either::F32($model) => $body,
        }
    };
}

/// A model: decoder, encoder or encoder-decoder, as its options say.
#[wasm_bindgen]
pub struct Model {
    inner: Either,
    seed: Option<u64>,
    words: Option<Vec<String>>,
    source_words: Option<Vec<String>>,
}

#[wasm_bindgen]
impl Model {
    /// A model from an object of options, seeded by its `seed`.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &JsValue) -> Result<Model, JsValue> {
        numbers::margin()?;
        let options = options::parse(&entries(options)?).map_err(thrown)?;
        let seed = match options.seed {
            Seed::Given(seed) => seed,
            Seed::Random => random_seed()?,
        };
        let mut stream = options.config.init.stream(seed);
        Model::draw(options, &mut stream, Some(seed)).map_err(thrown)
    }

    /// A model from an object of options without `seed`, drawn from a stream, which goes on behind the draws.
    pub fn drawn_from(options: &JsValue, stream: &mut Stream) -> Result<Model, JsValue> {
        numbers::margin()?;
        let options = options::parse(&entries(options)?).map_err(thrown)?;
        Model::draw(options, stream.inner_mut(), None).map_err(thrown)
    }

    fn draw(options: Options, stream: &mut RandomStream, seed: Option<u64>) -> Result<Model, Error> {
        let inner = match options.dtype {
            DType::Float64 => Either::F64(Transformer::new(&options.config, stream)?),
            DType::Float32 => Either::F32(Transformer::new(&options.config, stream)?),
        };
        Ok(Model { inner, seed, words: options.words, source_words: options.source_words })
    }

    /// Every option with its value; a seed that no JavaScript number names is a text of digits.
    pub fn options(&self) -> Result<JsValue, JsValue> {
        numbers::margin()?;
        let (config, dtype) = with!(&self.inner, m => (m.config(), dtype_of(m)));
        let labels = Labels {
            seed: self.seed,
            words: self.words.as_deref(),
            source_words: self.source_words.as_deref(),
        };
        Ok(plain(&report::options(options::fill_in(config, dtype), labels)))
    }

    /// The trace of a pass that starts from `tokens`, `rows` or `memory`: ids, or flat rows, of the target and where
    /// there is one of the source (or the memory); `changes` are one prompt's masks and edits.
    pub fn respond(
        &self,
        start: &str,
        source: Option<Float64Array>,
        target: &Float64Array,
        changes: &JsValue,
    ) -> Result<Trace, JsValue> {
        numbers::margin()?;
        let start = self::start(start)?;
        Ok(match &self.inner {
            Either::F64(m) => respond(m, start, source.as_ref(), target, changes)?.into(),
            Either::F32(m) => respond(m, start, source.as_ref(), target, changes)?.into(),
        })
    }

    /// As `respond` from tokens, computing only what the prompt has not in common with an earlier trace of this model
    /// with these parameters.
    pub fn respond_reusing(
        &self,
        source: Option<Float64Array>,
        target: &Float64Array,
        changes: &JsValue,
        earlier: &Trace,
    ) -> Result<Trace, JsValue> {
        numbers::margin()?;
        let source = source.as_ref();
        Ok(match (&self.inner, earlier.either()) {
            (Either::F64(m), trace::Either::F64(e)) => reuse(m, source, target, changes, e)?.into(),
            (Either::F32(m), trace::Either::F32(e)) => reuse(m, source, target, changes, e)?.into(),
            _ => return Err(thrown(trace::of_other_type(self.dtype(), earlier.dtype()))),
        })
    }

    /// How many numbers the parameters are.
    #[wasm_bindgen(getter)]
    pub fn parameter_count(&self) -> usize {
        with!(&self.inner, m => m.parameters().block().len())
    }

    /// Writes all parameters into a typed array of the model's type and of that many numbers.
    pub fn block_into(&self, out: &JsValue) -> Result<(), JsValue> {
        numbers::margin()?;
        match &self.inner {
            Either::F64(m) => out.unchecked_ref::<Float64Array>().copy_in(0, m.parameters().block()),
            Either::F32(m) => out.unchecked_ref::<Float32Array>().copy_in(0, m.parameters().block()),
        }
        Ok(())
    }

    /// A model of options without a seed, and of the numbers that `block_into` gave.
    pub fn of_block(options: &JsValue, block: &JsValue) -> Result<Model, JsValue> {
        numbers::margin()?;
        let Options { config, dtype, words, source_words, .. } =
            options::parse(&entries(options)?).map_err(thrown)?;
        let inner = match dtype {
            DType::Float64 => {
                Either::F64(of_block(&config, &numbers::read(block.unchecked_ref::<Float64Array>())?)?)
            }
            DType::Float32 => {
                Either::F32(of_block(&config, &numbers::read(block.unchecked_ref::<Float32Array>())?)?)
            }
        };
        Ok(Model { inner, seed: None, words, source_words })
    }

    /// Every parameter with its name, shape and layout, in the order of the draws.
    pub fn parameters(&self) -> Result<JsValue, JsValue> {
        numbers::margin()?;
        let list = with!(&self.inner, m => m.parameters().list());
        Ok(plain(&list.iter().map(report::parameter).collect::<Vec<_>>()))
    }

    /// Writes a parameter into a typed array of the model's type and the parameter's size.
    pub fn parameter_into(&self, name: &str, out: &JsValue) -> Result<(), JsValue> {
        numbers::margin()?;
        fn copy<F: Number>(m: &Transformer<F>, name: &str, out: &JsValue) -> Result<(), JsValue> {
            let values = m.parameters().get(name).map_err(thrown)?;
            out.unchecked_ref::<F::Array>().copy_in(0, values.data());
            Ok(())
        }
        with!(&self.inner, m => copy(m, name, out))
    }

    /// Replaces a parameter.
    pub fn set_parameter(&mut self, name: &str, values: &Float64Array) -> Result<(), JsValue> {
        numbers::margin()?;
        match &mut self.inner {
            Either::F64(m) => m.parameters_mut().set(name, &numbers::read(values)?),
            Either::F32(m) => m.parameters_mut().set(name, &numbers::read_as(values)?),
        }
        .map_err(thrown)
    }
}

impl Model {
    pub(crate) fn either(&self) -> &Either {
        &self.inner
    }

    pub(crate) fn dtype(&self) -> DType {
        with!(&self.inner, m => dtype_of(m))
    }
}

/// A start by its name.
pub(crate) fn start(name: &str) -> Result<Start, JsValue> {
    match name {
        "tokens" => Ok(Start::Tokens),
        "rows" => Ok(Start::Rows),
        "memory" => Ok(Start::Memory),
        _ => Err(thrown(Error::InvalidOption {
            option: "start".into(),
            value: format!("{name:?}"),
            reason: "it must be \"tokens\", \"rows\" or \"memory\"".into(),
            nearest: vec![],
        })),
    }
}

/// What a pass starts from, read.
pub(crate) enum Read<F> {
    Tokens { target: Vec<u32>, source: Vec<u32> },
    Rows { target: Vec<F>, source: Vec<F> },
    Memory { target: Vec<F>, memory: Vec<F> },
}

impl<F: Float> Read<F> {
    pub(crate) fn new(
        model: &Transformer<F>,
        start: Start,
        source: Option<&Float64Array>,
        target: &Float64Array,
    ) -> Result<Self, JsValue> {
        if start == Start::Tokens {
            let (source, target) = read_prompt(model.config(), source, target)?;
            return Ok(Read::Tokens { target, source });
        }
        let source = source.map(numbers::read_as::<F>).transpose()?.unwrap_or_default();
        let target = numbers::read_as::<F>(target)?;
        Ok(match start {
            Start::Memory => Read::Memory { target, memory: source },
            _ => Read::Rows { target, source },
        })
    }

    pub(crate) fn given(&self) -> Given<'_, F> {
        match self {
            Read::Tokens { target, source } => Given::Tokens { target, source },
            Read::Rows { target, source } => Given::Rows { target, source },
            Read::Memory { target, memory } => Given::Memory { target, memory },
        }
    }
}

fn respond<F: Float>(
    model: &Transformer<F>,
    start: Start,
    source: Option<&Float64Array>,
    target: &Float64Array,
    changes: &JsValue,
) -> Result<CoreTrace<F>, JsValue> {
    let changes = changes::read(changes)?;
    model.respond_changed(Read::new(model, start, source, target)?.given(), changes).map_err(thrown)
}

fn reuse<F: Float>(
    model: &Transformer<F>,
    source: Option<&Float64Array>,
    target: &Float64Array,
    changes: &JsValue,
    earlier: &CoreTrace<F>,
) -> Result<CoreTrace<F>, JsValue> {
    let changes = changes::read(changes)?;
    let (source, target) = read_prompt(model.config(), source, target)?;
    model.respond_reusing(&target, &source, changes, earlier).map_err(thrown)
}

fn of_block<F: Float>(config: &Config, block: &[F]) -> Result<Transformer<F>, JsValue> {
    Transformer::of_block(config, block).map_err(thrown)
}

/// The ids of a source and a target.
fn read_prompt(
    config: &Config,
    source: Option<&Float64Array>,
    target: &Float64Array,
) -> Result<(Vec<u32>, Vec<u32>), JsValue> {
    let of_source = config.encoder.as_ref().map_or(0, |encoder| encoder.n_vocab);
    let source = source.map(numbers::read).transpose()?.unwrap_or_default();
    Ok((read_tokens(&source, of_source)?, read_tokens(&numbers::read(target)?, config.n_vocab)?))
}

fn dtype_of<F: Float>(_: &Transformer<F>) -> DType {
    F::DTYPE
}

/// Token ids from numbers. Whether they fit the model is the model's to say; whether they are whole is said here.
pub(crate) fn read_tokens(ids: &[f64], vocabulary: usize) -> Result<Vec<u32>, JsValue> {
    let read = |(position, &id): (usize, &f64)| {
        if id.fract() != 0.0 || !id.is_finite() {
            let value = id.to_string();
            return Err(Error::NotAnInteger { what: "token id".into(), position: Some(position), value });
        }
        if id < 0.0 || id > f64::from(u32::MAX) {
            return Err(Error::TokenOutOfRange { position, id, vocabulary });
        }
        Ok(id as u32)
    };
    let mut tokens = numbers::reserved(ids.len())?;
    for id in ids.iter().enumerate() {
        tokens.push(read(id).map_err(thrown)?);
    }
    Ok(tokens)
}

fn random_seed() -> Result<u64, JsValue> {
    getrandom::u64().map_err(|_| {
        thrown(Error::InvalidOption {
            option: "seed".into(),
            value: "\"random\"".into(),
            reason: "this environment has no source of random numbers".into(),
            nearest: vec![],
        })
    })
}
