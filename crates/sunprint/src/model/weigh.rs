//! Counted values and moments of a column, each weighed by its noise.
//!
//! Noisy counts of a column's cells know its shape, but each cell brings its noise: with deviation σ in every count, the
//! mean `Σ c_i x_i/n` is off by `σ √Σ(x_i − m)²/n`, often ten times more than the mean that the moments give. So the shares
//! are those that are likeliest given both ([`likeliest`]). Rows that were clipped bias the moments: where the counts
//! contradict them by more than noise explains, what is unexplained counts as noise of the moments. Post-processing: only
//! released numbers enter.

use super::calibrate::Piece;
use super::evidence::{EXPLAINED, Noisy};
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

/// What was counted in the cells of one column: counts of the rows that have a value, one for each piece.
pub(super) struct Counted<'a> {
    pub counts: &'a [f64],
    /// The standard deviation of the noise in one count.
    pub noise: f64,
    /// Rows that have a value.
    pub rows: f64,
}

impl ColumnMoments {
    /// The same for the rows that have a value, if `absent` of the rows have none and stand in the middle.
    pub(super) fn of_present(self, absent: f64) -> ColumnMoments {
        let here = 1.0 - absent;
        let mean = (self.mean - 0.5 * absent) / here;
        let square = |variance: f64| (variance + self.mean * self.mean - 0.25 * absent) / here - mean * mean;
        let variance = self.variance.map(|(variance, noise)| (square(variance).max(0.0), noise / here));
        let summed = self.summed.map(|sum| Noisy { value: (sum.value - 0.5 * absent) / here, noise: sum.noise / here });
        ColumnMoments { mean, mean_noise: self.mean_noise / here, summed, variance }
    }
}

/// Sets the shares of pieces to the likeliest: those of the rows that were `heard`, moved so that mean and variance, which
/// are known better than from the counts, are right.
pub(super) fn weigh(pieces: &mut [Piece], counted: &Counted, heard: &[f64], known: Option<&ColumnMoments>) {
    let Counted { counts, noise, rows } = *counted;
    if counts.len() != pieces.len() || rows <= 0.0 {
        return;
    }
    let told = known.filter(|_| std::env::var("LAB_NOTOLD").is_err()).map_or_else(Vec::new, |known| told(pieces, counted, known));
    let sum: f64 = heard.iter().sum();
    let parts: Vec<f64> = heard.iter().map(|count| count / if sum > 0.0 { sum } else { rows }).collect();
    // A share is known up to its noise; and where next to nothing was heard, there is next to nothing to be off by.
    let average = 1.0 / parts.len() as f64;
    let noise: Vec<f64> = parts.iter().map(|part| noise / rows * (part.max(0.0) / average).min(1.0).sqrt()).collect();
    let shares = likeliest(&parts, &noise, &told);
    pieces.iter_mut().zip(shares).for_each(|(piece, share)| piece.share = share);
}

/// What the moments say of the shares: their mean, and their mean square around it.
fn told(pieces: &[Piece], counted: &Counted, known: &ColumnMoments) -> Vec<Told> {
    // Places around the known mean, and their squares with that of a uniform spread within the piece.
    let place = |piece: &Piece| 0.5 * (piece.low + piece.high) - known.mean;
    let square = |piece: &Piece| place(piece).powi(2) + (piece.high - piece.low).powi(2) / 12.0;
    let told = |of: &dyn Fn(&Piece) -> f64, value: f64, noise: f64| {
        let features: Vec<f64> = pieces.iter().map(of).collect();
        // All counts together are n, so a sum around the known value has less noise than one around nothing.
        let off = || features.iter().map(|f| f - value);
        let seen = counted.counts.iter().zip(off()).map(|(count, off)| count * off).sum::<f64>() / counted.rows;
        let seen_noise = counted.noise * off().map(|off| off * off).sum::<f64>().sqrt() / counted.rows;
        let explained = EXPLAINED * EXPLAINED * (noise * noise + seen_noise * seen_noise);
        let unexplained = (seen * seen - explained).max(0.0);
        Told { features, value, noise: (noise * noise + unexplained).sqrt() }
    };
    let mean = told(&place, 0.0, known.mean_noise);
    let variance = known.variance.map(|(variance, noise)| told(&square, variance, noise));
    let summed = known.summed.map(|sum| Told {
        features: pieces.iter().map(place).collect(),
        value: sum.value - known.mean,
        noise: sum.noise,
    });
    std::iter::once(mean).chain(variance).chain(summed).collect()
}

#[cfg(test)]
#[path = "weigh_tests.rs"]
mod tests;
