//! The second pass: rows centred, clipped to a ball, put on an integer grid, and their products summed.
//!
//! Proof: docs/proofs.md, Lemma 11.

use super::cells::less_centre;
use super::codes::Codes;
use super::gram::Gram;
use super::sums::add_all;
use crate::cpu::{Level, Vectorised};
use crate::wipe::wipe;
use serde::{Deserialize, Serialize};

/// `K`: every clipped row has Euclidean norm at most this on the grid, hence every entry is below 2¹³.
pub const GRID: u64 = 8191;

/// What to subtract, where to clip, and whether strata are summed apart. Public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClippedMoments {
    /// `c`: the released centre, in codes.
    pub centre: Vec<u16>,
    /// `C`: the clip radius, in codes (at least 1).
    pub radius: u32,
    /// Directions known in advance, as fixed-point unit vectors (2³⁰ is one): then `u` is the row's coordinates along
    /// them, in codes, instead of the row itself.
    pub plane: Option<Vec<Vec<i32>>>,
}

/// What to subtract and how far rows may reach in every coordinate. Public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClampedSums {
    /// `c`: the released centre, in codes.
    pub centre: Vec<u16>,
    /// `r`: each coordinate of `x − c` is clamped to `[−r, r]`, in codes.
    pub reach: u16,
}

/// `Σ_i v_i v_iᵀ`, and for each stratum `Σ v_i` and its number of rows.
#[derive(PartialEq, Eq)]
pub struct MomentTally {
    /// Packed lower triangle of `Σ v vᵀ`, d(d+1)/2 entries.
    pub products: Vec<i64>,
    /// Row-major strata × d: the sum of `v` in each stratum.
    pub stratum_sums: Vec<i64>,
    /// Rows in each stratum.
    pub stratum_rows: Vec<i64>,
}

/// `K′ = K − ⌈√d/2⌉`: the radius to which rows are scaled, so that rounding to the grid cannot carry them over `K`.
///
/// Rounding to the nearest integer moves each of d entries by at most ½, the row by at most √d/2 in norm.
pub fn grid_radius(width: usize) -> u64 {
    let width = width as u64;
    // ⌈√d / 2⌉ ≤ ⌈⌈√d⌉ / 2⌉
    let root = width.isqrt() + u64::from(width.isqrt().pow(2) < width);
    GRID - root.div_ceil(2)
}

/// No coordinate in a plane is larger: the cube's diagonal for 4096 columns.
const FARTHEST: i64 = 1 << 22;

/// Fractional bits of the multiplier that scales a row to the grid.
const FRACTION: u32 = 32;

impl ClippedMoments {
    /// Entries of `u` for rows of `width` features.
    pub fn width(&self, width: usize) -> usize {
        self.plane.as_ref().map_or(width, Vec::len)
    }

    /// Writes `u`: the row less the centre, or its coordinates in the plane.
    ///
    /// Sizes: `|u| < 2¹⁶` for a row. In a plane, `|Σ v (x − c)| ≤ 2³⁰ · 2¹⁶ · 2⁶` for at most 4096 columns, hence
    /// `|u| ≤ 2²²`.
    #[inline(always)]
    fn centred(&self, row: &[u16], out: &mut [i32]) {
        let Some(plane) = &self.plane else {
            return less_centre(row, &self.centre, out);
        };
        for (u, vector) in out.iter_mut().zip(plane) {
            let mut inner = 0_i64;
            for ((&x, &c), &v) in row.iter().zip(&self.centre).zip(vector) {
                inner = inner.wrapping_add((i64::from(x) - i64::from(c)).wrapping_mul(i64::from(v)));
            }
            *u = (inner >> 30).clamp(-FARTHEST, FARTHEST) as i32;
        }
    }

