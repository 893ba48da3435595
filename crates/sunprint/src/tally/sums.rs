//! Plain sums: the first pass, and the raw products that the paper's covariance needs.
//!
//! Proof: docs/proofs.md, Lemma 10.

use super::codes::{Codes, Q};
use super::gram::{Gram, packed_index};
use crate::cpu::{Level, Vectorised};
use crate::wipe::{Wiped, wipe};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which coordinates the square counts. Public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// One for each coordinate.
    pub counted: Vec<bool>,
}

/// Sums of codes and of squared distances from the middle of the cube.
///
/// `sums[j] = Σ_i x_ij` and `square = Σ_i Σ_j (2 x_ij − Q)²` over the m counted coordinates. Replacing one row moves
/// `sums` inside `[−Q, Q]^d` and `square` by at most `m Q²`.
#[derive(PartialEq, Eq)]
pub struct SumTally {
    /// Column sums of codes.
    pub sums: Vec<i64>,
    /// Sum of squares of doubled, centred codes.
    pub square: i128,
}

impl SumTally {
    pub(super) fn empty(width: usize) -> Self {
        SumTally { sums: vec![0; width], square: 0 }
    }

    pub(super) fn add(&mut self, codes: &Codes, spec: &Sums, level: Level) {
        let masks: Vec<u32> = spec.counted.iter().map(|&counted| if counted { u32::MAX } else { 0 }).collect();
        // A column's sum of 2¹⁶ codes stays inside a `u32`.
        for first in (0..codes.rows()).step_by(1 << 16) {
            let rows = first..codes.rows().min(first + (1 << 16));
            AddingSums { tally: self, codes, masks: &masks, rows }.run_at(level);
        }
    }

    pub(super) fn merge(&mut self, other: SumTally) {
        add_all(&mut self.sums, &other.sums);
        self.square += other.square;
    }
}

impl Drop for SumTally {
    fn drop(&mut self) {
        wipe(&mut self.sums);
        self.square = 0;
    }
}

/// At most 2¹⁶ rows on their way into the sums.
///
/// `Σ (2x − Q)² = 4 Σ x² − 4 Q Σ x + n d Q²`, in integers; `Σ x²` of 2¹⁶ rows of 4096 codes stays below 2⁶⁰.
struct AddingSums<'a> {
    tally: &'a mut SumTally,
    codes: &'a Codes,
    masks: &'a [u32],
    rows: Range<usize>,
}

impl Vectorised for AddingSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let AddingSums { tally, codes, masks, rows } = self;
        let mut sums = vec![0_u32; tally.sums.len()];
        let mut square = 0_u64;
        let counted = masks.iter().filter(|&&mask| mask > 0).count();
        let entries = (rows.len() * counted) as i128;
        for i in rows {
            for ((sum, &code), &mask) in sums.iter_mut().zip(codes.row(i)).zip(masks) {
                *sum = sum.wrapping_add(u32::from(code));
                square = square.wrapping_add(u64::from((u32::from(code) * u32::from(code)) & mask));
            }
        }
        let mut total = 0_i128;
        for ((sum, &part), &mask) in tally.sums.iter_mut().zip(&sums).zip(masks) {
            *sum += i64::from(part);
            total += i128::from(part & mask);
        }
        let largest = i128::from(Q);
        tally.square += 4 * i128::from(square) - 4 * largest * total + entries * largest * largest;
        wipe(&mut sums);
    }
}

/// Sums and products of shifted codes `y = x − 2¹⁵`, for the paper's covariance (which a shift leaves alone).
#[derive(PartialEq, Eq)]
pub struct ProductTally {
    /// Column sums of `y`.
    pub sums: Vec<i64>,
    /// Packed lower triangle of `Σ_i y_i y_iᵀ`.
    pub products: Vec<i64>,
}

/// What is taken from a code so that it fits an `i16`.
const SHIFT: i32 = 1 << 15;
/// A shifted code is 2⁸ times its high part plus its low part.
const LOW_BITS: u32 = 8;

impl ProductTally {
    pub(super) fn empty(width: usize) -> Self {
        ProductTally { sums: vec![0; width], products: vec![0; width * (width + 1) / 2] }
    }

    /// Adds some rows; the products of their parts go to `gram` for now.
    ///
    /// A product of two shifted codes fills an `i32`, so that no two could be added in one. Their parts are small:
    /// `y = 2⁸ h + l` with h in [−128, 127] and l in [0, 255], and the Gram of the rows (h, l), twice as wide, has all
    /// that is needed: `y y′ = 2¹⁶ h h′ + 2⁸ (h l′ + l h′) + l l′`.
    pub(super) fn add(&mut self, codes: &Codes, gram: &mut Gram, level: Level) {
        AddingProducts { tally: self, codes, gram }.run_at(level);
    }

    /// Takes the products over from the Gram of the parts.
    pub(super) fn take(&mut self, gram: Gram) {
        let width = self.sums.len();
        let mut parts = Wiped(vec![0; width * (2 * width + 1)]);
        gram.add_to(&mut parts);
        let at = |i: usize, j: usize| parts[packed_index(i.max(j), i.min(j))];
        for i in 0..width {
            for j in 0..=i {
                let mixed = at(width + i, j) + at(width + j, i);
                let product = (at(i, j) << (2 * LOW_BITS)) + (mixed << LOW_BITS) + at(width + i, width + j);
                self.products[packed_index(i, j)] += product;
            }
        }
    }

    pub(super) fn merge(&mut self, other: ProductTally) {
        add_all(&mut self.sums, &other.sums);
        add_all(&mut self.products, &other.products);
    }
}

impl Drop for ProductTally {
    fn drop(&mut self) {
        wipe(&mut self.sums);
        wipe(&mut self.products);
    }
}

/// Rows on their way into the sums and products.
struct AddingProducts<'a> {
    tally: &'a mut ProductTally,
    codes: &'a Codes,
    gram: &'a mut Gram,
}

impl Vectorised for AddingProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let AddingProducts { tally, codes, gram } = self;
        let width = codes.width();
        let mut pair = [vec![0_i16; 2 * width], vec![0_i16; 2 * width]];
        for first in (0..codes.rows()).step_by(2) {
            for (i, parts) in (first..).zip(&mut pair) {
                if i == codes.rows() {
                    parts.fill(0);
                    break;
                }
                let (high, low) = parts.split_at_mut(width);
                for (((high, low), sum), &code) in high.iter_mut().zip(low).zip(&mut tally.sums).zip(codes.row(i)) {
                    let y = i32::from(code) - SHIFT;
                    *sum = sum.wrapping_add(i64::from(y));
                    *high = (y >> LOW_BITS) as i16;
                    *low = (y & ((1 << LOW_BITS) - 1)) as i16;
                }
            }
            gram.push_pair(&pair[0], &pair[1]);
        }
        pair.iter_mut().for_each(|parts| wipe(parts));
    }
}

/// Adds entry by entry. The caller has checked the shapes. The largest sums are products, at most 2³⁰ for each row, and a
/// table has at most 2³² rows: 2⁶² stays inside an `i64`.
pub(super) fn add_all(into: &mut [i64], from: &[i64]) {
    for (a, b) in into.iter_mut().zip(from) {
        *a += b;
    }
}
