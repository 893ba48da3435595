//! The cube mechanism: integer sums whose every coordinate moves by at most a span, with noise spread like the cube.
//!
//! Proof: docs/proofs.md, Lemma 8; docs/proofs.md, Lemma 9; docs/proofs.md, Lemma 27.
//!
//! # Input
//! d integer sums; replacing one row moves each of them by at most `span` (Q).
//! # Output
//! Sums + z with P(z) ∝ exp(−‖z‖_∞/b) on Z^d, b ≥ span/ε, each clamped to 64 bits.
//! # Sensitivity
//! ‖·‖_∞ at most `span`. Concentrated: ‖·‖₂² at most d·span².
//! # Privacy
//! ‖z + a‖_∞ ≥ ‖z‖_∞ − ‖a‖_∞ for every shift a, so P(z)/P(z + a) ≤ exp(‖a‖_∞/b) ≤ exp(span/b) ≤ e^ε: pure ε.
//! The normalising constant does not depend on the shift. A larger b only strengthens this; b = max(span/ε, 2d) keeps
//! the rejection below cheap. Clamping is post-processing. Concentrated: discrete Gaussian, σ² = d·span²/(2ρ).
//! # Accuracy
//! Standard deviation of a coordinate about d·b/√3, against √2·d·b for Laplace noise with the same promise.
//! # Paper
//! He, Strohmer, Vershynin, Zhu, Algorithm 3 (private mean), with a K-norm mechanism (Hardt, Talwar 2010) for the cube
//! in place of Laplace.
//!
//! # Exact sampling
//! Draw r ≥ 0 with P(r) ∝ (2r+1)^d e^{−r/b}, then every z_j uniform on {−r, …, r}: a given z arises from all
//! r ≥ ‖z‖_∞, each with weight e^{−r/b}, in total ∝ e^{−‖z‖_∞/b}.
//! For r: a sum t of d+1 geometric variables of ratio e^{−1/b} has P(t) ∝ C(t+d, d) e^{−t/b} ∝ Π_{i=1..d}(t+i) e^{−t/b}.
//! Accept t with probability Π_{i=1..d} (2t+1)/(2t+2i), a product of d exact coins; what is accepted has
//! P ∝ (2t+1)^d e^{−t/b}. The acceptance is about exp(−d²/2t) with t ≈ d·b, so about exp(−d/2b) ≥ e^{−1/4} for b ≥ 2d.

use super::budget::{Charge, Privacy};
use super::coin::bernoulli;
use super::entropy::Entropy;
use super::kernel::{Entry, Kernel};
use super::laplace::Laplace;
use super::noise::{Law, cube_gaussian, cube_scale};
use super::scale::clamp_to_i64;
use super::sensitive::{Released, Sensitive};
use crate::error::{Error, Kind, Result};

impl Kernel {
    /// Releases sums each of which moves by at most `span` when one row is replaced. See the module for the proof.
    ///
    /// # Errors
    /// [`crate::error::Kind::Budget`] for a zero charge, a zero span, or a charge too small for 128-bit noise.
    pub fn cube_sums(
        &mut self,
        stage: &str,
        sums: Sensitive<Vec<i64>>,
        span: u64,
        charge: Charge,
    ) -> Result<Released<Vec<i64>, Law>> {
        self.cube_sums_of_blocks(stage, sums, 1, span, charge)
    }

