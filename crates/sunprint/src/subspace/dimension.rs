//! How many directions to measure.

use super::covariance::Covariance;
use crate::measure::{Allocation, Side, predicted_error};
use crate::plan::Tuning;

/// The chosen dimension and why.
#[derive(Clone, Debug)]
pub struct Choice {
    /// d′.
    pub dimension: usize,
    /// Whether any eigenvalue cleared the noise edge.
    pub found: bool,
}

/// Picks the k that minimises `√(lost_k + η² drawn_k) + w E_k`.
///
/// What is not measured, `max(tr Σ̂ − Σ_{i≤k} λ̃_i, 0)`, has two parts: directions that clear the edge, `drawn_k =
/// Σ_{k<i≤a} λ̃_i`, come back as Gaussian texture and lose only their shape (η; without texture η = 1), and the rest is
/// lost. `E_k` is the measure's proven error in k dimensions at its best depth, in the actual box, which is several times
/// the error that is seen: hence the weight w. Only directions that clear the edge take part; the algebraically largest
/// come first. With none, k = 1.
pub fn choose(
    covariance: &Covariance,
    tuning: &Tuning,
    textured: bool,
    allocation: &Allocation,
    sides: impl Fn(usize) -> Vec<Side>,
) -> Choice {
    let above = covariance.above_edge(tuning.edge_margin);
    let most = above.min(tuning.most_dimensions);
    let mut drawn: f64 = (0..above).map(|i| covariance.shrunk(i)).sum();
    let lost = (covariance.trace - drawn).max(0.0);
    let weight = if textured { tuning.texture_weight } else { 1.0 };
    let mut best = (f64::INFINITY, 1);
    for k in 1..=most.max(1) {
        drawn = (drawn - covariance.shrunk(k - 1)).max(0.0);
        let unmeasured = (lost + weight * weight * drawn).sqrt();
        let error = unmeasured + tuning.measure_weight * predicted_error(&sides(k), allocation);
        if error < best.0 {
            best = (error, k);
        }
    }
    Choice { dimension: best.1, found: most > 0 }
}
