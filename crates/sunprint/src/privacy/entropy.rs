//! Random bits from the operating system, stretched by ChaCha20.
//!
//! The mechanisms' proofs speak of ideal coins. ChaCha20 under a 256-bit key from the operating system replaces them:
//! to tell the difference is to break the cipher. There is no way to set the key in a release build.
//!
//! # Noise never repeats
//! Two releases of neighbouring tables with the same coins differ by exactly the row that was to be hidden. So every
//! release has a key of its own:
//!
//! * **A key is born with a release and dies with it.** [`super::Kernel`] holds no key. The one way to coins is
//!   `Kernel::spend`, which writes one line into the log and draws one key; the [`Coins`] that it gives belong to that
//!   call of that mechanism and are dropped when it returns. Nothing keeps them: they have no copy, no bytes and no
//!   serialised form.
//! * **So what is copied between two releases holds no key.** A process that forks before a fit, within one, or twice,
//!   leaves in each child a kernel without a key, and each child asks the operating system for its own. No process id is
//!   compared, which could come round again.
//! * **No release is copied while it runs.** A fork copies the memory of all threads, but only the thread that called it
//!   goes on in the child. If that is another thread than the mechanism's, the copy of the mechanism's never takes another
//!   step, and what it had drawn is never used. And the mechanism's own thread does not call it: between `spend` and the
//!   return of a mechanism runs no code of a caller, only the samplers of this room.
//! * **Different keys.** The operating system's generator gives different bytes to every call, in whatever process and
//!   thread. Two of 2⁴⁰ keys are equal with a probability below 2⁻¹⁷⁶.
//!
//! A virtual machine that is cloned together with the generator of its operating system is beyond this; see
//! docs/threat-model.md.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::kernel::Kernel;
use crate::error::{Error, Kind, Result};

const WORDS: usize = 64;

/// The coins of one release: see the proof above. They borrow the kernel, which so cannot begin another release meanwhile.
pub(in crate::privacy) enum Coins<'a> {
    /// Under a key of their own.
    Fresh(Box<Entropy>, PhantomData<&'a mut Kernel>),
    /// The next of a seeded stream, for tests.
    #[cfg(any(test, feature = "seam"))]
    Seeded(&'a mut Entropy),
}

impl Coins<'_> {
    /// Under a key that the operating system gives now.
    pub fn fresh() -> Result<Self> {
        Ok(Coins::Fresh(Box::new(Entropy::from_system()?), PhantomData))
    }
}

impl Deref for Coins<'_> {
    type Target = Entropy;

    fn deref(&self) -> &Entropy {
        match self {
            Coins::Fresh(entropy, _) => entropy,
            #[cfg(any(test, feature = "seam"))]
            Coins::Seeded(entropy) => entropy,
        }
    }
}

impl DerefMut for Coins<'_> {
    fn deref_mut(&mut self) -> &mut Entropy {
        match self {
            Coins::Fresh(entropy, _) => entropy,
            #[cfg(any(test, feature = "seam"))]
            Coins::Seeded(entropy) => entropy,
        }
    }
}

/// A stream of uniform 64-bit words.
pub(in crate::privacy) struct Entropy {
    cipher: ChaCha20Rng,
    words: [u64; WORDS],
    next: usize,
    /// A word of which `bits_left` bits have not been handed out by [`Entropy::bit`].
    bits: u64,
    bits_left: u32,
}

impl Entropy {
    /// Keyed by the operating system.
    fn from_system() -> Result<Entropy> {
        let mut key = [0u8; 32];
        getrandom::fill(&mut key)
            .map_err(|error| Error::new(Kind::Io, format!("the operating system gave no random bytes: {error}")))?;
        Ok(Entropy::from_key(key))
    }

