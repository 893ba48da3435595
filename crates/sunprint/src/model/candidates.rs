//! Candidates: the rows of which a model that was corrected by counts draws.
//!
//! A model proposes rows, and counts say which of them there are too many or too few of. So a fixed number of candidates is
//! drawn, the same ones by whoever opens the model, each has a weight, and a row is one of them, as often as it weighs. So
//! that a table may have more rows than there are candidates, what a candidate has on its own, beside the directions, is
//! mixed with fresh noise: with normal numbers e and e′, `√(1 − h²) e + h e′` is as normal as either, so that rows are
//! distributed as candidates are, and stand next to their own.
//!
//! *Generations.* Where sites are counted more than once, candidates have children, as often as they weigh, and the children
//! are the next candidates: all normal numbers of a child are mixed as above. With equal weights a child is distributed as
//! its parent is; with those that were heard it stands where the rows are, and the next sites with it.

use crate::math::rounding::largest_remainders;
use crate::math::stream::Stream;
use std::ops::Range;

/// h: how much of what is its own is fresh in a row.
pub(super) const FRESH: f64 = 0.05;
/// Any fixed numbers: candidates are part of the model.
const SEED: u64 = 1;
const PURPOSE: u64 = 2;
/// Normal numbers that are drawn together.
const TOGETHER: usize = 64;
/// No stratum that has rows has fewer candidates than this part of an equal share.
const LEAST: f64 = 0.25;

/// The candidates of each stratum, as ranges of their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    ranges: Vec<Range<u64>>,
    /// For each stratum the sums of weights up to each candidate; nothing where they are not weighed.
    sums: Vec<Vec<u64>>,
}

impl Candidates {
    /// So many, for strata with so many rows.
    pub fn new(count: u64, rows: &[u64]) -> Candidates {
        let least = LEAST * rows.iter().sum::<u64>() as f64 / rows.len().max(1) as f64;
        let part = |&rows: &u64| if rows == 0 { 0.0 } else { (rows as f64).max(least) };
        let mut first = 0;
        let range = |size: u64| {
            first += size;
            first - size..first
        };
        let ranges = largest_remainders(count, &rows.iter().map(part).collect::<Vec<f64>>());
        Candidates { ranges: ranges.into_iter().map(range).collect(), sums: Vec::new() }
    }

    /// The same with weights.
    #[must_use]
    pub fn weighed(mut self, weights: &[u32]) -> Candidates {
        let sums = |range: &Range<u64>| {
            let mut sum = 0;
            let add = |&weight: &u32| {
                sum += u64::from(weight);
                sum
            };
            weights[range.start as usize..range.end as usize].iter().map(add).collect()
        };
        self.sums = self.ranges.iter().map(sums).collect();
        self
    }

    /// How many there are.
    #[cfg(test)]
    fn count(&self) -> u64 {
        self.ranges.last().map_or(0, |range| range.end)
    }

    /// The stratum of a candidate, and at which part of that stratum it stands.
    pub fn place(&self, number: u64) -> (usize, f64) {
        let stratum = self.ranges.partition_point(|range| range.end <= number).min(self.ranges.len().saturating_sub(1));
        let range = &self.ranges[stratum];
        (stratum, ((number - range.start) as f64 + 0.5) / (range.end - range.start).max(1) as f64)
    }

    /// The candidate at a part of all weights of a stratum, which has some.
    pub fn at(&self, stratum: usize, part: f64) -> u64 {
        let stratum = stratum.min(self.ranges.len().saturating_sub(1));
        let (range, sums) = (&self.ranges[stratum], &self.sums[stratum]);
        let last = (range.end - range.start).saturating_sub(1);
        let place = match sums.last() {
            Some(&whole) if whole > 0 => {
                let at = (part * whole as f64) as u64;
                sums.partition_point(|&sum| sum <= at) as u64
            }
            _ => (part * (last + 1) as f64) as u64,
        };
        range.start + place.min(last)
    }
}

/// The random numbers of a candidate.
pub(super) fn stream(generation: usize, number: u64) -> Stream {
    Stream::new(SEED, PURPOSE + generation as u64, number)
}

/// `√(1 − h²) z + h z′` in the place of normal numbers z.
pub(super) fn mix(normals: &mut [f64], fresh: f64, random: &mut Stream) {
    let kept = (1.0 - fresh * fresh).sqrt();
    let mut others = [0.0; TOGETHER];
    for some in normals.chunks_mut(TOGETHER) {
        random.normals(&mut others[..some.len()]);
        some.iter_mut().zip(others).for_each(|(z, other)| *z = kept * *z + fresh * other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every candidate belongs to one stratum, strata without rows have none, and parts lead to each as often as it
        /// weighs.
        #[test]
        fn parts_lead_to_candidates_as_often_as_they_weigh(
            rows in prop::collection::vec(0_u64..50, 1..5), weights in prop::collection::vec(0_u32..5, 40),
        ) {
            prop_assume!(rows.iter().any(|&rows| rows > 0));
            let candidates = Candidates::new(40, &rows).weighed(&weights);
            prop_assert_eq!(candidates.count(), 40);
            for (stratum, range) in candidates.ranges.iter().enumerate() {
                prop_assert!(range.is_empty() == (rows[stratum] == 0) || range.end - range.start < 2);
                let whole: u32 = weights[range.start as usize..range.end as usize].iter().sum();
                let mut hits = [0; 40];
                let parts = 4 * whole.max(1);
                (0..parts).filter(|_| !range.is_empty()).for_each(|i| {
                    hits[candidates.at(stratum, (f64::from(i) + 0.5) / f64::from(parts)) as usize] += 1;
                });
                for number in range.clone() {
                    prop_assert_eq!(candidates.place(number).0, stratum);
                    prop_assert!(whole == 0 || hits[number as usize] == 4 * weights[number as usize]);
                }
            }
        }
    }
}
