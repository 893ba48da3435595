//! Whether two passes saw the same rows: a keyed sum over their codes, in any order.
//!
//! A table that is read again for every pass may change in between, and then the tallies of a fit are of different rows and
//! its sensitivities are wrong. A tally cannot tell; the fingerprint beside it can.

use super::codes::Codes;
use crate::wipe::wipe;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The bytes of a key.
pub const KEY_BYTES: usize = 32;

/// Takes fingerprints of rows under one key.
///
/// A row is a list of words of 64 bits: its stratum, then its codes, four to a word, and zeros up to an even number. Under
/// uniform keys it becomes h = Σ (w₂ᵢ + k₂ᵢ mod 2⁶⁴) (w₂ᵢ₊₁ + k₂ᵢ₊₁ mod 2⁶⁴) mod 2¹²⁸: NH of Black, Halevi, Krawczyk, Krovetz
/// and Rogaway's *UMAC*. **Different rows share h with a probability of at most 2⁻⁶⁴.** They differ in a word of some pair:
/// a ≠ a′ beside b and b′. Fix all keys but that of b, called y after b is added, so that b′ has y + m mod 2⁶⁴. With
/// u = a + k ≠ u′ = a′ + k mod 2⁶⁴ they share h only if u y − u′ (y + m mod 2⁶⁴) takes one value mod 2¹²⁸. Were that so for
/// y and for y + x, 0 < x < 2⁶⁴, then u x = u′ x or u x = u′ (x − 2⁶⁴) mod 2¹²⁸. The first needs u = u′, for both sides are
/// below 2¹²⁸. The second says that u x + u′ (2⁶⁴ − x), which lies below 2¹²⁸, is 0, so that u = u′ = 0. At most one y of
/// 2⁶⁴ is left.
///
/// Then both halves of h are mixed with each other, under two more keys, and the mixed numbers are summed over the rows
/// mod 2⁶⁴, so that values which change places between rows change the sum. Against accidents, and not against whoever
/// knows the key.
pub struct Marker {
    width: usize,
    keys: Vec<u64>,
    mixers: [u64; 2],
}

/// Codes in a word.
const IN_A_WORD: usize = 4;

impl Marker {
    /// For rows of `width` features. The key must come from the operating system, for one fit.
    pub fn new(key: &[u8; KEY_BYTES], width: usize) -> Marker {
        let mut random = ChaCha20Rng::from_seed(*key);
        let mixers = [random.next_u64(), random.next_u64()];
        let words = (1 + width.div_ceil(IN_A_WORD)).next_multiple_of(2);
        Marker { width, keys: (0..words).map(|_| random.next_u64()).collect(), mixers }
    }

    /// The fingerprint of some rows.
    ///
    /// # Panics
    /// If `codes` has another width: a mistake of the program, not of a row.
    pub fn mark(&self, codes: &Codes) -> Fingerprint {
        assert_eq!(codes.width(), self.width, "fingerprint: rows as wide as the key");
        let mut whole = Fingerprint::default();
        for i in 0..codes.rows() {
            let row = self.row(codes.stratum(i), codes.row(i));
            let (low, high) = (row as u64, (row >> 64) as u64);
            let [first, second] = self.mixers;
            let low_first = mixed(mixed(low.wrapping_add(first)).wrapping_add(high));
            let high_first = mixed(mixed(high.wrapping_add(second)).wrapping_add(low));
            whole.merge(Fingerprint { sums: [low_first, high_first] });
        }
        whole
    }

    /// h of one row.
    fn row(&self, stratum: u32, codes: &[u16]) -> u128 {
        let product =
            |a: u64, b: u64, keys: &[u64]| u128::from(a.wrapping_add(keys[0])) * u128::from(b.wrapping_add(keys[1]));
        // The stratum and the first word, then two words at a time.
        let (first, rest) = codes.split_at(codes.len().min(IN_A_WORD));
        let (keys, more) = self.keys.split_at(2);
        let begun = product(u64::from(stratum), word(first), keys);
        let whole = rest.chunks_exact(2 * IN_A_WORD);
        let last = whole.remainder();
        let add = |sum: u128, (codes, keys): (&[u16], &[u64])| {
            sum.wrapping_add(product(word(&codes[..IN_A_WORD]), word(&codes[IN_A_WORD..]), keys))
        };
        let sum = whole.zip(more.chunks_exact(2)).fold(begun, add);
        match &more[more.len() - 2 * usize::from(!last.is_empty())..] {
            [] => sum,
            keys => {
                let (a, b) = last.split_at(last.len().min(IN_A_WORD));
                sum.wrapping_add(product(word(a), word(b), keys))
            }
        }
    }
}

/// Up to four codes as one number.
#[inline]
fn word(codes: &[u16]) -> u64 {
    match *codes {
        [a, b, c, d] => u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48,
        _ => codes.iter().rev().fold(0, |word, &code| word << 16 | u64::from(code)),
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        wipe(&mut self.keys);
        wipe(&mut self.mixers);
    }
}

/// A bijection of 64 bits in which every bit depends on every other one: Stafford's thirteenth, as in SplitMix64.
fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The fingerprint of some rows under a key. **Secret**, like the tally that it belongs to: it tells whoever has the key
/// whether a guess at the rows is right. No `Debug`.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Fingerprint {
    sums: [u64; 2],
}

