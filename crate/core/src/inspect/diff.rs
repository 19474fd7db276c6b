//! Where two traces differ, and where they are identical to the bit.

use crate::error::Error;
use crate::num::Float;
use crate::stage::{Side, Stage};
use crate::trace::Trace;
use alloc::{vec, vec::Vec};

/// The difference of two traces, over the positions that both have.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// Every stage, in execution order.
    pub stages: Vec<StageChange>,
    /// Every position, over all stages.
    pub rows: Vec<RowSummary>,
    /// The first stage in which any row differs.
    pub parts_from: Option<Stage>,
}

/// The difference in one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct StageChange {
    /// The stage.
    pub stage: Stage,
    /// Every position.
    pub rows: Vec<RowChange>,
}

/// The difference in one position of one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct RowChange {
    /// The position.
    pub position: usize,
    /// Whether every cell is identical to the bit.
    pub identical: bool,
    /// How many cells are not.
    pub changed_cells: usize,
    /// The largest absolute change of a cell; infinite where one of the two is.
    pub max_abs: f64,
    /// The index of that cell in its stage, one number per axis; empty where nothing changed.
    pub place: Vec<usize>,
}

/// The difference in one position, over all stages.
#[derive(Clone, Debug, PartialEq)]
pub struct RowSummary {
    /// The position.
    pub position: usize,
    /// Whether every cell of every stage is identical to the bit.
    pub identical: bool,
    /// The largest absolute change of a cell in any stage.
    pub max_abs: f64,
    /// The first stage in which this position differs.
    pub parts_from: Option<Stage>,
}

impl<F: Float> Trace<F> {
    /// Compares this trace with another of the same stages, cell by cell.
    ///
    /// Traces of different lengths are compared over the positions both have, and there over the keys both have.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] when the two come from models of different shape.
    pub fn diff(&self, other: &Trace<F>) -> Result<Diff, Error> {
        self.plan().check_same_stages(other.plan(), "the other trace")?;
        let shared = self.rows().min(other.rows());
        let mut stages = Vec::with_capacity(self.stages().len());
        let unchanged = |position| RowSummary { position, identical: true, max_abs: 0.0, parts_from: None };
        let mut rows: Vec<RowSummary> = (0..shared).map(unchanged).collect();
        for &stage in self.stages() {
            let changes: Vec<RowChange> = self.row_changes(other, stage);
            // The summary is of the prompt's positions; a source has its own.
            let own = changes.iter().filter(|change| !change.identical && stage.side() == Side::Target);
            for change in own {
                let summary = &mut rows[change.position];
                summary.identical = false;
                summary.max_abs = summary.max_abs.max(change.max_abs);
                summary.parts_from.get_or_insert(stage);
            }
            stages.push(StageChange { stage, rows: changes });
        }
        let parts_from =
            stages.iter().find(|s| s.rows.iter().any(|row| !row.identical)).map(|change| change.stage);
        Ok(Diff { stages, rows, parts_from })
    }

    /// The changes of a stage's rows. What a stage says of a whole prompt counts as its last row's: it depends on no
    /// later one, and prompts of different lengths have nothing of the kind in common.
    fn row_changes(&self, other: &Trace<F>, stage: Stage) -> Vec<RowChange> {
        let (a, b) = (self.lengths(), other.lengths());
        let shared = match stage.side() {
            Side::Target => a.target.min(b.target),
            Side::Source => a.source.min(b.source),
        };
        if stage.declaration().row.has_positions() {
            return (0..shared).map(|position| self.row_change(other, stage, position)).collect();
        }
        let same = match stage.side() {
            Side::Target => a.target == b.target,
            Side::Source => a.source == b.source,
        };
        if same {
            vec![self.row_change(other, stage, shared - 1)]
        } else {
            Vec::new()
        }
    }

    fn row_change(&self, other: &Trace<F>, stage: Stage, position: usize) -> RowChange {
        let groups = self.plan().groups(stage);
        let (a, b) = (self.row(stage, position), other.row(stage, position));
        let (a_width, b_width) = (a.len() / groups, b.len() / groups);
        // A row of scores has as many keys as its trace had rows; those that both have are compared.
        let compared = a_width.min(b_width);
        let axes = stage.declaration().row.axes().len();
        let mut change =
            RowChange { position, identical: true, changed_cells: 0, max_abs: 0.0, place: Vec::new() };
        for g in 0..groups {
            for c in 0..compared {
                let (x, y) = (a[g * a_width + c], b[g * b_width + c]);
                if x.bits() == y.bits() {
                    continue;
                }
                change.changed_cells += 1;
                let size = distance(x.to_f64(), y.to_f64());
                if change.identical || size > change.max_abs {
                    change.max_abs = size;
                    change.place = match axes {
                        3 => vec![g, position, c],
                        2 => vec![position, c],
                        1 => vec![c],
                        _ => Vec::new(),
                    };
                }
                change.identical = false;
            }
        }
        change
    }
}

fn distance(x: f64, y: f64) -> f64 {
    if x == y {
        // 0 and -0: other bits, no distance.
        0.0
    } else {
        (x - y).abs()
    }
}
