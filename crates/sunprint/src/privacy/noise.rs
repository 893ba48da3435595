//! The law of noise: it comes with the number that it was added to.
//!
//! A mechanism builds its sampler from a law, and gives the law with what it releases; whoever plans a measurement asks for
//! the same law beforehand. So nobody derives it a second time. Laws are exact; `widths.rs` says how wide they
//! are.

use num_bigint::BigUint;

use super::budget::{Price, Privacy};
use super::laplace::Laplace;
use super::ratio::Ratio;
use super::scale::{Sampler, round_up};
use crate::error::Result;

/// The law of the noise in one released number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// `Lap_Z(b)`.
    Laplace {
        /// b.
        scale: Ratio,
    },
    /// `N_Z(0, σ²)`.
    Gaussian {
        /// σ².
        variance: Ratio,
    },
    /// One coordinate of `P(z) ∝ exp(−‖z‖_∞/b)` on `Z^d`.
    Cube {
        /// d.
        width: u64,
        /// b.
        scale: Ratio,
    },
}

impl Law {
    /// The noise in a number that a replaced row moves by at most `sensitivity`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Budget`] where the price is too small for 128-bit noise; so in all of these.
    pub fn of_number(sensitivity: u128, price: Price) -> Result<Law> {
        Law::of_numbers(1, sensitivity, price)
    }

    /// The noise in each of some numbers, all of which a replaced row moves by at most `each`.
    pub fn of_numbers(many: u64, each: u128, price: Price) -> Result<Law> {
        numbers(many, each, price).map(|sampler| sampler.law())
    }

    /// The noise in a count of some histograms, each of which has every row in exactly one of its cells.
    pub fn of_histograms(histograms: u64, price: Price) -> Result<Law> {
        counts(histograms, price).map(|sampler| sampler.law())
    }

    /// The noise in one of `width` sums, all of which a replaced row moves by at most `span`: see `cube.rs`.
    pub fn of_cube(width: u64, span: u64, price: Price) -> Result<Law> {
        match price.privacy {
            Privacy::Pure => cube_scale(width, span, price).map(|scale| Law::Cube { width, scale }),
            Privacy::Concentrated => cube_gaussian(width, span, price).map(|sampler| sampler.law()),
        }
    }
}

/// b of the cube mechanism: at least span/ε, and wide enough for its sampler.
pub(super) fn cube_scale(width: u64, span: u64, price: Price) -> Result<Ratio> {
    let amount = price.amount;
    let need = round_up(BigUint::from(span) * amount.den(), amount.num().into(), Laplace::LIMIT - 28)?;
    Ok(need.max(Ratio::whole(2 * u128::from(width))))
}

/// The sampler that stands for the cube with zCDP: ℓ₂² ≤ d·span².
pub(super) fn cube_gaussian(width: u64, span: u64, price: Price) -> Result<Sampler> {
    Sampler::new(price, &BigUint::ZERO, &(BigUint::from(span).pow(2) * width), 1)
}

/// The sampler for m numbers, each moved by at most s: ℓ₁ ≤ m·s, ℓ₂² ≤ m·s².
pub(super) fn numbers(many: u64, each: u128, price: Price) -> Result<Sampler> {
    let each = BigUint::from(each);
    Sampler::new(price, &(&each * many), &(each.pow(2) * many), 1)
}

/// The sampler for the counts of m histograms: one count of each down and one up, ℓ₁ ≤ 2m, ℓ₂² ≤ 2m.
pub(super) fn counts(histograms: u64, price: Price) -> Result<Sampler> {
    let moved = BigUint::from(histograms) * 2u32;
    Sampler::new(price, &moved, &moved, 1)
}
