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
use crate::tally::{Fork, Forks};

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
        Cell { counted: self.counted, expected: self.expected, noise, known, seen: self.tried, sums: self.leaves }
    }
}

/// Counts of the leaves of a tree. All lists are leaf by leaf for one stratum after the other.
pub(crate) struct Counted<'a> {
    pub forks: &'a Forks,
    pub counts: &'a [f64],
    pub expected: &'a [f64],
    /// How many rows of a trial `expected` comes from.
    pub tried: &'a [f64],
    /// The deviation of the noise in each count.
    pub noise: f64,
    /// Whether the counts of a stratum were moved so that they add up to a sum that is known. Then the noise of l out of L
    /// of them has the variance `l (1 − l/L) σ²` instead of `l σ²`.
    pub levelled: bool,
}

/// The factor by which a stratum should have more or fewer rows in each leaf than the model expects.
pub(crate) fn factors(forks: &Forks, counts: &[f64], expected: &[f64], tried: &[f64], noise: f64) -> Vec<f64> {
    factors_of_all(&[Counted { forks, counts, expected, tried, noise, levelled: false }]).pop().unwrap_or_default()
}

/// The same for several trees, which are heard together: one of them alone would say too little of ρ.
pub(crate) fn factors_of_all(trees: &[Counted]) -> Vec<Vec<f64>> {
    let sums: Vec<Vec<Vec<Sum>>> = trees.iter().map(Counted::sums).collect();
    let mut weights: Vec<Vec<f64>> = trees.iter().map(|tree| vec![1.0; tree.counts.len()]).collect();
    // The forks of one depth of all trees, each with the factor that every stratum has behind it.
    let root = |(t, tree): (usize, &Counted)| (tree.forks.leaves() > 1).then(|| (t, 0, vec![1.0; tree.strata()]));
    let mut depth: Vec<(usize, usize, Vec<f64>)> = trees.iter().enumerate().filter_map(root).collect();
    while !depth.is_empty() {
        let ways: Vec<(usize, i32, &Vec<f64>)> = (depth.iter())
            .flat_map(|(t, fork, known)| {
                let fork = trees[*t].forks.forks[*fork];
                [fork.below, fork.above].map(|way| (*t, way, known))
            })
            .collect();
        let cells = |(t, way, known): &(usize, i32, &Vec<f64>)| -> Vec<Cell> {
            let at = place(trees[*t].forks, *way);
            sums[*t].iter().zip(*known).map(|(sums, known)| sums[at].cell(trees[*t].variance(sums[at].leaves), *known)).collect()
        };
        let cc = ways.iter().flat_map(cells).collect::<Vec<_>>();
        let heard = hear::factors(&cc);
        if std::env::var("LAB_P").is_ok() {
            let n = cc.len() as f64;
            let z2 = cc.iter().map(|c| (c.counted - c.known * c.expected).powi(2) / (c.noise + c.known * c.expected)).sum::<f64>() / n;
            let moved = (cc.iter().zip(&heard).map(|(c, h)| ((h - c.known) * c.expected).powi(2)).sum::<f64>() / cc.iter().map(|c| c.expected * c.expected).sum::<f64>()).sqrt();
            let nz = (cc.iter().map(|c| c.noise).sum::<f64>() / cc.iter().map(|c| c.expected * c.expected).sum::<f64>()).sqrt();
            eprintln!("trees {} strata {} cells {} z2 {:.2} moved {:.3} noise {:.3}", trees.len(), sums[0].len(), cc.len(), z2, moved, nz);
        }
        let mut rest = heard.as_slice();
        let mut next = Vec::new();
        for (t, way, known) in &ways {
            let (found, others) = rest.split_at(known.len());
            rest = others;
            match usize::try_from(*way) {
                Ok(fork) => next.push((*t, fork, found.to_vec())),
                Err(_) => {
                    let leaves = trees[*t].forks.leaves();
                    found.iter().enumerate().for_each(|(s, &w)| weights[*t][s * leaves + leaf(*way)] = w);
                }
            }
        }
        depth = next;
    }
    weights
}

impl Counted<'_> {
    /// Of the noise in the sum of some leaves.
    fn variance(&self, leaves: f64) -> f64 {
        let left = if self.levelled { 1.0 - leaves / self.forks.leaves() as f64 } else { 1.0 };
        leaves * left * self.noise * self.noise
    }

    fn strata(&self) -> usize {
        self.counts.len() / self.forks.leaves()
    }

    /// The sums of all forks, then of all leaves, for every stratum.
    fn sums(&self) -> Vec<Vec<Sum>> {
        let leaves = self.forks.leaves();
        let of = |s: usize| {
            let leaf = |l: usize| {
                let at = s * leaves + l;
                Sum { counted: self.counts[at], expected: self.expected[at], tried: self.tried[at], leaves: 1.0 }
            };
            sums(self.forks, leaf)
        };
        (0..self.strata()).map(of).collect()
    }
}

/// A tree over cells that stand in an order: every fork has half of them on either side.
pub(crate) fn of_line(cells: usize) -> Forks {
    // Each fork is the next of the list, so that forks lead to later ones only.
    let mut forks = Vec::new();
    let mut ranges: Vec<std::ops::Range<usize>> = std::iter::once(0..cells).collect();
    let mut next = 0;
    while next < ranges.len() {
        let range = ranges[next].clone();
        next += 1;
        if range.len() < 2 {
            continue;
        }
        let middle = range.start + range.len() / 2;
        let mut way = |half: std::ops::Range<usize>| {
            if half.len() < 2 {
                return -1 - half.start as i32;
            }
            ranges.push(half);
            ranges.len() as i32 - 1
        };
        let (below, above) = (way(range.start..middle), way(middle..range.end));
        forks.push(Fork { at: 0, edge: 0, below, above });
    }
    Forks { forks }
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

    /// Every cell is a leaf of its own number, behind forks that lead to later ones only.
    #[test]
    fn cells_in_an_order_make_a_tree() {
        for cells in 0..40_usize {
            let forks = of_line(cells);
            assert!(forks.fit(1) && forks.leaves() == cells.max(1), "{cells}");
            let counts: Vec<f64> = (0..cells.max(1)).map(|i| 1e9 * (1.0 + i as f64 / 40.0)).collect();
            let found = factors(&forks, &counts, &vec![1e9; counts.len()], &vec![0.0; counts.len()], 0.0);
            let right = |(f, c): (&f64, &f64)| cells < 2 || (f - c / 1e9).abs() < 1e-2;
            assert!(found.iter().zip(&counts).all(right), "{cells} {found:?}");
        }
    }

    /// One leaf is no tree, and nothing is known of it beside the stratum's own rows.
    #[test]
    fn a_tree_of_one_leaf_changes_nothing() {
        assert_eq!(factors(&Forks::default(), &[7.0, 3.0], &[5.0, 5.0], &[5.0, 5.0], 1.0), [1.0, 1.0]);
    }
}
