//! The Gram kernel: `Σ v vᵀ` over rows of small integers, exact.

use crate::cpu::{Level, PAIRS, PANEL, Pair, Sums, TILE, tile};
use std::hint::black_box;

/// Where entry `(i, j)`, `j ≤ i`, stands in a packed lower triangle.
pub fn packed_index(i: usize, j: usize) -> usize {
    debug_assert!(j <= i);
    i * (i + 1) / 2 + j
}

/// The largest entry of a row, in absolute value.
///
/// A tile adds the products of 2 · [`PAIRS`] = 32 rows in 32 bits before it widens them, and 32 · 8191² =
/// 2,146,959,392 < 2³¹: so no partial sum leaves an `i32`, whatever the rows and the order of adding.
pub(super) const LARGEST: i64 = 8191;
const _: () = assert!(2 * PAIRS as i64 * LARGEST * LARGEST <= i32::MAX as i64);

/// Rows that are packed before they are multiplied: at most this many pairs, and at most this many bytes of them, so
/// that they stay in the second-level cache while two panels of them, 2 · 128 · 64 bytes, stay in the first.
const MOST_PAIRS: usize = 128;
const MOST_BYTES: usize = 1 << 19;

/// Collects rows in blocks and adds each block's products into `i64` sums, tile by tile.
///
/// Columns are cut into panels of 16. A panel of a block lies together, pair of rows by pair of rows; a tile multiplies
/// half a panel with two whole ones. Only tiles that reach under the diagonal are computed.
pub(super) struct Gram {
    level: Level,
    width: usize,
    /// Pairs in a block, and rows that it holds already.
    pairs: usize,
    filled: usize,
    /// Panel by panel, one more than needed if their number is odd: tiles take them by two. The last is zero then.
    packed: Vec<Pair>,
    sums: Vec<Sums>,
}

impl Gram {
    pub(super) fn new(width: usize, level: Level) -> Self {
        let used = width.div_ceil(PANEL);
        let panels = used.next_multiple_of(2);
        let fitting = MOST_BYTES / (panels * size_of::<Pair>());
        let pairs = (fitting / PAIRS * PAIRS).clamp(PAIRS, MOST_PAIRS);
        let tiles = (0..used).step_by(2).map(|two| 2 * (used - two)).sum();
        Gram {
            level,
            width,
            pairs,
            filled: 0,
            packed: vec![Pair([0; PANEL]); panels * pairs],
            sums: vec![Sums([[0; TILE.1]; TILE.0]); tiles],
        }
    }

    /// Adds two rows; the second may be all zeros, which adds nothing.
    ///
    /// No entry may be larger than [`LARGEST`].
    #[inline(always)]
    pub(super) fn push_pair(&mut self, first: &[i16], second: &[i16]) {
        debug_assert!(first.len() == self.width && second.len() == self.width);
        let panels = self.packed.chunks_exact_mut(self.pairs);
        for ((panel, first), second) in panels.zip(first.chunks(PANEL)).zip(second.chunks(PANEL)) {
            let pair = &mut panel[self.filled];
            for ((both, &x), &y) in pair.0.iter_mut().zip(first).zip(second) {
                *both = i32::from(y) << 16 | i32::from(x as u16);
            }
        }
        self.filled += 1;
        if self.filled == self.pairs {
            self.multiply();
        }
    }

    #[inline(never)]
    fn multiply(&mut self) {
        let panels: Vec<&[Pair]> = self.packed.chunks_exact(self.pairs).map(|panel| &panel[..self.filled]).collect();
        let used = self.width.div_ceil(PANEL);
        let mut sums = self.sums.iter_mut();
        for two in (0..used).step_by(2) {
            let columns = [panels[two], panels[two + 1]];
            for rows in &panels[two..used] {
                for (half, sums) in sums.by_ref().take(2).enumerate() {
                    tile(self.level, rows, half, columns, sums);
                }
            }
        }
        self.filled = 0;
    }

    /// Adds what was collected to a packed lower triangle.
    pub(super) fn add_to(mut self, lower: &mut [i64]) {
        if self.filled > 0 {
            self.multiply();
        }
        let used = self.width.div_ceil(PANEL);
        let mut tiles = self.sums.iter();
        for two in (0..used).step_by(2) {
            for first in (two..used).flat_map(|panel| [0, 1].map(|half| panel * PANEL + half * TILE.0)) {
                let Some(tile) = tiles.next() else { return };
                for (i, sums) in (first..self.width).zip(&tile.0) {
                    for (j, sum) in (two * PANEL..=i).zip(sums) {
                        lower[packed_index(i, j)] += sum;
                    }
                }
            }
        }
    }
}

impl Drop for Gram {
    fn drop(&mut self) {
        self.packed.fill(Pair([0; PANEL]));
        self.sums.fill(Sums([[0; TILE.1]; TILE.0]));
        black_box((&mut self.packed, &mut self.sums));
    }
}
