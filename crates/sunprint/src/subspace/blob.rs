//! The Gaussian picture of the table that the released moments give: one mean for each stratum, and one covariance
//! within strata. It is the ground that the measure corrects where it can be heard, and what is drawn where it cannot.
//!
//! Everything here is made of released numbers.

use super::covariance::Covariance;
use crate::math::cholesky::Cholesky;
use crate::math::eigen;
use crate::math::vector::dot;
use crate::plan::Tuning;
use serde::{Deserialize, Serialize};

/// `Σ = Σ_i f_i f_iᵀ + diag(ℓ)` around means `δ_s`, less what the means themselves explain.
#[derive(Clone, Debug)]
pub struct Blob {
    /// Directions of the whole table, each times its standard deviation.
    pub directions: Vec<Vec<f64>>,
    /// The variance that each coordinate has on its own.
    pub left: Vec<f64>,
    /// For each stratum its mean minus the table's; empty where there are none.
    pub shifts: Vec<Vec<f64>>,
    /// What takes the part out of a draw from Σ that the means explain.
    pub pulls: Vec<Pull>,
}

/// Replaces a vector s by `s − ⟨across, s⟩ along`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pull {
    /// What s is multiplied with.
    pub across: Vec<f64>,
    /// What is taken away, as often as that.
    pub along: Vec<f64>,
}

impl Pull {
    /// Pulls a vector.
    pub fn apply(&self, s: &mut [f64]) {
        let by = dot(&self.across, s);
        s.iter_mut().zip(&self.along).for_each(|(s, a)| *s -= by * a);
    }
}

/// The means of strata never explain more of the variance along a direction than this: a stratum has a width.
const MOST_EXPLAINED: f64 = 0.9;
/// No coordinate has less variance of its own than this fraction of what is common to all.
const LEAST_OWN: f64 = 0.1;

impl Blob {
    /// What the covariance says.
    ///
    /// *Directions.* `√λ̃_i v_i` over what clears the edge.
    ///
    /// *Own variances.* `Σ̂_jj` less the directions, shrunk towards what is common to all coordinates.
    ///
    /// *Means.* A stratum's mean is measured with the same noise σ² in every coordinate, while the means of strata
    /// differ most where the table varies most. So the prior of a mean is Gaussian with covariance γ Σ: along a
    /// direction of variance w a mean keeps the fraction `γ w/(γ w + σ²)` (Wiener's filter), with γ from the data,
    /// `γ tr Σ = max(‖δ‖² − d σ², 0)`. Along a direction in which the k means together stand no further apart than noise
    /// would put them, `S = Σ_s δ_s²/σ_s² ≤ k − 1`, they keep nothing, and else the part `1 − (k − 1)/S`.
    pub fn of(covariance: &Covariance, tuning: &Tuning) -> Blob {
        let (d, vectors) = (covariance.width, &covariance.eigen.vectors);
        let known = covariance.above_edge(tuning.edge_margin).min(d);
        let values: Vec<f64> = (0..known).map(|i| covariance.shrunk(i)).collect();
        let spread: Vec<f64> =
            (0..d).map(|j| (0..known).map(|i| values[i] * vectors[i][j] * vectors[i][j]).sum()).collect();
        let rest: Vec<f64> = covariance.diagonal.iter().zip(&spread).map(|(all, known)| all - known).collect();
        let left = leftover(&rest, covariance.diagonal_noise);
        let directions = (0..known).map(|i| vectors[i].iter().map(|x| x * values[i].sqrt()).collect()).collect();

        let common = left.iter().sum::<f64>() / d as f64;
        let whole = values.iter().sum::<f64>() + left.iter().sum::<f64>();
        let strata = covariance.centred_strata();
        // How far the strata's means stand apart along a direction, in the measure of their noise: about k - 1 if they
        // do not.
        let freedom = strata.len().saturating_sub(1) as f64;
        let heard = |parts: &[f64]| -> f64 {
            let apart: f64 = parts.iter().zip(&strata).map(|(c, (_, noise))| (c / noise.max(1e-12)).powi(2)).sum();
            (1.0 - freedom / apart.max(f64::MIN_POSITIVE)).max(0.0)
        };
        let mut rests: Vec<Vec<f64>> = strata.iter().map(|(mean, _)| mean.clone()).collect();
        let mut shifts = vec![vec![0.0; d]; strata.len()];
        let gammas: Vec<f64> = strata
            .iter()
            .map(|(mean, noise)| {
                let length = dot(mean, mean) - d as f64 * noise * noise;
                // Where nothing varies there is nothing for a mean to vary along.
                if whole > 0.0 { length.max(0.0) / whole } else { 0.0 }
            })
            .collect();
        let keep = |s: usize, w: f64| {
            let variance = strata[s].1 * strata[s].1;
            gammas[s] * w / (gammas[s] * w + variance).max(f64::MIN_POSITIVE)
        };
        for (value, v) in values.iter().zip(vectors) {
            let along: Vec<f64> = rests.iter().map(|rest| dot(v, rest)).collect();
            let heard = heard(&along);
            for (s, &along) in along.iter().enumerate() {
                let part = heard * along * keep(s, value + common);
                for ((rest, kept), v) in rests[s].iter_mut().zip(&mut shifts[s]).zip(v) {
                    *rest -= along * v;
                    *kept += part * v;
                }
            }
        }
        for j in 0..d {
            let parts: Vec<f64> = rests.iter().map(|rest| rest[j]).collect();
            let heard = heard(&parts);
            for (s, part) in parts.iter().enumerate() {
                shifts[s][j] += heard * part * keep(s, left[j]);
            }
        }
        let shares = covariance.stratum_shares();
        Blob::new(directions, left, shifts, &shares)
    }

