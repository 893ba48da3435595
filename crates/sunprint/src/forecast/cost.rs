//! Time and memory, roughly: the figures of `docs/performance.md`, two cores, a Parquet file.

use super::Question;
use crate::plan::Shares;
use serde::Serialize;

/// What a fit takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Bytes, if the codes are kept in memory; half of the machine's memory is taken at most, and disk then.
    pub bytes: f64,
    /// Seconds on two cores.
    pub seconds: f64,
}

/// Nanoseconds to read one number from a Parquet file.
const READING: f64 = 7.0;
/// Nanoseconds for one product of two numbers of a row.
const PRODUCTS: f64 = 0.010;
/// Nanoseconds for each of d³ steps: exact noise for d² products, and directions.
const CUBES: f64 = 1.1;
/// Seconds to find the measure on a lattice.
const LATTICE: f64 = 0.2;
/// The program and its buffers.
const BASE: f64 = 20e6;
/// Matrices of d² numbers: two tallies for each of two threads, half each, and three whole ones for the directions.
const MATRICES: f64 = 5.0;

impl Cost {
    /// Means alone take no products.
    pub(super) fn of(question: &Question, shares: &Shares) -> Cost {
        let (n, d) = (question.rows as f64, question.width as f64);
        let codes = n * (2.0 * d + 4.0);
        let reading = READING * n * d;
        if shares.moments == 0 {
            let sums = 2.0 * 8.0 * d * question.strata as f64;
            return Cost { bytes: BASE + codes + sums, seconds: 1e-9 * reading };
        }
        let work = reading + PRODUCTS * n * d * d / 2.0 + CUBES * d * d * d;
        Cost { bytes: BASE + codes + MATRICES * 8.0 * d * d, seconds: 1e-9 * work + LATTICE * (n / 1e6).min(1.0) }
    }
}
