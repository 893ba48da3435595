//! A Gaussian for every stratum, from moments that were summed stratum by stratum.
//!
//! A stratum's own covariance has the noise of one matrix over few rows; that of all strata together has less. So each
//! keeps as much of its own as can be heard: with `D = C_s − C` the difference from what strata have in common, of noise
//! variance ν² in every entry, the mean of D² over all entries is `τ² + ν²`, and a stratum's covariance is taken as
//! `C + τ²/(τ² + ν²) D` (empirical Bayes). Everything here is made of released numbers.

use super::through::{Response, correlation};
use crate::math::cholesky::Cholesky;
use crate::math::eigen;
use crate::math::gram::gram;
use crate::model::Pool;
use crate::subspace::{Blob, Covariance, Within};
use crate::tally::{Score, packed_index};

/// Directions with less of a coordinate's variance are left out.
const LEAST: f64 = 1e-3;
/// What is common to a coordinate and others is never more than this part of it.
const MOST_COMMON: f64 = 0.9995;

/// Directions, each times its deviation, and the variance that each coordinate has on its own.
#[derive(Clone, Debug)]
pub(crate) struct Cloud {
    pub directions: Vec<Vec<f64>>,
    pub left: Vec<f64>,
}

impl Cloud {
    pub fn within(&self) -> Within {
        let diagonal = self.left.iter().map(|x| x.max(0.0).sqrt()).collect();
        Within { directions: self.directions.clone(), diagonal }
    }

    /// The variance of a coordinate.
    pub fn variance(&self, j: usize) -> f64 {
        self.left[j] + self.directions.iter().map(|f| f[j] * f[j]).sum::<f64>()
    }

    /// How its coordinates go together, off the diagonal.
    fn together(&self) -> Vec<f64> {
        let d = self.left.len();
        let mut together = vec![0.0; d * d];
        for f in &self.directions {
            for i in 0..d {
                together[i * d..(i + 1) * d].iter_mut().zip(f).for_each(|(sum, x)| *sum += f[i] * x);
            }
        }
        together
    }
}

/// A Gaussian whose coordinates are bent into values: what it is before that, and what is wanted of it afterwards.
#[derive(Clone, Debug)]
pub(crate) struct Latent {
    /// Covariances off the diagonal, and on it what a coordinate has in common with others.
    matrix: Vec<f64>,
    /// The variances of its coordinates.
    variances: Vec<f64>,
    /// The wanted covariances of scores.
    wanted: Vec<f64>,
    slopes: Vec<f64>,
    /// The variances of scores.
    whole: Vec<f64>,
}

/// How far one round goes towards what is wanted.
const STEP: f64 = 0.8;
/// An error of so much of a correlation is chance in the pool.
const CHANCE: f64 = 0.05;

impl Latent {
    /// The Gaussian with these variances whose bent coordinates go together as those of a cloud of scores do. `whole` are
    /// the variances of scores, as far as they are known.
    pub fn behind(
        cloud: &Cloud,
        responses: &[Response],
        variances: &[f64],
        whole: &[f64],
        block_of: &[usize],
    ) -> Latent {
        let d = cloud.left.len();
        let wanted = cloud.together();
        let mut matrix = wanted.clone();
        for i in 0..d {
            for j in 0..i {
                let most = MOST_COMMON * (variances[i] * variances[j]).sqrt();
                // Of one block a row has one coordinate: thresholds of their own would all exclude one another.
                let r = if block_of[i] == block_of[j] {
                    wanted[i * d + j] / (whole[i] * whole[j]).sqrt().max(f64::MIN_POSITIVE)
                } else {
                    correlation(wanted[i * d + j], &responses[i], &responses[j])
                };
                let r = r.clamp(-most, most);
                matrix[i * d + j] = r;
                matrix[j * d + i] = r;
            }
            // A step or a skewed curve shows less of what is common than there is: as for two coordinates of correlation 1.
            let common = correlation(wanted[i * d + i], &responses[i], &responses[i]);
            matrix[i * d + i] = common.clamp(0.0, MOST_COMMON) * variances[i];
        }
        let slopes = responses.iter().map(|response| response.slope().max(1e-9)).collect();
        Latent { matrix, variances: variances.to_vec(), wanted, slopes, whole: whole.to_vec() }
    }

