//! The blocks of a tally of clipped rows as one matrix.
//!
//! Proof: docs/proofs.md, Lemma 13.

use super::gram::packed_index;
use super::moments::{GRID, MomentTally};

/// How a clipped row is extended before its products are summed: `ṽ = (t, v, t_L e_stratum)`.
///
/// The constant `t` brings the mean with the covariance, the scaled one-hot `t_L e_s` every stratum's mean and size.
/// `‖ṽ‖² ≤ K² + t² + t_L²`, one bound for the whole row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MomentLayout {
    /// d.
    pub width: usize,
    /// Strata with a one-hot block; 0 where strata are none or too many.
    pub strata: usize,
}

/// `t² ≈ K²/10`.
pub const ANCHOR: i64 = 2590;
/// `t_L² ≈ 0.15 K²`.
pub const STRATUM_ANCHOR: i64 = 3172;
/// More strata than this get no one-hot block: it would cost more noise than the means are worth.
const MOST_STRATA: usize = 64;

impl MomentLayout {
    /// The layout for a table of `width` features and `strata` strata.
    pub fn new(width: usize, strata: usize) -> Self {
        let strata = if strata > 1 && strata <= MOST_STRATA { strata } else { 0 };
        MomentLayout { width, strata }
    }

    /// `p = 1 + d + strata`.
    pub fn order(&self) -> usize {
        1 + self.width + self.strata
    }

    /// The largest `‖ṽ‖²` of a row.
    pub fn row_norm_squared(&self) -> u64 {
        let stratum = if self.strata > 0 { STRATUM_ANCHOR.pow(2) as u64 } else { 0 };
        GRID * GRID + ANCHOR.pow(2) as u64 + stratum
    }
}

/// `Σ ṽ ṽᵀ` as a packed lower triangle, put together from the tally's blocks: exact integer arithmetic, still secret.
pub fn assemble(tally: &MomentTally, rows: u64, layout: MomentLayout) -> Vec<i64> {
    let (d, order) = (layout.width, layout.order());
    let mut lower = vec![0_i64; order * (order + 1) / 2];
    lower[0] = ANCHOR * ANCHOR * rows as i64;
    for (stratum, sums) in tally.stratum_sums.chunks_exact(d).enumerate() {
        for (j, &sum) in sums.iter().enumerate() {
            lower[packed_index(1 + j, 0)] += ANCHOR * sum;
            if layout.strata > 0 {
                lower[packed_index(1 + d + stratum, 1 + j)] = STRATUM_ANCHOR * sum;
            }
        }
    }
    for i in 0..d {
        for j in 0..=i {
            lower[packed_index(1 + i, 1 + j)] = tally.products[packed_index(i, j)];
        }
    }
    for (stratum, &count) in tally.stratum_rows.iter().enumerate().take(layout.strata) {
        let row = 1 + d + stratum;
        lower[packed_index(row, 0)] = ANCHOR * STRATUM_ANCHOR * count;
        lower[packed_index(row, row)] = STRATUM_ANCHOR * STRATUM_ANCHOR * count;
    }
    lower
}
