//! How accurate a release should be, as the page shows it.

use super::Origin;
use serde::Serialize;

/// How accurate the release should be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictedPanel {
    /// Where it comes from.
    pub origin: Origin,
    /// The part of the truths that the intervals are meant to hold: 0.9.
    pub level: f64,
    /// Columns, in the order of the schema.
    pub columns: Vec<PredictedColumn>,
    /// The typical noise of the correlations over all pairs.
    pub correlations: Option<f64>,
    /// The strongest correlations with their intervals.
    pub pairs: Vec<PredictedPair>,
}

/// What the release says of one column, and how sure that is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictedColumn {
    /// Its name.
    pub name: String,
    /// Its kind, as in the schema.
    pub kind: &'static str,
    /// Numbers: mean, standard deviation, quantiles. Categories: shares. Those of which enough was released.
    pub figures: Vec<Predicted>,
    /// The distribution of the drawn rows. None for categories.
    pub bars: Option<PublicBars>,
}

/// A histogram of drawn rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublicBars {
    /// As in [`Bars`](super::Bars).
    pub edges: Vec<f64>,
    /// As in [`Bars`](super::Bars).
    pub scale: &'static str,
    /// Shares.
    pub synthetic: Vec<f64>,
}

/// A number of the release and where the real one should be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Predicted {
    /// `mean`, `standard deviation`, `5 %`, `25 %`, `median`, `75 %`, `95 %`, `missing`, or a category.
    pub name: String,
    /// What the release says, in the column's own unit, or a share.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A correlation of the release and where the real one should be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictedPair {
    /// The two coordinates.
    pub columns: [String; 2],
    /// What the release says, and its interval.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}
