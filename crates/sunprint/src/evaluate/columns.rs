//! Every column by itself: W1, mean and standard deviation, shares, real against synthetic.

use super::labels::variation;
use super::line::{self, Seen};
use super::relative::{Relative, relative};
use crate::schema::{Column, ColumnKind, Form, Scale};
use crate::tally::codes::Q;
use serde::Serialize;

/// One column, real against synthetic. All but the missing values is about the rows that have a value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnFigures {
    /// The name.
    pub name: String,
    /// The kind, as in the schema.
    pub kind: &'static str,
    /// W1 in units of the width: how far values must be moved, on average, to turn one column into the other. Widths
    /// are measured as the schema's scale says; on a circle, in turns. For categories without an order it is the total
    /// variation. 0 where a table has no values at all.
    pub w1: f64,
    /// The same in the column's own unit: days and seconds for dates.
    pub w1_own: f64,
    /// The same in deviations of the real column, so that it means the same for every column; for categories the total
    /// variation over √((1 − Σp²)/2), which for two of them is a deviation. Missing values count like a category. If the
    /// real column does not vary: the part of the synthetic values that are different.
    pub relative: f64,
    /// What `relative` is to be expected of two tables of so many rows that were drawn from one law.
    pub chance: f64,
    /// For categories: half the sum of |real share − synthetic share|.
    pub variation: Option<f64>,
    /// The means; none for circles and for categories without an order.
    pub mean: Option<Figure>,
    /// The standard deviations, likewise.
    pub deviation: Option<Figure>,
    /// The shares of missing values, where the schema allows them.
    pub missing: Option<Figure>,
    /// For categories: their shares, in the order of the schema.
    pub categories: Vec<CategoryShare>,
    /// Whether all real values are the same.
    pub constant_real: bool,
    /// Whether all synthetic values are the same.
    pub constant_synthetic: bool,
}

/// The share of one category in both tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CategoryShare {
    /// As the schema spells it.
    pub value: String,
    /// In the real table.
    pub real: f64,
    /// In the synthetic table.
    pub synthetic: f64,
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

/// The errors of all columns that have the figure, in two numbers.
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

/// The value at a place of a line, in the column's own unit: days and seconds for dates, and 0 to 1, or the number of
/// the category, for everything that is listed.
pub(crate) fn own(column: &Column) -> Box<dyn Fn(f64) -> f64> {
    let line = |min: f64, width: f64| Box::new(move |unit: f64| min + unit * width);
    match column.kind {
        ColumnKind::Continuous { min, max, scale: Scale::Log, .. } => logarithmic(min, max),
        ColumnKind::Integer { min, max, scale: Scale::Log } => logarithmic(min as f64, max as f64),
        ColumnKind::Continuous { min, max, .. } => line(min, max - min),
        ColumnKind::Integer { min, max, .. }
        | ColumnKind::Date { min, max, .. }
        | ColumnKind::Datetime { min, max, .. } => line(min as f64, max as f64 - min as f64),
        ColumnKind::Categorical { ref values, ordered: true, .. } => line(0.0, values.len() as f64 - 1.0),
        ColumnKind::Boolean { .. } | ColumnKind::Categorical { .. } => line(0.0, 1.0),
    }
}

fn logarithmic(min: f64, max: f64) -> Box<dyn Fn(f64) -> f64> {
    let (low, span) = (libm::log(min), libm::log(max) - libm::log(min));
    Box::new(move |unit| libm::exp(low + unit * span))
}

/// The figures of one column from what was counted.
pub(super) fn compare(column: &Column, form: Form, real: &Seen, synthetic: &Seen) -> ColumnFigures {
    let log = column.kind.scale() == Scale::Log;
    let both = real.present > 0 && synthetic.present > 0;
    let own = own(column);
    let width = own(1.0) - own(0.0);
    let at = |code: usize| own(code as f64 / f64::from(Q));
    let (w1, w1_own) = match form {
        _ if !both => (0.0, 0.0),
        Form::Line if log => (line::w1(real, synthetic), line::w1_between(real, synthetic, at)),
        Form::Line => (line::w1(real, synthetic), line::w1(real, synthetic) * width),
        Form::Circle => (line::w1_around(real, synthetic), line::w1_around(real, synthetic) * width),
        Form::OneHot => (variation(&shares(column, form, real), &shares(column, form, synthetic)), 0.0),
    };
    let numeric = both && form == Form::Line;
    let figure = |of: fn(&Seen) -> f64, own: &dyn Fn(&Seen) -> f64| {
        numeric.then(|| Figure { real: own(real), synthetic: own(synthetic), error: of(synthetic) - of(real) })
    };
    let mean = |seen: &Seen| if log { seen.moments(at).0 } else { own(seen.mean()) };
    let deviation = |seen: &Seen| if log { seen.moments(at).1 } else { seen.deviation() * width };
    let listed = matches!(column.kind, ColumnKind::Categorical { .. });
    let Relative { error: relative, chance } = relative(form, real, synthetic);
    let of_both = [real, synthetic].map(|seen| if listed && both { shares(column, form, seen) } else { Vec::new() });
    let category = |(value, (real, synthetic)): (&str, (&f64, &f64))| CategoryShare {
        value: value.to_owned(),
        real: *real,
        synthetic: *synthetic,
    };
    ColumnFigures {
        name: column.name.clone(),
        kind: column.kind.word(),
        w1,
        w1_own: if form == Form::OneHot { w1 } else { w1_own },
        relative,
        chance,
        variation: (listed && both).then(|| variation(&of_both[0], &of_both[1])),
        mean: figure(Seen::mean, &mean),
        deviation: figure(Seen::deviation, &deviation),
        missing: column.may_be_missing().then(|| {
            let (real, synthetic) = (real.missing(), synthetic.missing());
            Figure { real, synthetic, error: synthetic - real }
        }),
        categories: column.categories().into_iter().zip(of_both[0].iter().zip(&of_both[1])).map(category).collect(),
        constant_real: real.is_constant(),
        constant_synthetic: synthetic.is_constant(),
    }
}

/// Each category's share of the rows that have one.
pub(super) fn shares(column: &Column, form: Form, seen: &Seen) -> Vec<f64> {
    let categories = column.categories().len();
    let mut counts = vec![0; categories];
    for (place, &count) in seen.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let category = match form {
            Form::OneHot => place,
            // Codes of an ordered category are equally far apart.
            _ => (place * (categories - 1) + usize::from(Q) / 2) / usize::from(Q),
        };
        counts[category] += count;
    }
    counts.iter().map(|&count| count as f64 / seen.present as f64).collect()
}

impl Errors {
    pub(super) fn over<'a>(
        columns: impl Iterator<Item = &'a ColumnFigures>,
        figure: impl Fn(&ColumnFigures) -> Option<Figure>,
    ) -> Errors {
        let (mut square, mut count) = (0.0, 0);
        let mut worst = ColumnError { name: String::new(), error: 0.0 };
        for column in columns {
            let Some(Figure { error, .. }) = figure(column) else { continue };
            square += error * error;
            count += 1;
            if worst.name.is_empty() || error.abs() > worst.error.abs() {
                worst = ColumnError { name: column.name.clone(), error };
            }
        }
        Errors { root_mean_square: (square / count.max(1) as f64).sqrt(), worst }
    }
}
