//! The first release: where the cloud is and how wide it is.

use crate::tally::codes::Q;

/// What is known of a coordinate before anything is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Before {
    /// Nothing but its bounds: its mean is measured.
    Open,
    /// It is one of some categories: a row has [`Before::Category::hot`] in one of them and 0 in the others. Its mean
    /// is taken to be an equal share for now; the moments measure it.
    Category {
        /// What "here" is, in units.
        hot: f64,
        /// How many categories the column has.
        among: usize,
    },
}

/// The released centre and spread.
#[derive(Clone, Debug)]
pub struct Centre {
    /// The centre rounded to codes: what the next pass subtracts.
    pub codes: Vec<u16>,
    /// For each coordinate the standard deviation of its mean around the centre, as far as is known: what is left of the
    /// noise where it was measured.
    pub doubts: Vec<f64>,
    /// Which of them were measured, and not only guessed.
    pub open: Vec<bool>,
    /// `t̂`: the estimated trace of the covariance, in units.
    pub spread: f64,
    /// The part of it that belongs to categories.
    pub categories: f64,
    /// Standard deviation of what is not known of the spread, in units.
    pub spread_noise: f64,
}

/// A spread that is typical of real tables, per column: columns fill about a seventh of their bounds.
pub const TYPICAL_SPREAD: f64 = 0.02;

/// The deviation of a number that may be anywhere between its bounds.
const FLAT: f64 = 0.29;

impl Centre {
    /// Reads the released sums of the open coordinates. `sum_noise` is the standard deviation of one noisy sum,
    /// `square_noise` that of the noisy square, both in integer units.
    ///
    /// With `T = Σ (2x − Q)²`: `T/(4nQ²) = (1/n) Σ ‖x/Q − ½‖²`, and taking `‖m − ½‖²` away leaves the trace of the
    /// covariance. Of the mean m only the estimate m̂ is known, with an error of variance δ² in every column: given what was
    /// released, `E ‖m − ½‖² = ‖m̂ − ½‖² + d δ²`. (A shrunk estimate is too near to the middle; one that is not would be too
    /// far from it.) Where the result is mostly noise it is drawn towards a typical spread, each weighted by the inverse
    /// of its variance, with a prior deviation as large as the prior itself, and `d δ²` counted as noise. A spread is
    /// positive, but the guess g, of deviation σ, may be nothing or less: it is taken as `(g + √(g² + σ²))/2`, which is g
    /// where that stands out and a part of the noise where it does not. (A cloud without any width would leave the next pass
    /// nothing to measure.)
    ///
    /// A row of m categories lies at `hot √(1 − 1/m)` from their equal shares, whichever it is.
    pub fn read(rows: u64, before: &[Before], sums: &[i64], square: i128, sum_noise: f64, square_noise: f64) -> Centre {
        let (n, q, d) = (rows as f64, f64::from(Q), sums.len() as f64);
        let measured: Vec<f64> = sums.iter().map(|&sum| sum as f64 / (n * q)).collect();
        let (mean, noise) = shrunk(&measured, sum_noise / (n * q));
        let spread_noise = square_noise / (4.0 * n * q * q);
        let away: f64 = mean.iter().map(|m| (m - 0.5) * (m - 0.5)).sum();
        let unknown = d * noise * noise;
        let measured = square as f64 / (4.0 * n * q * q) - away - unknown;
        let spread_noise = (spread_noise * spread_noise + unknown * unknown).sqrt();
        let prior = TYPICAL_SPREAD * d;
        let trust = if d > 0.0 { prior * prior / (prior * prior + spread_noise * spread_noise) } else { 0.0 };
        let guess = trust * measured + (1.0 - trust) * prior;
        let left = (trust * spread_noise * spread_noise).sqrt();
        let spread = (0.5 * (guess + (guess * guess + left * left).sqrt())).clamp(1e-6 * d, 0.25 * d);
        let mut open = mean.iter();
        let (mut codes, mut doubts, mut categories) = (Vec::new(), Vec::new(), 0.0);
        for before in before {
            let (mean, doubt) = match before {
                Before::Open => (open.next().copied().unwrap_or(0.5), noise),
                Before::Category { hot, among } => {
                    let share = 1.0 / *among as f64;
                    categories += hot * hot * share * (1.0 - share);
                    (hot * share, hot * (share * (1.0 - share)).sqrt())
                }
            };
            codes.push((mean * q).round() as u16);
            doubts.push(doubt);
        }
        let open = before.iter().map(|before| *before == Before::Open).collect();
        Centre { codes, doubts, open, spread: spread + categories, categories, spread_noise }
    }

    /// What is known where no sum was measured: the middle of the bounds. The spread is that around the middle, so far.
    pub fn unmeasured(rows: u64, before: &[Before], square: i128, square_noise: f64) -> Centre {
        let open = before.iter().filter(|before| **before == Before::Open).count();
        let middle = (rows as f64 * f64::from(Q) / 2.0) as i64;
        let read = Centre::read(rows, before, &vec![middle; open], square, 0.0, square_noise);
        let doubt = |(doubt, before): (&f64, &Before)| if *before == Before::Open { FLAT } else { *doubt };
        let doubts = read.doubts.iter().zip(before).map(doubt).collect();
        Centre { doubts, ..read }
    }