    /// A blob of these parts; `shares` are the strata's parts of the rows.
    pub fn new(directions: Vec<Vec<f64>>, left: Vec<f64>, shifts: Vec<Vec<f64>>, shares: &[f64]) -> Blob {
        let mut blob = Blob { directions, left, shifts, pulls: Vec::new() };
        blob.pulls = blob.pulls(shares);
        blob
    }

    /// Σ is the covariance of the whole table, `B = Σ_s π_s δ_s δ_sᵀ` of the means alone, and within strata it is Σ − B.
    ///
    /// With `Δ = (√π_s δ_s)_s`, let `(μ_i, e_i)` be the eigenpairs of the small matrix `Δᵀ Σ⁻¹ Δ`. Where Σ is white, B has
    /// the eigenvectors `q_i = Σ^{−½} Δ e_i/√μ_i` with eigenvalues μ_i, so that Σ − B has 1 − μ_i along q_i and 1 across:
    /// a white draw is multiplied by `√(1 − μ_i)` along q_i. Back in the coordinates of the table this is
    /// `s − (1 − √(1 − μ_i)) ⟨h_i, s⟩ b_i` with `h_i = Σ⁻¹ Δ e_i/√μ_i` and `b_i = Δ e_i/√μ_i`. Noise may lift μ_i above 1;
    /// it is cut at [`MOST_EXPLAINED`]. Whatever the pulls are, what is drawn is a Gaussian: nothing can become negative.
    fn pulls(&self, shares: &[f64]) -> Vec<Pull> {
        let delta: Vec<Vec<f64>> = (self.shifts.iter().zip(shares))
            .map(|(shift, share)| shift.iter().map(|x| x * share.max(0.0).sqrt()).collect())
            .collect();
        let count = delta.len();
        if count < 2 {
            return Vec::new();
        }
        let solved = self.solve(&delta);
        let small: Vec<f64> = (0..count * count).map(|at| dot(&delta[at / count], &solved[at % count])).collect();
        let pairs = eigen::symmetric(&small, count);
        let mixed = |vectors: &[Vec<f64>], weights: &[f64], by: f64| -> Vec<f64> {
            let mut out = vec![0.0; self.left.len()];
            for (vector, weight) in vectors.iter().zip(weights) {
                out.iter_mut().zip(vector).for_each(|(o, x)| *o += by * weight * x);
            }
            out
        };
        (pairs.values.iter().zip(&pairs.vectors))
            .filter(|(value, _)| **value > 1e-9)
            .map(|(value, weights)| {
                let by = 1.0 / value.sqrt();
                let strength = 1.0 - (1.0 - value.min(MOST_EXPLAINED)).sqrt();
                Pull { across: mixed(&solved, weights, by), along: mixed(&delta, weights, by * strength) }
            })
            .collect()
    }

    /// `Σ⁻¹` times some vectors, by Woodbury's formula: `D⁻¹ − D⁻¹ F (I + Fᵀ D⁻¹ F)⁻¹ Fᵀ D⁻¹`.
    fn solve(&self, vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let typical = self.variances().iter().sum::<f64>() / self.left.len().max(1) as f64;
        let own: Vec<f64> = self.left.iter().map(|x| x.max(1e-4 * typical).max(f64::MIN_POSITIVE)).collect();
        let over = |v: &[f64]| -> Vec<f64> { v.iter().zip(&own).map(|(v, own)| v / own).collect() };
        let scaled: Vec<Vec<f64>> = self.directions.iter().map(|f| over(f)).collect();
        let m = scaled.len();
        let mut small = vec![0.0; m * m];
        for i in 0..m {
            for j in 0..m {
                small[i * m + j] = dot(&self.directions[i], &scaled[j]) + if i == j { 1.0 } else { 0.0 };
            }
        }
        let root = Cholesky::new(&small, m);
        vectors
            .iter()
            .map(|v| {
                let mut solved = over(v);
                let inner: Vec<f64> = scaled.iter().map(|f| dot(f, v)).collect();
                for (weight, f) in root.solve(&inner).iter().zip(&scaled) {
                    solved.iter_mut().zip(f).for_each(|(x, f)| *x -= weight * f);
                }
                solved
            })
            .collect()
    }

