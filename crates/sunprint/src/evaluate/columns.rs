//! Every feature by itself: W1, mean and standard deviation, real against synthetic.

use super::Moments;
use crate::schema::{Column, ColumnKind, Schema};
use serde::Serialize;

/// One feature, real against synthetic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnFigures {
    /// The name.
    pub name: String,
    /// The kind, as in the schema.
    pub kind: &'static str,
    /// W1 in units of the width: how far values must be moved, on average, to turn one column into the other.
    pub w1: f64,
    /// The same in the column's own unit.
    pub w1_own: f64,
    /// The means.
    pub mean: Figure,
    /// The standard deviations.
    pub deviation: Figure,
    /// Whether all real values are the same.
    pub constant_real: bool,
    /// Whether all synthetic values are the same.
    pub constant_synthetic: bool,
}

/// One number of both tables, in the column's own unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// In the real table.
    pub real: f64,
    /// In the synthetic table.
    pub synthetic: f64,
    /// Synthetic less real, in units of the column's width.
    pub error: f64,
}

/// The errors of all features in two numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// The root of the mean square.
    pub root_mean_square: f64,
    /// The largest in absolute value.
    pub worst: ColumnError,
}

/// A feature and its error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnError {
    /// The name of the column.
    pub name: String,
    /// Synthetic less real, in units of the column's width.
    pub error: f64,
}

/// The lower bound and the width of a column that is a feature. A truth value counts as 0 or 1.
fn bounds(column: &Column) -> (f64, f64) {
    match column.kind {
        ColumnKind::Continuous { min, max, .. } => (min, max - min),
        ColumnKind::Integer { min, max, .. } => (min as f64, max as f64 - min as f64),
        _ => (0.0, 1.0),
    }
}

/// The figures of every feature, in the order of the features; `lines` are their one-dimensional W1.
pub(super) fn compare(schema: &Schema, real: &Moments, synthetic: &Moments, lines: &[f64]) -> Vec<ColumnFigures> {
    let features = schema.features().into_iter().zip(lines).enumerate();
    let one = |(j, (column, &w1)): (usize, (usize, &f64))| {
        let column = &schema.columns[column];
        let (min, width) = bounds(column);
        let figure = |low: f64, of: &dyn Fn(&Moments) -> f64| {
            let (real, synthetic) = (of(real), of(synthetic));
            Figure { real: low + real * width, synthetic: low + synthetic * width, error: synthetic - real }
        };
        ColumnFigures {
            name: column.name.clone(),
            kind: column.kind.word(),
            w1,
            w1_own: w1 * width,
            mean: figure(min, &|moments| moments.mean(j)),
            deviation: figure(0.0, &|moments| moments.deviation(j)),
            constant_real: real.is_constant(j),
            constant_synthetic: synthetic.is_constant(j),
        }
    };
    features.map(one).collect()
}

/// The column with the largest W1 first; equals stay in the order of the schema.
pub(super) fn worst_first(mut columns: Vec<ColumnFigures>) -> Vec<ColumnFigures> {
    columns.sort_by(|a, b| b.w1.total_cmp(&a.w1));
    columns
}

impl Errors {
    pub(super) fn over(columns: &[ColumnFigures], error: impl Fn(&ColumnFigures) -> f64) -> Errors {
        let square: f64 = columns.iter().map(|column| error(column) * error(column)).sum();
        let mut worst = ColumnError { name: String::new(), error: 0.0 };
        for column in columns {
            if worst.name.is_empty() || error(column).abs() > worst.error.abs() {
                worst = ColumnError { name: column.name.clone(), error: error(column) };
            }
        }
        Errors { root_mean_square: (square / columns.len().max(1) as f64).sqrt(), worst }
    }
}
