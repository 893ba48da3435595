//! Chance for the simulation: seeded, the same on every machine. It has nothing to do with privacy noise.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded source of numbers.
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The source that belongs to a seed.
    pub fn new(seed: u64) -> Self {
        Dice(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform on the open interval from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal (Box and Muller; one of the pair is enough here). `libm` gives the same bits everywhere.
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.uniform()));
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Yes, with a probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// The place of one of the weights, drawn in proportion to them.
    pub fn choose(&mut self, weights: &[f64]) -> usize {
        let mut rest = self.uniform() * weights.iter().sum::<f64>();
        for (i, weight) in weights.iter().enumerate() {
            rest -= weight;
            if rest < 0.0 {
                return i;
            }
        }
        weights.len() - 1
    }

    /// A whole number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((self.uniform() * limit as f64) as usize).min(limit - 1)
    }
}
