//! The last pass: which cell of the partition each row falls into.
//!
//! Proof: docs/proofs.md, Lemma 19.

use super::codes::Codes;
use crate::cpu::{Level, Vectorised};
use crate::wipe::wipe;
use serde::{Deserialize, Serialize};

/// A binary partition of a box, cut in the order of [`Cells::cuts`], to its own depth in each stratum. Public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cells {
    /// How a row becomes a point.
    pub coordinates: Coordinates,
    /// The coordinate that each cut halves, from the first cut to the last.
    pub cuts: Vec<u16>,
    /// For each stratum, how many of the cuts are made in it.
    pub depths: Vec<u8>,
}

/// How a row becomes a point of the box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Coordinates {
    /// Inner products of `x − centre` with fixed-point unit vectors (2³⁰ is one).
    Basis {
        /// The centre, in codes.
        centre: Vec<u16>,
        /// One integer vector for each coordinate.
        vectors: Vec<Vec<i32>>,
        /// Where each coordinate's interval lies.
        places: Vec<Place>,
    },
    /// The codes themselves: the cube, without a projection.
    Columns,
}

/// One side of the box, in units of 2⁻³⁰ codes: cell `q` of the finest cut is `[low + q step, low + (q+1) step)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Lower end.
    pub low: i64,
    /// Width of the finest cell; at least 1.
    pub step: i64,
}

/// Rows in each cell: strata one after the other, `2^depth` leaves each, or the cells of its lattice.
#[derive(PartialEq, Eq)]
pub struct CellTally {
    /// The counts.
    pub leaves: Vec<u64>,
}

/// More cuts are never made.
const MOST_CUTS: usize = 40;
/// A pass never has more leaves, over all strata.
pub(super) const MOST_LEAVES: usize = 1 << 26;
/// Bits of a code.
const CODE_BITS: u32 = 16;

/// Writes `x − c`.
#[inline(always)]
pub(super) fn less_centre(row: &[u16], centre: &[u16], out: &mut [i32]) {
    for ((u, &x), &c) in out.iter_mut().zip(row).zip(centre) {
        *u = i32::from(x) - i32::from(c);
    }
}

/// `⟨u, v⟩` for `u = x − c`, in units of 2⁻³⁰ codes.
///
/// |Σ| ≤ 2³⁰ · 2¹⁶ · ‖v‖₁ ≤ 2⁴⁶ · √4096: inside an i64.
#[inline(always)]
pub(super) fn inner(u: &[i32], vector: &[i32]) -> i64 {
    let mut inner = 0_i64;
    for (&u, &v) in u.iter().zip(vector) {
        inner = inner.wrapping_add(i64::from(u).wrapping_mul(i64::from(v)));
    }
    inner
}

impl Cells {
    /// How often each coordinate is cut.
    pub fn bits(&self) -> Vec<u32> {
        let used = self.cuts.iter().map(|&cut| usize::from(cut) + 1).max().unwrap_or(0);
        let mut bits = vec![0; used];
        self.cuts.iter().for_each(|&cut| bits[usize::from(cut)] += 1);
        bits
    }

    /// The leaves of all strata together.
    pub fn leaves(&self) -> usize {
        self.depths.iter().map(|&depth| 1_usize << depth).sum()
    }

    /// Lengths agree and indices are in range: what tallying relies on.
    pub(super) fn fit(&self, width: usize, strata: usize) -> bool {
        let bits = self.bits();
        let points = match &self.coordinates {
            Coordinates::Basis { centre, vectors, places } => {
                let shapes = centre.len() == width && vectors.iter().all(|vector| vector.len() == width);
                // ‖v‖₁ ≤ √d ‖v‖₂, and a vector of this room is a unit vector up to rounding.
                let short = vectors.iter().flatten().all(|&v| v.unsigned_abs() <= 1 << 30);
                if !shapes || !short || places.len() != vectors.len() || places.iter().any(|place| place.step < 1) {
                    return false;
                }
                vectors.len()
            }
            Coordinates::Columns => width,
        };
        let depth = self.cuts.len();
        let leaves = self.depths.iter().map(|&depth| 1_usize.checked_shl(depth.into()));
        depth <= MOST_CUTS
            && bits.len() <= points
            && self.depths.len() == strata
            && self.depths.iter().all(|&d| usize::from(d) <= depth)
            && leaves.sum::<Option<usize>>().is_some_and(|leaves| leaves <= MOST_LEAVES)
    }

    /// Where the bits of each coordinate go.
    fn spread(&self) -> Vec<Spread> {
        let bits = self.bits();
        let mut places: Vec<Vec<u64>> = vec![Vec::new(); bits.len()];
        // The first cut is the highest bit of the index, and of its coordinate.
        for (at, &cut) in self.cuts.iter().rev().enumerate() {
            places[usize::from(cut)].push(1 << at);
        }
        let mut spreads = Vec::new();
        for (coordinate, places) in places.iter().enumerate() {
            for (byte, places) in places.chunks(8).enumerate() {
                let bits = |value: usize| (0..places.len()).filter(move |bit| value >> bit & 1 == 1);
                let index = |value: usize| bits(value).map(|bit| places[bit]).sum();
                spreads.push(Spread { coordinate, shift: 8 * byte as u32, index: std::array::from_fn(index) });
            }
        }
        spreads
    }
}

