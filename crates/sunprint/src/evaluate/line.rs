//! The one-dimensional W1 of every feature, exactly, by counting codes.

use crate::error::Result;
use crate::source::{Progress, Table, Unit, in_order};
use crate::tally::codes::Q;

/// Features that are counted at a time: neighbours in memory, so that one look at a row serves them all.
const AT_A_TIME: usize = 8;

/// The number of codes.
const CODES: usize = Q as usize + 1;

/// W1 of every feature between two tables, in units of its width, in the order of the features.
///
/// On the line W1 is the area between the distribution functions (the monotone plan is optimal). Both are steps at
/// codes, so the area is Σ_c |F(c) − G(c)| / Q over the codes below the largest.
pub(super) fn distances(real: &Table, synthetic: &Table, progress: &dyn Progress) -> Result<Vec<f64>> {
    let width = real.width();
    let mut firsts = (0..width).step_by(AT_A_TIME);
    let mut found = Vec::with_capacity(width);
    progress.start("comparing columns", Some(width as u64), Unit::Steps);
    let done = in_order(
        || Ok(firsts.next()),
        |first| {
            let some = AT_A_TIME.min(width - first);
            let (a, b) = (counts(real, first, some), counts(synthetic, first, some));
            let one = |j| area(&a[j * CODES..][..CODES], real.rows(), &b[j * CODES..][..CODES], synthetic.rows());
            Ok((0..some).map(one).collect::<Vec<f64>>())
        },
        |some| {
            progress.advance(some.len() as u64);
            found.extend(some);
            Ok(())
        },
    );
    progress.done();
    done.map(|()| found)
}

/// How often each code occurs in `some` features from `first` on: feature-major.
fn counts(table: &Table, first: usize, some: usize) -> Vec<u64> {
    let mut counts = vec![0; some * CODES];
    for codes in table.chunks() {
        for row in 0..codes.rows() {
            for (j, &code) in codes.row(row)[first..first + some].iter().enumerate() {
                counts[j * CODES + usize::from(code)] += 1;
            }
        }
    }
    counts
}

/// Σ_c |F(c) − G(c)| / Q for the distribution functions of two tables of counts, exact up to the last division: with
/// A and B the running counts, |F − G| = |A n − B m| / (m n), where A n and B m are below 2⁶⁶.
fn area(a: &[u64], m: usize, b: &[u64], n: usize) -> f64 {
    let (m, n) = (m as i128, n as i128);
    let (mut below, mut area) = (0_i128, 0_u128);
    for (&a, &b) in a.iter().zip(b) {
        below += i128::from(a) * n - i128::from(b) * m;
        area += below.unsigned_abs();
    }
    // At the largest code both functions are 1, which adds nothing.
    area as f64 / (m as f64 * n as f64 * f64::from(Q))
}
