//! What the released covariance knows beyond the measured directions: stratum means, further directions, and a
//! leftover variance for each column, all to be drawn back as Gaussian.

use super::covariance::Covariance;
use crate::math::eigen;
use crate::math::vector::dot;
use crate::plan::Tuning;
use serde::{Deserialize, Serialize};

/// Gaussian texture of the complement of the measured directions, in units.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Texture {
    /// Directions, each multiplied by its standard deviation.
    pub directions: Vec<Vec<f64>>,
    /// Standard deviation that each column gets on its own; empty for none.
    pub diagonal: Vec<f64>,
    /// For each stratum, how its rows are shifted; empty for none.
    pub shifts: Vec<Vec<f64>>,
}

/// The columns' common leftover variance must exceed this many standard deviations of its noise to be drawn.
const LEFTOVER_MARGIN: f64 = 2.0;

/// The texture beyond the first `dimension` directions.
///
/// *Shifts.* A stratum's mean, without its part in the measured directions (which the measure knows better), times the
/// James-Stein factor `1 − m σ²/‖δ‖²` over its m coordinates, never negative, and never above `τ²/(τ² + σ²)` where
/// `τ² = spread/d` is the variance of a typical column: strata cannot lie further apart than the table is wide.
///
/// *Directions.* `Σ_{k<i≤a} λ̃_i v_i v_iᵀ` over what clears the edge, less what the shifts already explain,
/// `Σ_s π_s δ_s δ_sᵀ`; its positive part is drawn.
///
/// *Diagonal.* `Σ̂_jj` less the measured, drawn and shifted parts, as far as that stands out of its noise.
pub fn texture(covariance: &Covariance, dimension: usize, spread: f64, tuning: &Tuning) -> Texture {
    let (d, eigen) = (covariance.width, &covariance.eigen);
    let basis = &eigen.vectors[..dimension];
    let shifts = shifts(covariance, basis, spread);
    let total: f64 = covariance.strata.iter().map(|s| s.rows).sum();
    let shares: Vec<f64> = covariance.strata.iter().map(|s| s.rows / total.max(1.0)).collect();

    let known = covariance.above_edge(tuning.edge_margin).max(dimension).min(d);
    let complement = &eigen.vectors[dimension..known];
    // In the coordinates of the complement's directions the matrix is small: (a − k) × (a − k).
    let m = complement.len();
    let mut small = vec![0.0; m * m];
    for i in 0..m {
        small[i * m + i] = covariance.shrunk(dimension + i);
    }
    for (shift, share) in shifts.iter().zip(&shares) {
        let inner: Vec<f64> = complement.iter().map(|v| dot(v, shift)).collect();
        for i in 0..m {
            for j in 0..m {
                small[i * m + j] -= share * inner[i] * inner[j];
            }
        }
    }
    let within = eigen::symmetric(&small, m);
    let directions: Vec<Vec<f64>> = within
        .values
        .iter()
        .zip(&within.vectors)
        .filter(|(value, _)| **value > 0.0)
        .map(|(value, weights)| {
            let mut direction = vec![0.0; d];
            for (weight, v) in weights.iter().zip(complement) {
                direction.iter_mut().zip(v).for_each(|(x, v)| *x += value.sqrt() * weight * v);
            }
            direction
        })
        .collect();

    let left: Vec<f64> = (0..d)
        .map(|j| {
            let measured: f64 = (0..dimension).map(|i| covariance.shrunk(i) * basis[i][j] * basis[i][j]).sum();
            let drawn: f64 = directions.iter().map(|v| v[j] * v[j]).sum();
            let shifted: f64 = shifts.iter().zip(&shares).map(|(s, share)| share * s[j] * s[j]).sum();
            covariance.diagonal[j] - measured - drawn - shifted
        })
        .collect();
    let diagonal = leftover(&left, covariance.diagonal_noise);
    Texture { directions, diagonal, shifts }
}

/// Standard deviations of the columns' leftovers, from noisy variances.
///
/// Empirical Bayes as for the column means: the leftovers of d columns have a common mean, known to `noise/√d`, and
/// vary around it by what is seen beyond the noise. Each column keeps that fraction of its own deviation. Where not
/// even the common mean clears its noise there is nothing to draw.
fn leftover(left: &[f64], noise: f64) -> Vec<f64> {
    let d = left.len() as f64;
    let common = left.iter().sum::<f64>() / d;
    if common <= LEFTOVER_MARGIN * noise / d.sqrt() {
        return vec![0.0; left.len()];
    }
    let seen = left.iter().map(|x| (x - common) * (x - common)).sum::<f64>() / (d - 1.0).max(1.0);
    let between = (seen - noise * noise).max(0.0);
    let keep = between / (between + noise * noise).max(f64::MIN_POSITIVE);
    left.iter().map(|x| (common + keep * (x - common)).max(0.0).sqrt()).collect()
}

fn shifts(covariance: &Covariance, basis: &[Vec<f64>], spread: f64) -> Vec<Vec<f64>> {
    let free = covariance.width.saturating_sub(basis.len()) as f64;
    let typical = spread / covariance.width as f64;
    covariance
        .strata
        .iter()
        .map(|stratum| {
            let mut shift = stratum.offset.clone();
            for v in basis {
                let inner = dot(v, &shift);
                shift.iter_mut().zip(v).for_each(|(x, v)| *x -= inner * v);
            }
            let length: f64 = shift.iter().map(|x| x * x).sum();
            let noise = stratum.noise * stratum.noise;
            let stein = if length > 0.0 { (1.0 - free * noise / length).max(0.0) } else { 0.0 };
            let keep = stein.min(typical / (typical + noise));
            shift.iter_mut().for_each(|x| *x *= keep);
            shift
        })
        .collect()
}