    /// Moves the covariances by what rows that were drawn and bent have too little or too much. `seen` are the covariances
    /// of their scores, from so many `rows`; coordinates of one block go together as its values say.
    pub fn correct(&mut self, seen: &[f64], rows: f64, block_of: &[usize]) {
        let d = self.variances.len();
        for i in 0..d {
            for j in (0..i).filter(|&j| block_of[i] != block_of[j]) {
                let slope = self.slopes[i] * self.slopes[j];
                let chance = self.whole[i] * self.whole[j] / (rows.max(1.0) * slope * slope);
                let go = STEP / (1.0 + chance / (CHANCE * CHANCE));
                let most = MOST_COMMON * (self.variances[i] * self.variances[j]).sqrt();
                let moved = self.matrix[i * d + j] + go * (self.wanted[i * d + j] - seen[i * d + j]) / slope;
                self.matrix[i * d + j] = moved.clamp(-most, most);
                self.matrix[j * d + i] = self.matrix[i * d + j];
            }
        }
    }

    /// The cloud that is drawn.
    pub fn cloud(&self) -> Cloud {
        let d = self.variances.len();
        let pairs = eigen::symmetric(&self.matrix, d);
        let mut directions: Vec<Vec<f64>> = (pairs.values.iter().zip(&pairs.vectors))
            .filter(|(value, _)| **value > LEAST)
            .map(|(value, v)| v.iter().map(|x| x * value.sqrt()).collect())
            .collect();
        let mut left = Vec::with_capacity(d);
        for (j, &variance) in self.variances.iter().enumerate() {
            let common: f64 = directions.iter().map(|f| f[j] * f[j]).sum();
            let most = MOST_COMMON * variance;
            if common > most {
                let shrink = (most / common).sqrt();
                directions.iter_mut().for_each(|f| f[j] *= shrink);
            }
            left.push(variance - common.min(most));
        }
        Cloud { directions, left }
    }
}

/// The covariances of the scores of a pool, in units: of all rows, or of those of one stratum; and how many these are.
pub(crate) fn seen(pool: &Pool, scores: &[Score], stratum: Option<usize>) -> (Vec<f64>, f64) {
    let (d, q) = (pool.width, f64::from(u16::MAX));
    let rows: Vec<usize> =
        (0..pool.rows()).filter(|&i| stratum.is_none_or(|s| pool.strata[i] as usize == s)).collect();
    let n = rows.len().max(1) as f64;
    let mut values: Vec<f64> = Vec::with_capacity(rows.len() * d);
    for &i in &rows {
        values.extend(pool.row(i).iter().zip(scores).map(|(&code, score)| f64::from(score.of(code)) / q));
    }
    let mut means = vec![0.0; d];
    values.chunks_exact(d).for_each(|row| means.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / n));
    values.chunks_exact_mut(d).for_each(|row| row.iter_mut().zip(&means).for_each(|(x, mean)| *x -= mean));
    let packed = gram(&values, d);
    let entry = |e: usize| packed[packed_index((e / d).max(e % d), (e / d).min(e % d))] / n;
    ((0..d * d).map(entry).collect(), n)
}

/// The largest variance of the means of a stratum over its coordinates, in deviations of these.
const WIDEST: f64 = 1.0;

