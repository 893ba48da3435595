//! Rows drawn from a model, which is free: what the model expects of whatever is counted.

use super::candidates::{Candidates, settling};
use super::grow::code;
use super::{Draw, Release};
use crate::schema::Schema;
use crate::source::in_order;
use std::ops::Range;

/// Candidates that are drawn together.
const TOGETHER: u64 = 1024;

/// Draws a pool: the candidates of a release that has no sieves yet.
pub(crate) fn pool(release: &Release, schema: &Schema, rows: usize) -> Pool {
    let width = schema.width();
    let draw = Draw::new(release, width, 1, 0);
    let candidates = Candidates::of(&draw, rows as u64);
    let mut pool = Pool { width, codes: Vec::with_capacity(rows * width), strata: Vec::new(), weights: Vec::new() };
    let mut first = 0;
    let feed = || {
        let some = first..(first + TOGETHER).min(candidates.count());
        first = some.end;
        Ok(Some(some).filter(|some| !some.is_empty()))
    };
    let work = |some: Range<u64>| {
        let (mut row, mut codes) = (Vec::new(), Vec::new());
        for number in some.clone() {
            row.clear();
            let stratum = candidates.stratum(number);
            draw.candidate(number, stratum, None, &mut row);
            draw.settle(stratum, &mut row, &mut settling(number));
            codes.extend(row.iter().map(|&unit| code(unit)));
        }
        Ok((some, codes))
    };
    let take = |(some, codes): (Range<u64>, Vec<u16>)| {
        pool.codes.extend(codes);
        pool.strata.extend(some.map(|number| candidates.stratum(number) as u32));
        Ok(())
    };
    // Nothing of this can fail.
    let _ = in_order(feed, work, take);
    pool.weights = vec![1.0; pool.strata.len()];
    pool
}

/// Rows drawn from a model, as codes.
pub(crate) struct Pool {
    pub width: usize,
    pub codes: Vec<u16>,
    pub strata: Vec<u32>,
    /// How much each row counts; 1 at first.
    pub weights: Vec<f64>,
}

impl Pool {
    pub fn rows(&self) -> usize {
        self.strata.len()
    }

    pub fn row(&self, i: usize) -> &[u16] {
        &self.codes[i * self.width..(i + 1) * self.width]
    }

    /// The cell of every row.
    pub fn cells(&self, cell: impl Fn(&[u16], usize) -> usize) -> Vec<u32> {
        (0..self.rows()).map(|i| cell(self.row(i), self.strata[i] as usize) as u32).collect()
    }

    /// The weights of all rows of each stratum.
    fn of_strata(&self, strata: usize) -> Vec<f64> {
        let mut sums = vec![0.0; strata];
        self.strata.iter().zip(&self.weights).for_each(|(&s, weight)| sums[s as usize] += weight);
        sums
    }

    /// What the pool expects of some cells, if strata have so many rows: rows, and how many of the pool they rest on.
    pub fn expect(&self, cells: &[u32], count: usize, rows: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let sums = self.of_strata(rows.len());
        let (mut expected, mut squares) = (vec![0.0; count], vec![0.0; count]);
        let mut weight_of = vec![0.0; count];
        for ((&cell, &s), &weight) in cells.iter().zip(&self.strata).zip(&self.weights) {
            let (cell, s) = (cell as usize, s as usize);
            expected[cell] += weight * rows[s] / sums[s].max(f64::MIN_POSITIVE);
            weight_of[cell] += weight;
            squares[cell] += weight * weight;
        }
        let seen = |(sum, square): (&f64, &f64)| if *square > 0.0 { sum * sum / square } else { 0.0 };
        (expected, weight_of.iter().zip(&squares).map(seen).collect())
    }

    /// Corrects the weights by the factors of their cells.
    pub fn correct(&mut self, cells: &[u32], factors: &[f64]) {
        self.weights.iter_mut().zip(cells).for_each(|(weight, &cell)| *weight *= factors[cell as usize]);
    }
}
