//! The parameters: where each stands, and how it is read and set by name.

use crate::config::Config;
use crate::error::{nearest, Error};
use crate::memory::{reserved, zeroed};
use crate::num::Float;
use crate::tensor::Tensor;
use alloc::{format, string::String, vec, vec::Vec};
use core::ops::Range;

/// How a matrix is laid out for its reader, as the lesson has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A table with a row for each token.
    Table,
    /// `y = x Wᵀ`: a row for each output (PyTorch's `nn.Linear`).
    OutIn,
    /// `y = x W`: a row for each input.
    InOut,
}

impl Layout {
    /// The name in lists and files.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Table => "row per token",
            Layout::OutIn => "out,in",
            Layout::InOut => "in,out",
        }
    }
}

/// What a parameter is for, which decides how it is initialized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Embedding,
    Projection,
    AttentionOutput,
    Expand,
    Contract,
    Head,
}

/// One parameter matrix.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name; within a block, what follows `blocks.N.`.
    own_name: &'static str,
    block: Option<usize>,
    /// Its two sizes in the order of its layout.
    pub shape: [usize; 2],
    /// Which of the two is input, which output.
    pub layout: Layout,
    pub(crate) role: Role,
    offset: usize,
}

impl Parameter {
    /// Its full name, such as `blocks.0.attention.query`.
    pub fn name(&self) -> String {
        match self.block {
            Some(n) => format!("blocks.{n}.{}", self.own_name),
            None => String::from(self.own_name),
        }
    }

    /// How many numbers it has.
    pub fn count(&self) -> usize {
        self.shape[0] * self.shape[1]
    }

    /// How many inputs each of its outputs is summed over.
    pub(crate) fn inputs(&self) -> usize {
        match self.layout {
            Layout::OutIn => self.shape[1],
            Layout::InOut | Layout::Table => self.shape[0],
        }
    }

    fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.count()
    }
}

/// The matrices of one block, by their place in the list of parameters.
const PER_BLOCK: usize = 6;

/// All parameters of a model, in the order they are drawn.
///
/// In memory every matrix stands in,out, so that one product serves all; [`get`](Self::get) and
/// [`set`](Self::set) turn an out,in matrix to its layout.
#[derive(Clone, Debug)]
pub struct Parameters<F> {
    list: Vec<Parameter>,
    data: Vec<F>,
    has_vocabulary: bool,
}

/// The six matrices of a block, each in,out.
pub(crate) struct BlockMatrices<'a, F> {
    pub query: &'a [F],
    pub key: &'a [F],
    pub value: &'a [F],
    pub output: &'a [F],
    pub expand: &'a [F],
    pub contract: &'a [F],
}

impl<F: Float> Parameters<F> {
    /// All zeros, of the shapes a valid configuration asks for.
    pub(crate) fn zeroed(config: &Config) -> Result<Self, Error> {
        let (v, d, f) = (config.n_vocab, config.n_model, config.n_hidden);
        // Counted in f64 first: sizes are a caller's and may exceed every integer type when multiplied.
        let (wide_v, wide_d, wide_f, wide_l) = (v as f64, d as f64, f as f64, config.n_blocks as f64);
        let cells = 2.0 * wide_v * wide_d + wide_l * (4.0 * wide_d * wide_d + 2.0 * wide_d * wide_f);
        let what = format!(
            "the parameters of {v} tokens, width {d}, {} blocks and feed-forward width {f}",
            config.n_blocks
        );
        let data = zeroed(&what, cells)?;
        let mut list = reserved(&what, wide_l * PER_BLOCK as f64 + 2.0)?;

        let mut offset = 0;
        let mut add = |block, own_name, shape: [usize; 2], layout, role| {
            list.push(Parameter { own_name, block, shape, layout, role, offset });
            offset += shape[0] * shape[1];
        };
        if v > 0 {
            add(None, "embedding", [v, d], Layout::Table, Role::Embedding);
        }
        for n in 0..config.n_blocks {
            let n = Some(n);
            add(n, "attention.query", [d, d], Layout::OutIn, Role::Projection);
            add(n, "attention.key", [d, d], Layout::OutIn, Role::Projection);
            add(n, "attention.value", [d, d], Layout::OutIn, Role::Projection);
            add(n, "attention.output", [d, d], Layout::OutIn, Role::AttentionOutput);
            add(n, "feed_forward.expand", [d, f], Layout::InOut, Role::Expand);
            add(n, "feed_forward.contract", [f, d], Layout::InOut, Role::Contract);
        }
        if v > 0 {
            add(None, "head", [d, v], Layout::InOut, Role::Head);
        }
        debug_assert_eq!(offset, data.len());
        Ok(Parameters { list, data, has_vocabulary: v > 0 })
    }

    /// Every parameter, in the order they are drawn.
    pub fn list(&self) -> &[Parameter] {
        &self.list
    }