/// How far the mean of each stratum is from that of all, in the unit of scores: measured means, as far as they are heard.
///
/// Where a coordinate moves by `slope` if the Gaussian behind it moves by one, the mean of that Gaussian was measured as x,
/// with noise of variance `ν_j² = (σ/slope_j)²`. Means of strata differ most where rows do: their prior is `N(0, γ R)` with R
/// the correlations of the Gaussian, and γ what is seen of x² beyond the noise, each coordinate weighed by its precision.
/// The best guess is `γ R (γ R + diag ν²)⁻¹ x` (Wiener's filter).
pub(crate) fn shifts(whole: &Covariance, latent: &Cloud, slopes: &[f64]) -> Vec<Vec<f64>> {
    let d = slopes.len();
    let mut together = latent.together();
    (0..d).for_each(|j| together[j * d + j] += latent.left[j]);
    let one = |(means, noise): (Vec<f64>, f64)| -> Vec<f64> {
        let noises: Vec<f64> = slopes.iter().map(|slope| (noise / slope).powi(2).max(f64::MIN_POSITIVE)).collect();
        let measured: Vec<f64> = means.iter().zip(slopes).map(|(x, slope)| x / slope).collect();
        let weights: f64 = noises.iter().map(|noise| noise.powi(-2)).sum();
        let seen = measured.iter().zip(&noises).map(|(x, noise)| (x * x - noise) * noise.powi(-2)).sum::<f64>();
        let gamma = (seen / weights.max(f64::MIN_POSITIVE)).clamp(0.0, WIDEST);
        if gamma <= 0.0 {
            return vec![0.0; d];
        }
        let mut both: Vec<f64> = together.iter().map(|r| gamma * r).collect();
        (0..d).for_each(|j| both[j * d + j] += noises[j]);
        let solved = Cholesky::new(&both, d).solve(&measured);
        let guess = |j: usize| gamma * together[j * d..(j + 1) * d].iter().zip(&solved).map(|(r, x)| r * x).sum::<f64>();
        (0..d).map(|j| guess(j) * slopes[j]).collect()
    };
    whole.centred_strata().into_iter().map(one).collect()
}

/// The clouds of strata: `seconds` are their second moments around the centre, `blob` what they have in common, with the
/// means of strata, whose parts of the rows are `shares`.
pub(crate) fn of_strata(whole: &Covariance, seconds: &[Vec<f64>], blob: &Blob, margin: f64) -> Vec<Cloud> {
    let (d, shares) = (whole.width, whole.stratum_shares());
    let mean = |s: usize, j: usize| whole.offset[j] + blob.shifts.get(s).map_or(0.0, |shift| shift[j]);
    let own: Vec<Vec<f64>> = seconds
        .iter()
        .enumerate()
        .map(|(s, second)| (0..d * d).map(|e| second[e] - mean(s, e / d) * mean(s, e % d)).collect())
        .collect();
    let mut common = vec![0.0; d * d];
    for (matrix, share) in own.iter().zip(&shares) {
        common.iter_mut().zip(matrix).for_each(|(sum, x)| *sum += share * x);
    }
    let of_all = whole.diagonal_noise / std::f64::consts::SQRT_2;
    let edge_of_entry = whole.edge / of_all.max(f64::MIN_POSITIVE);
    let blocks = seconds.len() as f64;
    own.iter()
        .zip(&shares)
        .map(|(matrix, share)| {
            // The noise of one block over its rows, and of its difference from the mean of all.
            let noise = of_all / (blocks.sqrt() * share.max(1e-9));
            let apart = noise * noise * (1.0 - share);
            let seen = matrix.iter().zip(&common).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / (d * d) as f64;
            let differ = (seen - apart).max(0.0);
            let keep = differ / (differ + apart).max(f64::MIN_POSITIVE);
            let mixed: Vec<f64> = matrix.iter().zip(&common).map(|(a, b)| b + keep * (a - b)).collect();
            let noise = ((keep * noise).powi(2) + ((1.0 - keep) * of_all).powi(2)).sqrt();
            let covariance = Covariance::of_matrix(&mixed, d, noise, edge_of_entry * noise);
            let (directions, left) = Blob::spectral(&covariance, margin);
            Cloud { directions, left }
        })
        .collect()
}
