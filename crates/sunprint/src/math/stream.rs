//! Reproducible random numbers for drawing synthetic rows. Never for privacy noise: whoever knows the seed knows all.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// One of 2⁶⁴ independent streams of a seed: the same numbers on every machine, in whatever order streams are opened.
///
/// Give each block of rows its own `number` and the blocks can be drawn in parallel.
#[derive(Clone, Debug)]
pub struct Stream {
    rng: ChaCha8Rng,
    /// The second normal of a pair, kept for the next call.
    pub(super) spare: Option<f64>,
}

impl Stream {
    /// The stream `number` of a `seed`; `purpose` keeps different uses of one seed apart.
    pub fn new(seed: u64, purpose: u64, number: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&purpose.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(number);
        Stream { rng, spare: None }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// Uniform on the multiples of 2⁻⁵³ in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on {0, …, `bound` − 1}; 0 if `bound` is 0.
    ///
    /// The high half of bits × bound is the answer. Each answer has ⌊2⁶⁴/bound⌋ or one more preimages; those whose
    /// low half is below 2⁶⁴ mod bound are drawn again, which leaves exactly ⌊2⁶⁴/bound⌋ for each.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        let surplus = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            if product as u64 >= surplus {
                return (product >> 64) as u64;
            }
        }
    }

    /// `count` different numbers of {0, …, `bound` − 1} in random order (all of them if `count` is larger).
    pub fn choose(&mut self, bound: usize, count: usize) -> Vec<usize> {
        let mut items: Vec<usize> = (0..bound).collect();
        let count = count.min(bound);
        for i in 0..count {
            let j = i + self.below((bound - i) as u64) as usize;
            items.swap(i, j);
        }
        items.truncate(count);
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_never_change() {
        let mut stream = Stream::new(7, 1, 2);
        assert_eq!([stream.bits(), stream.bits()], [FIRST, SECOND]);
    }

    // Written down once: a model's draws must stay the same for ever.
    const FIRST: u64 = 1_131_624_505_125_221_123;
    const SECOND: u64 = 4_813_562_505_905_584_011;

    #[test]
    fn seeds_purposes_and_numbers_differ() {
        let first = |a, b, c| Stream::new(a, b, c).bits();
        let all = [first(0, 0, 0), first(1, 0, 0), first(0, 1, 0), first(0, 0, 1)];
        for i in 0..all.len() {
            for j in 0..i {
                assert_ne!(all[i], all[j]);
            }
        }
    }

    #[test]
    fn uniform_numbers_stay_in_range_and_fill_it() {
        let mut stream = Stream::new(3, 0, 0);
        assert_eq!((stream.below(0), stream.below(1)), (0, 0));
        let mut seen = [0u32; 10];
        for _ in 0..100_000 {
            seen[stream.below(10) as usize] += 1;
            assert!((0.0..1.0).contains(&stream.unit()));
        }
        assert!(seen.iter().all(|&n| (9_500..10_500).contains(&n)), "fixed seed: five standard deviations");
        assert!((0..100).all(|_| stream.below(u64::MAX) < u64::MAX));
    }

    #[test]
    fn chosen_numbers_are_different() {
        let mut chosen = Stream::new(9, 0, 0).choose(50, 20);
        assert_eq!(chosen.len(), 20);
        chosen.sort_unstable();
        chosen.dedup();
        assert_eq!((chosen.len(), chosen.iter().all(|&i| i < 50)), (20, true));
        assert_eq!(Stream::new(9, 0, 0).choose(3, 9).len(), 3);
    }
}
