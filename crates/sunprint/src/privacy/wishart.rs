//! The arithmetic of the Wishart-difference mechanism: every entry of G + s·(Z₁Z₁ᵀ − Z₂Z₂ᵀ) for ideal real normals,
//! rounded to the nearest multiple of a public power of two, without error. The privacy proof is in [`super::moments`].
//!
//! Proof: docs/proofs.md, Lemma 14.
//!
//! # Legend
//! p the order; Z₁, Z₂ real p × (p+1) matrices of independent standard normals; G the integer Gram matrix;
//! s = r·g the scale, g = 2^e the grid, r ≤ 2²⁴; n = 2(p+1) the number of products in one entry; F the number of binary
//! places of the first try (52); u = 2^−F.
//!
//! # The error bound
//! Let ẑ be z with its digits cut off after F places, towards zero: |z − ẑ| < u. For two operands
//!
//! z·w − ẑ·ŵ = ẑ(w − ŵ) + ŵ(z − ẑ) + (z − ẑ)(w − ŵ), hence |z·w − ẑ·ŵ| < u|ẑ| + u|ŵ| + u².
//!
//! Summed over the n products of entry (i, j), of either sign, the error is below u(Lᵢ + Lⱼ) + n·u² where Lᵢ = Σ|ẑ| over
//! row i of both matrices. The integers mᵢ = ẑᵢ/u turn this into units of u²: with S = Σ ± mᵢ·mⱼ the true sum lies in
//! (S − E, S + E)·u², **E = Σ|mᵢ| + Σ|mⱼ| + n**, all exact integers.
//!
//! The entry asked for is g·⌊(G + s·w)/g + ½⌋. Both ends of the interval are carried through (multiplication by r > 0 and
//! rounding of intermediate results downwards at the lower and upwards at the upper end keep it an enclosure). If both
//! ends have the same floor, so has every number between them, and the entry is decided. If not, the entry is *open*:
//! more digits of its own operands are drawn, and the bound is computed again with smaller u. The interval shrinks to a
//! point, and the true value is half-way between grid points with probability 0, so this ends.
//!
//! A digit, once drawn, is stored: all entries see the same real matrices. The outcome is a function of the ideal
//! sample alone; how many threads or refinements it took changes nothing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use num_bigint::{BigInt, Sign};

use super::entropy::Entropy;
use super::normal::Normal;
use super::scale::clamp_to_i64;

/// Binary places kept in the quick store; 64 − PLACES more wait in `low`.
const PLACES: u32 = 52;
const LOW: u32 = 64 - PLACES;
/// The bit of `low` that keeps the sign, which a magnitude below 2^−52 would otherwise lose.
const SIGN: u16 = 1 << 15;
/// Rows of a tile of the product.
const TILE: usize = 16;
/// Columns taken at a time, so that a tile's operands stay in the nearest caches.
const STRIP: usize = 512;
/// Binary places of the enclosure in the first try.
const ENCLOSURE: u32 = 74;

/// How many binary places are tried first, then, and how many more after that. Only speed depends on it.
#[derive(Clone, Copy)]
pub(super) struct Precision {
    pub first: u32,
    pub second: u32,
    pub step: u32,
}

impl Precision {
    /// 52 places in 128-bit sums; then the 64 that every normal has; then 64 fresh ones at a time.
    pub const USUAL: Precision = Precision { first: PLACES, second: 64, step: 64 };
}

/// The public scale s = r·2^e.
#[derive(Clone, Copy)]
pub(super) struct Grid {
    /// r, from 1 to 2²⁴.
    pub multiple: u32,
    /// e, at most 66.
    pub exponent: u32,
}

impl Grid {
    /// Scales reach up to 2 to this power.
    pub const LIMIT: u32 = 90;

    /// The smallest r·2^e ≥ s with r ≤ 2²⁴ and the least e.
    pub fn at_least(s: u128) -> Grid {
        debug_assert!(s > 0 && s <= 1 << Grid::LIMIT);
        let exponent = (u128::BITS - (s - 1).leading_zeros()).saturating_sub(24);
        Grid { multiple: s.div_ceil(1 << exponent) as u32, exponent }
    }