    /// The same stream every time, for tests.
    #[cfg(any(test, feature = "seam"))]
    pub fn seeded(seed: u64) -> Entropy {
        let mut key = [0x5a; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Entropy::from_key(key)
    }

    fn from_key(key: [u8; 32]) -> Entropy {
        Entropy { cipher: ChaCha20Rng::from_seed(key), words: [0; WORDS], next: WORDS, bits: 0, bits_left: 0 }
    }

    /// The next 64 uniform bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        if self.next == WORDS {
            self.refill();
        }
        let word = self.words[self.next];
        self.next += 1;
        word
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        let mut bytes = [0u8; WORDS * 8];
        self.cipher.fill_bytes(&mut bytes);
        for (word, chunk) in self.words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        self.next = 0;
    }

    /// The next 128 uniform bits.
    #[inline]
    pub fn next_u128(&mut self) -> u128 {
        u128::from(self.next_u64()) << 64 | u128::from(self.next_u64())
    }

    /// A fair coin.
    #[inline]
    pub fn bit(&mut self) -> bool {
        if self.bits_left == 0 {
            (self.bits, self.bits_left) = (self.next_u64(), 64);
        }
        let bit = self.bits & 1 == 1;
        self.bits >>= 1;
        self.bits_left -= 1;
        bit
    }

    /// Exactly uniform on {0, …, bound − 1}; `bound` must be positive.
    #[inline]
    pub fn below(&mut self, bound: u128) -> u128 {
        assert!(bound > 0, "a uniform draw needs a positive bound");
        match u64::try_from(bound) {
            Ok(bound) => u128::from(self.below_u64(bound)),
            Err(_) => self.below_wide(bound),
        }
    }

    /// Exactly uniform on {0, …, bound − 1}; `bound` must be positive.
    ///
    /// Of the 2⁶⁴ words x, the pair (⌊x·bound/2⁶⁴⌋, x·bound mod 2⁶⁴) = (high, low) lists, for each value of `high`,
    /// words whose `low` are bound apart. Dropping the words with low < 2⁶⁴ mod bound leaves each value of `high`
    /// exactly ⌊2⁶⁴/bound⌋ words, so that what remains is uniform.
    #[inline]
    pub fn below_u64(&mut self, bound: u64) -> u64 {
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            let low = product as u64;
            // 2⁶⁴ mod bound < bound: the division is needed only when low < bound.
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// Draws as many bits as `bound − 1` has until the result is below `bound`: at least every other one is.
    fn below_wide(&mut self, bound: u128) -> u128 {
        let mask = u128::MAX >> (bound - 1).leading_zeros();
        loop {
            let draw = self.next_u128() & mask;
            if draw < bound {
                return draw;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of a uniform draw against their probability: by Hoeffding, with N = 200,000 draws a frequency is off by
    /// more than t = 0.0075 with probability at most 2 exp(−2 N t²) < 3.4e-10; with 24 cells below 1e-8 in all.
    #[test]
    fn uniform_draws_are_uniform() {
        let mut entropy = Entropy::seeded(1);
        let draws = 200_000;
        for bound in [1u128, 2, 3, 7, 11] {
            let mut cells = vec![0u32; bound as usize];
            for _ in 0..draws {
                cells[entropy.below(bound) as usize] += 1;
            }
            for cell in cells {
                assert!((f64::from(cell) / f64::from(draws) - 1.0 / bound as f64).abs() < 0.0075);
            }
        }
    }

    /// For bounds near two thirds of a power of two a biased method would favour the lower half.
    #[test]
    fn wide_draws_have_no_bias() {
        let mut entropy = Entropy::seeded(2);
        let draws = 200_000;
        for bound in [u128::from(u64::MAX / 3 * 2), u128::MAX / 3 * 2, (1 << 64) + 1, 3 << 90] {
            let lower = (0..draws).filter(|_| entropy.below(bound) < bound / 2).count();
            assert!((lower as f64 / f64::from(draws) - 0.5).abs() < 0.0075, "{bound}");
        }
    }

    /// Bits, and the word after them: all fair (same bound as above).
    #[test]
    fn single_bits_are_fair() {
        let mut entropy = Entropy::seeded(3);
        let ones = (0..200_000).filter(|_| entropy.bit()).count();
        let pairs = (0..200_000).filter(|_| entropy.bit() == entropy.bit()).count();
        assert!((ones as f64 / 200_000.0 - 0.5).abs() < 0.0075 && (pairs as f64 / 200_000.0 - 0.5).abs() < 0.0075);
    }

    #[test]
    fn no_two_releases_have_the_same_coins() {
        let (mut one, mut two) = (Coins::fresh().unwrap(), Coins::fresh().unwrap());
        assert_ne!([one.next_u128(), one.next_u128()], [two.next_u128(), two.next_u128()]);
    }

    /// What a fork would copy: in a build without test doubles a kernel is nothing but its log.
    #[test]
    fn a_kernel_holds_no_key_between_releases() {
        let kernel = Kernel::new().unwrap();
        assert!(kernel.source_holds_nothing() && !Kernel::seeded(1).source_holds_nothing());
    }
}
