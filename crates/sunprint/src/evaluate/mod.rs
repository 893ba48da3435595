//! How near a synthetic table is to the real one: exact distances and errors, for the curator's eyes.
//!
//! Everything in this room is computed from the private rows without noise. It spends nothing, because nothing of it
//! may be published.
//!
//! Rows are points of the cube [0, 1]^d: every number is measured in units of its *width*, `max` − `min` of the schema,
//! and two different categories are 1 apart, whichever they are. Columns that split the table (labels and strata) are no coordinates; their shares are compared, and the
//! means of the features within each of their categories, so that labels which sit on the wrong rows are seen.
//!
//! ```
//! use sunprint::evaluate::{Settings, evaluate};
//! use sunprint::schema::Schema;
//! use sunprint::source::{Silent, Table};
//! use sunprint::tally::codes::Codes;
//!
//! # fn main() -> sunprint::error::Result<()> {
//! let schema = Schema::parse("[[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 100\n", "people.toml")?;
//! // A file comes in through `Table::open`; here the codes are written by hand: 0 is `min`, 65535 is `max`.
//! let table = |shift: u16| {
//!     let mut codes = Codes::with_capacity(1, 200);
//!     (0..200).for_each(|i| codes.push(&[100 * i + shift], 0));
//!     Table::of_codes(vec![codes], &schema)
//! };
//! let (real, synthetic) = (table(0)?, table(6553)?); // everybody is ten years older
//!
//! let settings = Settings { rows: None, ..Settings::default() }; // all rows, once
//! let evaluation = evaluate(&real, &synthetic, &schema, &settings, &Silent)?;
//! assert!((evaluation.distances.synthetic.w1 - 0.1).abs() < 1e-5); // a tenth of the width
//! assert!((evaluation.columns[0].w1_own - 10.0).abs() < 1e-3); // ten years
//! assert!((evaluation.means.worst.error - 0.1).abs() < 1e-5);
//! # Ok(())
//! # }
//! ```

mod alone;
mod changed;
mod columns;
mod constraints;
mod correlations;
mod distances;
mod gaps;
mod histograms;
mod labels;
mod learning;
mod line;
mod moments;
mod picks;
mod relative;
mod spoken;
mod strata;
mod telling;
mod verdict;

use crate::error::{Error, Kind, Result};
use crate::schema::Schema;
use crate::source::{Progress, Table, Unit};
use serde::Serialize;
use verdict::Evidence;

pub use crate::math::transport::Metric;
pub(crate) use alone::{Alone, QUANTILES, alone};
pub use changed::{ChangedCells, ChangedColumn, WORTH_SAYING};
pub(crate) use columns::own;
pub use columns::{CategoryShare, ColumnError, ColumnFigures, Errors, Figure};
pub(crate) use constraints::broken;
pub(crate) use correlations::coordinate_names;
pub use correlations::{CorrelationErrors, PairError, WORST_PAIRS};
pub use distances::{Distance, Distances, Solved, distances};
pub(crate) use gaps::gaps;
pub use histograms::{Histogram, MOST_BARS};
pub use labels::{CategoryFigures, LabelFigures};
pub(crate) use learning::MISSING;
pub use learning::{ClassLearning, Learning, Weight};
pub use moments::Moments;
pub(crate) use picks::Picks;
pub use spoken::VerdictLine;
pub(crate) use strata::StratumSums;
pub use telling::Telling;
pub use verdict::{Grade, Judged, Judgement, Verdict};

/// What to compare, and on how many rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How far apart two rows are.
    pub metric: Metric,
    /// The rows of each table that W1 is computed on, drawn at random; `None` is all rows of both, once.
    pub rows: Option<usize>,
    /// How often rows are drawn.
    pub draws: usize,
    /// Which rows are drawn: the same seed gives the same numbers.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { metric: Metric::Euclidean, rows: Some(1_000), draws: 5, seed: 1 }
    }
}

/// Everything that was compared. For the curator's eyes: it comes from private rows without noise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Always true: nothing of this may be published.
    pub private: bool,
    /// What should be heard before anything else, a sentence each: cells that the schema changed, tables that look
    /// swapped, a model that did not make the rows. Often none.
    pub notices: Vec<String>,
    /// Five things, each good, usable or poor.
    pub verdict: Verdict,
    /// Rows of the real table.
    pub real_rows: usize,
    /// Rows of the synthetic table.
    pub synthetic_rows: usize,
    /// The number of columns that are parts of a row.
    pub features: usize,
    /// The number of their coordinates: the dimension of the cube.
    pub coordinates: usize,
    /// The cells that the schema changed on the way in, column by column in the order of the schema; empty for tables of
    /// which nobody counted them.
    pub changed: Vec<ChangedColumn>,
    /// W1 between whole rows.
    pub distances: Distances,
    /// A classifier that tells real from synthetic rows; none for a few rows.
    pub telling: Option<Telling>,
    /// Every column by itself, all rows, worst W1 first.
    pub columns: Vec<ColumnFigures>,
    /// Errors of the means, in units of the widths.
    pub means: Errors,
    /// Errors of the standard deviations, in units of the widths.
    pub deviations: Errors,
    /// Errors of the correlations.
    pub correlations: CorrelationErrors,
    /// Every column that splits the table, in the order of the schema.
    pub labels: Vec<LabelFigures>,
    /// Half the sum of |real share − synthetic share| over all strata: the combinations of all labels. 0 without labels.
    pub strata_variation: f64,
    /// What synthetic rows teach about the labels of real ones.
    pub learning: Vec<Learning>,
    /// Why labels could not be learnt, a sentence each.
    pub not_learnt: Vec<String>,
}

