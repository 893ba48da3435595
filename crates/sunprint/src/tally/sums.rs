//! Plain sums: the first pass, and the raw products that the paper's covariance needs.

use super::codes::{Codes, Q};
use super::gram::Gram;

/// Sums of codes and of squared distances from the middle of the cube.
///
/// `sums[j] = Σ_i x_ij` and `square = Σ_i Σ_j (2 x_ij − Q)²`. Replacing one row moves `sums` inside `[−Q, Q]^d` and
/// `square` by at most `d Q²`.
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

    pub(super) fn add(&mut self, codes: &Codes) {
        for i in 0..codes.rows() {
            // One row's squares stay below 4096 · 2³² = 2⁴⁴.
            let mut square = 0_u64;
            for (sum, &code) in self.sums.iter_mut().zip(codes.row(i)) {
                *sum += i64::from(code);
                let centred = (2 * i64::from(code) - i64::from(Q)).unsigned_abs();
                square += centred * centred;
            }
            self.square += i128::from(square);
        }
    }

    pub(super) fn merge(&mut self, other: SumTally) {
        add_all(&mut self.sums, &other.sums);
        self.square += other.square;
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

impl ProductTally {
    pub(super) fn empty(width: usize) -> Self {
        ProductTally { sums: vec![0; width], products: vec![0; width * (width + 1) / 2] }
    }

    pub(super) fn add(&mut self, codes: &Codes) {
        let width = codes.width();
        // Products reach 2³⁰, so an `i32` holds the sum of one row at a time.
        let mut gram = Gram::new(width, 1);
        let mut shifted = vec![0_i16; width];
        for i in 0..codes.rows() {
            for ((y, sum), &code) in shifted.iter_mut().zip(&mut self.sums).zip(codes.row(i)) {
                let value = i32::from(code) - SHIFT;
                *y = value as i16;
                *sum += i64::from(value);
            }
            gram.push(&shifted);
        }
        gram.add_to(&mut self.products);
    }

    pub(super) fn merge(&mut self, other: ProductTally) {
        add_all(&mut self.sums, &other.sums);
        add_all(&mut self.products, &other.products);
    }
}

/// Adds entry by entry. The caller has checked the shapes. The largest sums are products, at most 2³⁰ for each row, and a
/// table has at most 2³² rows: 2⁶² stays inside an `i64`.
pub(super) fn add_all(into: &mut [i64], from: &[i64]) {
    for (a, b) in into.iter_mut().zip(from) {
        *a += b;
    }
}
