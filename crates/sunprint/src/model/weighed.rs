//! Counted values and moments of a column, each weighed by its noise.
//!
//! Noisy counts of a column's cells know its shape, but each cell brings its noise: with deviation σ in every count, the
//! mean `Σ c_i x_i/n` is off by `σ √Σ(x_i − m)²/n`, often ten times more than the mean that the moments give. So the shares
//! are those that are likeliest given both ([`likeliest`]). Rows that were clipped bias the moments: where the counts
//! contradict them by more than noise explains, what is unexplained counts as noise of the moments. Post-processing: only
//! released numbers enter.

use super::calibrate::{Piece, Wanted};
use super::evidence::{EXPLAINED, Noisy};
use crate::math::haar::denoised;
use crate::math::shares::{Told, likeliest};

/// What the moments say of one coordinate, and how far noise may have moved that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ColumnMoments {
    pub mean: f64,
    pub mean_noise: f64,
    /// The mean of whole rows and its noise, where that was measured, too.
    pub summed: Option<Noisy>,
    /// Variance and its noise; nothing for strata, whose own variances are not measured.
    pub variance: Option<(f64, f64)>,
}

/// Noisy counts of the values of a column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValueCounts {
    /// The cells in ascending order, but for that of missing values. Their shares are not yet known.
    pub pieces: Vec<Piece>,
    /// Counts of the rows that have a value, one for each piece.
    pub counts: Vec<f64>,
    /// The standard deviation of the noise in one count.
    pub noise: f64,
    /// Rows that have a value.
    pub rows: f64,
    /// The part of all rows that have none.
    pub absent: f64,
    /// What is known of the column beside its counts.
    pub known: Option<ColumnMoments>,
}

impl ColumnMoments {
    /// The same for the rows that have a value, if `absent` of the rows have none and stand in the middle.
    pub fn of_present(self, absent: f64) -> ColumnMoments {
        let here = 1.0 - absent;
        let mean = (self.mean - 0.5 * absent) / here;
        let square = |variance: f64| (variance + self.mean * self.mean - 0.25 * absent) / here - mean * mean;
        let variance = self.variance.map(|(variance, noise)| (square(variance).max(0.0), noise / here));
        let summed = self.summed.map(|sum| Noisy { value: (sum.value - 0.5 * absent) / here, noise: sum.noise / here });
        ColumnMoments { mean, mean_noise: self.mean_noise / here, summed, variance }
    }
}

impl ValueCounts {
    /// What is wanted of the column, if the model draws these numbers for it, in ascending order.
    ///
    /// The model's own rows are what is expected; counts correct that where they stand out of their noise ([`denoised`]), so
    /// that cells which hold nothing are not filled by the positive half of their noise. What comes out is moved to the known
    /// mean and variance, as far as these are known better ([`likeliest`]).
    pub fn wanted(&self, drawn: &[f64]) -> Wanted {
        let mut pieces = self.pieces.clone();
        if self.counts.len() == pieces.len() && self.rows > 0.0 && !pieces.is_empty() {
            let noise = self.noise / self.rows;
            let parts: Vec<f64> = self.counts.iter().map(|count| count / self.rows).collect();
            let told = self.known.map_or_else(Vec::new, |known| self.told(&known));
            let shares = likeliest(&denoised(&parts, &self.expected(drawn), noise), noise, &told);
            pieces.iter_mut().zip(shares).for_each(|(piece, share)| piece.share = share);
        }
        Wanted { pieces, absent: self.absent }
    }

    /// The part of drawn numbers in each piece; up to half the way to the next, where there is a gap.
    fn expected(&self, drawn: &[f64]) -> Vec<f64> {
        let below = |pair: &[Piece]| {
            let end = 0.5 * (pair[0].high + pair[1].low);
            drawn.partition_point(|&x| x <= end) as f64 / drawn.len().max(1) as f64
        };
        let ends: Vec<f64> = self.pieces.windows(2).map(below).chain([1.0]).collect();
        ends.iter().zip(std::iter::once(&0.0).chain(&ends)).map(|(end, first)| end - first).collect()
    }

    /// What the moments say of the shares: their mean, and their mean square around it.
    fn told(&self, known: &ColumnMoments) -> Vec<Told> {
        // Places around the known mean, and their squares with that of a uniform spread within the piece.
        let place = |piece: &Piece| 0.5 * (piece.low + piece.high) - known.mean;
        let square = |piece: &Piece| place(piece).powi(2) + (piece.high - piece.low).powi(2) / 12.0;
        let told = |of: &dyn Fn(&Piece) -> f64, value: f64, noise: f64| {
            let features: Vec<f64> = self.pieces.iter().map(of).collect();
            // All counts together are n, so a sum around the known value has less noise than one around nothing.
            let off = || features.iter().map(|f| f - value);
            let seen = self.counts.iter().zip(off()).map(|(count, off)| count * off).sum::<f64>() / self.rows;
            let seen_noise = self.noise * off().map(|off| off * off).sum::<f64>().sqrt() / self.rows;
            let explained = EXPLAINED * EXPLAINED * (noise * noise + seen_noise * seen_noise);
            let unexplained = (seen * seen - explained).max(0.0);
            Told { features, value, noise: (noise * noise + unexplained).sqrt() }
        };
        let mean = told(&place, 0.0, known.mean_noise);
        let variance = known.variance.map(|(variance, noise)| told(&square, variance, noise));
        let summed = known.summed.map(|sum| Told {
            features: self.pieces.iter().map(place).collect(),
            value: sum.value - known.mean,
            noise: sum.noise,
        });
        std::iter::once(mean).chain(variance).chain(summed).collect()
    }
}

#[cfg(test)]
#[path = "weighed_tests.rs"]
mod tests;
