//! What the bindings tell, as plain objects with the names that JavaScript uses.

use crate::options::Value;
use glassformer::inspect::{Description, Diff, RowChange, RowSummary, StageChange};
use glassformer::params::Parameter;
use glassformer::stage::Stage;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// What is said about a stage.
#[derive(Serialize)]
pub(crate) struct StageReport {
    name: String,
    hooks: Vec<String>,
    symbol: &'static str,
    axes: &'static [&'static str],
    kind: &'static str,
    meaning: &'static str,
    formula: String,
    inputs: Vec<String>,
}

impl From<Description> for StageReport {
    fn from(description: Description) -> Self {
        let Description { name, hooks, symbol, axes, operation, meaning, formula, inputs } = description;
        StageReport { name, hooks, symbol, axes, kind: operation.name(), meaning, formula, inputs }
    }
}

#[derive(Serialize)]
pub(crate) struct ParameterReport {
    name: String,
    shape: [usize; 2],
    layout: &'static str,
    count: usize,
}

pub(crate) fn parameter(parameter: &Parameter) -> ParameterReport {
    ParameterReport {
        name: parameter.name(),
        shape: parameter.shape,
        layout: parameter.layout.name(),
        count: parameter.count(),
    }
}

/// Options in the order given, seed and words where there are some.
pub(crate) fn options<'a>(
    filled_in: Vec<(&'static str, Value)>,
    seed: Option<u64>,
    words: Option<&'a [String]>,
) -> impl Serialize + 'a {
    struct Report<'a>(Vec<(&'static str, Value)>, Option<u64>, Option<&'a [String]>);
    impl Serialize for Report<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            for (name, value) in &self.0 {
                match value {
                    Value::Bool(x) => map.serialize_entry(name, x)?,
                    Value::Number(x) => map.serialize_entry(name, x)?,
                    Value::Text(x) => map.serialize_entry(name, x)?,
                    // No other kind of value is ever filled in.
                    _ => {}
                }
            }
            match self.1 {
                Some(seed) if seed <= 9_007_199_254_740_991 => map.serialize_entry("seed", &(seed as f64))?,
                Some(seed) => map.serialize_entry("seed", &seed.to_string())?,
                None => {}
            }
            if let Some(words) = self.2 {
                map.serialize_entry("words", words)?;
            }
            map.end()
        }
    }
    Report(filled_in, seed, words)
}

/// A difference of two traces.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiffReport {
    stages: Vec<StageChangeReport>,
    rows: Vec<RowSummaryReport>,
    parts_from: Option<String>,
}

#[derive(Serialize)]
struct StageChangeReport {
    stage: String,
    rows: Vec<RowChangeReport>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RowChangeReport {
    position: usize,
    identical: bool,
    changed_cells: usize,
    max_abs: f64,
    #[serde(rename = "where")]
    place: Option<Vec<usize>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RowSummaryReport {
    position: usize,
    identical: bool,
    max_abs: f64,
    parts_from: Option<String>,
}

impl From<Diff> for DiffReport {
    fn from(diff: Diff) -> Self {
        DiffReport {
            stages: diff.stages.into_iter().map(StageChangeReport::from).collect(),
            rows: diff.rows.into_iter().map(RowSummaryReport::from).collect(),
            parts_from: diff.parts_from.map(Stage::name),
        }
    }
}

impl From<StageChange> for StageChangeReport {
    fn from(change: StageChange) -> Self {
        StageChangeReport {
            stage: change.stage.name(),
            rows: change.rows.into_iter().map(RowChangeReport::from).collect(),
        }
    }
}

impl From<RowChange> for RowChangeReport {
    fn from(row: RowChange) -> Self {
        RowChangeReport {
            position: row.position,
            identical: row.identical,
            changed_cells: row.changed_cells,
            max_abs: row.max_abs,
            place: (!row.identical).then_some(row.place),
        }
    }
}

impl From<RowSummary> for RowSummaryReport {
    fn from(row: RowSummary) -> Self {
        RowSummaryReport {
            position: row.position,
            identical: row.identical,
            max_abs: row.max_abs,
            parts_from: row.parts_from.map(Stage::name),
        }
    }
}
