//! Second moments of clipped rows by the Wishart-difference mechanism.
//!
//! Proof: docs/proofs.md, Lemma 12; docs/proofs.md, Lemma 13; docs/proofs.md, Lemma 26.
//!
//! # Input
//! G = Σ v vᵀ over the rows, an exact integer p × p matrix; every row has ‖v‖² ≤ R (`row_norm_squared`, public).
//! # Output
//! G + s·(Z₁Z₁ᵀ − Z₂Z₂ᵀ) with real p × (p+1) matrices Z₁, Z₂ of independent standard normals, every entry rounded
//! exactly to the nearest multiple of a public g (1, or a power of two that is at most s/2²³) and clamped to 64 bits.
//! # Sensitivity
//! Replacing a row changes G by Δ = v vᵀ − v′v′ᵀ, of nuclear norm ‖Δ‖_* ≤ ‖v‖² + ‖v′‖² ≤ 2R.
//! # Privacy
//! *Law of the noise.* s·ZZᵀ with p+1 columns is a Wishart matrix whose density on the cone of positive matrices is
//! ∝ det(W)^{(p+1−p−1)/2} exp(−tr W/2s) = exp(−tr W/2s): flat but for the trace. Let g be the density of the difference
//! A = W₁ − W₂ of two of them. Put B = W₂: both W₂ = B and W₁ = A + B must be positive, so
//!
//! g(A) = c ∫ exp(−(tr A + 2 tr B)/2s) dB over { B ⪰ 0, A + B ⪰ 0 }.
//!
//! *Growing.* For D ⪰ 0 the domain for A + D contains the domain for A, and the integrand is exp(−tr D/2s) times as
//! large: g(A + D) ≥ exp(−tr D/2s)·g(A).
//! *Shrinking.* W₁ and W₂ may be exchanged, so g(−A) = g(A). Then g(A) = g(−A) = g(−(A+D) + D) ≥
//! exp(−tr D/2s)·g(−(A+D)) = exp(−tr D/2s)·g(A + D).
//! *Any direction.* Write Δ = P − N with P, N ⪰ 0 and tr P + tr N = ‖Δ‖_*, and go from A to A + P to A + P − N:
//! |log g(A + Δ) − log g(A)| ≤ ‖Δ‖_*/2s ≤ R/s ≤ ε for s ≥ R/ε.
//!
//! The real matrix G + W₁ − W₂ is therefore ε-private, and rounding to a public grid and clamping are post-processing.
//! Here s is ⌈R/ε⌉, rounded up to r·2^e with r ≤ 2²⁴; more noise keeps the promise. [`super::wishart`] computes the
//! rounding of the *ideal* real matrix, not of an approximation: no δ hides in the arithmetic.
//!
//! *Concentrated.* Independent discrete Gaussians, variance σ² below the diagonal and 2σ² on it: the loss is
//! Σ_{i>j} Δ_ij²/2σ² + Σ_i Δ_ii²/4σ² = ‖Δ‖_F²/4σ², and ‖Δ‖_F² = ‖v‖⁴ + ‖v′‖⁴ − 2⟨v, v′⟩² ≤ 2R². So it is at most
//! R²/2σ² = ρ for σ² = R²/(2ρ).
//! # Accuracy
//! Entries have standard deviation √(2(p+1))·s (diagonal √2 times that); the operator norm of the noise is about
//! 3.33·p·s. Gaussian: about 2√p·σ.
//! # Paper
//! In place of He, Strohmer, Vershynin, Zhu, Algorithm 2. Not the one-sided Wishart mechanism (Jiang, Xie, Zhang 2016),
//! whose support depends on the data.

use std::sync::OnceLock;

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use super::budget::{Charge, Price, Privacy};
use super::gaussian::Gaussian;
use super::kernel::{Entry, Kernel};
use super::ratio::Ratio;
use super::scale::{clamp_to_i64, round_up};
use super::sensitive::{Released, Sensitive};
use super::wishart::{Grid, Normals, Precision};
use crate::error::{Error, Kind, Result};

/// Released second moments: the packed lower triangle (entry (i, j), j ≤ i, at i(i+1)/2 + j) and its noise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoisyMoments {
    /// The noisy entries.
    pub lower: Vec<i64>,
    /// The law of the noise.
    pub scale: NoiseScale,
}

