//! Everything that a report shows, as data: the page draws nothing but what stands here, and the JSON beside it is this.
//!
//! Every panel says where its numbers come from ([`Origin`]): some may be published, others must not. A panel that is
//! missing has nothing to show, and [`Page::absent`] says why.

mod predicted;

use crate::evaluate::{ChangedColumn, ColumnFigures, Distances, Errors, PairError, Telling, Verdict, VerdictLine};
use crate::markup::base64;
use crate::receipt::Section;
use serde::Serialize;

pub use crate::evaluate::{ClassLearning, Learning, Weight};
pub use predicted::{Predicted, PredictedColumn, PredictedPair, PredictedPanel, PublicBars};

/// The version of the form.
pub const FORMAT: u32 = 2;

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// From the release alone: free, and safe to publish.
    Released,
    /// From the private rows without noise: for the curator's eyes only.
    Curator,
}

/// A whole report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// [`FORMAT`].
    pub format: u32,
    /// `Curator` if any number on the page comes from private rows.
    pub origin: Origin,
    /// The dataset's name; may be empty.
    pub dataset: String,
    /// The version of Sunprint that made the page.
    pub version: &'static str,
    /// The first thing to read.
    pub headline: Headline,
    /// Five things, each good, usable or poor; none on the public page.
    pub verdict: Option<VerdictPanel>,
    /// What was promised; none without a model.
    pub privacy: Option<Privacy>,
    /// W1 of whole rows, with floor and ceiling.
    pub distances: Option<DistancePanel>,
    /// Column by column, worst first.
    pub columns: Option<ColumnPanel>,
    /// Correlations of all pairs.
    pub correlations: Option<CorrelationPanel>,
    /// Rows in the plane of the first two directions.
    pub plane: Option<PlanePanel>,
    /// The released variances against the noise.
    pub spectrum: Option<SpectrumPanel>,
    /// What can be learnt from synthetic rows about real ones.
    pub learning: Option<LearningPanel>,
    /// Stratum by stratum.
    pub strata: Option<StrataPanel>,
    /// Whether the synthetic table keeps the rules of the schema.
    pub validity: Option<ValidityPanel>,
    /// What the schema changed on the way in.
    pub changed: Option<ChangedPanel>,
    /// How accurate the release should be, by simulation. On the public page.
    pub predicted: Option<PredictedPanel>,
    /// How to cite the release. On the public page.
    pub cite: Option<String>,
    /// Panels that are missing, and why.
    pub absent: Vec<Absent>,
}

/// A panel that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Absent {
    /// The name of the field of [`Page`].
    pub panel: &'static str,
    /// Why, in a sentence.
    pub why: String,
}

/// The first thing to read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Headline {
    /// Where it comes from.
    pub origin: Origin,
    /// What should be heard before anything else: cells that the schema changed, tables that look swapped.
    pub notices: Vec<String>,
    /// In plain words: "Single columns are good, whole rows poor."
    pub sentence: String,
    /// A few more sentences: the worst column, the worst stratum, broken rules.
    pub notes: Vec<String>,
}

/// What was promised: the statement, and the numbers in it that are drawn. Always [`Origin::Released`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Privacy {
    /// Where it comes from.
    pub origin: Origin,
    /// The promise in a sentence.
    pub sentence: String,
    /// ε as it was asked for.
    pub epsilon: String,
    /// δ, if one was asked for.
    pub delta: Option<String>,
    /// Who is protected.
    pub unit: String,
    /// Number and hash of the ledger entry; none where nothing was recorded.
    pub ledger: Option<LedgerEntry>,
    /// Where the budget went.
    pub stages: Vec<StageShare>,
    /// The privacy statement, section by section, as `show --statement` has it.
    pub statement: Vec<Section>,
}

/// Where the spending is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LedgerEntry {
    /// Its number.
    pub number: u64,
    /// Its hash.
    pub hash: String,
}

/// One stage's part of the budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageShare {
    /// Its name.
    pub name: String,
    /// Its part of the whole, 0 to 1.
    pub share: f64,
    /// What it does with it.
    pub mechanism: String,
}

/// W1 of whole rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DistancePanel {
    /// Where it comes from.
    pub origin: Origin,
    /// Rows of the real table.
    pub real_rows: usize,
    /// Rows of the synthetic table.
    pub synthetic_rows: usize,
    /// Floor, W1, ceiling.
    pub distances: Distances,
    /// A classifier that tells real from synthetic rows; none for a few rows.
    pub telling: Option<Telling>,
}

/// Five things, each good, usable or poor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictPanel {
    /// Where it comes from.
    pub origin: Origin,
    /// The grades, and the figures with their limits.
    pub verdict: Verdict,
    /// The same, as it is read: what, how good, by which figure.
    pub lines: Vec<VerdictLine>,
}

/// What the schema changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedPanel {
    /// Where it comes from.
    pub origin: Origin,
    /// Columns with changed cells in either table, the largest part of the real ones first.
    pub columns: Vec<ChangedColumn>,
    /// Columns of which every cell came through as it was.
    pub kept: usize,
}

/// What can be learnt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearningPanel {
    /// Where it comes from.
    pub origin: Origin,
    /// A label at a time.
    pub labels: Vec<Learning>,
}

/// Column by column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnPanel {
    /// Where it comes from.
    pub origin: Origin,
    /// Worst W1 first.
    pub columns: Vec<ColumnPicture>,
    /// Errors of the means, in units of the widths.
    pub means: Errors,
    /// Errors of the standard deviations.
    pub deviations: Errors,
}

