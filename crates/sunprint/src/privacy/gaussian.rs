//! The discrete Gaussian law N_Z(0, σ²): P(z) ∝ exp(−z²/2σ²) on the integers, drawn exactly.
//!
//! Proof: docs/proofs.md, Lemma 6.
//!
//! # Input
//! A positive rational variance parameter σ² = num/den, at most 2¹²⁰.
//! # Output
//! An integer with exactly this law: uniform bits and integer comparisons, no floating point.
//! # Sensitivity
//! Set by the caller: [`super::scale::Sampler`] and the mechanisms.
//! # Privacy
//! ρ-zCDP with ρ = Σ_j a_j²/(2σ_j²) for an integer vector that moves by a. For one coordinate and order α > 1, with
//! f(μ) = Σ_z exp(−(z − μ)²/2σ²): completing the square in Σ_z P(z − a)^α P(z)^{1−α} gives
//! exp(α(α−1)a²/2σ²) · f(αa)/f(0), and f(αa) ≤ f(0) because f is positive-definite as a function of μ (Poisson
//! summation writes it as a cosine series with positive coefficients, largest at integers). So the Rényi divergence of
//! order α is at most α·a²/2σ² at every order; coordinates are independent and their divergences add up.
//! # Accuracy
//! Variance at most σ², and equal to it up to e^{−2π²σ²}-sized terms.
//! # Paper
//! Canonne, Kamath, Steinke (2020); the proposal and its acceptance are rederived beside [`Gaussian::draw`].

use num_bigint::BigUint;

use super::coin::{exp_minus, exp_minus_big};
use super::entropy::Entropy;
use super::laplace::Laplace;
use super::ratio::Ratio;
use super::scale::Noise;

/// Draws from N_Z(0, num/den).
pub(super) struct Gaussian {
    num: u128,
    den: u128,
    /// t = ⌊σ⌋ + 1, the scale of the proposal.
    t: u128,
    proposal: Laplace,
    /// 2·num·den·t², where it fits.
    divisor: Option<u128>,
}

impl Gaussian {
    /// Variances reach up to 2 to this power.
    pub const LIMIT: u32 = 120;

    /// The variance must be positive.
    pub fn new(sigma_squared: Ratio) -> Gaussian {
        assert!(!sigma_squared.is_zero(), "noise needs a positive variance");
        let (num, den) = (sigma_squared.num(), sigma_squared.den());
        // ⌊√(num/den)⌋ = ⌊√⌊num/den⌋⌋, for a square of an integer is an integer.
        let t = (num / den).isqrt() + 1;
        let divisor = num.checked_mul(den).and_then(|x| x.checked_mul(2)).and_then(|x| x.checked_mul(t * t));
        Gaussian { num, den, t, proposal: Laplace::new(Ratio::whole(t)), divisor }
    }

    pub fn sigma_squared(&self) -> Ratio {
        Ratio::new(self.num, self.den).unwrap_or(Ratio::ZERO)
    }

    /// Proposes y from Lap_Z(t) and accepts it with probability exp(−γ), γ = (|y| − σ²/t)²/2σ². The product is
    /// exp(−|y|/t − y²/2σ² + |y|/t − σ²/2t²): proportional to exp(−y²/2σ²). Any t would do; t ≈ σ accepts most.
    ///
    /// In integers, γ = (|y|·t·den − num)²/(2·num·den·t²).
    #[inline]
    pub fn draw(&self, entropy: &mut Entropy) -> Noise {
        loop {
            let y = self.proposal.draw(entropy);
            if self.accept(entropy, y.magnitude) {
                return y;
            }
        }
    }

    fn accept(&self, entropy: &mut Entropy, magnitude: u128) -> bool {
        let square = || {
            let gap = magnitude.checked_mul(self.t)?.checked_mul(self.den)?.abs_diff(self.num);
            gap.checked_mul(gap)
        };
        match (self.divisor, square()) {
            (Some(divisor), Some(square)) => exp_minus(entropy, square, divisor),
            _ => self.accept_big(entropy, magnitude),
        }
    }

    fn accept_big(&self, entropy: &mut Entropy, magnitude: u128) -> bool {
        let (reach, num) = (BigUint::from(magnitude) * self.t * self.den, BigUint::from(self.num));
        let gap = if reach > num { reach - &num } else { &num - reach };
        exp_minus_big::<64>(entropy, &gap.pow(2), &(num * 2u32 * self.den * self.t * self.t))
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::{Verdict, cells, gaussian_law};
    use super::*;

    fn verdict(sigma_squared: Ratio, claimed: f64, seed: u64) -> Verdict {
        let (gaussian, mut entropy) = (Gaussian::new(sigma_squared), Entropy::seeded(seed));
        cells(&gaussian_law(claimed), (0..200_000).map(|_| gaussian.draw(&mut entropy).added_to(0)))
    }

    /// Every cell against its closed form; false-alarm rate 1e-7 for each law. The controls are standard deviations of
    /// 0.7 and 1.3 times the right one.
    #[test]
    fn the_law_is_exact_and_wrong_scales_are_noticed() {
        for (index, (num, den)) in
            [(1, 1), (1, 3), (10, 7), (25, 1), (10_001, 3), (1 << 20, 1), ((1 << 61) + 1, 1 << 50)]
                .into_iter()
                .enumerate()
        {
            let sigma_squared = Ratio::new(num, den).unwrap();
            let variance = num as f64 / den as f64;
            let seed = 200 + index as u64;
            assert_eq!(verdict(sigma_squared, variance, seed), Verdict::Accepted, "{sigma_squared}");
            assert_eq!(verdict(sigma_squared, 0.49 * variance, seed), Verdict::Rejected, "{sigma_squared} * 0.7");
            assert_eq!(verdict(sigma_squared, 1.69 * variance, seed), Verdict::Rejected, "{sigma_squared} * 1.3");
        }
    }

    /// Both ways of deciding the same acceptance, on the same small variance.
    #[test]
    fn the_long_way_has_the_same_law() {
        let (gaussian, mut entropy) = (Gaussian::new(Ratio::new(50, 3).unwrap()), Entropy::seeded(220));
        let draws = (0..200_000).map(|_| {
            loop {
                let y = gaussian.proposal.draw(&mut entropy);
                if gaussian.accept_big(&mut entropy, y.magnitude) {
                    return y.added_to(0);
                }
            }
        });
        assert_eq!(cells(&gaussian_law(50.0 / 3.0), draws), Verdict::Accepted);
    }

    /// σ = 2⁶⁰ and σ = 2³⁰: in units of σ/8 the draws follow the normal law to within 2⁻²⁷ per cell, which 100,000
    /// draws cannot see (false-alarm rate 1e-7).
    #[test]
    fn wide_variances() {
        for (shift, seed) in [(60, 230), (30, 231)] {
            let (gaussian, mut entropy) = (Gaussian::new(Ratio::whole(1 << (2 * shift))), Entropy::seeded(seed));
            let law: Vec<(i128, f64)> = (-80..80)
                .map(|cell: i32| {
                    let phi = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
                    (i128::from(cell), phi(f64::from(cell + 1) / 8.0) - phi(f64::from(cell) / 8.0))
                })
                .collect();
            let draws = (0..100_000).map(|_| gaussian.draw(&mut entropy).added_to(0) >> (shift - 3));
            assert_eq!(cells(&law, draws), Verdict::Accepted);
        }
    }
}
