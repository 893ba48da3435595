//! A Gaussian for every stratum, from moments that were summed stratum by stratum.
//!
//! A stratum's own covariance has the noise of one matrix over few rows; that of all strata together has less. So each
//! keeps as much of its own as can be heard: with `D = C_s − C` the difference from what strata have in common, of noise
//! variance ν² in every entry, the mean of D² over all entries is `τ² + ν²`, and a stratum's covariance is taken as
//! `C + τ²/(τ² + ν²) D` (empirical Bayes). Everything here is made of released numbers.

use super::through::{Response, correlation};
use crate::math::eigen;
use crate::subspace::{Blob, Covariance, Within};

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

    /// The same cloud before its coordinates are bent: a Gaussian whose coordinates have variances `v`, and whose bent
    /// coordinates go together as those of this one do. `whole` are the variances of scores, as far as they are known.
    pub fn unbent(&self, responses: &[Response], variances: &[f64], whole: &[f64]) -> Cloud {
        let d = self.left.len();
        let mut together = vec![0.0; d * d];
        for f in &self.directions {
            for i in 0..d {
                together[i * d..(i + 1) * d].iter_mut().zip(f).for_each(|(sum, x)| *sum += f[i] * x);
            }
        }
        for i in 0..d {
            for j in 0..i {
                let most = MOST_COMMON * (variances[i] * variances[j]).sqrt();
                let r = correlation(together[i * d + j], &responses[i], &responses[j]).clamp(-most, most);
                together[i * d + j] = r;
                together[j * d + i] = r;
            }
            let common = together[i * d + i] / whole[i].max(f64::MIN_POSITIVE);
            together[i * d + i] = common.clamp(0.0, MOST_COMMON) * variances[i];
        }
        let pairs = eigen::symmetric(&together, d);
        let mut directions: Vec<Vec<f64>> = (pairs.values.iter().zip(&pairs.vectors))
            .filter(|(value, _)| **value > LEAST)
            .map(|(value, v)| v.iter().map(|x| x * value.sqrt()).collect())
            .collect();
        let mut left = Vec::with_capacity(d);
        for (j, &variance) in variances.iter().enumerate() {
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

/// The largest variance of the means of a stratum over its coordinates, in deviations of these.
const WIDEST: f64 = 1.0;

/// How far the mean of each stratum is from that of all: measured means, shrunk by what is known of their noise.
///
/// Where a coordinate moves by `slope` if the Gaussian behind it moves by one, the mean of that Gaussian is known to a
/// variance `ν_j² = (σ/slope_j)²`. Over the coordinates these means vary by what is seen beyond the noise, τ², each weighed
/// by its precision, and each keeps the part `τ²/(τ² + ν_j²)` (empirical Bayes).
pub(crate) fn shifts(whole: &Covariance, slopes: &[f64]) -> Vec<Vec<f64>> {
    let one = |(means, noise): (Vec<f64>, f64)| -> Vec<f64> {
        let noises: Vec<f64> = slopes.iter().map(|slope| (noise / slope).powi(2).max(f64::MIN_POSITIVE)).collect();
        let weights: f64 = noises.iter().map(|noise| noise.powi(-2)).sum();
        let seen = means
            .iter()
            .zip(slopes)
            .zip(&noises)
            .map(|((x, slope), noise)| ((x / slope).powi(2) - noise) * noise.powi(-2));
        let vary = (seen.sum::<f64>() / weights.max(f64::MIN_POSITIVE)).clamp(0.0, WIDEST);
        means.iter().zip(&noises).map(|(x, noise)| x * vary / (vary + noise)).collect()
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
