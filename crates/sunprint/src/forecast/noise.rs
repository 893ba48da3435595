//! The noise of the stages, by the formulas of the fit.

use super::Question;
use crate::fit::{centre_noise, scalar_noise};
use crate::math::zcdp;
use crate::plan::{Shares, Tuning, difficulty};
use crate::privacy::Privacy;
use crate::subspace::{Before, Centre, MomentLayout, TYPICAL_SPREAD, clip_radius};
use crate::tally::codes::Q;
use crate::tally::grid_radius;
use serde::Serialize;

/// Standard deviations of released numbers, in units: 1 is the width of a column's bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// What is left of the noise in a column's mean once all is released.
    pub mean: f64,
    /// In a column's variance; a typical one is [`Noise::typical_variance`].
    pub variance: f64,
    /// Directions with less variance than about this drown.
    pub edge: f64,
    /// The variance of a column that is assumed where nothing is known.
    pub typical_variance: f64,
}

/// The budget of a stage: ε or ρ, whichever is spent.
pub(super) fn amount(question: &Question, share: u64) -> (f64, Privacy) {
    let part = share as f64 / Shares::WHOLE as f64;
    match question.delta {
        None => (question.epsilon * part, Privacy::Pure),
        Some(delta) => (zcdp::rho_for(question.epsilon, delta) * part, Privacy::Concentrated),
    }
}

impl Noise {
    /// The noise of a fit with these shares.
    ///
    /// The first release is read as the fit reads it, for a table with a typical spread whose columns have means at 0.3
    /// and 0.7 by turns. The noise σ of a mean carries them apart, to `½ ± √(0.2² + σ²)`: the fit takes σ² from how far
    /// they are apart, and without it would find them closer together the more noise there is.
    pub(super) fn of(question: &Question, shares: &Shares) -> Noise {
        let (d, n, q) = (question.width as f64, question.rows as f64, f64::from(Q));
        let (centre, privacy) = amount(question, shares.centre);
        let sum_noise = centre_noise(question.width, centre, privacy);
        let square_noise = scalar_noise(d * q * q, amount(question, shares.spread).0, privacy);
        let apart = (0.04 + (sum_noise / (n * q)).powi(2)).sqrt();
        let place = |j: usize| if j.is_multiple_of(2) { 0.5 - apart } else { 0.5 + apart };
        let sums: Vec<i64> = (0..question.width).map(|j| (n * q * place(j)) as i64).collect();
        // T/(4nQ²) is the mean of ‖x − ½‖²: the spread and the squares of the means around the middle.
        let square = 4.0 * n * q * q * d * (TYPICAL_SPREAD + 0.04);
        let before = vec![Before::Open; question.width];
        let centre = Centre::read(question.rows, &before, &sums, square as i128, sum_noise, square_noise);
        let clip = Tuning::default().clip_at(difficulty(question.rows, question.width, question.epsilon));
        let layout = MomentLayout::new(question.width, question.strata);
        let (moments, privacy) = amount(question, shares.moments);
        let (entry, edge) = moment_noise(layout, moments, privacy);
        let unit = f64::from(clip_radius(&centre, &before, clip)) / (grid_radius(question.width) as f64 * q);
        // The anchor of the constant coordinate is √(K²/10): the mean's noise is that of an entry over it.
        let again = entry / (GRID_ANCHOR * n) * unit;
        let first = centre.doubts[0];
        let mean = again * first / (again * again + first * first).sqrt();
        let square = unit * unit / n;
        let variance = std::f64::consts::SQRT_2 * entry * square;
        Noise { mean, variance, edge: edge * square, typical_variance: TYPICAL_SPREAD }
    }
}

/// The constant beside every row, as [`MomentLayout`] has it.
const GRID_ANCHOR: f64 = 2590.0;

/// Standard deviation of an entry of the noisy moments and their noise edge, in the integers of the grid: with scale
/// `s = R/ε` the Wishart difference has `√(2(p+1)) s` and `3.33 p s`; Gaussian noise `σ = R/√(2ρ)` has σ and `2√p σ`.
pub(super) fn moment_noise(layout: MomentLayout, amount: f64, privacy: Privacy) -> (f64, f64) {
    let (p, norm) = (layout.order() as f64, layout.row_norm_squared() as f64);
    match privacy {
        Privacy::Pure => {
            let s = norm / amount;
            ((2.0 * (p + 1.0)).sqrt() * s, 3.33 * p * s)
        }
        Privacy::Concentrated => {
            let sigma = norm / (2.0 * amount).sqrt();
            (sigma, 2.0 * p.sqrt() * sigma)
        }
    }
}
