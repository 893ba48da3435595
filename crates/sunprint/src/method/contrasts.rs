//! Few rows: the strata's means against one another, instead of moments that would be noise.
//!
//! What is released, and its sensitivity: [`crate::tally::contrast_span`] and its room.

use super::course::{Course, Measurement, Next};
use super::default::Rest;
use super::moments::NO_DIRECTION;
use crate::error::Result;
use crate::model::SumEvidence;
use crate::plan::sums_of_strata;
use crate::privacy::{Charge, Sensitive};
use crate::subspace::{Before, Blob, Centre};
use crate::tally::codes::Q;
use crate::tally::{Answer, ClampedSums, Work, contrast_span, contrasts, helmert};

/// r where strata are summed by themselves: every row counts whole, about the middle of the bounds.
pub(super) const HALF: u16 = 1 << 15;
/// What the means of strata leave of a column's variance at least.
const LEAST_WITHIN: f64 = 0.3;

/// Said where only the means of strata were measured.
pub(super) const ONLY_MEANS: &str = "the table has too few rows to find directions at this ε: each stratum is drawn as \
    a round cloud around its own mean";

/// Sums of strata, clamped around the centre.
pub(super) struct ContrastStage {
    pub centre: Centre,
    pub spec: ClampedSums,
    pub rest: Rest,
}

impl Measurement for ContrastStage {
    fn work(&self) -> Work {
        Work::Clamped(self.spec.clone())
    }

    fn release(self: Box<Self>, course: &mut Course, answer: Sensitive<Answer>, _: &dyn Fn(u64, u64)) -> Result<Next> {
        let ContrastStage { centre, spec, rest } = *self;
        course.absorb_contrasts(answer, &centre, &spec, rest)
    }
}

impl Course {
    /// Pass 2 with few rows: contrasts by the cube mechanism, the strata's counts, and the fit is done.
    fn absorb_contrasts(
        &mut self,
        answer: Sensitive<Answer>,
        centre: &Centre,
        spec: &ClampedSums,
        rest: Rest,
    ) -> Result<Next> {
        let (d, strata) = (self.schema.width(), self.schema.strata());
        let Rest { contrasts: charge, measure, marginals, .. } = rest;
        let heard = !charge.amount().is_zero();
        if heard && self.has_stratum_sums() {
            return self.absorb_stratum_sums(answer, centre, spec, charge, (measure, marginals));
        }
        let codes = if heard { helmert(strata) } else { Vec::new() };
        let (sums, sizes) = answer.split(|answer| match answer {
            Answer::Moments(tally) => (contrasts(&tally, &codes), super::blob::stratum_sizes(&tally)),
            _ => (Vec::new(), Vec::new()),
        });
        let remark = if heard { ONLY_MEANS } else { NO_DIRECTION };
        self.receipt.remarks.push(remark.to_string());
        let released =
            if heard { Some(self.kernel.cube_sums("contrasts", sums, contrast_span(spec), charge)?) } else { None };
        let measure = self.stratum_counts(sizes, measure)?;
        let rows: Vec<f64> = (0..strata).map(|s| measure.rows(s) as f64).collect();
        let shifts = match released {
            Some(sums) => self.stratum_means(centre, &codes, sums.get(), sums.law().deviation(), &rows),
            None => vec![vec![0.0; d]; strata],
        };
        let blob = self.round_blob(centre, shifts);
        self.blob_done(&blob, centre.units(), measure, (Vec::new(), 0.0), marginals)
    }

    /// Whether strata are summed by themselves: four or more of them.
    pub(super) fn has_stratum_sums(&self) -> bool {
        sums_of_strata(self.schema.strata())
    }