/// One column: its figures, and its distribution in both tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnPicture {
    /// Means, deviations, W1, missing values, shares of categories.
    #[serde(flatten)]
    pub figures: ColumnFigures,
    /// The distribution. None for categories, whose shares are among the figures.
    pub bars: Option<Bars>,
}

/// A histogram of both tables with the same edges, in the column's own unit (days or seconds since 1970 for dates).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bars {
    /// One more than bars; equal widths, on the schema's scale.
    pub edges: Vec<f64>,
    /// How edges are spelt: `number`, `date`, `datetime` or `log` (a number whose bars are of equal width in its
    /// logarithm).
    pub scale: &'static str,
    /// Shares of the real rows that have a value.
    pub real: Vec<f64>,
    /// Shares of the synthetic rows that have a value.
    pub synthetic: Vec<f64>,
}

/// Correlations of all pairs of coordinates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CorrelationPanel {
    /// Where it comes from.
    pub origin: Origin,
    /// Coordinates in the order of the real table's clusters (of the released one's on the public page).
    pub names: Vec<String>,
    /// Real correlations; none on the public page.
    pub real: Option<Triangle>,
    /// Synthetic correlations; released ones on the public page.
    pub synthetic: Triangle,
    /// Root of the mean square error over all pairs.
    pub root_mean_square: f64,
    /// The largest error.
    pub largest: f64,
    /// The worst pairs, worst first.
    pub worst: Vec<PairError>,
    /// Coordinates that are not in the matrices because there are too many: those with the largest errors are kept.
    pub left_out: usize,
}

/// A symmetric matrix with ones on its diagonal: the part below it, row by row, (1,0), (2,0), (2,1), …, as 16-bit
/// signed integers, little endian, 32,767 for 1, in base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Triangle(pub String);

impl Triangle {
    /// The part below the diagonal of a matrix of so many rows. What is no number becomes 0.
    pub fn of(size: usize, value: impl Fn(usize, usize) -> f64) -> Triangle {
        let code = |value: f64| (value.clamp(-1.0, 1.0) * f64::from(i16::MAX)).round() as i16;
        let pairs = (1..size).flat_map(|i| (0..i).map(move |j| (i, j)));
        Triangle(base64(&pairs.flat_map(|(i, j)| code(value(i, j)).to_le_bytes()).collect::<Vec<u8>>()))
    }
}

/// Rows in a plane.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanePanel {
    /// Where it comes from.
    pub origin: Origin,
    /// Whether the directions are those of the model (else those in which the synthetic table varies most).
    pub of_model: bool,
    /// The two directions.
    pub axes: [Axis; 2],
    /// Real rows, a random part; empty on the public page.
    pub real: Vec<[f64; 2]>,
    /// Synthetic rows, a random part.
    pub synthetic: Vec<[f64; 2]>,
}

/// A direction, by the columns that make it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// The largest weights: name of the coordinate, weight in the unit vector.
    pub weights: Vec<(String, f64)>,
}

/// The released variances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpectrumPanel {
    /// Where it comes from.
    pub origin: Origin,
    /// Largest first.
    pub variances: Vec<f64>,
    /// Those at or below this cannot be told from noise.
    pub edge: f64,
    /// d′: how many directions were measured in detail.
    pub dimension: Option<usize>,
}

/// Stratum by stratum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StrataPanel {
    /// Where it comes from.
    pub origin: Origin,
    /// The columns that split the table.
    pub labels: Vec<String>,
    /// Half the sum of |real share − synthetic share|.
    pub variation: f64,
    /// The strata, smallest real one first.
    pub strata: Vec<StratumPicture>,
    /// Strata that are not listed.
    pub left_out: usize,
}

/// One stratum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StratumPicture {
    /// Its categories, one for each label.
    pub values: Vec<String>,
    /// Its real rows.
    pub real_rows: u64,
    /// Its part of the real rows.
    pub real: f64,
    /// Its part of the synthetic rows.
    pub synthetic: f64,
    /// Typical (root mean square) error of the means of its columns, in widths; none if one table has no such rows.
    pub mean_error: Option<f64>,
    /// The same of the standard deviations.
    pub deviation_error: Option<f64>,
}

/// Whether the rules of the schema are kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidityPanel {
    /// Where it comes from.
    pub origin: Origin,
    /// A rule at a time, broken ones first.
    pub rules: Vec<RuleKept>,
}

/// One rule: type, bounds, categories, missing values, or a constraint between columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleKept {
    /// The column, or the constraint as the schema has it.
    pub what: String,
    /// The rule in words: "between 0 and 120".
    pub rule: String,
    /// Synthetic cells or rows that break it.
    pub broken: u64,
    /// Synthetic cells or rows that were looked at.
    pub of: u64,
    /// The share of missing cells in the real table and in the synthetic one, where they are allowed.
    pub missing: Option<[f64; 2]>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_is_written_row_by_row() {
        let matrix = [[1.0, -1.0, 0.5], [-1.0, 1.0, f64::NAN], [0.5, f64::NAN, 1.0]];
        // −32,767 is 8001, 16,384 is 4000 and 0 is 0000, low byte first.
        assert_eq!(Triangle::of(3, |i, j| matrix[i][j]).0, base64(&[0x01, 0x80, 0x00, 0x40, 0, 0]));
        assert_eq!((Triangle::of(0, |_, _| 1.0).0, Triangle::of(1, |_, _| 1.0).0), (String::new(), String::new()));
    }
}