    /// The same for rows that are divided into blocks, each of which has its own d sums: a replaced row moves the sums of
    /// blocks by ‖·‖_∞ that add up to at most `span`, for it leaves one block and enters another, or changes within one.
    ///
    /// The blocks' noise is independent, so `Σ_s ‖a_s‖_∞/b ≤ span/b ≤ ε` for all of them together. Concentrated: a change
    /// within one block has ‖·‖₂² ≤ d·span², one of two blocks by x and y with x + y ≤ span has d (x² + y²), no more.
    ///
    /// # Errors
    /// As above, and [`crate::error::Kind::Protocol`] where sums are not as many in every block.
    pub fn cube_sums_of_blocks(
        &mut self,
        stage: &str,
        sums: Sensitive<Vec<i64>>,
        blocks: usize,
        span: u64,
        charge: Charge,
    ) -> Result<Released<Vec<i64>, Law>> {
        Kernel::admit(&charge, u128::from(span))?;
        let mut sums = sums.open();
        if blocks == 0 || !sums.len().is_multiple_of(blocks) {
            return Err(Error::new(Kind::Protocol, "there are not as many sums in every block"));
        }
        let width = (sums.len() / blocks).max(1);
        let d = width as u64;
        let divided = if blocks > 1 { format!(" in {blocks} blocks, together") } else { String::new() };
        let sensitivity = format!("each of {d} sums{divided} by at most {span}");
        let price = charge.price();
        let law = Law::of_cube(d, span, price)?;
        match price.privacy {
            Privacy::Pure => {
                let scale = cube_scale(d, span, price)?;
                let noise = format!("cube, scale {scale}");
                if let Some(mut coins) = self.spend(Entry { stage, mechanism: "cube", sensitivity, noise }, &charge)? {
                    let laplace = Laplace::new(scale);
                    sums.chunks_mut(width).for_each(|sums| add_cube_noise(&laplace, &mut coins, sums));
                }
            }
            Privacy::Concentrated => {
                let sampler = cube_gaussian(d, span, price)?;
                let noise = sampler.describe();
                let entry = Entry { stage, mechanism: "gaussian", sensitivity, noise };
                if let Some(mut coins) = self.spend(entry, &charge)? {
                    for sum in &mut sums {
                        *sum = clamp_to_i64(sampler.draw(&mut coins).added_to((*sum).into()));
                    }
                }
            }
        }
        Ok(Released::new(sums, law))
    }
}

/// Adds z with P(z) ∝ exp(−‖z‖_∞/b), b the scale of `laplace`; sums are clamped to 64 bits.
fn add_cube_noise(laplace: &Laplace, entropy: &mut Entropy, sums: &mut [i64]) {
    let r = radius(laplace, entropy, sums.len() as u64);
    for sum in sums {
        // r < 2¹²⁶: see `radius`.
        let z = entropy.below(2 * r + 1) as i128 - r as i128;
        *sum = clamp_to_i64(i128::from(*sum) + z);
    }
}

