//! Few rows: the strata's means against one another, instead of moments that would be noise.
//!
//! Each coordinate of a row, less the centre, is clamped to `[−r, r]` and added to its stratum's sum. Of k sums, k − 1
//! contrasts are released: `T_c = Σ_s S_cs Σ_{i in s} u_i`, with S the rows of an integer Helmert matrix, `|S_cs| ≤ A`.
//! The sum of all strata is missing, which the centre knows already.
//!
//! **Sensitivity.** A row adds `S_cs u_j` with `|S_cs u_j| ≤ A r` to each of the (k − 1) d numbers, so replacing it moves
//! them inside the cube `[−2 A r, 2 A r]`: the cube mechanism.

use super::refined::{NO_DIRECTION, origin};
use super::{Fit, Rest, Stage, scalar_noise};
use crate::error::Result;
use crate::plan::as_float;
use crate::privacy::{Charge, Privacy, Sensitive};
use crate::subspace::{Before, Blob, Centre};
use crate::tally::codes::Q;
use crate::tally::{Answer, ClampedSums};

/// The largest entry of a contrast.
const LARGEST: i64 = 1024;
/// r in deviations of a typical column.
const REACH: f64 = 1.8;
/// What the means of strata leave of a column's variance at least.
const LEAST_WITHIN: f64 = 0.3;

/// Said where only the means of strata were measured.
pub(super) const ONLY_MEANS: &str = "the table has too few rows to find directions at this ε: each stratum is drawn as \
    a round cloud around its own mean";

/// r in codes: some deviations of a typical column, and of what is left of the centre's noise.
pub(super) fn contrast_reach(centre: &Centre) -> u16 {
    let d = centre.doubts.len().max(1) as f64;
    let doubt = centre.doubts.iter().map(|x| x * x).sum::<f64>() / d;
    let reach = REACH * (centre.spread / d + doubt).sqrt() * f64::from(Q);
    reach.ceil().clamp(1.0, f64::from(Q)) as u16
}

/// Helmert's contrasts of k strata as integers: row c compares the first c + 1 strata with the next. Rows are orthogonal
/// to one another and to the row of ones, up to rounding.
fn helmert(strata: usize) -> Vec<Vec<i64>> {
    let entry = |c: usize, s: usize| {
        let c = c as f64 + 1.0;
        let scale = LARGEST as f64 * (2.0 / (c * (c + 1.0))).sqrt() / (2.0 * c / (c + 1.0)).sqrt().max(1.0);
        match s {
            s if (s as f64) < c => scale.floor() as i64,
            s if s as f64 == c => -(c as i64) * scale.floor() as i64,
            _ => 0,
        }
    };
    (0..strata - 1).map(|c| (0..strata).map(|s| entry(c, s).clamp(-LARGEST, LARGEST)).collect()).collect()
}

impl Fit {
    /// Pass 2 with few rows: contrasts by the cube mechanism, the strata's counts, and the fit is done.
    pub(super) fn absorb_contrasts(
        &mut self,
        answer: Sensitive<Answer>,
        centre: &Centre,
        spec: &ClampedSums,
        rest: Rest,
    ) -> Result<Stage> {
        let (d, strata) = (self.schema.width(), self.schema.strata());
        let codes = helmert(strata);
        let (sums, sizes) = answer.split(|answer| match answer {
            Answer::Moments(tally) => {
                let sums = |c: usize, j: usize| -> i64 {
                    (0..strata).map(|s| codes[c][s] * tally.stratum_sums[s * d + j]).sum()
                };
                let contrasts = (0..(strata - 1) * d).map(|at| sums(at / d, at % d)).collect();
                (contrasts, super::blob::stratum_sizes(&tally))
            }
            _ => (Vec::new(), Vec::new()),
        });
        let Rest { contrasts, measure, .. } = rest;
        let remark = if contrasts.amount().is_zero() { NO_DIRECTION } else { ONLY_MEANS };
        self.receipt.remarks.push(remark.to_string());
        let released = if contrasts.amount().is_zero() {
            None
        } else {
            let span = 2 * LARGEST as u64 * u64::from(spec.reach.max(1));
            let noise = contrast_noise((strata - 1) * d, span, &contrasts);
            Some((self.kernel.cube_sums("contrasts", sums, span, contrasts)?.into_inner(), noise))
        };
        let measure = self.stratum_counts(sizes, measure)?;
        let rows: Vec<f64> = (0..strata).map(|s| measure.rows(s) as f64).collect();
        let shifts = match released {
            Some((sums, noise)) => self.stratum_means(centre, &codes, &sums, noise, &rows),
            None => vec![vec![0.0; d]; strata],
        };
        let blob = self.round_blob(centre, shifts);
        let texture = crate::subspace::Texture::of(&blob, &[], &vec![0.0; d], strata);
        self.receipt.dimension = Some(0);
        self.receipt.cells = Some("none: a Gaussian for each stratum".to_string());
        let origin = origin(&centre.units(), &vec![0.0; d], &[]);
        let frame = crate::model::Frame::Basis { origin, vectors: Vec::new(), sides: Vec::new() };
        Ok(self.done(frame, measure, texture, crate::model::Spot::Uniform, Vec::new(), 0.0, &[]))
    }

