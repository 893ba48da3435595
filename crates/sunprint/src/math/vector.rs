//! Vectors as slices.

use crate::cpu::{Level, Vectorised};

/// `⟨a, b⟩`, summed from the first entry to the last.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Adds vectors to a row, each as often as it weighs, one after the other: the same bits whatever the processor.
pub(crate) fn add_all(row: &mut [f64], vectors: &[Vec<f64>], weights: &[f64]) {
    Adding { row, vectors, weights }.run_at(Level::best());
}

struct Adding<'a> {
    row: &'a mut [f64],
    vectors: &'a [Vec<f64>],
    weights: &'a [f64],
}

/// Vectors that are added while a number of the row is at hand.
const TOGETHER: usize = 4;

impl Vectorised for Adding<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Adding { row, vectors, weights } = self;
        let (some, weigh) = (vectors.chunks_exact(TOGETHER), weights.chunks_exact(TOGETHER));
        let (last, lasts) = (some.remainder(), weigh.remainder());
        for (v, w) in some.zip(weigh) {
            let sums = row.iter_mut().zip(&v[0]).zip(&v[1]).zip(&v[2]).zip(&v[3]);
            sums.for_each(|((((x, a), b), c), d)| *x = *x + w[0] * a + w[1] * b + w[2] * c + w[3] * d);
        }
        for (v, w) in last.iter().zip(lasts) {
            row.iter_mut().zip(v).for_each(|(x, v)| *x += w * v);
        }
    }
}