/// r ≥ 0 with P(r) ∝ (2r+1)^d e^{−r/b}.
///
/// b ≤ 2⁷², and d < 2³² in any memory. For t to reach 2¹²⁶ one of the d+1 geometric variables would have to reach 2⁹³,
/// that is 2²¹ scales: probability below e^{−2,000,000}, next to which the key of the cipher is easily guessed. The sum
/// is checked all the same: it cannot wrap.
fn radius(laplace: &Laplace, entropy: &mut Entropy, d: u64) -> u128 {
    loop {
        let t: u128 = (0..=d).map(|_| laplace.geometric(entropy)).sum();
        let (double, wide) = (2 * t, u64::try_from(2 * t + 2 * u128::from(d)).is_err());
        let accepted = (1..=d).all(|i| {
            let below = double + 2 * u128::from(i);
            if wide { entropy.below(below) < double + 1 } else { bernoulli(entropy, double as u64 + 1, below as u64) }
        });
        if accepted {
            return t;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::{Verdict, cells};
    use super::super::ratio::Ratio;
    use super::*;

    /// P(‖z‖_∞ = m) ∝ ((2m+1)^d − (2m−1)^d) e^{−m/b}, at a false-alarm rate of 1e-7.
    fn verdict(d: usize, b: f64, claimed: f64, seed: u64) -> Verdict {
        let side = |m: i32| if m < 0 { 0.0 } else { f64::from(2 * m + 1).powi(d as i32) };
        let weight = |m: i32| (side(m) - side(m - 1)) * (-f64::from(m) / claimed).exp();
        let far = (60.0 * (b + claimed) * d as f64) as i32;
        let norm: f64 = (0..far).map(weight).sum();
        let law: Vec<(i128, f64)> = (0..far).map(|m| (i128::from(m), weight(m) / norm)).collect();
        let (laplace, mut entropy) = (Laplace::new(Ratio::new((b * 2.0) as u128, 2).unwrap()), Entropy::seeded(seed));
        let draws = (0..60_000).map(|_| {
            let mut z = vec![0; d];
            add_cube_noise(&laplace, &mut entropy, &mut z);
            z.iter().map(|z| i128::from(z.abs())).max().unwrap()
        });
        cells(&law, draws)
    }

    #[test]
    fn the_norm_has_its_law_and_wrong_scales_are_noticed() {
        for (d, b, seed) in [(1, 3.0, 400), (2, 1.0, 401), (3, 2.5, 402), (5, 20.0, 403), (3, 0.5, 404)] {
            assert_eq!(verdict(d, b, b, seed), Verdict::Accepted, "{d} {b}");
            assert_eq!(verdict(d, b, 0.7 * b, seed), Verdict::Rejected, "{d} {b}");
            assert_eq!(verdict(d, b, 1.3 * b, seed), Verdict::Rejected, "{d} {b}");
        }
    }

    /// The norm of each of three blocks has the law of one cube of its own width, whatever the others are; that of all of
    /// them together, as one cube of three times the width would have it, is noticed.
    #[test]
    fn every_block_has_a_cube_of_its_own() {
        use super::super::{Budget, Sensitive};
        let (d, blocks, span) = (2, 3, 40);
        let norms = |law: usize, seed: u64| {
            let side = |m: i32| if m < 0 { 0.0 } else { f64::from(2 * m + 1).powi(law as i32) };
            let weight = |m: i32| (side(m) - side(m - 1)) * (-f64::from(m) / 40.0).exp();
            let norm: f64 = (0..8_000).map(weight).sum();
            let law: Vec<(i128, f64)> = (0..8_000).map(|m| (i128::from(m), weight(m) / norm)).collect();
            let mut kernel = Kernel::seeded(seed);
            let draws = (0..20_000).flat_map(|_| {
                let [charge] = Budget::pure("1".parse().unwrap()).split([1]).unwrap();
                let sums = Sensitive::new(vec![0; d * blocks]);
                let noisy = kernel.cube_sums_of_blocks("sums", sums, blocks, span, charge).unwrap().into_inner();
                noisy.chunks(d).map(|z| z.iter().map(|z| i128::from(z.abs())).max().unwrap()).collect::<Vec<_>>()
            });
            cells(&law, draws)
        };
        assert_eq!(norms(d, 420), Verdict::Accepted);
        assert_eq!(norms(d * blocks, 421), Verdict::Rejected);
    }

    #[test]
    fn blocks_that_are_not_alike_are_refused() {
        use super::super::{Budget, Sensitive};
        for (sums, blocks) in [(5, 2), (4, 0)] {
            let [charge] = Budget::pure("1".parse().unwrap()).split([1]).unwrap();
            let refused = Kernel::quiet().cube_sums_of_blocks("sums", Sensitive::new(vec![0; sums]), blocks, 9, charge);
            assert_eq!(refused.unwrap_err().kind(), Kind::Protocol);
        }
    }

    /// In two dimensions all the cells of the square ‖z‖_∞ ≤ 2: given its norm, z is uniform on the shell.
    #[test]
    fn every_point_of_the_plane_has_its_probability() {
        let weight = |m: i32| (-f64::from(m) / 2.0).exp();
        let norm: f64 = 1.0 + (1..500).map(|m| 8.0 * f64::from(m) * weight(m)).sum::<f64>();
        let code = |x: i128, y: i128| x * 1000 + y;
        let law: Vec<(i128, f64)> = (-2..=2)
            .flat_map(|x: i32| (-2..=2).map(move |y: i32| (x, y)))
            .map(|(x, y)| (code(x.into(), y.into()), weight(x.abs().max(y.abs())) / norm))
            .collect();
        let (laplace, mut entropy) = (Laplace::new(Ratio::whole(2)), Entropy::seeded(410));
        let draws = (0..200_000).map(|_| {
            let mut z = [0, 0];
            add_cube_noise(&laplace, &mut entropy, &mut z);
            code(z[0].into(), z[1].into())
        });
        assert_eq!(cells(&law, draws), Verdict::Accepted);
    }
}
