//! Counts of rows: over the values of each column, over the leaves of a tree of questions, stratum by stratum, or over sites.

use super::codes::Codes;
use super::forks::Forks;
use super::sites::Sites;
use crate::cpu::{Level, Vectorised};
use serde::{Deserialize, Serialize};

/// What to count: one histogram for each column. Public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marginals {
    /// The histograms.
    pub histograms: Vec<Histogram>,
}

/// The cells of one column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Histogram {
    /// A coordinate cut at some codes: a row falls into the cell whose number is that of the edges at or below its code.
    Line {
        /// The coordinate.
        at: usize,
        /// Ascending.
        edges: Vec<u16>,
        /// Whether the next coordinate says that the value is missing; such rows have one more cell, the last.
        absence: bool,
    },
    /// Coordinates of which one is set: a row falls into the cell of the first that is, of all strata together.
    Hot {
        /// The first coordinate.
        at: usize,
        /// How many there are.
        len: usize,
    },
    /// Many coordinates at once: a row falls into the leaf to which its answers lead.
    Tree(Forks),
    /// All coordinates at once: a row falls into the cell of its nearest site, which has a stratum of its own.
    Sites(Sites),
}

/// Codes above this are set.
const SET: u16 = 1 << 14;
/// More cells of one column, or of all columns and strata, are never counted.
const MOST_CELLS: usize = 1 << 26;
/// Bits of a code that are left out when a cell is looked up.
const COARSE: u32 = 8;

impl Histogram {
    /// How many cells there are.
    pub fn cells(&self) -> usize {
        match self {
            Histogram::Line { edges, absence, .. } => edges.len() + 1 + usize::from(*absence),
            Histogram::Hot { len, .. } => *len,
            Histogram::Tree(forks) => forks.leaves(),
            Histogram::Sites(sites) => sites.len(),
        }
    }

    /// How many counts there are: the cells of each stratum, or of all together.
    pub fn size(&self, strata: usize) -> usize {
        match self {
            Histogram::Tree(_) => self.cells().saturating_mul(strata),
            Histogram::Line { .. } | Histogram::Hot { .. } | Histogram::Sites(_) => self.cells(),
        }
    }

    fn fit(&self, width: usize, strata: usize) -> bool {
        match self {
            Histogram::Line { at, edges, absence } => {
                at.saturating_add(usize::from(*absence)) < width && edges.windows(2).all(|pair| pair[0] < pair[1])
            }
            Histogram::Hot { at, len } => *len > 0 && at.saturating_add(*len) <= width,
            Histogram::Tree(forks) => forks.fit(width),
            Histogram::Sites(sites) => sites.fit(width, strata),
        }
    }
}

impl Marginals {
    /// Cells of all columns and strata: columns one after the other, in each the strata one after the other.
    pub fn leaves(&self, strata: usize) -> usize {
        self.histograms.iter().fold(0, |sum: usize, h| sum.saturating_add(h.size(strata)))
    }

    /// Whether there is something to count, and not too much of it.
    pub fn countable(&self, strata: usize) -> bool {
        !self.histograms.is_empty() && self.leaves(strata) <= MOST_CELLS
    }

    /// The counts of each column, in all strata.
    pub(super) fn columns<'a>(&'a self, mut counts: &'a [u64], strata: usize) -> impl Iterator<Item = &'a [u64]> {
        self.histograms.iter().map(move |histogram| {
            let (mine, others) = counts.split_at(histogram.size(strata));
            counts = others;
            mine
        })
    }

    /// Lengths agree and indices are in range: what tallying relies on.
    pub(super) fn fit(&self, width: usize, strata: usize) -> bool {
        self.histograms.iter().all(|histogram| histogram.fit(width, strata)) && self.leaves(strata) <= MOST_CELLS
    }

    /// Adds rows to the counts.
    pub(super) fn add(&self, codes: &Codes, strata: usize, counts: &mut [u64], level: Level) {
        Counting { marginals: self, codes, strata, counts }.run_at(level);
    }
}

/// Rows on their way into the counts.
struct Counting<'a> {
    marginals: &'a Marginals,
    codes: &'a Codes,
    strata: usize,
    counts: &'a mut [u64],
}

/// For every coarse code, the edges at or below its first code.
fn starts(edges: &[u16]) -> Vec<u16> {
    (0..=u16::MAX >> COARSE).map(|coarse| edges.partition_point(|&edge| edge <= coarse << COARSE) as u16).collect()
}

