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
/// A row of codes c and stratum s becomes h = Σ kⱼ cⱼ + k′ (s mod 2¹⁶) + k″ ⌊s / 2¹⁶⌋ mod 2⁶⁴ with uniform keys. Two
/// different rows differ somewhere by δ with 0 < |δ| < 2¹⁶, so that δ has at most 15 factors of two, and k δ takes its value
/// mod 2⁶⁴ with a probability of at most 2¹⁵⁻⁶⁴ = 2⁻⁴⁹: so often, and no oftener, do they share h. Then h is mixed twice,
/// under two more keys, and the mixed numbers are summed over the rows mod 2⁶⁴, so that values which change places between
/// rows change the sum. Against accidents, and not against whoever knows the key.
pub struct Marker {
    keys: Vec<u64>,
    strata: [u64; 2],
    mixers: [u64; 2],
}

impl Marker {
    /// For rows of `width` features. The key must come from the operating system, for one fit.
    pub fn new(key: &[u8; KEY_BYTES], width: usize) -> Marker {
        let mut random = ChaCha20Rng::from_seed(*key);
        let strata = [random.next_u64(), random.next_u64()];
        let mixers = [random.next_u64(), random.next_u64()];
        Marker { keys: (0..width).map(|_| random.next_u64()).collect(), strata, mixers }
    }

    /// The fingerprint of some rows.
    ///
    /// # Panics
    /// If `codes` has another width: a mistake of the program, not of a row.
    pub fn mark(&self, codes: &Codes) -> Fingerprint {
        assert_eq!(codes.width(), self.keys.len(), "fingerprint: rows as wide as the key");
        let mut whole = Fingerprint::default();
        for i in 0..codes.rows() {
            let stratum = u64::from(codes.stratum(i));
            let begun = self.strata[0].wrapping_mul(stratum & 0xFFFF).wrapping_add(self.strata[1].wrapping_mul(stratum >> 16));
            let add = |sum: u64, (&code, &key): (&u16, &u64)| sum.wrapping_add(key.wrapping_mul(u64::from(code)));
            let row = codes.row(i).iter().zip(&self.keys).fold(begun, add);
            whole.merge(Fingerprint { sums: self.mixers.map(|mixer| mixed(row.wrapping_add(mixer))) });
        }
        whole
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        wipe(&mut self.keys);
        wipe(&mut self.strata);
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

    const WIDTH: usize = 3;
    const ROWS: [([u16; WIDTH], u32); 4] =
        [([1, 2, 3], 0), ([4, 5, 6], 1), ([0, 0, 65_535], 1 << 16), ([7, 8, 9], 1)];

    fn mark(key: u8, rows: &[([u16; WIDTH], u32)]) -> Fingerprint {
        let mut codes = Codes::with_capacity(WIDTH, rows.len());
        rows.iter().for_each(|(values, stratum)| codes.push(values, *stratum));
        Marker::new(&[key; KEY_BYTES], WIDTH).mark(&codes)
    }

    #[test]
    fn order_and_parts_do_not_matter() {
        let whole = mark(1, &ROWS);
        let mut turned = ROWS;
        turned.reverse();
        assert!(mark(1, &turned) == whole);
        for cut in 0..=ROWS.len() {
            let mut parts = mark(1, &ROWS[cut..]);
            parts.merge(Fingerprint::from_secret_bytes(mark(1, &ROWS[..cut]).to_secret_bytes()));
            assert!(parts == whole, "cut at {cut}");
        }
        assert!(mark(1, &[]) == Fingerprint::default());
    }

    #[test]
    fn every_change_is_seen() {
        let whole = mark(1, &ROWS);
        assert!(mark(2, &ROWS) != whole, "another key");
        for i in 0..ROWS.len() {
            for j in 0..WIDTH {
                for step in [1, 1 << 15] {
                    let mut changed = ROWS;
                    changed[i].0[j] = changed[i].0[j].wrapping_add(step);
                    assert!(mark(1, &changed) != whole, "value {j} of row {i}");
                }
            }
            let mut changed = ROWS;
            changed[i].1 ^= 1 << 16;
            assert!(mark(1, &changed) != whole, "stratum of row {i}");
            changed[i] = ROWS[(i + 1) % ROWS.len()];
            assert!(mark(1, &changed) != whole, "a row twice in place of another");
        }
        // What keeps every sum of a column, and what keeps every product within a row of two columns that stand together.
        let mut swapped = ROWS;
        (swapped[0].0[0], swapped[1].0[0]) = (ROWS[1].0[0], ROWS[0].0[0]);
        assert!(mark(1, &swapped) != whole, "values that changed places between rows");
        (swapped[0].0[1], swapped[1].0[1]) = (ROWS[1].0[1], ROWS[0].0[1]);
        assert!(mark(1, &swapped) != whole, "pairs that changed places between rows");
        let mut turned = ROWS;
        turned[0].0 = [2, 1, 3];
        assert!(mark(1, &turned) != whole, "values that changed places within a row");
    }
}