/// Eight bits of a coordinate, and what each of their values adds to the index of the cell.
struct Spread {
    coordinate: usize,
    shift: u32,
    index: [u64; 256],
}

/// Rows on their way into the counts.
struct Counting<'a> {
    leaves: &'a mut [u64],
    codes: &'a Codes,
    cells: &'a Cells,
}

impl Vectorised for Counting<'_> {
    type Output = ();

    /// A row's cell at full depth has the bits of its coordinates, interleaved in the order of the cuts.
    ///
    /// A coordinate is clamped into its interval by integer division and comparison, so it is never out of range and is
    /// the same on every machine.
    #[inline(always)]
    fn run(self) {
        let Counting { leaves, codes, cells } = self;
        let (bits, spreads) = (cells.bits(), cells.spread());
        let mut starts = Vec::with_capacity(cells.depths.len());
        let mut start = 0;
        for &depth in &cells.depths {
            starts.push((start, cells.cuts.len() - usize::from(depth)));
            start += 1_usize << depth;
        }
        let mut point = vec![0_u64; bits.len()];
        let mut u = vec![0_i32; codes.width()];
        for i in 0..codes.rows() {
            let row = codes.row(i);
            match &cells.coordinates {
                Coordinates::Basis { centre, vectors, places } => {
                    less_centre(row, centre, &mut u);
                    for (((q, vector), place), &bits) in point.iter_mut().zip(vectors).zip(places).zip(&bits) {
                        let offset = inner(&u, vector).saturating_sub(place.low).max(0);
                        *q = ((offset / place.step.max(1)) as u64).min((1 << bits) - 1);
                    }
                }
                Coordinates::Columns => {
                    for ((q, &x), &bits) in point.iter_mut().zip(row).zip(&bits) {
                        // Below the width of a code there is nothing to tell apart: such cuts send every row to the left.
                        let x = u64::from(x) << bits.saturating_sub(CODE_BITS);
                        *q = x >> CODE_BITS.saturating_sub(bits);
                    }
                }
            }
            let mut index = 0;
            for spread in &spreads {
                index |= spread.index[(point[spread.coordinate] >> spread.shift & 255) as usize];
            }
            // A leaf of a shallower stratum is a prefix of the full index.
            let (start, shallower) = starts[(codes.stratum(i) as usize).min(starts.len() - 1)];
            leaves[start + (index as usize >> shallower)] += 1;
        }
    }
}

impl CellTally {
    pub(super) fn empty(leaves: usize) -> Self {
        CellTally { leaves: vec![0; leaves] }
    }

    pub(super) fn add(&mut self, codes: &Codes, cells: &Cells, level: Level) {
        Counting { leaves: &mut self.leaves, codes, cells }.run_at(level);
    }

    pub(super) fn merge(&mut self, other: CellTally) {
        for (a, b) in self.leaves.iter_mut().zip(&other.leaves) {
            *a += b;
        }
    }
}

impl Drop for CellTally {
    fn drop(&mut self) {
        wipe(&mut self.leaves);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the box and the row, the index is in range, and every row is counted once.
        #[test]
        fn never_out_of_range(rows in prop::collection::vec(prop::collection::vec(any::<u16>(), 3), 1..20),
                              vectors in prop::collection::vec(prop::collection::vec(-(1_i32 << 30)..(1 << 30), 3), 2),
                              low in any::<i64>(), step in 1_i64..(1 << 50),
                              cuts in prop::collection::vec(0_u16..2, 0..9), depth in 0_u8..9) {
            let depth = depth.min(cuts.len() as u8);
            let mut cuts = cuts;
            cuts.push(1);
            let place = Place { low, step };
            let cells = Cells {
                coordinates: Coordinates::Basis { centre: vec![7; 3], vectors, places: vec![place; 2] },
                cuts: cuts.clone(), depths: vec![depth, cuts.len() as u8],
            };
            let mut codes = Codes::with_capacity(3, rows.len());
            rows.iter().enumerate().for_each(|(i, row)| codes.push(row, i as u32 % 3));
            let mut tally = CellTally::empty(cells.leaves());
            tally.add(&codes, &cells, Level::best());
            prop_assert_eq!(tally.leaves.iter().sum::<u64>(), rows.len() as u64);
        }
    }

    #[test]
    fn the_upper_end_counts_in_the_last_cell() {
        let cells = Cells { coordinates: Coordinates::Columns, cuts: vec![0, 0, 1], depths: vec![3] };
        let mut codes = Codes::with_capacity(2, 2);
        codes.push(&[u16::MAX, u16::MAX], 0);
        codes.push(&[0, 0], 0);
        let mut tally = CellTally::empty(cells.leaves());
        tally.add(&codes, &cells, Level::best());
        assert_eq!(tally.leaves, [1, 0, 0, 0, 0, 0, 0, 1]);
    }
}