    /// A copy of the parameter with this name, in its layout.
    ///
    /// # Errors
    /// [`Error::UnknownParameter`] with the nearest names; [`Error::OutOfMemory`].
    pub fn get(&self, name: &str) -> Result<Tensor<F>, Error> {
        let parameter = self.find(name)?;
        let stored = &self.data[parameter.range()];
        let values = match parameter.layout {
            Layout::OutIn => transposed(stored, parameter.shape[1], parameter.shape[0])?,
            _ => copied(stored)?,
        };
        Tensor::new(parameter.shape.to_vec(), values)
    }

    /// Replaces the parameter with this name by `values` in its layout.
    ///
    /// # Errors
    /// [`Error::UnknownParameter`], [`Error::ShapeMismatch`] for the wrong number of values,
    /// [`Error::NotFinite`] for one that is infinite or NaN. Nothing is changed by a refused call.
    pub fn set(&mut self, name: &str, values: &[F]) -> Result<(), Error> {
        let parameter = self.find(name)?;
        if values.len() != parameter.count() {
            return Err(Error::ShapeMismatch {
                what: format!("parameter {name}"),
                expected: parameter.shape.to_vec(),
                actual: vec![values.len()],
            });
        }
        check_finite(&format!("parameter {name}"), values)?;
        let (range, shape, layout) = (parameter.range(), parameter.shape, parameter.layout);
        match layout {
            Layout::OutIn => self.data[range].copy_from_slice(&transposed(values, shape[0], shape[1])?),
            _ => self.data[range].copy_from_slice(values),
        }
        Ok(())
    }

    /// The numbers of the `index`th parameter, in,out, to be filled.
    pub(crate) fn stored_mut(&mut self, index: usize) -> &mut [F] {
        let range = self.list[index].range();
        &mut self.data[range]
    }

    pub(crate) fn embedding(&self) -> &[F] {
        self.stored(0)
    }

    pub(crate) fn head(&self) -> &[F] {
        self.stored(self.list.len() - 1)
    }

    pub(crate) fn block(&self, n: usize) -> BlockMatrices<'_, F> {
        let first = usize::from(self.has_vocabulary) + n * PER_BLOCK;
        let matrix = |i: usize| self.stored(first + i);
        BlockMatrices {
            query: matrix(0),
            key: matrix(1),
            value: matrix(2),
            output: matrix(3),
            expand: matrix(4),
            contract: matrix(5),
        }
    }

    fn stored(&self, index: usize) -> &[F] {
        &self.data[self.list[index].range()]
    }

    fn find(&self, name: &str) -> Result<&Parameter, Error> {
        // All blocks have the same matrices: the place of one is known from its block's number.
        let block =
            name.strip_prefix("blocks.").and_then(|rest| rest.split('.').next()?.parse::<usize>().ok());
        let first = block.map_or(0, |n| n.saturating_mul(PER_BLOCK)).min(self.list.len());
        let near = self.list.iter().skip(first).take(PER_BLOCK + 1).chain(self.list.last());
        let found = near.into_iter().find(|p| p.name() == name);
        found.ok_or_else(|| {
            let names: Vec<String> = self.list.iter().map(Parameter::name).collect();
            Error::UnknownParameter {
                name: name.chars().take(60).collect(),
                nearest: nearest(name, names.iter().map(|n| n.as_str())),
            }
        })
    }
}

/// Whether every value is finite.
///
/// # Errors
/// [`Error::NotFinite`] with the first that is not, and its place.
pub(crate) fn check_finite<F: Float>(what: &str, values: &[F]) -> Result<(), Error> {
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(position) => {
            Err(Error::NotFinite { what: what.into(), position, value: values[position].to_f64() })
        }
    }
}

fn copied<F: Float>(x: &[F]) -> Result<Vec<F>, Error> {
    let mut out = reserved("the parameter", x.len() as f64)?;
    out.extend_from_slice(x);
    Ok(out)
}

/// A `rows` by `columns` matrix, turned.
fn transposed<F: Float>(x: &[F], rows: usize, columns: usize) -> Result<Vec<F>, Error> {
    let mut out = reserved("the parameter", x.len() as f64)?;
    out.extend((0..columns).flat_map(|c| (0..rows).map(move |r| x[r * columns + c])));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_matrix_turned_back_is_itself() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let turned = transposed(&x, 2, 3).unwrap();
        assert_eq!(turned, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(transposed(&turned, 3, 2).unwrap(), x);
    }

    #[test]
    fn a_refused_value_changes_nothing() {
        let mut parameters = Parameters::<f64>::zeroed(&Config::new(7)).unwrap();
        let mut values = [1.0; 16];
        values[5] = f64::NAN;
        let error = parameters.set("blocks.0.attention.query", &values).unwrap_err();
        assert_eq!(error.code(), "not_finite");
        assert!(parameters.get("blocks.0.attention.query").unwrap().data().iter().all(|&x| x == 0.0));
    }

    #[test]
    fn the_lessons_model_has_184_parameters() {
        let parameters = Parameters::<f64>::zeroed(&Config::new(7)).unwrap();
        let count = |part: &str| -> usize {
            parameters.list().iter().filter(|p| p.name().contains(part)).map(Parameter::count).sum()
        };
        assert_eq!(["embedding", "attention", "expand", "contract", "head"].map(count), [28, 64, 32, 32, 28]);
        assert_eq!(count(""), 184);
    }
}
