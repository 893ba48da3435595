//! What can be learnt from synthetic rows, as the page shows it.

use super::Origin;
use serde::Serialize;

/// What can be learnt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearningPanel {
    /// Where it comes from.
    pub origin: Origin,
    /// A label at a time.
    pub labels: Vec<Learning>,
}

/// A logistic regression for one label, learnt from real rows and from synthetic ones, asked about other real rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Learning {
    /// The label.
    pub label: String,
    /// Its classes.
    pub classes: Vec<String>,
    /// Rows that each of the two learnt from.
    pub training: usize,
    /// Real rows that both were asked about, and neither learnt from.
    pub testing: usize,
    /// The part told rightly by the one that learnt from real rows.
    pub real: f64,
    /// The part told rightly by the one that learnt from synthetic rows.
    pub synthetic: f64,
    /// The part of the commonest class: what anybody can tell.
    pub commonest: f64,
    /// Class by class: (class, its rows among those asked about, told rightly after real, after synthetic).
    pub by_class: Vec<ClassLearning>,
    /// The largest weights of either, largest first.
    pub weights: Vec<Weight>,
    /// Weights that are not listed.
    pub more_weights: usize,
}

/// How well one class is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassLearning {
    /// The class.
    pub class: String,
    /// Its rows among those asked about.
    pub rows: usize,
    /// The part of them told rightly after learning from real rows.
    pub real: Option<f64>,
    /// The same after learning from synthetic rows.
    pub synthetic: Option<f64>,
}

/// A weight of both logistic regressions, for a coordinate in units of its width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weight {
    /// The class; of two classes the second.
    pub class: String,
    /// The coordinate.
    pub coordinate: String,
    /// Learnt from real rows.
    pub real: f64,
    /// Learnt from synthetic rows.
    pub synthetic: f64,
}
