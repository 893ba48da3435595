//! A random order of N rows that any thread can look up for any row, without ever writing it down.

use super::stream::Stream;

/// A keyed permutation of {0, …, N − 1}.
///
/// With a = ⌈√N⌉ an index is a pair (l, r) in {0, …, a − 1}², and a Feistel round maps it to (r, l + F(r) mod a): a
/// bijection whatever F is. Eight rounds with mixed keys permute the a² pairs. A pair beyond N − 1 is sent through the
/// rounds again until it falls inside; following the cycle of a permutation to its next element of a subset is a
/// permutation of that subset. As a² < N + 2√N + 1, a second walk is rare.
#[derive(Clone, Debug)]
pub struct Permutation {
    length: u64,
    side: u64,
    keys: [u64; 8],
}

impl Permutation {
    /// A permutation of `length` numbers, its keys taken from the stream.
    pub fn new(length: u64, stream: &mut Stream) -> Self {
        let root = length.isqrt();
        let side = if root * root == length { root } else { root + 1 };
        Permutation { length, side, keys: std::array::from_fn(|_| stream.bits()) }
    }

    /// How many numbers are permuted.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Where `index` goes. An index outside the range stays where it is.
    pub fn at(&self, index: u64) -> u64 {
        if index >= self.length {
            return index;
        }
        let mut place = index;
        loop {
            let (mut left, mut right) = (place / self.side, place % self.side);
            for key in self.keys {
                let mixed = u128::from(mix(right ^ key)) * u128::from(self.side);
                let sum = left + (mixed >> 64) as u64;
                (left, right) = (right, if sum >= self.side { sum - self.side } else { sum });
            }
            place = left * self.side + right;
            if place < self.length {
                return place;
            }
        }
    }
}

/// Stirs 64 bits: multiplications carry low bits upwards, shifts bring high bits down. Both steps are bijections.
fn mix(mut x: u64) -> u64 {
    for _ in 0..2 {
        x ^= x >> 32;
        x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    x ^ (x >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_is_hit_once(length in 0u64..3_000, seed: u64) {
            let permutation = Permutation::new(length, &mut Stream::new(seed, 0, 0));
            let mut hit: Vec<u64> = (0..length).map(|i| permutation.at(i)).collect();
            hit.sort_unstable();
            prop_assert!(hit.into_iter().eq(0..length));
        }

        #[test]
        fn huge_lengths_do_not_overflow(length in (u64::MAX - 1_000)..=u64::MAX, index: u64, seed: u64) {
            let permutation = Permutation::new(length, &mut Stream::new(seed, 0, 0));
            let index = index.min(length - 1);
            prop_assert!(permutation.at(index) < length);
        }
    }

    #[test]
    fn small_permutations_are_evenly_spread() {
        // All 24 orders of four numbers, 48,000 keys: 2,000 each, standard deviation 44; fixed seeds.
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..48_000 {
            let permutation = Permutation::new(4, &mut Stream::new(seed, 0, 0));
            *seen.entry([0, 1, 2, 3].map(|i| permutation.at(i))).or_insert(0) += 1;
        }
        assert!(seen.len() == 24 && seen.values().all(|n| (1_780..2_220).contains(n)), "five standard deviations");
    }

    #[test]
    fn neighbours_are_parted() {
        let permutation = Permutation::new(10_000, &mut Stream::new(1, 0, 0));
        let places: Vec<f64> = (0..10_000).map(|i| permutation.at(i) as f64 / 10_000.0 - 0.4999).collect();
        let correlation = |lag: usize| 12.0 * places.windows(lag + 1).map(|w| w[0] * w[lag]).sum::<f64>() / 10_000.0;
        assert!((1..5).all(|lag| correlation(lag).abs() < 0.05), "five standard deviations, fixed seed");
    }
}