    /// The centre in units.
    pub fn units(&self) -> Vec<f64> {
        self.codes.iter().map(|&code| f64::from(code) / f64::from(Q)).collect()
    }
}

/// Measured column means, drawn towards their common mean by as much as their noise explains how they differ, and the
/// standard deviation of the error that is left.
///
/// Empirical Bayes (James and Stein): with column means of variance `v` around their common mean and noise `σ²`, the
/// best linear estimate keeps the fraction `w = v/(v + σ²)` of a column's deviation and has variance `w σ²`. The data
/// show `v + σ²`, so `v` is known up to the noise; it is never taken below a hundredth of its largest value, ¼. The
/// common mean averages d columns; it is itself drawn towards the middle of the bounds in the same way, with `v = 1/12`.
fn shrunk(measured: &[f64], noise: f64) -> (Vec<f64>, f64) {
    if measured.is_empty() {
        return (Vec::new(), 0.0);
    }
    let (d, variance) = (measured.len() as f64, noise * noise);
    let common_variance = variance / d;
    let common_keep = (1.0 / 12.0) / (1.0 / 12.0 + common_variance);
    let common = 0.5 + common_keep * (measured.iter().sum::<f64>() / d - 0.5);
    let seen = measured.iter().map(|m| (m - common) * (m - common)).sum::<f64>() / (d - 1.0).max(1.0);
    let between = (seen - variance).clamp(0.0025, 0.25);
    let keep = between / (between + variance);
    let left = keep * variance + (1.0 - keep).powi(2) * common_keep * common_variance;
    let mean = measured.iter().map(|m| (common + keep * (m - common)).clamp(0.0, 1.0)).collect();
    (mean, left.sqrt())
}

/// The clip radius in codes: `C² = κ (t̂ + Σ doubt²)` over measured coordinates, and the whole length of categories,
/// which is the same for every row; at most the distance from the centre to the far corner.
///
/// Rows lie about √t̂ from their mean, and their mean lies about `√(Σ doubt²)` from the released centre.
pub fn clip_radius(centre: &Centre, before: &[Before], clip: f64) -> u32 {
    let q = f64::from(Q);
    let far: f64 = centre.units().iter().map(|c| c.max(1.0 - c).powi(2)).sum();
    let open = centre.doubts.iter().zip(before).filter(|(_, before)| **before == Before::Open);
    let doubt: f64 = open.map(|(doubt, _)| doubt * doubt).sum();
    let square = clip * (centre.spread - centre.categories + doubt) + centre.categories;
    (square.min(far).sqrt() * q).ceil().max(1.0) as u32
}

/// r of clamped sums, in deviations of a typical column.
const CONTRAST_REACH: f64 = 1.8;

/// r in codes: some deviations of a typical column, and of what is left of the centre's noise.
pub fn contrast_reach(centre: &Centre) -> u16 {
    let d = centre.doubts.len().max(1) as f64;
    let doubt = centre.doubts.iter().map(|x| x * x).sum::<f64>() / d;
    let reach = CONTRAST_REACH * (centre.spread / d + doubt).sqrt() * f64::from(Q);
    reach.ceil().clamp(1.0, f64::from(Q)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;

    /// Sums and square of a table whose columns have these means and a common variance, with noise of a deviation in the means
    /// and an error in the mean square, both in units.
    fn read(means: &[f64], variance: f64, noise: f64, error: f64, trial: u64) -> Centre {
        let (rows, q, d) = (1_000_000_u64, f64::from(Q), means.len() as f64);
        let n = rows as f64;
        let mut stream = Stream::new(7, 96, trial);
        let sums: Vec<i64> = means.iter().map(|m| ((m + noise * stream.normal()) * n * q) as i64).collect();
        let square = means.iter().map(|m| (m - 0.5) * (m - 0.5)).sum::<f64>() + d * variance + error;
        let square_noise = error.abs() * 4.0 * n * q * q;
        let square = (square * 4.0 * n * q * q) as i128;
        Centre::read(rows, &vec![Before::Open; means.len()], &sums, square, noise * n * q, square_noise)
    }

    /// However much noise the means have, the spread comes out right on average: within a twentieth of it, where the
    /// opposite sign of what is left of the noise would be wrong by three tenths at the end. The noise has a fixed seed.
    #[test]
    fn the_spread_does_not_grow_with_the_noise_of_the_means() {
        let mut stream = Stream::new(7, 97, 0);
        let means: Vec<f64> = (0..200).map(|_| 0.2 + 0.6 * stream.unit()).collect();
        for noise in [0.0, 0.02, 0.06] {
            let spreads = (0..40).map(|trial| read(&means, TYPICAL_SPREAD, noise, 0.0, trial).spread);
            let mean = spreads.sum::<f64>() / 40.0;
            let truth = 200.0 * TYPICAL_SPREAD;
            assert!((mean / truth - 1.0).abs() < 0.05, "{noise}: {mean} instead of {truth}");
        }
    }

    /// A square that was measured far too small leaves a spread all the same.
    #[test]
    fn a_spread_is_never_nothing() {
        let spread = read(&[0.3, 0.7, 0.4], TYPICAL_SPREAD, 0.0, -0.1, 0).spread;
        assert!(spread > 0.1 * 3.0 * TYPICAL_SPREAD && spread < 3.0 * TYPICAL_SPREAD, "{spread}");
    }
}
