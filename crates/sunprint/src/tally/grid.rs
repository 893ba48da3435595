//! The last pass of the lattice mechanism: which cubic cell of a lattice each row falls into.

use super::cells::{MOST_LEAVES, Place, inner, less_centre};
use super::codes::Codes;
use crate::cpu::{Level, Vectorised};
use serde::{Deserialize, Serialize};

/// A lattice of cells over a box, with a fineness of its own in each stratum. Public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grid {
    /// The centre, in codes.
    pub centre: Vec<u16>,
    /// One fixed-point unit vector (2³⁰ is one) for each coordinate.
    pub vectors: Vec<Vec<i32>>,
    /// For each stratum, the side of the lattice along each coordinate.
    pub strata: Vec<Vec<GridSide>>,
}

/// One side of a lattice: cell q is `[low + q step, low + (q+1) step)` for q below `cells`; rows outside are clamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridSide {
    /// Where it begins, and how wide a cell is.
    pub place: Place,
    /// How many cells there are; at least 1.
    pub cells: u32,
}

impl Grid {
    /// The cells of each stratum; the last coordinate runs fastest.
    pub fn sizes(&self) -> Vec<usize> {
        let size = |sides: &Vec<GridSide>| sides.iter().fold(1_usize, |n, side| n.saturating_mul(side.cells as usize));
        self.strata.iter().map(size).collect()
    }

    /// The cells of all strata together.
    pub fn leaves(&self) -> usize {
        self.sizes().into_iter().fold(0, usize::saturating_add)
    }

    /// Lengths agree and indices are in range: what tallying relies on.
    pub(super) fn fit(&self, width: usize, strata: usize) -> bool {
        let vector = |v: &Vec<i32>| v.len() == width && v.iter().all(|v| v.unsigned_abs() <= 1 << 30);
        let side = |side: &GridSide| side.place.step >= 1 && side.cells >= 1;
        let sides = |sides: &Vec<GridSide>| sides.len() == self.vectors.len() && sides.iter().all(side);
        self.centre.len() == width
            && !self.vectors.is_empty()
            && self.vectors.iter().all(vector)
            && self.strata.len() == strata
            && self.strata.iter().all(sides)
            && self.leaves() <= MOST_LEAVES
    }

    /// Adds rows to the counts of all strata, one stratum after the other.
    pub(super) fn add(&self, codes: &Codes, counts: &mut [u64], level: Level) {
        Counting { counts, codes, grid: self }.run_at(level);
    }
}

/// Rows on their way into the counts.
struct Counting<'a> {
    counts: &'a mut [u64],
    codes: &'a Codes,
    grid: &'a Grid,
}

impl Vectorised for Counting<'_> {
    type Output = ();

    /// A row's cell in the lattice of its stratum: integer division and clamps, the same on every machine.
    #[inline(always)]
    fn run(self) {
        let Counting { counts, codes, grid } = self;
        let mut starts = Vec::with_capacity(grid.strata.len());
        let mut start = 0;
        for size in grid.sizes() {
            starts.push(start);
            start += size;
        }
        let mut u = vec![0_i32; codes.width()];
        for i in 0..codes.rows() {
            less_centre(codes.row(i), &grid.centre, &mut u);
            let stratum = (codes.stratum(i) as usize).min(starts.len() - 1);
            let mut index = 0;
            for (vector, side) in grid.vectors.iter().zip(&grid.strata[stratum]) {
                // A side of one cell tells nothing apart.
                if side.cells > 1 {
                    let offset = inner(&u, vector).saturating_sub(side.place.low).max(0);
                    let q = (offset / side.place.step.max(1)).min(i64::from(side.cells) - 1);
                    index = index * side.cells as usize + q as usize;
                }
            }
            counts[starts[stratum] + index] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the lattice and the rows, every row is counted once, and a replaced row moves two counts by one.
        #[test]
        fn a_row_is_one_count(rows in prop::collection::vec((prop::collection::vec(any::<u16>(), 3), 0_u32..3), 1..20),
                              other in (prop::collection::vec(any::<u16>(), 3), 0_u32..3),
                              vectors in prop::collection::vec(prop::collection::vec(-(1_i32 << 30)..(1 << 30), 3), 2),
                              sides in prop::collection::vec((any::<i64>(), 1_i64..(1 << 50), 1_u32..6), 4)) {
            let side = |&(low, step, cells): &(i64, i64, u32)| GridSide { place: Place { low, step }, cells };
            let strata = sides.chunks(2).map(|sides| sides.iter().map(side).collect()).collect();
            let grid = Grid { centre: vec![9; 3], vectors, strata };
            prop_assert!(grid.fit(3, 2));
            let count = |rows: &[(Vec<u16>, u32)]| {
                let mut codes = Codes::with_capacity(3, rows.len());
                rows.iter().for_each(|(row, stratum)| codes.push(row, *stratum));
                let mut counts = vec![0_u64; grid.leaves()];
                grid.add(&codes, &mut counts, Level::best());
                counts
            };
            let mut replaced = rows.clone();
            replaced[0] = other;
            let (a, b) = (count(&rows), count(&replaced));
            prop_assert_eq!(a.iter().sum::<u64>(), rows.len() as u64);
            let moved: Vec<i64> = a.iter().zip(&b).map(|(&a, &b)| a as i64 - b as i64).filter(|&x| x != 0).collect();
            prop_assert!(moved.is_empty() || moved.len() == 2 && moved.iter().all(|x| x.abs() == 1));
        }
    }

    #[test]
    fn cells_are_numbered_with_the_last_coordinate_fastest() {
        let unit = |j: usize| (0..2).map(|i| if i == j { 1 << 30 } else { 0 }).collect();
        let side = |cells: u32| GridSide { place: Place { low: 0, step: (65536 / i64::from(cells)) << 30 }, cells };
        let grid = Grid { centre: vec![0; 2], vectors: vec![unit(0), unit(1)], strata: vec![vec![side(2), side(4)]] };
        let mut codes = Codes::with_capacity(2, 3);
        [[0, 0], [40_000, 20_000], [u16::MAX, u16::MAX]].iter().for_each(|row| codes.push(row, 0));
        let mut counts = vec![0; 8];
        grid.add(&codes, &mut counts, Level::best());
        assert_eq!(counts, [1, 0, 0, 0, 0, 1, 0, 1]);
    }
}