    pub fn scale(&self) -> u128 {
        u128::from(self.multiple) << self.exponent
    }
}

/// The rows of (Z₁ | Z₂), as digit streams. Row i holds p+1 normals of Z₁, then p+1 of Z₂.
pub(super) struct Normals {
    order: usize,
    columns: usize,
    /// Sign and magnitude with 52 binary places, cut off towards zero.
    quick: Vec<i64>,
    /// The sign, and the next 12 digits.
    low: Vec<u16>,
    /// Digits after the 64th, by position, 64 at a time.
    deep: HashMap<usize, Vec<u64>>,
}

impl Normals {
    pub fn draw(entropy: &mut Entropy, order: usize) -> Normals {
        let columns = 2 * (order + 1);
        let (mut quick, mut low) = (Vec::with_capacity(order * columns), Vec::with_capacity(order * columns));
        let mut deep = HashMap::new();
        for index in 0..order * columns {
            let normal = Normal::<64>::draw(entropy);
            let (negative, whole) = (normal.negative, normal.whole);
            let (first, more) = normal.into_digits();
            // A normal beyond 2⁹ = 512 has probability below e^{−131,000}: guessing the key of the cipher is likelier.
            assert!(whole < 1 << 9, "a standard normal lies within 512 standard deviations");
            let magnitude = (whole << PLACES | first >> LOW) as i64;
            quick.push(if negative { -magnitude } else { magnitude });
            low.push((first & ((1 << LOW) - 1)) as u16 | if negative { SIGN } else { 0 });
            if !more.is_empty() {
                deep.insert(index, more);
            }
        }
        Normals { order, columns, quick, low, deep }
    }

    /// The normal at `index` in units of 2^−bits, cut off towards zero; digits not yet known are drawn now.
    fn digits(&mut self, entropy: &mut Entropy, index: usize, bits: u32) -> BigInt {
        let low = self.low[index];
        let mut magnitude = BigInt::from(u128::from(self.quick[index].unsigned_abs()) << LOW | u128::from(low & !SIGN));
        let mut known = 64;
        if bits > known {
            let deep = self.deep.entry(index).or_default();
            for limb in 0.. {
                if limb == deep.len() {
                    deep.push(entropy.next_u64());
                }
                magnitude = magnitude << 64 | BigInt::from(deep[limb]);
                known += 64;
                if known >= bits {
                    break;
                }
            }
        }
        magnitude >>= known - bits;
        if low & SIGN == 0 { magnitude } else { -magnitude }
    }

    fn row(&mut self, entropy: &mut Entropy, row: usize, bits: u32) -> Vec<BigInt> {
        (row * self.columns..(row + 1) * self.columns).map(|index| self.digits(entropy, index, bits)).collect()
    }

    /// Turns the packed lower triangle of G into that of G + s·(Z₁Z₁ᵀ − Z₂Z₂ᵀ), every entry rounded to the nearest
    /// multiple of g and clamped to 64 bits. Returns how many entries the first try left open.
    pub fn add_to(
        &mut self,
        entropy: &mut Entropy,
        gram: &mut [i64],
        grid: Grid,
        precision: Precision,
        threads: usize,
    ) -> usize {
        assert_eq!(gram.len(), self.order * (self.order + 1) / 2, "a packed lower triangle");
        let mut open = first_try(self, gram, grid, precision.first, threads);
        open.sort_unstable();
        for &(i, j) in &open {
            let entry = &mut gram[i * (i + 1) / 2 + j];
            *entry = self.refine(entropy, (i, j), *entry, grid, precision);
        }
        open.len()
    }

