//! The Gram kernel: `Σ v vᵀ` over rows of small integers, exact.

/// Where entry `(i, j)`, `j ≤ i`, stands in a packed lower triangle.
pub fn packed_index(i: usize, j: usize) -> usize {
    debug_assert!(j <= i);
    i * (i + 1) / 2 + j
}

/// Columns of a tile. A tile of `i32` partial sums (16 KiB) stays in the first-level cache.
const TILE: usize = 64;

/// Collects rows in blocks and adds each block's products into `i64` sums, tile by tile.
///
/// Partial sums are `i32`: a block of `block` rows with `|v| ≤ b` needs `block · b² < 2³¹`. For the clipped rows,
/// `b = 2¹³ − 1` and 16 rows give at most 2³⁰; for shifted raw codes, `b = 2¹⁵` and one row gives 2³⁰. Both leave the
/// sum inside an `i32`, so the wrapping operations below never wrap.
pub(super) struct Gram {
    width: usize,
    block: usize,
    filled: usize,
    rows: Vec<i16>,
    sums: Vec<i64>,
}

impl Gram {
    pub(super) fn new(width: usize, block: usize) -> Self {
        let tiles = width.div_ceil(TILE);
        let padded = tiles * TILE;
        Gram {
            width,
            block,
            filled: 0,
            rows: vec![0; padded * block],
            sums: vec![0; tiles * (tiles + 1) / 2 * TILE * TILE],
        }
    }

    pub(super) fn push(&mut self, row: &[i16]) {
        let padded = self.rows.len() / self.block;
        self.rows[self.filled * padded..self.filled * padded + self.width].copy_from_slice(row);
        self.filled += 1;
        if self.filled == self.block {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let padded = self.rows.len() / self.block;
        let tiles = padded / TILE;
        let rows = &self.rows[..self.filled * padded];
        let mut partial = vec![0_i32; TILE * TILE];
        let mut sums = self.sums.chunks_exact_mut(TILE * TILE);
        for left in 0..tiles {
            for right in 0..=left {
                partial.fill(0);
                tile_products(rows, padded, left * TILE, right * TILE, &mut partial);
                let tile = sums.next().unwrap_or_default();
                for (sum, &part) in tile.iter_mut().zip(&partial) {
                    *sum = sum.wrapping_add(i64::from(part));
                }
            }
        }
        self.filled = 0;
    }

    /// Adds what was collected to a packed lower triangle.
    pub(super) fn add_to(mut self, lower: &mut [i64]) {
        if self.filled > 0 {
            self.flush();
        }
        for i in 0..self.width {
            let (left, row) = (i / TILE, i % TILE);
            for j in 0..=i {
                let (right, column) = (j / TILE, j % TILE);
                let tile = left * (left + 1) / 2 + right;
                lower[packed_index(i, j)] += self.sums[(tile * TILE + row) * TILE + column];
            }
        }
    }
}

/// `partial[a][b] += Σ_rows v[left + a] · v[right + b]`, two rows at a time so that the compiler can pair products.
fn tile_products(rows: &[i16], padded: usize, left: usize, right: usize, partial: &mut [i32]) {
    let mut pairs = rows.chunks_exact(2 * padded);
    for pair in &mut pairs {
        let (first, second) = pair.split_at(padded);
        let (first_b, second_b) = (&first[right..right + TILE], &second[right..right + TILE]);
        for (a, sums) in partial.chunks_exact_mut(TILE).enumerate() {
            let (x, y) = (first[left + a], second[left + a]);
            if x == 0 && y == 0 {
                continue;
            }
            for ((sum, &u), &v) in sums.iter_mut().zip(first_b).zip(second_b) {
                let product =
                    (i32::from(x).wrapping_mul(i32::from(u))).wrapping_add(i32::from(y).wrapping_mul(i32::from(v)));
                *sum = sum.wrapping_add(product);
            }
        }
    }
    let last = pairs.remainder();
    if !last.is_empty() {
        let columns = &last[right..right + TILE];
        for (a, sums) in partial.chunks_exact_mut(TILE).enumerate() {
            let x = i32::from(last[left + a]);
            for (sum, &u) in sums.iter_mut().zip(columns) {
                *sum = sum.wrapping_add(x.wrapping_mul(i32::from(u)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The tiled sums equal the sums written down plainly, for any width, rows and values in range.
        #[test]
        fn equals_the_plain_sum(width in 1_usize..150, rows in 0_usize..40, seed in any::<u64>()) {
            let mut state = seed | 1;
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                ((state >> 40) as i64 % 8192) as i16 * if state >> 63 == 1 { -1 } else { 1 }
            };
            let table: Vec<Vec<i16>> = (0..rows).map(|_| (0..width).map(|_| next()).collect()).collect();
            let mut gram = Gram::new(width, 16);
            table.iter().for_each(|row| gram.push(row));
            let mut lower = vec![0_i64; width * (width + 1) / 2];
            gram.add_to(&mut lower);
            for i in 0..width {
                for j in 0..=i {
                    let plain: i64 = table.iter().map(|r| i64::from(r[i]) * i64::from(r[j])).sum();
                    prop_assert_eq!(lower[packed_index(i, j)], plain);
                }
            }
        }
    }

    #[test]
    fn extreme_values_fit_their_blocks() {
        for (value, block) in [(8191_i16, 16), (-8191, 16), (i16::MIN, 1), (i16::MAX, 1)] {
            let mut gram = Gram::new(3, block);
            (0..100).for_each(|_| gram.push(&[value; 3]));
            let mut lower = vec![0_i64; 6];
            gram.add_to(&mut lower);
            assert!(lower.iter().all(|&sum| sum == 100 * i64::from(value) * i64::from(value)));
        }
    }
}
