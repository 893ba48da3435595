//! Counted values and the mean of a column, each weighed by its noise.
//!
//! Noisy counts of a column's cells know its shape, but each cell brings its noise: with deviation σ in every count, the
//! mean `Σ c_i x_i/n` is off by `σ √Σ(x_i − m)²/n`, often more than the mean that was summed. So the shares are those that
//! are likeliest given both ([`likeliest`]). Post-processing: only released numbers enter.

use crate::infer::support::heard;
use crate::math::shares::{Told, likeliest};
use crate::math::vector::dot;
use crate::model::Piece;

/// What is known of the mean of a column, and how far noise may have moved that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    pub mean: f64,
    pub mean_noise: f64,
}

/// What was counted in the cells of one column: counts of the rows that have a value, one for each piece.
pub(super) struct Counted<'a> {
    pub counts: &'a [f64],
    /// The standard deviation of the noise in one count.
    pub noise: f64,
    /// Rows that have a value.
    pub rows: f64,
}

/// A mean that is further off, in deviations, is missed.
const MISSED: f64 = 3.0;

/// Sets the shares of pieces to the likeliest among those that have rows ([`heard`]).
///
/// Many cells that hold a little each, none of which is heard, may be the tail that makes the mean: where those that are
/// heard cannot have the known mean, up to [`MISSED`] deviations, all cells may have rows.
pub(super) fn weigh(pieces: &mut [Piece], counted: &Counted, known: Option<&Known>) {
    let Counted { counts, noise, rows } = *counted;
    if counts.len() != pieces.len() || rows <= 0.0 {
        return;
    }
    let told: Vec<Told> = known.map(|known| told(pieces, known)).into_iter().collect();
    let some = heard(counts, noise);
    let shares = among(&some, counted, &told);
    let missed = told.iter().any(|told| (dot(&told.features, &shares) - told.value).abs() > MISSED * told.noise);
    let shares = if missed { among(&(0..counts.len()).collect::<Vec<_>>(), counted, &told) } else { shares };
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

/// What is known of the mean of the shares, around itself.
fn told(pieces: &[Piece], known: &Known) -> Told {
    let place = |piece: &Piece| 0.5 * (piece.low + piece.high) - known.mean;
    Told { features: pieces.iter().map(place).collect(), value: 0.0, noise: known.mean_noise }
}

#[cfg(test)]
#[path = "weighed_tests.rs"]
mod tests;