    /// One open entry, with as many digits as it takes.
    fn refine(&mut self, entropy: &mut Entropy, at: (usize, usize), gram: i64, grid: Grid, by: Precision) -> i64 {
        let mut bits = by.second;
        loop {
            let (left, right) = (self.row(entropy, at.0, bits), self.row(entropy, at.1, bits));
            let size =
                |row: &[BigInt]| row.iter().map(|m| BigInt::from_biguint(Sign::Plus, m.magnitude().clone())).sum();
            let error: BigInt = [size(&left), size(&right), BigInt::from(self.columns)].into_iter().sum();
            let products = || left.iter().zip(&right).map(|(m, w)| m * w);
            let half = self.columns / 2;
            let sum = products().take(half).sum::<BigInt>() - products().skip(half).sum::<BigInt>();
            // (G + s·w)/g + ½ in units of 2^−(2·bits + e): exact, for G/g = G·2^{2 bits}.
            let places = 2 * bits + grid.exponent;
            let end = |sum: BigInt| {
                let scaled: BigInt = (sum * grid.multiple) << grid.exponent;
                (scaled + (BigInt::from(gram) << (2 * bits)) + (BigInt::from(1) << (places - 1))) >> places
            };
            let (least, most): (BigInt, BigInt) = (end(&sum - &error), end(sum + error));
            if least == most {
                let beyond = if least.sign() == Sign::Minus { i128::MIN } else { i128::MAX };
                return clamp_to_i64(i128::try_from(least << grid.exponent).unwrap_or(beyond));
            }
            bits += by.step;
        }
    }
}