    /// Writes the clipped grid row: `v = round(u · K′ / max(C, ‖u‖))`.
    ///
    /// The multiplier is `⌊K′ 2³² / max(C, ⌈‖u‖⌉)⌋`, so before rounding the row's norm is at most K′, and after it at
    /// most `K′ + √d/2 ≤ K`. The last lines check `‖v‖² ≤ K²` in integers all the same, so that the sensitivity does
    /// not rest on this comment: a row that failed would count as zero.
    ///
    /// Sizes: `|u| ≤ ⌈‖u‖⌉`, so `|u| · multiplier ≤ K′ 2³² < 2⁴⁵`; `‖u‖² ≤ 2⁴⁴ · 2¹²`.
    #[inline(always)]
    fn grid_row(&self, centred: &[i32], shrink: u64, out: &mut [i16]) {
        let mut square = 0_u64;
        for &u in centred {
            let length = u64::from(u.unsigned_abs());
            square = square.wrapping_add(length.wrapping_mul(length));
        }
        let root = square.isqrt();
        let norm = root + u64::from(root * root < square);
        let multiplier = (shrink << FRACTION) / norm.max(u64::from(self.radius)).max(1);
        let mut norm_on_grid = 0_u64;
        for (v, &u) in out.iter_mut().zip(centred) {
            let scaled = u64::from(u.unsigned_abs()).wrapping_mul(multiplier);
            let rounded = scaled.wrapping_add(1 << (FRACTION - 1)) >> FRACTION;
            norm_on_grid = norm_on_grid.wrapping_add(rounded.wrapping_mul(rounded));
            *v = if u < 0 { (rounded as i16).wrapping_neg() } else { rounded as i16 };
        }
        if norm_on_grid > GRID * GRID {
            out.fill(0);
        }
    }
}

impl MomentTally {
    pub(super) fn empty(width: usize, strata: usize) -> Self {
        MomentTally {
            products: vec![0; width * (width + 1) / 2],
            stratum_sums: vec![0; width * strata],
            stratum_rows: vec![0; strata],
        }
    }

    /// Adds some rows; their products go to `gram` for now.
    pub(super) fn add(&mut self, codes: &Codes, spec: &ClippedMoments, gram: &mut Gram, level: Level) {
        Adding { tally: self, codes, spec, gram }.run_at(level);
    }

    /// The same without products.
    pub(super) fn sums_only(width: usize, strata: usize) -> Self {
        MomentTally { products: Vec::new(), stratum_sums: vec![0; strata * width], stratum_rows: vec![0; strata] }
    }

    /// Adds clamped rows to the sums of their strata: each coordinate by at most the reach.
    pub(super) fn add_clamped(&mut self, codes: &Codes, spec: &ClampedSums, level: Level) {
        AddingClamped { tally: self, codes, spec }.run_at(level);
    }

    pub(super) fn merge(&mut self, other: MomentTally) {
        add_all(&mut self.products, &other.products);
        add_all(&mut self.stratum_sums, &other.stratum_sums);
        add_all(&mut self.stratum_rows, &other.stratum_rows);
    }
}

impl Drop for MomentTally {
    fn drop(&mut self) {
        wipe(&mut self.products);
        wipe(&mut self.stratum_sums);
        wipe(&mut self.stratum_rows);
    }
}

/// Rows on their way into the sums.
struct Adding<'a> {
    tally: &'a mut MomentTally,
    codes: &'a Codes,
    spec: &'a ClippedMoments,
    gram: &'a mut Gram,
}

