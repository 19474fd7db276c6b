//! What a caller changes while a pass runs: masks, and edits of stages (ablation; activation patching: Vig et al. 2020,
//! arXiv:2004.12265; Meng et al. 2022, arXiv:2202.05262).

use super::{is_scores, Plan};
use crate::error::{nearest, Error};
use crate::mask::Masks;
use crate::num::Float;
use crate::stage::{Lengths, Side, Stage};
use alloc::{format, string::String, vec, vec::Vec};

/// What an edit does to the cells it chooses.
#[derive(Clone, Debug, PartialEq)]
pub enum Change<F> {
    /// They become these values: one for all, or one for each, row-major.
    Set(Vec<F>),
    /// These values are added to them; a zero leaves a cell as it is, to the bit.
    Add(Vec<F>),
    /// They are multiplied by these values.
    Scale(Vec<F>),
}

impl<F: Float> Change<F> {
    /// The values.
    pub fn values(&self) -> &[F] {
        match self {
            Change::Set(values) | Change::Add(values) | Change::Scale(values) => values,
        }
    }

    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Change::Set(_) => "set",
            Change::Add(_) => "add",
            Change::Scale(_) => "scale",
        }
    }

    /// What a cell becomes by its value.
    pub(crate) fn apply(&self, cell: F, value: F) -> F {
        match self {
            Change::Set(_) => value,
            Change::Add(_) if value == F::ZERO => cell,
            Change::Add(_) => cell + value,
            Change::Scale(_) => cell * value,
        }
    }
}

/// A change of some cells of one stage, made as soon as the stage is computed: later stages are computed from what it
/// leaves, earlier ones are not touched.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit<F> {
    /// The stage's name.
    pub stage: String,
    /// One entry for each axis, outermost first: one place of it, or with `None` all of them. No entries: the whole stage.
    pub index: Vec<Option<usize>>,
    /// What becomes of those cells.
    pub change: Change<F>,
}

/// Everything that a caller changes about one pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes<F> {
    /// What is hidden from attention, or added to its scores.
    pub masks: Masks<F>,
    /// In the order they are made.
    pub edits: Vec<Edit<F>>,
}

impl<F: Float> Changes<F> {
    /// Masks alone.
    pub fn of_masks(masks: Masks<F>) -> Self {
        Changes { masks, edits: Vec::new() }
    }

    /// Whether nothing is changed.
    pub fn is_none(&self) -> bool {
        self.masks.is_none() && self.edits.is_empty()
    }

    /// Whether every edit has a stage, cells and values.
    ///
    /// # Errors
    /// [`Error::UnknownStage`]; [`Error::ShapeMismatch`] for the wrong number of axes or values;
    /// [`Error::IndexOutOfRange`]; [`Error::NotFinite`] for values that are not, except that scores may be set to, or
    /// lowered by, minus infinity, which hides a key.
    pub(super) fn check_edits(&self, plan: &Plan, lengths: Lengths) -> Result<(), Error> {
        self.edits.iter().enumerate().try_for_each(|(i, edit)| edit.check(i, plan, lengths))
    }

    /// The edits of one stage, in the order they are made.
    pub(crate) fn edits_of(&self, stage: Stage) -> impl Iterator<Item = &Edit<F>> {
        let name = if self.edits.is_empty() { String::new() } else { stage.name() };
        self.edits.iter().filter(move |edit| edit.stage == name)
    }
}

impl<F: Float> Edit<F> {
    fn check(&self, place: usize, plan: &Plan, lengths: Lengths) -> Result<(), Error> {
        let what = |of: &str| format!("{of} of edit {place}, of {},", self.stage);
        let Some(&stage) = plan.stages().iter().find(|stage| stage.name() == self.stage) else {
            let names: Vec<String> = plan.stages().iter().map(|stage| stage.name()).collect();
            return Err(Error::UnknownStage {
                name: self.stage.chars().take(60).collect(),
                nearest: nearest(&self.stage, names.iter().map(String::as_str)),
            });
        };
        let shape = plan.shape(stage, lengths);
        if !self.index.is_empty() && self.index.len() != shape.len() {
            let (expected, actual) = (vec![shape.len()], vec![self.index.len()]);
            return Err(Error::ShapeMismatch { what: what("the index"), expected, actual });
        }
        for (axis, (&entry, &size)) in self.index.iter().zip(&shape).enumerate() {
            if let Some(index) = entry.filter(|&i| i >= size) {
                let what = format!("index of axis {axis} of edit {place}, of {},", self.stage);
                return Err(Error::IndexOutOfRange { what, index: index as f64, size });
            }
        }
        let chosen: Vec<usize> = if self.index.is_empty() {
            shape
        } else {
            self.index.iter().zip(shape).filter(|(entry, _)| entry.is_none()).map(|(_, size)| size).collect()
        };
        let values = self.change.values();
        if values.len() != 1 && values.len() != chosen.iter().product() {
            let actual = vec![values.len()];
            return Err(Error::ShapeMismatch { what: what("the values"), expected: chosen, actual });
        }
        let hides =
            |x: F| x == F::NEG_INFINITY && is_scores(stage) && !matches!(self.change, Change::Scale(_));
        match values.iter().position(|&x| !x.is_finite() && !hides(x)) {
            None => Ok(()),
            Some(position) => {
                Err(Error::NotFinite { what: what("a value"), position, value: values[position].to_f64() })
            }
        }
    }

    /// Which of the edit's values a cell of its stage takes, or `None` where the edit does not choose the cell.
    pub(crate) fn value_of(&self, shape: &[usize], cell: &[usize]) -> Option<F> {
        let mut flat = 0;
        for (axis, (&size, &i)) in shape.iter().zip(cell).enumerate() {
            match self.index.get(axis).copied().flatten() {
                Some(only) if only != i => return None,
                Some(_) => {}
                None => flat = flat * size + i,
            }
        }
        let values = self.change.values();
        Some(if values.len() == 1 { values[0] } else { values[flat] })
    }

    /// Changes the rows of the stage that a pass has just computed: those from `first` on.
    pub(super) fn make(&self, plan: &Plan, stage: Stage, keys: Lengths, first: usize, out: &mut [F]) {
        let shape = plan.shape(stage, keys);
        let groups = plan.groups(stage);
        let first = if stage.side() == Side::Target { first } else { 0 };
        let has_positions = stage.declaration().row.has_positions();
        let width = plan.row_width(stage, keys) as usize;
        for (i, cell) in out.iter_mut().enumerate() {
            let (t, within) = (first + i / width, i % width);
            let (g, c) = (within / (width / groups), within % (width / groups));
            let index = [g, t, c];
            let index = match shape.len() {
                3 => &index[..],
                2 => &index[1..],
                _ if has_positions => &index[..0],
                n => &[c][..n.min(1)],
            };
            if let Some(value) = self.value_of(&shape, index) {
                *cell = self.change.apply(*cell, value);
            }
        }
    }
}
