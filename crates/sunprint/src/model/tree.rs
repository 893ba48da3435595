//! How wrong a model is in the leaves of a tree, as far as noisy counts can tell.
//!
//! The model expects m rows of a stratum where c were counted, with a noise of deviation σ. One leaf alone says little; but
//! the counts of all leaves behind a fork add up to a count of the fork, with k leaves and noise √k σ against a much larger
//! m. So the guess goes down the tree: behind a fork the model is wrong by the factor that was found for the fork, but for
//! a deviation of variance ρ² that is the same for all of one depth,
//!
//! ```text
//! c = w m + errors,   w = w_fork + deviation,   E (c − w_fork m)² = ρ² m² + m + k σ².
//! ```
//!
//! ρ² follows from all of that depth together ([`hear`]): what cannot be heard in a leaf is taken from the forks above it.
//! Only released numbers enter.

use crate::math::hear::{self, Cell};
use crate::tally::Forks;

/// What is known of the leaves behind a fork, or of one leaf, for one stratum.
#[derive(Clone, Copy, Default)]
struct Sum {
    counted: f64,
    expected: f64,
    tried: f64,
    leaves: f64,
}

impl Sum {
    fn add(self, other: Sum) -> Sum {
        Sum {
            counted: self.counted + other.counted,
            expected: self.expected + other.expected,
            tried: self.tried + other.tried,
            leaves: self.leaves + other.leaves,
        }
    }

    /// What is to be heard, if `known` is known of it.
    fn cell(self, noise: f64, known: f64) -> Cell {
        let noise = self.leaves * noise * noise;
        Cell { counted: self.counted, expected: self.expected, noise, known, seen: self.tried }
    }
}

/// The factor by which a stratum should have more or fewer rows in each leaf than the model expects. All lists are leaf by
/// leaf for one stratum after the other; `tried` says how many rows of a trial `expected` comes from.
pub(crate) fn factors(forks: &Forks, counts: &[f64], expected: &[f64], tried: &[f64], noise: f64) -> Vec<f64> {
    let leaves = forks.leaves();
    let strata = counts.len() / leaves;
    let trees: Vec<Vec<Sum>> = (0..strata)
        .map(|s| {
            let leaf = |l: usize| {
                let at = s * leaves + l;
                Sum { counted: counts[at], expected: expected[at], tried: tried[at], leaves: 1.0 }
            };
            sums(forks, leaf)
        })
        .collect();
    let mut weights = vec![1.0; counts.len()];
    // The forks of one depth, each with the factor that every stratum has behind it.
    let mut depth: Vec<(usize, Vec<f64>)> = Vec::new();
    if leaves > 1 {
        depth.push((0, vec![1.0; strata]));
    }
    while !depth.is_empty() {
        let ways: Vec<(i32, &Vec<f64>)> = (depth.iter())
            .flat_map(|(fork, known)| [forks.forks[*fork].below, forks.forks[*fork].above].map(|way| (way, known)))
            .collect();
        let cell = |(way, known): &(i32, &Vec<f64>)| -> Vec<Cell> {
            let of = |(tree, known): (&Vec<Sum>, &f64)| tree[place(forks, *way)].cell(noise, *known);
            trees.iter().zip(*known).map(of).collect()
        };
        let heard = hear::factors(&ways.iter().flat_map(cell).collect::<Vec<_>>());
        let mut next = Vec::new();
        for ((way, _), found) in ways.iter().zip(heard.chunks_exact(strata)) {
            match usize::try_from(*way) {
                Ok(fork) => next.push((fork, found.to_vec())),
                Err(_) => found.iter().enumerate().for_each(|(s, &w)| weights[s * leaves + leaf(*way)] = w),
            }
        }
        depth = next;
    }
    weights
}

/// The leaf that a way leads to.
fn leaf(way: i32) -> usize {
    (-1 - way) as usize
}

