//! Counted values and moments of a column, each weighed by its noise.
//!
//! Noisy counts of a column's cells know its shape, but each cell brings its noise: with deviation σ in every count, the
//! mean `Σ c_i x_i/n` is off by `σ √Σ(x_i − m)²/n`, often ten times more than the mean that the moments give. So the shares
//! are those that are likeliest given both ([`likeliest`]). Rows that were clipped bias the moments: where the counts
//! contradict them by more than noise explains, what is unexplained counts as noise of the moments. Post-processing: only
//! released numbers enter.

use crate::math::shares::{Told, likeliest};
use crate::math::vector::dot;
use crate::model::{EXPLAINED, Noisy, Piece};

/// What the moments say of one coordinate, and how far noise may have moved that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
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

/// A count below this many deviations of its noise counts as nothing.
const HEARD: f64 = 1.5;
/// A sum that is further off is missed.
const MISSED: f64 = 3.0;

impl Known {
    /// The same for the rows that have a value, if `absent` of the rows have none and stand in the middle.
    pub(super) fn of_present(self, absent: f64) -> Known {
        let here = 1.0 - absent;
        let mean = (self.mean - 0.5 * absent) / here;
        let square = |variance: f64| (variance + self.mean * self.mean - 0.25 * absent) / here - mean * mean;
        let variance = self.variance.map(|(variance, noise)| (square(variance).max(0.0), noise / here));
        let summed = self.summed.map(|sum| Noisy { value: (sum.value - 0.5 * absent) / here, noise: sum.noise / here });
        Known { mean, mean_noise: self.mean_noise / here, summed, variance }
    }
}

/// Sets the shares of pieces to the likeliest among those that are heard.
///
/// A cell that holds next to nothing shows the positive half of its noise, and rows would be put there, at values that no row
/// has. So what is below [`HEARD`] deviations of its noise counts as nothing. But many cells that hold a little each, none of
/// which is heard, may be the tail that makes the mean: where those that are heard cannot have the released mean and
/// variance, up to [`MISSED`] deviations, all cells may have rows.
pub(super) fn weigh(pieces: &mut [Piece], counted: &Counted, known: Option<&Known>) {
    let Counted { counts, noise, rows } = *counted;
    if counts.len() != pieces.len() || rows <= 0.0 {
        return;
    }
    let told = known.map_or_else(Vec::new, |known| told(pieces, counted, known));
    let heard: Vec<usize> = (0..counts.len()).filter(|&i| counts[i] > HEARD * noise).collect();
    let every: Vec<usize> = (0..counts.len()).collect();
    let shares = Some(among(&heard, counted, &told)).filter(|shares| !heard.is_empty() && !misses(shares, &told));
    let shares = shares.unwrap_or_else(|| among(&every, counted, &told));
    pieces.iter_mut().zip(shares).for_each(|(piece, share)| piece.share = share);
}

/// The likeliest shares if only some cells have rows.
fn among(some: &[usize], counted: &Counted, told: &[Told]) -> Vec<f64> {
    let sum: f64 = some.iter().map(|&i| counted.counts[i]).sum();
    let whole = if sum > 0.0 { sum } else { counted.rows };
    let parts: Vec<f64> = some.iter().map(|&i| counted.counts[i] / whole).collect();
    let only = |told: &Told| Told { features: some.iter().map(|&i| told.features[i]).collect(), ..told.clone() };
    let found = likeliest(&parts, counted.noise / counted.rows, &told.iter().map(only).collect::<Vec<Told>>());
    let mut shares = vec![0.0; counted.counts.len()];
    some.iter().zip(found).for_each(|(&i, share)| shares[i] = share);
    shares
}

/// Whether shares have not the sums that are told.
fn misses(shares: &[f64], told: &[Told]) -> bool {
    told.iter().any(|told| (dot(&told.features, shares) - told.value).abs() > MISSED * told.noise)
}

/// What the moments say of the shares: their mean, and their mean square around it.
fn told(pieces: &[Piece], counted: &Counted, known: &Known) -> Vec<Told> {
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
#[path = "weighed_tests.rs"]
mod tests;
