//! Candidates: the rows of which a model that was corrected by counts draws.
//!
//! A model proposes rows, and counts say which of them there are too few or too many of. So a fixed number of candidates is
//! drawn from the model, the same ones by whoever opens it, each weighs what the sieves say, and a row is one of them, with
//! a probability in proportion to its weight. So that a table may have more rows than there are candidates, what a
//! candidate has on its own, beside the directions, is mixed with fresh noise: with normal numbers e and e′,
//! `√(1 − h²) e + h e′` is as normal as either, so a row is distributed as candidates are, and stands next to its own.

use super::draw::Draw;
use super::sieve::Scratch;
use crate::math::rounding::largest_remainders;
use crate::math::stream::Stream;
use crate::source::in_order;
use std::ops::Range;

/// h: how much of what is its own is fresh in a row.
pub(super) const FRESH: f64 = 0.15;
/// Any fixed number: candidates are part of the model.
const SEED: u64 = 1;
/// Streams of it: normal numbers, and what settling needs.
const NORMALS: u64 = 2;
const SETTLING: u64 = 3;
/// Candidates that are looked at together.
const TOGETHER: u64 = 1024;
/// No stratum has fewer than this part of an equal share.
const LEAST: f64 = 0.25;

/// Who the candidates of each stratum are, and how much they weigh.
pub(super) struct Candidates {
    strata: Vec<Range<u64>>,
    /// For each stratum the sums of weights up to each candidate; empty before they are weighed.
    sums: Vec<Vec<f64>>,
}

/// The strata of candidates: ranges of their numbers.
fn divided(count: u64, rows: &[u64]) -> Vec<Range<u64>> {
    let least = LEAST * rows.iter().sum::<u64>() as f64 / rows.len().max(1) as f64;
    let parts: Vec<f64> = rows.iter().map(|&rows| (rows as f64).max(least).max(1e-9)).collect();
    let mut first = 0;
    let range = |size: u64| {
        first += size;
        first - size..first
    };
    largest_remainders(count.max(1), &parts).into_iter().map(range).collect()
}

impl Candidates {
    /// Those of a release.
    pub fn of(draw: &Draw<'_>, count: u64) -> Candidates {
        let measure = &draw.release().measure;
        let rows: Vec<u64> = (0..measure.strata()).map(|s| measure.rows(s)).collect();
        Candidates { strata: divided(count, &rows), sums: Vec::new() }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.strata.last().map_or(0, |range| range.end)
    }

    /// The stratum of a candidate.
    pub fn stratum(&self, number: u64) -> usize {
        self.strata.partition_point(|range| range.end <= number).min(self.strata.len().saturating_sub(1))
    }

    /// Weighs all of them.
    pub fn weigh(&mut self, draw: &Draw<'_>) {
        let weights = self.weights(draw);
        let sums = |range: &Range<u64>| {
            let mut sum = 0.0;
            weights[range.start as usize..range.end as usize]
                .iter()
                .map(|weight| {
                    sum += weight;
                    sum
                })
                .collect()
        };
        self.sums = self.strata.iter().map(sums).collect();
    }

    /// Their weights, on all cores.
    pub fn weights(&self, draw: &Draw<'_>) -> Vec<f64> {
        let mut weights = Vec::with_capacity(self.count() as usize);
        let mut first = 0;
        let count = self.count();
        let feed = || {
            let some = first..(first + TOGETHER).min(count);
            first = some.end;
            Ok(Some(some).filter(|some| !some.is_empty()))
        };
        let work = |some: Range<u64>| {
            let (mut row, mut scratch) = (Vec::new(), Scratch::default());
            let weigh = |number: u64| {
                row.clear();
                let stratum = self.stratum(number);
                draw.candidate(number, stratum, None, &mut row);
                draw.settle(stratum, &mut row, &mut settling(number));
                draw.weight(stratum, &row, &mut scratch)
            };
            Ok(some.map(weigh).collect::<Vec<f64>>())
        };
        let take = |some: Vec<f64>| {
            weights.extend(some);
            Ok(())
        };
        // Nothing of this can fail.
        let _ = in_order(feed, work, take);
        weights.resize(count as usize, 1.0);
        weights
    }

    /// The candidate of a stratum at a part of all weights.
    pub fn at(&self, stratum: usize, part: f64) -> u64 {
        let (range, sums) = (&self.strata[stratum], &self.sums[stratum]);
        let whole = sums.last().copied().unwrap_or(0.0);
        let place = if whole > 0.0 {
            sums.partition_point(|&sum| sum <= part * whole) as u64
        } else {
            (part * (range.end - range.start) as f64) as u64
        };
        range.start + place.min((range.end - range.start).saturating_sub(1))
    }
}

/// The normal numbers of a candidate.
pub(super) fn normals(number: u64) -> Stream {
    Stream::new(SEED, NORMALS, number)
}

/// What settling it needs.
pub(super) fn settling(number: u64) -> Stream {
    Stream::new(SEED, SETTLING, number)
}
