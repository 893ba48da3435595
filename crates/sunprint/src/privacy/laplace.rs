//! The discrete Laplace law Lap_Z(b): P(z) ∝ exp(−|z|/b) on the integers, drawn exactly.
//!
//! Proof: docs/proofs.md, Lemma 5.
//!
//! # Input
//! A positive rational scale b = num/den, at most 2¹⁰⁰.
//! # Output
//! An integer with exactly this law: uniform bits and integer comparisons, no floating point.
//! # Sensitivity
//! Set by the caller: [`super::scale::Sampler`].
//! # Privacy
//! P(z + a)/P(z) ≤ exp(|a|/b) by the triangle inequality.
//! # Accuracy
//! Variance 2q/(1 − q)² with q = exp(−1/b): at most 2b². P(|z| ≥ m) = 2qᵐ/(1 + q) for m ≥ 1.
//! # Paper
//! Ghosh, Roughgarden, Sundararajan (2012) for the law; Canonne, Kamath, Steinke (2020) for drawing it from exact
//! coins. Derivation beside [`Laplace::draw`].

use num_bigint::BigUint;

use super::coin::{exp_minus, exp_minus_one, exp_minus_small};
use super::entropy::Entropy;
use super::ratio::Ratio;
use super::scale::Noise;

/// Draws from Lap_Z(num/den).
pub(super) struct Laplace {
    num: u128,
    den: u128,
}

impl Laplace {
    /// Scales reach up to 2 to this power.
    pub const LIMIT: u32 = 100;

    /// The scale must be positive.
    pub fn new(scale: Ratio) -> Laplace {
        assert!(!scale.is_zero(), "noise needs a positive scale");
        Laplace { num: scale.num(), den: scale.den() }
    }

    pub fn scale(&self) -> Ratio {
        Ratio::new(self.num, self.den).unwrap_or(Ratio::ZERO)
    }

    /// A sign and a geometric magnitude; "minus zero" is thrown away, so that zero is not counted twice:
    /// P(z) ∝ q^|z| for every z, with q = exp(−den/num).
    #[inline]
    pub fn draw(&self, entropy: &mut Entropy) -> Noise {
        loop {
            let magnitude = self.geometric(entropy);
            let negative = entropy.bit();
            if magnitude != 0 || !negative {
                return Noise { negative, magnitude };
            }
        }
    }

    /// P(y) = (1 − q) q^y on y ≥ 0, q = exp(−den/num).
    ///
    /// Write t = num. Let u ∈ {0, …, t−1} with P(u) ∝ exp(−u/t) (uniform, kept with probability exp(−u/t)) and let v
    /// count successes of 1/e-coins before the first failure, P(v) ∝ exp(−v). Then x = u + t·v has P(x) ∝ exp(−x/t) on
    /// the non-negative integers, for x ↦ (u, v) is one to one. With y = ⌊x/den⌋:
    /// P(y ≥ m) = P(x ≥ m·den) = exp(−m·den/t) = q^m.
    #[inline]
    pub fn geometric(&self, entropy: &mut Entropy) -> u128 {
        match u64::try_from(self.num) {
            Ok(t) if t < 1 << 56 => {
                let u = loop {
                    let u = entropy.below_u64(t);
                    if exp_minus_small(entropy, u, t) {
                        break u;
                    }
                };
                let v = whole_part(entropy);
                match t.checked_mul(v).and_then(|x| x.checked_add(u)) {
                    Some(x) if self.den == 1 => u128::from(x),
                    Some(x) => u128::from(x) / self.den,
                    None => divide(u128::from(u), u128::from(t), v, self.den),
                }
            }
            _ => {
                let u = loop {
                    let u = entropy.below(self.num);
                    if exp_minus(entropy, u, self.num) {
                        break u;
                    }
                };
                divide(u, self.num, whole_part(entropy), self.den)
            }
        }
    }
}

/// How many 1/e-coins succeed before the first failure.
#[inline]
fn whole_part(entropy: &mut Entropy) -> u64 {
    let mut v = 0;
    while exp_minus_one(entropy) {
        v += 1;
    }
    v
}

/// ⌊(u + t·v)/den⌋, or `u128::MAX` where it is larger.
fn divide(u: u128, t: u128, v: u64, den: u128) -> u128 {
    match t.checked_mul(u128::from(v)).and_then(|x| x.checked_add(u)) {
        Some(x) => x / den,
        None => u128::try_from((BigUint::from(t) * v + u) / den).unwrap_or(u128::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::{Verdict, cells, laplace_law};
    use super::*;

    fn verdict(scale: Ratio, claimed: f64, seed: u64) -> Verdict {
        let (laplace, mut entropy) = (Laplace::new(scale), Entropy::seeded(seed));
        let law = laplace_law(claimed);
        cells(&law, (0..200_000).map(|_| laplace.draw(&mut entropy).added_to(0)))
    }

    /// Every cell of every scale against its closed form; false-alarm rate 1e-7 for each of 11 laws: see `law`.
    #[test]
    fn the_law_is_exact_and_wrong_scales_are_noticed() {
        for (index, (num, den)) in
            [(1, 1), (1, 3), (2, 7), (5, 2), (10, 1), (1000, 1), (6555, 10), (1 << 70, 1 << 60)].into_iter().enumerate()
        {
            let scale = Ratio::new(num, den).unwrap();
            let b = num as f64 / den as f64;
            let seed = 100 + index as u64;
            assert_eq!(verdict(scale, b, seed), Verdict::Accepted, "{scale}");
            assert_eq!(verdict(scale, 0.7 * b, seed), Verdict::Rejected, "{scale} * 0.7");
            assert_eq!(verdict(scale, 1.3 * b, seed), Verdict::Rejected, "{scale} * 1.3");
        }
    }

    /// Wide scales: z / 2^66 is almost continuous; compare in units of 2^60.
    #[test]
    fn wide_scales_take_the_wide_way() {
        for (shift, seed) in [(55, 120), (66, 121), (90, 122)] {
            let (laplace, mut entropy) = (Laplace::new(Ratio::whole(64 << shift)), Entropy::seeded(seed));
            // ⌊|z| / 2^shift⌋ is geometric with ratio exp(−1/64), exactly.
            let law: Vec<(i128, f64)> =
                (0..2000).map(|y| (y, (-f64::from(y as i32) / 64.0).exp() * -(-1.0f64 / 64.0).exp_m1())).collect();
            let draws = (0..100_000).map(|_| (laplace.geometric(&mut entropy) >> shift) as i128);
            assert_eq!(cells(&law, draws), Verdict::Accepted);
        }
    }

    #[test]
    fn a_magnitude_beyond_the_range_is_reported_as_such() {
        assert_eq!(divide(5, 1 << 100, 1 << 40, 1), u128::MAX);
        assert_eq!(divide(5, 1 << 100, 1 << 40, 1 << 60), 1 << 80);
        assert_eq!(divide(5, 7, 3, 2), 13);
    }
}