impl Fingerprint {
    /// The bytes of a fingerprint.
    pub const BYTES: usize = 16;

    /// Adds the fingerprint of other rows, in any order.
    pub fn merge(&mut self, other: Fingerprint) {
        self.sums = [self.sums[0].wrapping_add(other.sums[0]), self.sums[1].wrapping_add(other.sums[1])];
    }

    /// The fingerprint as bytes, for a worker that may see the rows. Secret: see the type.
    pub fn to_secret_bytes(self) -> [u8; Self::BYTES] {
        (u128::from(self.sums[1]) << 64 | u128::from(self.sums[0])).to_le_bytes()
    }

    /// Reads a fingerprint back.
    pub fn from_secret_bytes(bytes: [u8; Self::BYTES]) -> Fingerprint {
        let both = u128::from_le_bytes(bytes);
        Fingerprint { sums: [both as u64, (both >> 64) as u64] }
    }
}

#[cfg(test)]
mod tests {
    use super::{Codes, Fingerprint, KEY_BYTES, Marker};

    /// Rows of this many codes, and four of them: widths that fill words, pairs of words, and neither.
    const WIDTHS: [usize; 9] = [1, 3, 4, 5, 8, 11, 12, 13, 20];
    const ROWS: usize = 4;

    type Row = (Vec<u16>, u32);

    fn rows(width: usize) -> Vec<Row> {
        let strata = [0, 1, 1 << 16, 1];
        (0..ROWS).map(|i| ((0..width).map(|j| (i * 7919 + j * 104 + 1) as u16).collect(), strata[i])).collect()
    }

    fn mark(key: u8, rows: &[Row], width: usize) -> Fingerprint {
        let mut codes = Codes::with_capacity(width, rows.len());
        rows.iter().for_each(|(values, stratum)| codes.push(values, *stratum));
        Marker::new(&[key; KEY_BYTES], width).mark(&codes)
    }

    /// The same by the formula, word by word.
    #[test]
    fn rows_become_what_the_formula_says() {
        for width in WIDTHS {
            let marker = Marker::new(&[1; KEY_BYTES], width);
            for (codes, stratum) in rows(width) {
                let mut words = vec![u64::from(stratum)];
                words.extend(
                    codes.chunks(4).map(|four| (0..four.len()).map(|i| u64::from(four[i]) << (16 * i)).sum::<u64>()),
                );
                words.resize(marker.keys.len(), 0);
                let keyed: Vec<u128> =
                    words.iter().zip(&marker.keys).map(|(w, k)| u128::from(w.wrapping_add(*k))).collect();
                let sum = keyed.chunks(2).fold(0u128, |sum, pair| sum.wrapping_add(pair[0] * pair[1]));
                assert!(marker.row(stratum, &codes) == sum, "{width} codes");
            }
        }
    }

    #[test]
    fn order_and_parts_do_not_matter() {
        for width in WIDTHS {
            let rows = rows(width);
            let whole = mark(1, &rows, width);
            let turned: Vec<Row> = rows.iter().rev().cloned().collect();
            assert!(mark(1, &turned, width) == whole);
            for cut in 0..=ROWS {
                let mut parts = mark(1, &rows[cut..], width);
                parts.merge(Fingerprint::from_secret_bytes(mark(1, &rows[..cut], width).to_secret_bytes()));
                assert!(parts == whole, "cut at {cut}");
            }
            assert!(mark(1, &[], width) == Fingerprint::default());
        }
    }

    #[test]
    fn every_change_is_seen() {
        for width in WIDTHS {
            let rows = rows(width);
            let whole = mark(1, &rows, width);
            let seen = |changed: &[Row], what: &str| assert!(mark(1, changed, width) != whole, "{width} codes: {what}");
            assert!(mark(2, &rows, width) != whole, "another key");
            for i in 0..ROWS {
                for j in 0..width {
                    for step in [1, 1 << 15] {
                        let mut changed = rows.clone();
                        changed[i].0[j] = changed[i].0[j].wrapping_add(step);
                        seen(&changed, "a value");
                    }
                    // What keeps every sum of a column.
                    let (mut swapped, other) = (rows.clone(), (i + 1) % ROWS);
                    (swapped[i].0[j], swapped[other].0[j]) = (rows[other].0[j], rows[i].0[j]);
                    if width > 1 {
                        seen(&swapped, "values that changed places between rows");
                    }
                }
                let mut changed = rows.clone();
                changed[i].1 ^= 1 << 16;
                seen(&changed, "a stratum");
                changed[i] = rows[(i + 1) % ROWS].clone();
                seen(&changed, "a row twice in place of another");
                let mut turned = rows.clone();
                turned[i].0.rotate_left(1);
                if width > 1 {
                    seen(&turned, "values that changed places within a row");
                }
                // Words and pairs of words that go over to another row together.
                for block in [4, 8] {
                    for first in (0..width.saturating_sub(block)).step_by(block) {
                        let (mut moved, other) = (rows.clone(), (i + 1) % ROWS);
                        moved[i].0[first..first + block].copy_from_slice(&rows[other].0[first..first + block]);
                        moved[other].0[first..first + block].copy_from_slice(&rows[i].0[first..first + block]);
                        seen(&moved, "words that changed places between rows");
                    }
                }
            }
        }
    }
}