/// An evaluation, and what it was made of. Private like it.
pub struct Compared {
    /// What was found.
    pub evaluation: Evaluation,
    /// The moments of the real table.
    pub real: Moments,
    /// The moments of the synthetic table.
    pub synthetic: Moments,
    /// The bars of both tables for each of [`Evaluation::columns`], in the same order; none for categories.
    pub histograms: Vec<Option<Histogram>>,
}

/// Compares two tables that were read by one schema. The same for any number of cores.
pub fn evaluate(
    real: &Table,
    synthetic: &Table,
    schema: &Schema,
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<Evaluation> {
    Ok(compare(real, synthetic, schema, settings, progress)?.evaluation)
}

/// The same, with what it was made of.
pub fn compare(
    real: &Table,
    synthetic: &Table,
    schema: &Schema,
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<Compared> {
    settings.check()?;
    for (name, table) in [("real", real), ("synthetic", synthetic)] {
        if table.width() != schema.width() {
            return Err(another_schema(name));
        }
    }
    progress.start("comparing moments", Some((real.rows() + synthetic.rows()) as u64), Unit::Rows);
    let both = Moments::of(real, schema, progress).ok_or_else(|| another_schema("real")).and_then(|of_real| {
        let of_synthetic = Moments::of(synthetic, schema, progress).ok_or_else(|| another_schema("synthetic"))?;
        Ok((of_real, of_synthetic))
    });
    progress.done();
    let (of_real, of_synthetic) = both?;
    let mut columns = line::compare(real, synthetic, schema, progress)?;
    let means = Errors::over(columns.iter().map(|(column, _)| column), |column| column.mean);
    let deviations = Errors::over(columns.iter().map(|(column, _)| column), |column| column.deviation);
    // The largest W1 first; equals stay in the order of the schema.
    columns.sort_by(|(a, _), (b, _)| b.w1.total_cmp(&a.w1));
    let (columns, histograms): (Vec<ColumnFigures>, _) = columns.into_iter().unzip();
    let changed = changed::changed(real, synthetic, schema);
    let correlations = CorrelationErrors::between(schema, &of_real, &of_synthetic);
    let labels = labels::compare(schema, &of_real, &of_synthetic);
    let distances = distances(real, synthetic, schema, settings, progress)?;
    let telling = telling::telling(real, synthetic, schema, settings.seed, progress)?;
    let (learning, not_learnt) = learning::learning(schema, real, synthetic, settings.seed, progress)?;
    let evidence = Evidence {
        columns: &columns,
        correlations: &correlations,
        distances: &distances,
        telling: telling.as_ref(),
        labels: &labels,
        learning: &learning,
        not_learnt: &not_learnt,
        changed: &changed,
    };
    let evaluation = Evaluation {
        private: true,
        notices: changed::notices(&changed),
        verdict: evidence.verdict(),
        real_rows: real.rows(),
        synthetic_rows: synthetic.rows(),
        features: schema.features().len(),
        coordinates: schema.width(),
        means,
        deviations,
        changed,
        distances,
        telling,
        columns,
        correlations,
        labels,
        strata_variation: labels::variation(&of_real.stratum_shares(), &of_synthetic.stratum_shares()),
        learning,
        not_learnt,
    };
    Ok(Compared { evaluation, real: of_real, synthetic: of_synthetic, histograms })
}

impl Settings {
    fn check(&self) -> Result<()> {
        let none = |what: &str| Err(Error::new(Kind::Usage, format!("`{what}` must be at least 1, but it is 0")));
        match self {
            Settings { rows: Some(0), .. } => none("rows").map_err(|error| error.hint("1000 is a common choice")),
            Settings { draws: 0, .. } => none("draws").map_err(|error| error.hint("5 is a common choice")),
            _ => Ok(()),
        }
    }
}

fn another_schema(name: &str) -> Error {
    Error::new(Kind::Data, format!("the {name} table has other columns or strata than the schema"))
        .hint("read both tables by the schema that they are compared by")
}