    /// The sums of strata by the cube mechanism, one cube for each: rows about the middle of the bounds, so that a replaced
    /// row moves the sums of blocks by ‖·‖_∞ of r each, or of 2r within one, whatever their number.
    ///
    /// *Means.* A stratum's mean is its sum over its rows. Their common mean is that of the table; around it they are shrunk
    /// as contrasts are. *Spread.* The total square is that around the middle; what the means explain of it is taken away:
    /// `E ‖m̂ − ½‖² = ‖m − ½‖² + d σ²` for means with noise of variance σ² in each coordinate.
    fn absorb_stratum_sums(
        &mut self,
        answer: Sensitive<Answer>,
        centre: &Centre,
        spec: &ClampedSums,
        charge: Charge,
        (measure, marginals): (Charge, Charge),
    ) -> Result<Next> {
        let (d, strata, q) = (self.schema.width(), self.schema.strata(), f64::from(Q));
        let (sums, sizes) = answer.split(|answer| match answer {
            Answer::Moments(tally) => (tally.stratum_sums.clone(), super::blob::stratum_sizes(&tally)),
            _ => (Vec::new(), Vec::new()),
        });
        self.receipt.remarks.push(ONLY_MEANS.to_string());
        let span = 2 * u64::from(spec.reach);
        let (sums, law) = self.kernel.cube_sums_of_blocks("contrasts", sums, strata, span, charge)?.into_parts();
        let noise = law.deviation();
        let measure = self.stratum_counts(sizes, measure)?;
        let rows: Vec<f64> = (0..strata).map(|s| measure.rows(s) as f64).collect();
        let n = self.rows as f64;
        let all: Vec<f64> =
            (0..d).map(|j| (0..strata).map(|s| sums[s * d + j] as f64).sum::<f64>() / (n * q)).collect();
        let all_noise = noise * (strata as f64).sqrt() / (n * q);
        // What is known of the columns' means before: anything between the bounds, or equal shares.
        let trust = |j: usize| centre.doubts[j].powi(2) / (centre.doubts[j].powi(2) + all_noise * all_noise);
        let mean: Vec<f64> = all.iter().enumerate().map(|(j, x)| trust(j) * x).collect();
        let before = self.before();
        let open = |j: &usize| before[*j] == Before::Open;
        let explained: f64 = (0..d).filter(open).map(|j| mean[j] * mean[j] - trust(j) * all_noise * all_noise).sum();
        let left = (centre.spread - explained.max(0.0)).max(0.05 * centre.spread).max(centre.categories);
        let centre = Centre { spread: left, ..centre.clone() };
        let equal = n / strata as f64;
        let shifts = (0..strata)
            .map(|s| {
                let size = rows[s].max(0.1 * equal).max(1.0);
                let sigma = noise / (size * q);
                let means: Vec<f64> = (0..d).map(|j| sums[s * d + j] as f64 / (size * q) - mean[j]).collect();
                shrunk(&means, &before, sigma * sigma, centre.spread / d as f64, n / size - 1.0)
            })
            .collect();
        let units: Vec<f64> = centre.units().iter().zip(&mean).map(|(c, m)| (c + m).clamp(0.0, 1.0)).collect();
        let told = |j: usize| (before[j] == Before::Open).then_some(units[j]);
        self.evidence.sums = Some(SumEvidence { means: (0..d).map(told).collect(), noise: all_noise });
        let blob = self.round_blob(&centre, shifts);
        self.blob_done(&blob, units, measure, (Vec::new(), 0.0), marginals)
    }

    /// The strata's means from the contrasts: with orthogonal rows, the sums that add up to nothing are
    /// `Q_s = Σ_c S_cs T_c/‖S_c‖²`, and a mean is its sum over its rows.
    ///
    /// Shrunk by empirical Bayes: over the coordinates the means of a stratum have a common value, known to `σ/√d`, and
    /// vary around it by what is seen beyond the noise. The common value counts for much: where columns rise and fall
    /// together it is most of what tells the strata apart. Where the noise is a hundred times the columns, what is seen
    /// beyond it by chance would still be many times them; but a stratum with a part π of the rows cannot stand further
    /// from the mean of all than the variance v of a column allows: `π δ² + (1 − π) (π δ/(1 − π))² ≤ v`, so
    /// `δ² ≤ v (1 − π)/π`.
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
                shrunk(&means, &before, sigma * sigma, centre.spread / d as f64, self.rows as f64 / size - 1.0)
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

/// Means of variance `noise` each, in columns of variance `typical`; `others` is how many rows are in other strata for one
/// of this.
fn shrunk(means: &[f64], before: &[Before], noise: f64, typical: f64, others: f64) -> Vec<f64> {
    let open = |(_, before): &(&f64, &Before)| **before == Before::Open;
    let numbers: Vec<f64> = means.iter().zip(before).filter(open).map(|(x, _)| *x).collect();
    let count = numbers.len().max(1) as f64;
    let measured = numbers.iter().sum::<f64>() / count;
    let common = measured * typical / (typical + noise / count);
    let seen = numbers.iter().map(|x| (x - measured) * (x - measured)).sum::<f64>() / (count - 1.0).max(1.0);
    let between = (seen - noise).clamp(0.0, typical * others.max(0.0));
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

    /// Where the noise is far larger than the columns, what it leaves by chance is not taken for a mean; where it is small,
    /// means are kept.
    #[test]
    fn means_never_stand_further_apart_than_columns_are_wide() {
        let before = vec![Before::Open; 400];
        let signed = |size: f64| -> Vec<f64> { (0..400).map(|j| if j % 2 == 0 { size } else { -size }).collect() };
        let (typical, others) = (0.02, 6.0);
        let drowned = shrunk(&signed(230.0), &before, 200.0 * 200.0, typical, others);
        assert!(drowned.iter().all(|x| x.abs() < 0.01), "{}", drowned[0]);
        let heard = shrunk(&signed(0.2), &before, 0.01 * 0.01, typical, others);
        assert!(heard.iter().all(|x| (x.abs() - 0.2).abs() < 0.01), "{}", heard[0]);
        // The largest that the columns allow is kept.
        let most = (typical * others).sqrt();
        let kept = shrunk(&signed(most), &before, 1e-6, typical, others);
        assert!(kept.iter().all(|x| (x.abs() - most).abs() < 1e-3), "{}", kept[0]);
    }
}
