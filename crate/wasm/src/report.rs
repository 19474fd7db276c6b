//! What the bindings tell, as plain objects with the names that JavaScript uses.

use glassformer::inspect::{Description, Diff, RowChange, RowSummary, StageChange};
use glassformer::options::Value;
use glassformer::params::Parameter;
use glassformer::stage::{Side, Stage};
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
    meaning: String,
    formula: String,
    inputs: Vec<String>,
    side: &'static str,
    integer: bool,
}

impl From<Description> for StageReport {
    fn from(description: Description) -> Self {
        let Description {
            name,
            hooks,
            symbol,
            axes,
            operation,
            meaning,
            formula,
            inputs,
            side,
            is_integer: integer,
        } = description;
        let side = match side {
            Side::Target => "target",
            Side::Source => "source",
        };
        let kind = operation.name();
        StageReport { name, hooks, symbol, axes, kind, meaning, formula, inputs, side, integer }
    }
}

#[derive(Serialize)]
pub(crate) struct ParameterReport {
    name: String,
    shape: Vec<usize>,
    layout: &'static str,
    count: usize,
}

pub(crate) fn parameter(parameter: &Parameter) -> ParameterReport {
    ParameterReport {
        name: parameter.name(),
        shape: parameter.shape().to_vec(),
        layout: parameter.layout().name(),
        count: parameter.count(),
    }
}

/// What a model's options have besides those that shape it.
#[derive(Clone, Copy)]
pub(crate) struct Labels<'a> {
    pub seed: Option<u64>,
    pub words: Option<&'a [String]>,
    pub source_words: Option<&'a [String]>,
}

/// Options in the order given, seed and words where there are some.
pub(crate) fn options<'a>(filled_in: Vec<(&'static str, Value)>, labels: Labels<'a>) -> impl Serialize + 'a {
    struct Report<'a>(Vec<(&'static str, Value)>, Labels<'a>);
    impl Serialize for Report<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            for (name, value) in &self.0 {
                map.serialize_entry(name, &Plain(value))?;
            }
            match self.1.seed {
                Some(seed) if seed <= 9_007_199_254_740_991 => map.serialize_entry("seed", &(seed as f64))?,
                Some(seed) => map.serialize_entry("seed", &seed.to_string())?,
                None => {}
            }
            for (name, words) in [("words", self.1.words), ("sourceWords", self.1.source_words)] {
                if let Some(words) = words {
                    map.serialize_entry(name, words)?;
                }
            }
            map.end()
        }
    }
    Report(filled_in, labels)
}

/// An option's value.
struct Plain<'a>(&'a Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Bool(x) => serializer.serialize_bool(*x),
            Value::Number(x) => serializer.serialize_f64(*x),
            Value::Text(x) => serializer.serialize_str(x),
            Value::List(list) => serializer.collect_seq(list.iter().map(Plain)),
            Value::Object(entries) => serializer.collect_map(entries.iter().map(|(k, v)| (k, Plain(v)))),
            // No other kind of value is ever filled in.
            Value::Absent | Value::Big(_) | Value::Other(_) => serializer.serialize_unit(),
        }
    }
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
