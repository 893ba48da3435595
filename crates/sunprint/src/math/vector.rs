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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every level of instructions gives the bits of adding one vector after the other.
        #[test]
        fn sums_are_the_same_everywhere(
            width in 0_usize..40, weights in prop::collection::vec(-9.0_f64..9.0, 0..14), first in -1.0_f64..1.0,
        ) {
            let vectors: Vec<Vec<f64>> =
                (0..weights.len()).map(|i| (0..width).map(|j| (first + (i * 40 + j) as f64).sin()).collect()).collect();
            let mut plain = vec![first; width];
            for (vector, weight) in vectors.iter().zip(&weights) {
                plain.iter_mut().zip(vector).for_each(|(x, v)| *x += weight * v);
            }
            for level in Level::all() {
                let mut row = vec![first; width];
                Adding { row: &mut row, vectors: &vectors, weights: &weights }.run_at(level);
                prop_assert!(row.iter().zip(&plain).all(|(a, b)| a.to_bits() == b.to_bits()), "{:?}", level);
            }
        }
    }
}