/// The noise in [`NoisyMoments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseScale {
    /// s·(Z₁Z₁ᵀ − Z₂Z₂ᵀ).
    Wishart {
        /// s.
        s: u128,
    },
    /// Independent discrete Gaussians.
    Gaussian {
        /// The variance below the diagonal; on the diagonal it is twice this.
        sigma_squared: Ratio,
    },
}

impl NoiseScale {
    /// The noise that [`Kernel::moments`] will add for a bound and a price.
    ///
    /// # Errors
    /// [`Kind::Budget`] where the price is too small for the arithmetic.
    pub fn of(row_norm_squared: u64, price: Price) -> Result<NoiseScale> {
        let (bound, amount) = (BigUint::from(row_norm_squared), price.amount);
        match price.privacy {
            Privacy::Pure => {
                let s = round_up(bound * amount.den(), amount.num().into(), Grid::LIMIT)?.ceil();
                Ok(NoiseScale::Wishart { s: Grid::at_least(s).scale() })
            }
            Privacy::Concentrated => {
                let twice = BigUint::from(amount.num()) * 2u32;
                let sigma_squared = round_up(bound.pow(2) * amount.den(), twice, Gaussian::LIMIT - 1)?;
                Ok(NoiseScale::Gaussian { sigma_squared })
            }
        }
    }
}

impl Kernel {
    /// Releases the second moments of rows of squared norm at most `row_norm_squared`. See the module for the proof.
    ///
    /// # Errors
    /// [`Kind::Budget`] for a zero charge or bound, or a charge too small for the arithmetic; [`Kind::Protocol`] where
    /// the triangle has another length.
    pub fn moments(
        &mut self,
        stage: &str,
        gram: Sensitive<Vec<i64>>,
        order: usize,
        row_norm_squared: u64,
        charge: Charge,
    ) -> Result<Released<NoisyMoments>> {
        Kernel::admit(&charge, row_norm_squared.into())?;
        let scale = NoiseScale::of(row_norm_squared, charge.price())?;
        let mut lower = gram.open();
        if order == 0 || lower.len() != order * (order + 1) / 2 {
            return Err(Error::new(Kind::Protocol, "a packed lower triangle has order (order + 1) / 2 entries"));
        }
        let sensitivity = format!("rows of squared norm at most {row_norm_squared}: nuclear norm at most twice that");
        match scale {
            NoiseScale::Wishart { s } => {
                let grid = Grid::at_least(s);
                let noise = format!(
                    "Wishart difference of order {order}, scale {s}, rounded to multiples of 2^{}",
                    grid.exponent
                );
                let entry = Entry { stage, mechanism: "wishart difference", sensitivity, noise };
                if let Some(mut coins) = self.spend(entry, &charge)? {
                    let mut normals = Normals::draw(&mut coins, order);
                    normals.add_to(&mut coins, &mut lower, grid, Precision::USUAL, threads(order));
                }
            }
            NoiseScale::Gaussian { sigma_squared } => {
                let noise = format!("discrete Gaussian, variance {sigma_squared}, twice that on the diagonal");
                let mut coins = self.spend(Entry { stage, mechanism: "gaussian", sensitivity, noise }, &charge)?;
                let double = sigma_squared.checked_mul(Ratio::whole(2)).ok_or_else(|| {
                    Error::new(
                        Kind::Budget,
                        "the charge is too small for this statistic: its noise would not fit in 128 bits",
                    )
                })?;
                let (off_diagonal, diagonal) = (Gaussian::new(sigma_squared), Gaussian::new(double));
                if let Some(coins) = &mut coins {
                    let mut entries = lower.iter_mut();
                    for i in 0..order {
                        for (j, entry) in entries.by_ref().take(i + 1).enumerate() {
                            let gaussian = if i == j { &diagonal } else { &off_diagonal };
                            *entry = clamp_to_i64(gaussian.draw(coins).added_to((*entry).into()));
                        }
                    }
                }
            }
        }
        Ok(Released::new(NoisyMoments { lower, scale }, ()))
    }
}

/// The machine's threads, asked for once; one where starting another takes longer than the work. The result does not
/// depend on their number.
fn threads(order: usize) -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    let all = || std::thread::available_parallelism().map_or(2, usize::from);
    if order < 32 { 1 } else { *THREADS.get_or_init(all) }
}