/// Fills in every entry that F = `places` binary places decide, and returns the positions of the others (whose entry
/// still holds G).
fn first_try(normals: &Normals, gram: &mut [i64], grid: Grid, places: u32, threads: usize) -> Vec<(usize, usize)> {
    let (order, columns) = (normals.order, normals.columns);
    let shorter: Vec<i64>;
    let rows = if places == PLACES {
        &normals.quick
    } else {
        let drop = PLACES - places;
        shorter = normals.quick.iter().map(|m| m.signum() * (m.abs() >> drop)).collect();
        &shorter
    };
    let rows: Vec<&[i64]> = rows.chunks_exact(columns).collect();
    let sizes: Vec<i128> = rows.iter().map(|row| row.iter().map(|m| i128::from(m.unsigned_abs())).sum()).collect();
    let largest = rows.iter().flat_map(|row| row.iter()).map(|m| u128::from(m.unsigned_abs())).max().unwrap_or(0);
    // |S| ≤ n·max², E ≤ 2n·max + n: below 2¹²⁵ no sum of products can wrap. Else (never) every entry is refined.
    let wraps = (largest + 2).checked_pow(2).and_then(|x| x.checked_mul(columns as u128)).is_none_or(|x| x >> 125 != 0);
    if wraps {
        return (0..order).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
    }

    // One piece of work is TILE whole rows of the triangle, which are contiguous; the longest are taken first.
    let mut pieces = Vec::new();
    let mut rest = gram;
    for from in (0..order).step_by(TILE) {
        let to = (from + TILE).min(order);
        let (piece, others) = rest.split_at_mut(to * (to + 1) / 2 - from * (from + 1) / 2);
        rest = others;
        pieces.push((from, to, piece));
    }
    let threads = threads.clamp(1, pieces.len().max(1));
    let queue = Mutex::new(pieces);
    let decide = Enclosure { grid, columns: columns as i128, places: 2 * places };
    let work = || {
        let mut open = Vec::new();
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some((from, to, piece)) = next else { return open };
            let start = from * (from + 1) / 2;
            for left in (0..to).step_by(TILE) {
                let right = (left + TILE).min(order);
                let sums = tile(&rows[from..to], &rows[left..right]);
                for i in from..to {
                    for j in left..right.min(i + 1) {
                        let entry = &mut piece[i * (i + 1) / 2 + j - start];
                        match decide.rounded(sums[i - from][j - left], sizes[i] + sizes[j], *entry) {
                            Some(value) => *entry = value,
                            None => open.push((i, j)),
                        }
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut open = work();
        for other in others {
            open.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        open
    })
}

/// The interval of an entry, in 128-bit fixed point.
#[derive(Clone, Copy)]
struct Enclosure {
    grid: Grid,
    columns: i128,
    /// Binary places of a product: 2F.
    places: u32,
}

impl Enclosure {
    /// g·⌊(G + s·w)/g + ½⌋ if every w in (sum ± E)·u² gives the same, E = sizes + n.
    ///
    /// |sum| + E < 2¹²⁶ in units of 2^−2F (see [`first_try`]). With F = 52 an end in units of 2⁻⁷⁴ is below 2⁹⁶ + 1, times
    /// r ≤ 2²⁴ below 2¹²¹: no overflow, and the quotient of at most 47 bits times g ≤ 2⁶⁶ fits too. (Fewer than 37 places
    /// are for tests.)
    #[inline]
    fn rounded(&self, sum: i128, sizes: i128, gram: i64) -> Option<i64> {
        let error = sizes + self.columns;
        let (mut least, mut most) = (sum - error, sum + error);
        if self.places >= ENCLOSURE {
            let drop = self.places - ENCLOSURE;
            (least, most) = (least >> drop, (most >> drop) + 1);
        } else {
            let gain = ENCLOSURE - self.places;
            (least, most) = (least << gain, most << gain);
        }
        // G = high·g + rest with 0 ≤ rest < g, and rest/g is exact in 74 places because e ≤ 66.
        let (gram, e) = (i128::from(gram), self.grid.exponent);
        let (high, rest) = (gram >> e, gram & ((1i128 << e) - 1));
        let offset = (rest << (ENCLOSURE - e)) + (1i128 << (ENCLOSURE - 1));
        let multiple = i128::from(self.grid.multiple);
        let (least, most) = ((least * multiple + offset) >> ENCLOSURE, (most * multiple + offset) >> ENCLOSURE);
        (least == most).then(|| clamp_to_i64((high + least) << e))
    }
}

/// The sums Σ over Z₁ minus Σ over Z₂ of the products of up to 16 rows with up to 16 rows.
fn tile(left: &[&[i64]], right: &[&[i64]]) -> [[i128; TILE]; TILE] {
    let mut sums = [[0i128; TILE]; TILE];
    let columns = left[0].len();
    for half in [0..columns / 2, columns / 2..columns] {
        let negative = half.start > 0;
        for strip in half.clone().step_by(STRIP) {
            let strip = strip..(strip + STRIP).min(half.end);
            for i in (0..left.len()).step_by(2) {
                for j in (0..right.len()).step_by(2) {
                    // A last odd row is paired with itself, and the spare results are dropped.
                    let (a, b) =
                        ([left[i], left[(i + 1).min(left.len() - 1)]], [right[j], right[(j + 1).min(right.len() - 1)]]);
                    let part = products(a.map(|row| &row[strip.clone()]), b.map(|row| &row[strip.clone()]));
                    for (x, row) in part.iter().enumerate() {
                        for (y, &sum) in row.iter().enumerate() {
                            let total = &mut sums[i + x][j + y];
                            *total = if negative { total.wrapping_sub(sum) } else { total.wrapping_add(sum) };
                        }
                    }
                }
            }
        }
    }
    sums
}

/// Two rows with two rows. Wrapping, for [`first_try`] has shown that nothing wraps.
#[inline]
fn products(a: [&[i64]; 2], b: [&[i64]; 2]) -> [[i128; 2]; 2] {
    let mut sums = [[0i128; 2]; 2];
    for (((&a0, &a1), &b0), &b1) in a[0].iter().zip(a[1]).zip(b[0]).zip(b[1]) {
        let (a0, a1, b0, b1) = (i128::from(a0), i128::from(a1), i128::from(b0), i128::from(b1));
        sums[0][0] = sums[0][0].wrapping_add(a0.wrapping_mul(b0));
        sums[0][1] = sums[0][1].wrapping_add(a0.wrapping_mul(b1));
        sums[1][0] = sums[1][0].wrapping_add(a1.wrapping_mul(b0));
        sums[1][1] = sums[1][1].wrapping_add(a1.wrapping_mul(b1));
    }
    sums
}

#[cfg(test)]
#[path = "wishart_tests.rs"]
mod tests;
