//! How the coordinates of settled rows go together.

use super::{Draw, Release};

/// Numbers of the trial draw, and its rows at least and at most: the error of a correlation is about a hundredth.
const TRIAL: usize = 1 << 20;
const TRIAL_ROWS: (u64, u64) = (4096, 16_384);
/// Any fixed number: the trial is part of the fit and its result is stored.
const TRIAL_SEED: u64 = 3;

/// The correlations of all coordinates, row by row of their matrix. A coordinate that never varies has none.
pub(crate) fn correlations(release: &Release, width: usize) -> Vec<f64> {
    let rows = ((TRIAL / width.max(1)) as u64).clamp(TRIAL_ROWS.0, TRIAL_ROWS.1);
    let draw = Draw::new(release, width, rows, TRIAL_SEED);
    let (mut sums, mut products) = (vec![0.0; width], vec![0.0; width * width]);
    draw.each(|drawn| {
        for row in drawn.units.chunks_exact(width) {
            for (i, x) in row.iter().enumerate() {
                sums[i] += x;
                products[i * width..=i * width + i].iter_mut().zip(row).for_each(|(sum, y)| *sum += x * y);
            }
        }
    });
    let mean: Vec<f64> = sums.iter().map(|sum| sum / rows as f64).collect();
    let covariance = |i: usize, j: usize| products[i.max(j) * width + i.min(j)] / rows as f64 - mean[i] * mean[j];
    let variances: Vec<f64> = (0..width).map(|i| covariance(i, i)).collect();
    let correlation = |at: usize| {
        let (i, j) = (at / width, at % width);
        let both = variances[i].max(0.0) * variances[j].max(0.0);
        if both > 1e-18 { covariance(i, j) / both.sqrt() } else { 0.0 }
    };
    (0..width * width).map(correlation).collect()
}