    /// The variances of the whole table's coordinates.
    pub fn variances(&self) -> Vec<f64> {
        (0..self.left.len()).map(|j| self.variance(j)).collect()
    }

    /// The variance of one coordinate.
    pub fn variance(&self, j: usize) -> f64 {
        self.left[j] + self.directions.iter().map(|f| f[j] * f[j]).sum::<f64>()
    }

    /// The correlations of the whole table's coordinates, row by row of their matrix, and their standard deviations.
    pub fn correlations(&self) -> (Vec<f64>, Vec<f64>) {
        let d = self.left.len();
        let deviations: Vec<f64> = self.variances().iter().map(|x| x.max(0.0).sqrt()).collect();
        let mut all = vec![0.0; d * d];
        for f in &self.directions {
            for i in 0..d {
                all[i * d..(i + 1) * d].iter_mut().zip(f).for_each(|(sum, x)| *sum += f[i] * x);
            }
        }
        for i in 0..d {
            let over = |j: usize| (deviations[i] * deviations[j]).max(f64::MIN_POSITIVE);
            (0..d).for_each(|j| all[i * d + j] /= over(j));
            all[i * d + i] = 1.0;
        }
        (all, deviations)
    }

    /// The covariance within strata times a vector: `P Σ Pᵀ v` with P all pulls, the last outermost.
    fn within(&self, v: &[f64]) -> Vec<f64> {
        let mut u = v.to_vec();
        for pull in self.pulls.iter().rev() {
            let by = dot(&pull.along, &u);
            u.iter_mut().zip(&pull.across).for_each(|(u, a)| *u -= by * a);
        }
        let mut out: Vec<f64> = u.iter().zip(&self.left).map(|(u, left)| u * left).collect();
        for f in &self.directions {
            let by = dot(f, &u);
            out.iter_mut().zip(f).for_each(|(out, f)| *out += by * f);
        }
        self.pulls.iter().for_each(|pull| pull.apply(&mut out));
        out
    }

    /// How a draw follows the coordinates `a = Vᵀ x` along orthonormal vectors V: with W the covariance within strata,
    /// the triangular root of `Vᵀ W V`, and the gains `W V (Vᵀ W V)⁻¹`, one for each vector.
    pub fn along(&self, vectors: &[Vec<f64>]) -> (Cholesky, Vec<Vec<f64>>) {
        let k = vectors.len();
        let within: Vec<Vec<f64>> = vectors.iter().map(|v| self.within(v)).collect();
        let small: Vec<f64> = (0..k * k).map(|at| dot(&vectors[at / k], &within[at % k])).collect();
        let root = Cholesky::new(&small, k);
        let mut gains = vec![vec![0.0; self.left.len()]; k];
        for j in 0..self.left.len() {
            let row: Vec<f64> = within.iter().map(|w| w[j]).collect();
            gains.iter_mut().zip(root.solve(&row)).for_each(|(gain, x)| gain[j] = x);
        }
        // Where nothing varies along a vector, a draw is lifted along it alone.
        for (i, v) in vectors.iter().enumerate().filter(|(i, _)| small[i * k + i] <= 0.0) {
            gains[i].clone_from(v);
        }
        (root, gains)
    }
}

/// The coordinates' own variances, from noisy ones.
///
/// Empirical Bayes as for the column means: the leftovers of d columns have a common mean, known to `σ = noise/√d`, and
/// vary around it by what is seen beyond the noise. Each column keeps that fraction of its own deviation. The common
/// mean c is positive but may have been measured as nothing or less; it is taken as `(c + √(c² + σ²))/2`, which is c
/// where that stands out and a part of the noise where it does not: columns without any variance of their own would be
/// exact functions of one another, which no real columns are.
fn leftover(left: &[f64], noise: f64) -> Vec<f64> {
    let d = left.len() as f64;
    let measured = left.iter().sum::<f64>() / d;
    let common = 0.5 * (measured + (measured * measured + noise * noise / d).sqrt());
    let seen = left.iter().map(|x| (x - measured) * (x - measured)).sum::<f64>() / (d - 1.0).max(1.0);
    let between = (seen - noise * noise).max(0.0);
    let keep = between / (between + noise * noise).max(f64::MIN_POSITIVE);
    left.iter().map(|x| (common + keep * (x - measured)).max(LEAST_OWN * common)).collect()
}
