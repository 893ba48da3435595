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

/// Picks the k that minimises `√tail_k + w E_k`.
///
/// `tail_k = max(tr Σ̂ − Σ_{i≤k} λ̃_i, 0)` is what the projection loses; `E_k` is the measure's proven error in k
/// dimensions at its best depth, in the actual box, which is several times the error that is seen: hence the weight w.
/// Only directions that clear the edge take part; the algebraically largest come first. With none, k = 1.
pub fn choose(
    covariance: &Covariance,
    tuning: &Tuning,
    allocation: &Allocation,
    sides: impl Fn(usize) -> Vec<Side>,
) -> Choice {
    let most = covariance.above_edge(tuning.edge_margin).min(tuning.most_dimensions);
    let mut best = (f64::INFINITY, 1);
    let mut tail = covariance.trace;
    for k in 1..=most.max(1) {
        tail -= covariance.shrunk(k - 1);
        let error = tail.max(0.0).sqrt() + tuning.measure_weight * predicted_error(&sides(k), allocation);
        if error < best.0 {
            best = (error, k);
        }
    }
    Choice { dimension: best.1, found: most > 0 }
}
