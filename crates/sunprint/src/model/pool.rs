//! The candidates of a model as rows, which is free: what the model expects of whatever is counted.

use super::grow::code;
use super::{Draw, Release};
use crate::measure::Measure;
use crate::schema::Schema;
use crate::source::in_order;
use crate::tally::Histogram;
use std::ops::Range;

/// Rows that are looked at together.
const TOGETHER: usize = 1024;

/// Candidates, as codes.
pub(crate) struct Pool {
    pub width: usize,
    pub codes: Vec<u16>,
    pub strata: Vec<u32>,
}

impl Pool {
    /// The candidates of a release, so many.
    pub fn of(release: &Release, schema: &Schema, count: usize) -> Pool {
        let width = schema.width();
        let draw = Draw::of_candidates(release, width, count as u64);
        let mut pool = Pool { width, codes: Vec::with_capacity(count * width), strata: Vec::with_capacity(count) };
        let work = |some: Range<usize>| {
            let (mut row, mut normals) = (Vec::with_capacity(width), Vec::new());
            let (mut codes, mut strata) = (Vec::new(), Vec::new());
            for number in some {
                row.clear();
                strata.push(draw.candidate(number as u64, &mut normals, &mut row) as u32);
                codes.extend(row.iter().map(|&unit| code(unit)));
            }
            (codes, strata)
        };
        each(count, work, |(codes, strata)| {
            pool.codes.extend(codes);
            pool.strata.extend(strata);
        });
        pool
    }

    /// How many there are.
    pub fn rows(&self) -> usize {
        self.strata.len()
    }

    /// The codes of one.
    pub fn row(&self, i: usize) -> &[u16] {
        &self.codes[i * self.width..(i + 1) * self.width]
    }

    /// The cell of every candidate, as rows are counted.
    pub fn cells(&self, histogram: &Histogram, strata: usize) -> Vec<u32> {
        let cells = histogram.cells();
        let index = match histogram {
            Histogram::Sites(sites) => Some(sites.index(strata)),
            _ => None,
        };
        let mut found = Vec::with_capacity(self.rows());
        let work = |some: Range<usize>| match (histogram, &index) {
            (Histogram::Sites(sites), Some(index)) => {
                let rows = &self.codes[some.start * self.width..some.end * self.width];
                sites.of_rows(index, rows, &self.strata[some])
            }
            (Histogram::Tree(forks), _) => {
                let leaf = |i: usize| forks.leaf(|at| self.row(i)[at]);
                some.map(|i| (self.strata[i] as usize * cells + leaf(i)) as u32).collect()
            }
            _ => vec![0; some.len()],
        };
        each(self.rows(), work, |some| found.extend(some));
        found
    }

    /// How many rows of a table with this measure are expected in each cell, and on how many candidates that rests: those
    /// that count, `(Σ w)²/Σ w²`.
    pub fn expect(&self, cells: &[u32], count: usize, weights: &[f64], measure: &Measure) -> (Vec<f64>, Vec<f64>) {
        let mut of_strata = vec![0.0_f64; measure.strata()];
        self.strata.iter().zip(weights).for_each(|(&s, weight)| of_strata[s as usize] += weight);
        let one: Vec<f64> = of_strata
            .iter()
            .enumerate()
            .map(|(s, whole)| measure.rows(s) as f64 / whole.max(f64::MIN_POSITIVE))
            .collect();
        let mut sums = vec![(0.0, 0.0, 0.0); count];
        for ((&cell, &stratum), weight) in cells.iter().zip(&self.strata).zip(weights) {
            let sum = &mut sums[cell as usize];
            sum.0 += weight * one[stratum as usize];
            sum.1 += weight;
            sum.2 += weight * weight;
        }
        let seen = |(_, sum, square): &(f64, f64, f64)| if *square > 0.0 { sum * sum / square } else { 0.0 };
        (sums.iter().map(|sum| sum.0).collect(), sums.iter().map(seen).collect())
    }
}

/// Works on the numbers below `count`, some at a time, on all cores, and takes the results in order.
fn each<O: Send>(count: usize, work: impl Fn(Range<usize>) -> O + Sync, mut take: impl FnMut(O)) {
    let mut firsts = (0..count).step_by(TOGETHER);
    let work = |first: usize| Ok(work(first..count.min(first + TOGETHER)));
    let take = |some| {
        take(some);
        Ok(())
    };
    // Nothing of this can fail.
    let _ = in_order(|| Ok(firsts.next()), work, take);
}