impl Vectorised for Counting<'_> {
    type Output = ();

    /// Every row is in exactly one cell of every column.
    #[inline(always)]
    fn run(self) {
        let Counting { marginals, codes, strata, counts } = self;
        let mut offset = 0;
        for histogram in &marginals.histograms {
            let cells = histogram.cells();
            let counts = &mut counts[offset..offset + histogram.size(strata)];
            offset += counts.len();
            let stratum = |i: usize| (codes.stratum(i) as usize).min(strata - 1) * cells;
            match histogram {
                Histogram::Line { at, edges, absence } => {
                    let starts = starts(edges);
                    for i in 0..codes.rows() {
                        let row = codes.row(i);
                        let code = row[*at];
                        let mut cell = usize::from(starts[usize::from(code >> COARSE)]);
                        while cell < edges.len() && edges[cell] <= code {
                            cell += 1;
                        }
                        if *absence && row[at + 1] > SET {
                            cell = cells - 1;
                        }
                        counts[cell] += 1;
                    }
                }
                Histogram::Hot { at, len } => {
                    for i in 0..codes.rows() {
                        let block = &codes.row(i)[*at..at + len];
                        let cell = block.iter().position(|&code| code > SET).unwrap_or(0);
                        counts[cell] += 1;
                    }
                }
                Histogram::Tree(forks) => {
                    for i in 0..codes.rows() {
                        let row = codes.row(i);
                        counts[stratum(i) + forks.leaf(|at| row[at])] += 1;
                    }
                }
                Histogram::Sites(sites) => {
                    let (index, mut point) = (sites.index(strata), vec![0; codes.width()]);
                    for i in 0..codes.rows() {
                        sites.on_grid(codes.row(i).iter().copied(), &mut point);
                        counts[sites.nearest(&index, &point, codes.stratum(i) as usize)] += 1;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spec(mut edges: Vec<u16>, absence: bool) -> Marginals {
        edges.sort_unstable();
        edges.dedup();
        Marginals { histograms: vec![Histogram::Line { at: 0, edges, absence }, Histogram::Hot { at: 2, len: 3 }] }
    }

    fn count(marginals: &Marginals, rows: &[(Vec<u16>, u32)]) -> Vec<u64> {
        let mut codes = Codes::with_capacity(5, rows.len());
        rows.iter().for_each(|(row, stratum)| codes.push(row, *stratum));
        let mut counts = vec![0; marginals.leaves(2)];
        marginals.add(&codes, 2, &mut counts, Level::best());
        counts
    }

    proptest! {
        /// Whatever the edges and the rows: every row counts once in every column, and a replaced row moves at most two
        /// counts of each column by one.
        #[test]
        fn a_row_is_one_count_of_each_column(
            edges in prop::collection::vec(any::<u16>(), 0..40), absence: bool,
            rows in prop::collection::vec((prop::collection::vec(any::<u16>(), 5), 0_u32..3), 1..20),
            other in (prop::collection::vec(any::<u16>(), 5), 0_u32..3),
        ) {
            let marginals = spec(edges, absence);
            prop_assert!(marginals.fit(5, 2));
            let mut replaced = rows.clone();
            replaced[0] = other;
            let (a, b) = (count(&marginals, &rows), count(&marginals, &replaced));
            let first = marginals.histograms[0].size(2);
            for range in [0..first, first..a.len()] {
                prop_assert_eq!(a[range.clone()].iter().sum::<u64>(), rows.len() as u64);
                let moved: Vec<u64> = a[range.clone()].iter().zip(&b[range]).map(|(a, b)| a.abs_diff(*b)).filter(|&x| x > 0).collect();
                prop_assert!(moved.is_empty() || moved == [1, 1]);
            }
        }

        /// The cell is the number of the edges at or below the code.
        #[test]
        fn cells_lie_between_edges(edges in prop::collection::vec(any::<u16>(), 0..40), code: u16) {
            let marginals = spec(edges, false);
            let Histogram::Line { edges, .. } = &marginals.histograms[0] else { unreachable!() };
            let counts = count(&marginals, &[(vec![code, 0, 0, 0, 0], 0)]);
            let cell = edges.iter().filter(|&&edge| edge <= code).count();
            prop_assert_eq!(counts[cell], 1);
        }
    }
}
