//! The parameters: where each stands, and how it is read and set by name.

mod list;
mod table;

pub use list::Parameter;
pub use table::Layout;
pub(crate) use table::{role_named, roles, Role, Scope};

use crate::config::Config;
use crate::error::{nearest, Error};
use crate::memory::{reserved, zeroed};
use crate::num::Float;
use crate::stage::Tower;
use crate::tensor::Tensor;
use alloc::{format, string::String, vec, vec::Vec};
use list::{list_tower, Places};
use table::DECLARATIONS;

/// All parameters of a model, in the order they are drawn.
///
/// In memory every matrix stands in,out, so that one product serves all; [`get`](Self::get) and
/// [`set`](Self::set) turn an out,in matrix to its layout.
#[derive(Clone, Debug)]
pub struct Parameters<F> {
    list: Vec<Parameter>,
    data: Vec<F>,
    places: Vec<Places>,
    towers: &'static [Tower],
}

/// The parameters of one block, each in,out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights<'a, F> {
    parameters: &'a Parameters<F>,
    tower: Tower,
    block: usize,
}

impl<'a, F: Float> Weights<'a, F> {
    /// A parameter that the configuration has.
    pub(crate) fn matrix(&self, role: Role) -> &'a [F] {
        self.vector(role).expect("a layer asks for parameters of its own configuration only")
    }

    /// A parameter, where the configuration has it.
    pub(crate) fn vector(&self, role: Role) -> Option<&'a [F]> {
        self.of_expert(role, 0)
    }

    /// An expert's parameter, where the configuration has it.
    pub(crate) fn of_expert(&self, role: Role, expert: usize) -> Option<&'a [F]> {
        let places = self.parameters.places_of(self.tower);
        places.of(role, self.block, expert).map(|index| self.parameters.stored(index))
    }
}

impl<'a, F: Float> Weights<'a, F> {
    /// A parameter's description and its stored values, where the model has it.
    pub(crate) fn named(&self, role: Role, expert: usize) -> Option<(&'a Parameter, &'a [F])> {
        let index = self.parameters.places_of(self.tower).of(role, self.block, expert)?;
        Some((&self.parameters.list[index], self.parameters.stored(index)))
    }
}

impl<F: Float> Parameters<F> {
    /// All zeros, of the shapes a valid configuration asks for.
    pub(crate) fn zeroed(config: &Config) -> Result<Self, Error> {
        let what = format!(
            "the parameters of {} tokens, width {}, {} blocks and feed-forward width {}",
            config.n_vocab, config.n_model, config.n_blocks, config.n_hidden
        );
        let experts = config.feed_forward.experts().map_or(0, |e| e.experts);
        let times = |tower, scope| match scope {
            Scope::Front | Scope::Back => 1.0,
            Scope::Block => config.blocks_of(tower) as f64,
            Scope::Expert => config.blocks_of(tower) as f64 * experts as f64,
        };
        let (mut cells, mut entries) = (0.0, 0.0);
        for &tower in config.towers() {
            for declaration in &DECLARATIONS {
                let Some([rows, columns]) = declaration.role.shape(config, tower) else { continue };
                entries += times(tower, declaration.scope);
                cells += rows * columns * times(tower, declaration.scope);
            }
        }
        let data = zeroed(&what, cells)?;
        let mut list = reserved(&what, entries)?;
        let mut places = Vec::new();
        let mut offset = 0;
        for &tower in config.towers() {
            places.push(list_tower(config, tower, experts, &mut list, &mut offset));
        }
        debug_assert_eq!(offset, data.len());
        Ok(Parameters { list, data, places, towers: config.towers() })
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
        let values = match parameter.layout() {
            Layout::OutIn => transposed(stored, parameter.shape[1], parameter.shape[0])?,
            _ => copied(stored)?,
        };
        Tensor::new(parameter.shape().to_vec(), values)
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
                expected: parameter.shape().to_vec(),
                actual: vec![values.len()],
            });
        }
        check_finite(&format!("parameter {name}"), values)?;
        let (range, shape, layout) = (parameter.range(), parameter.shape, parameter.layout());
        match layout {
            Layout::OutIn => self.data[range].copy_from_slice(&transposed(values, shape[0], shape[1])?),
            _ => self.data[range].copy_from_slice(values),
        }
        Ok(())
    }

    /// All values, one parameter after the other, as they are stored.
    pub fn block(&self) -> &[F] {
        &self.data
    }

    /// Replaces all values by a block of a model of the same configuration.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`], [`Error::NotFinite`]; nothing is then changed.
    pub fn set_block(&mut self, block: &[F]) -> Result<(), Error> {
        if block.len() != self.data.len() {
            return Err(Error::ShapeMismatch {
                what: "the block of parameters".into(),
                expected: vec![self.data.len()],
                actual: vec![block.len()],
            });
        }
        check_finite("the block of parameters", block)?;
        self.data.copy_from_slice(block);
        Ok(())
    }

    /// The numbers of the `index`th parameter, in,out, to be filled.
    pub(crate) fn stored_mut(&mut self, index: usize) -> &mut [F] {
        let range = self.list[index].range();
        &mut self.data[range]
    }

    /// The parameters that the layers of a block read; those of a whole tower are the same in all its blocks.
    pub(crate) fn weights(&self, tower: Tower, block: usize) -> Weights<'_, F> {
        Weights { parameters: self, tower, block }
    }

    fn stored(&self, index: usize) -> &[F] {
        &self.data[self.list[index].range()]
    }

    fn places_of(&self, tower: Tower) -> &Places {
        let index = self.towers.iter().position(|&t| t == tower);
        &self.places[index.expect("a layer asks for towers of its own configuration only")]
    }

    fn find(&self, name: &str) -> Result<&Parameter, Error> {
        // All blocks have the same parameters: the place of one is known from its block's number.
        let found = self.towers.iter().zip(&self.places).find_map(|(tower, places)| {
            let own = name.strip_prefix(tower.prefix())?;
            let block = own.strip_prefix("blocks.").and_then(|rest| rest.split('.').next()?.parse().ok());
            let candidates: &[Parameter] = match block {
                Some(n) => {
                    let first = places.first_block.saturating_add(places.per_block.saturating_mul(n));
                    self.list.get(first..first.saturating_add(places.per_block))?
                }
                None => &self.list,
            };
            let outside = |p: &&Parameter| p.tower == *tower && p.name() == name;
            match block {
                Some(_) => candidates.iter().find(outside),
                None => {
                    let is_outer =
                        |p: &&Parameter| !matches!(p.role.declaration().scope, Scope::Block | Scope::Expert);
                    candidates.iter().filter(is_outer).find(outside)
                }
            }
        });
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