    /// The strata's means from the contrasts: with orthogonal rows, the sums that add up to nothing are
    /// `Q_s = Σ_c S_cs T_c/‖S_c‖²`, and a mean is its sum over its rows.
    ///
    /// Shrunk by empirical Bayes: over the coordinates the means of a stratum have a common value, known to `σ/√d`, and
    /// vary around it by what is seen beyond the noise. The common value counts for much: where columns rise and fall
    /// together it is most of what tells the strata apart.
    fn stratum_means(
        &self,
        centre: &Centre,
        codes: &[Vec<i64>],
        sums: &[i64],
        noise: f64,
        rows: &[f64],
    ) -> Vec<Vec<f64>> {
        let (d, q) = (self.schema.width(), f64::from(Q));
        let norms: Vec<f64> = codes.iter().map(|row| row.iter().map(|&x| (x * x) as f64).sum()).collect();
        let before = self.before();
        let equal = self.rows as f64 / rows.len() as f64;
        (0..rows.len())
            .map(|s| {
                let size = rows[s].max(0.1 * equal).max(1.0);
                let weight = |c: usize| codes[c][s] as f64 / norms[c] / (size * q);
                let mean = |j: usize| -> f64 { (0..codes.len()).map(|c| weight(c) * sums[c * d + j] as f64).sum() };
                let sigma = noise * (0..codes.len()).map(|c| weight(c) * weight(c)).sum::<f64>().sqrt();
                let means: Vec<f64> = (0..d).map(mean).collect();
                shrunk(&means, &before, sigma * sigma, centre.spread / d as f64)
            })
            .collect()
    }

    /// A round blob: every open coordinate has the same variance, categories that of equal shares, less what the means of
    /// strata explain.
    pub(super) fn round_blob(&self, centre: &Centre, shifts: Vec<Vec<f64>>) -> Blob {
        let before = self.before();
        let open = before.iter().filter(|before| **before == Before::Open).count().max(1);
        let typical = (centre.spread - centre.categories).max(0.0) / open as f64;
        let between = |j: usize| shifts.iter().map(|s| s[j] * s[j]).sum::<f64>() / shifts.len().max(1) as f64;
        let own = |(j, before): (usize, &Before)| {
            let whole = match before {
                Before::Open => typical,
                Before::Category { hot, among } => {
                    let share = 1.0 / *among as f64;
                    hot * hot * share * (1.0 - share)
                }
            };
            (whole - between(j)).max(LEAST_WITHIN * whole)
        };
        let left = before.iter().enumerate().map(own).collect();
        let mut blob = Blob::new(Vec::new(), left, Vec::new(), &[]);
        blob.shifts = shifts;
        blob
    }
}

/// The standard deviation of one contrast.
fn contrast_noise(entries: usize, span: u64, charge: &Charge) -> f64 {
    let (entries, span, amount) = (entries as f64, span as f64, as_float(&charge.amount()));
    match charge.privacy() {
        Privacy::Pure => ((entries + 1.0) * (entries + 2.0) / 3.0).sqrt() * (span / amount).max(2.0 * entries),
        Privacy::Concentrated => scalar_noise(span * entries.sqrt(), amount, Privacy::Concentrated),
    }
}

fn shrunk(means: &[f64], before: &[Before], noise: f64, typical: f64) -> Vec<f64> {
    let open = |(_, before): &(&f64, &Before)| **before == Before::Open;
    let numbers: Vec<f64> = means.iter().zip(before).filter(open).map(|(x, _)| *x).collect();
    let count = numbers.len().max(1) as f64;
    let measured = numbers.iter().sum::<f64>() / count;
    let common = measured * typical / (typical + noise / count);
    let seen = numbers.iter().map(|x| (x - measured) * (x - measured)).sum::<f64>() / (count - 1.0).max(1.0);
    let between = (seen - noise).max(0.0);
    let keep = between / (between + noise).max(f64::MIN_POSITIVE);
    let one = |(x, before): (&f64, &Before)| match before {
        Before::Open => common + keep * (x - measured),
        Before::Category { .. } => x * typical / (typical + noise),
    };
    means.iter().zip(before).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrasts_are_orthogonal_and_bounded() {
        for strata in 2..=16 {
            let codes = helmert(strata);
            assert_eq!(codes.len(), strata - 1);
            for (c, row) in codes.iter().enumerate() {
                assert!(row.iter().all(|x| x.abs() <= LARGEST) && row.iter().sum::<i64>() == 0, "{strata}: {row:?}");
                for other in &codes[..c] {
                    assert_eq!(row.iter().zip(other).map(|(a, b)| a * b).sum::<i64>(), 0);
                }
            }
        }
    }
}