impl Vectorised for Adding<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Adding { tally, codes, spec, gram } = self;
        let width = spec.width(codes.width());
        let shrink = grid_radius(width);
        let mut u = vec![0_i32; width];
        let mut pair = [vec![0_i16; width], vec![0_i16; width]];
        for first in (0..codes.rows()).step_by(2) {
            for (i, v) in (first..).zip(&mut pair) {
                // A last row without a partner is paired with zeros, which add nothing.
                if i == codes.rows() {
                    v.fill(0);
                    break;
                }
                spec.centred(codes.row(i), &mut u);
                spec.grid_row(&u, shrink, v);
                let stratum = (codes.stratum(i) as usize).min(tally.stratum_rows.len() - 1);
                tally.stratum_rows[stratum] += 1;
                for (sum, &entry) in tally.stratum_sums[stratum * width..(stratum + 1) * width].iter_mut().zip(&*v) {
                    *sum = sum.wrapping_add(i64::from(entry));
                }
            }
            gram.push_pair(&pair[0], &pair[1]);
        }
        wipe(&mut u);
        pair.iter_mut().for_each(|v| wipe(v));
    }
}

/// Rows on their way into the clamped sums.
struct AddingClamped<'a> {
    tally: &'a mut MomentTally,
    codes: &'a Codes,
    spec: &'a ClampedSums,
}

impl Vectorised for AddingClamped<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let AddingClamped { tally, codes, spec } = self;
        let (width, reach) = (codes.width(), i32::from(spec.reach));
        for i in 0..codes.rows() {
            let stratum = (codes.stratum(i) as usize).min(tally.stratum_rows.len() - 1);
            tally.stratum_rows[stratum] += 1;
            let sums = &mut tally.stratum_sums[stratum * width..(stratum + 1) * width];
            for ((sum, &x), &c) in sums.iter_mut().zip(codes.row(i)).zip(&spec.centre) {
                let u = (i32::from(x) - i32::from(c)).clamp(-reach, reach);
                *sum = sum.wrapping_add(i64::from(u));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No row, centre or radius gives a grid row longer than K; rows inside the ball keep their direction.
        #[test]
        fn grid_rows_are_bounded(row in prop::collection::vec(any::<u16>(), 1..200), c in any::<u16>(), radius in any::<u32>()) {
            let spec = ClippedMoments { centre: vec![c; row.len()], radius, plane: None };
            let (mut u, mut v) = (vec![0_i32; row.len()], vec![0_i16; row.len()]);
            spec.centred(&row, &mut u);
            spec.grid_row(&u, grid_radius(row.len()), &mut v);
            let square: u64 = v.iter().map(|&x| u64::from(x.unsigned_abs()).pow(2)).sum();
            prop_assert!(square <= GRID * GRID);
            // The check at the end never fires: a row away from the centre, clipped, is not zero.
            let far = row.iter().map(|&x| u64::from(x.abs_diff(c)).pow(2)).sum::<u64>();
            if far > u64::from(radius).pow(2) {
                prop_assert!(square > 0);
            }
        }
    }

    proptest! {
        /// The same in a plane, whatever the vectors: the bound does not need them to be orthonormal.
        #[test]
        fn plane_rows_are_bounded(row in prop::collection::vec(any::<u16>(), 6), radius in any::<u32>(),
                                  plane in prop::collection::vec(prop::collection::vec(any::<i32>(), 6), 1..4)) {
            let k = plane.len();
            let spec = ClippedMoments { centre: vec![9; 6], radius, plane: Some(plane) };
            let (mut u, mut v) = (vec![0_i32; k], vec![0_i16; k]);
            spec.centred(&row, &mut u);
            spec.grid_row(&u, grid_radius(k), &mut v);
            prop_assert!(v.iter().map(|&x| u64::from(x.unsigned_abs()).pow(2)).sum::<u64>() <= GRID * GRID);
        }
    }

    #[test]
    fn a_corner_row_uses_nearly_the_whole_radius() {
        let spec = ClippedMoments { centre: vec![0; 784], radius: 1000, plane: None };
        let mut v = vec![0_i16; 784];
        spec.grid_row(&[i32::from(u16::MAX); 784], grid_radius(784), &mut v);
        let square: u64 = v.iter().map(|&x| u64::from(x.unsigned_abs()).pow(2)).sum();
        assert!(square <= GRID * GRID && square > GRID * GRID * 98 / 100, "{square}");
    }
}