/// The place in a list of forks and then leaves that a way leads to.
fn place(forks: &Forks, way: i32) -> usize {
    usize::try_from(way).unwrap_or_else(|_| forks.forks.len() + leaf(way))
}

/// The sums of all forks, then of all leaves. Forks lead to later ones only.
fn sums(forks: &Forks, leaf: impl Fn(usize) -> Sum) -> Vec<Sum> {
    let count = forks.forks.len();
    let mut sums = vec![Sum::default(); count];
    sums.extend((0..forks.leaves()).map(leaf));
    for (i, fork) in forks.forks.iter().enumerate().rev() {
        sums[i] = sums[place(forks, fork.below)].add(sums[place(forks, fork.above)]);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use crate::tally::Fork;
    use proptest::prelude::*;

    /// A full tree of 2^depth leaves in the order of their numbers.
    fn full(depth: u32) -> Forks {
        let forks = (1_i32 << depth) - 1;
        let way = |child: i32| if child < forks { child } else { -1 - (child - forks) };
        let fork = |i: i32| Fork { at: 0, edge: i as u16, below: way(2 * i + 1), above: way(2 * i + 2) };
        Forks { forks: (0..forks).map(fork).collect() }
    }

    /// The root of the mean square of the difference of two lists.
    fn apart(a: &[f64], b: &[f64]) -> f64 {
        (a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / a.len() as f64).sqrt()
    }

    const MANY: f64 = 1e9;

    proptest! {
        /// Counts without noise are followed, whatever they say, within the limits.
        #[test]
        fn exact_counts_are_followed(wanted in prop::collection::vec(0.3_f64..3.0, 32)) {
            let expected = vec![MANY; 32];
            let counts: Vec<f64> = wanted.iter().map(|w| w * MANY).collect();
            let found = factors(&full(4), &counts, &expected, &expected, 0.0);
            prop_assert!(apart(&found, &wanted) < 1e-2);
        }

        /// Whatever the counts are, factors are numbers, and none is negative.
        #[test]
        fn factors_are_never_negative(
            counts in prop::collection::vec(-1e6_f64..1e6, 32),
            expected in prop::collection::vec(0.0_f64..1e4, 32),
            noise in 0.0_f64..1e4,
        ) {
            let found = factors(&full(4), &counts, &expected, &expected, noise);
            prop_assert!(found.iter().all(|w| *w >= 0.0 && w.is_finite()), "{found:?}");
        }
    }

    /// A model that is right is left alone, and one that is wrong behind a fork is corrected behind it, although no leaf by
    /// itself could be heard. False alarms: the noise has a fixed seed.
    #[test]
    fn what_no_leaf_can_say_is_heard_from_all_of_them() {
        let (depth, rows, noise) = (9, 100.0, 60.0);
        let leaves = 1 << depth;
        let mut stream = Stream::new(3, 95, 0);
        let expected = vec![rows; leaves];
        let tried = vec![MANY; leaves];
        let mut found = |factor: &dyn Fn(usize) -> f64| {
            let counts: Vec<f64> = (0..leaves).map(|l| factor(l) * rows + noise * stream.normal()).collect();
            factors(&full(depth), &counts, &expected, &tried, noise)
        };
        let right = vec![1.0; leaves];
        assert!(apart(&found(&|_| 1.0), &right) < 0.05, "a model that is right");
        let wrong: Vec<f64> = (0..leaves).map(|l| if l < leaves / 4 { 1.6 } else { 0.8 }).collect();
        let corrected = apart(&found(&|l| wrong[l]), &wrong);
        assert!(corrected < 0.12, "{corrected} after the correction, {} before", apart(&right, &wrong));
    }

    /// One leaf is no tree, and nothing is known of it beside the stratum's own rows.
    #[test]
    fn a_tree_of_one_leaf_changes_nothing() {
        assert_eq!(factors(&Forks::default(), &[7.0, 3.0], &[5.0, 5.0], &[5.0, 5.0], 1.0), [1.0, 1.0]);
    }
}
