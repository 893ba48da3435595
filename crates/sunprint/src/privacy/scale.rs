//! Noise scales: exact where they are short, otherwise rounded **up**, which only adds noise.

use num_bigint::BigUint;

use super::budget::{Price, Privacy};
use super::entropy::Entropy;
use super::gaussian::Gaussian;
use super::laplace::Laplace;
use super::noise::Law;
use super::ratio::Ratio;
use crate::error::{Error, Kind, Result};

/// Scales from here on are rounded up to a whole number: at most one part in 2⁴⁰ more noise.
const WHOLE_FROM: u32 = 40;
/// Numerators and denominators of fractional scales stay below 2⁶².
const SHORT: u64 = 62;

/// `num / den`, or slightly more; at most 2^`limit`.
///
/// # Errors
/// [`Kind::Budget`] where it is larger: the charge is too small for the sensitivity, both public.
pub(super) fn round_up(num: BigUint, den: BigUint, limit: u32) -> Result<Ratio> {
    let ceil = |num: BigUint, den: &BigUint| (num + den - 1u32) / den;
    let too_large = || {
        Error::new(Kind::Budget, "the charge is too small for this statistic: its noise would not fit in 128 bits")
            .hint("give the stage a larger share, or raise `epsilon`")
    };
    if den == BigUint::ZERO {
        return Err(too_large());
    }
    let whole = ceil(num.clone(), &den);
    if whole > BigUint::from(1u32) << limit {
        return Err(too_large());
    }
    if whole > BigUint::from(1u32) << WHOLE_FROM {
        return u128::try_from(whole).map(Ratio::whole).map_err(|_| too_large());
    }
    if let (Ok(num), Ok(den)) = (u128::try_from(&num), u128::try_from(&den))
        && let Some(exact) = Ratio::new(num, den)
        && exact.num() >> SHORT == 0
        && exact.den() >> SHORT == 0
    {
        return Ok(exact);
    }
    // Below 2⁴⁰: keep as many binary places as leave the numerator below 2⁶².
    let places = SHORT - 1 - whole.bits();
    let num = u128::try_from(ceil(num << places, &den)).map_err(|_| too_large())?;
    Ratio::new(num, 1 << places).ok_or_else(too_large)
}

/// The exact noise for one integer.
pub(super) enum Sampler {
    /// Pure privacy.
    Laplace(Laplace),
    /// Concentrated privacy.
    Gaussian(Gaussian),
}

/// Integer noise: a sign and a magnitude.
///
/// A magnitude beyond 128 bits is reported as `u128::MAX`. Added to any `i128` it leaves the range of `i128` just as the
/// true magnitude would, so [`Noise::added_to`] is always the ideal sum, clamped: post-processing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    pub negative: bool,
    pub magnitude: u128,
}

impl Noise {
    /// value + noise, clamped to the range of `i128`.
    #[inline]
    pub fn added_to(self, value: i128) -> i128 {
        if self.negative {
            value.saturating_sub_unsigned(self.magnitude)
        } else {
            value.saturating_add_unsigned(self.magnitude)
        }
    }
}

/// The sum clamped to the range of `i64`: post-processing.
pub(super) fn clamp_to_i64(value: i128) -> i64 {
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

impl Sampler {
    /// The noise that makes an integer vector private at a price, `factor` times as wide as needed.
    ///
    /// Pure: Lap_Z(b), b = factor·ℓ₁/ε. For any integers z, shifts a with ‖a‖₁ ≤ ℓ₁ change
    /// Π exp(−|z_j|/b) by a factor of at most exp(‖a‖₁/b) ≤ e^ε.
    /// Concentrated: N_Z(0, σ²), σ² = factor²·ℓ₂²/(2ρ): see [`Gaussian`].
    pub fn new(price: Price, l1: &BigUint, l2_squared: &BigUint, factor: u64) -> Result<Sampler> {
        let amount = price.amount;
        let (num, den) = (BigUint::from(amount.num()), BigUint::from(amount.den()));
        match price.privacy {
            Privacy::Pure => Ok(Sampler::Laplace(Laplace::new(round_up(l1 * factor * den, num, Laplace::LIMIT)?))),
            Privacy::Concentrated => {
                let sigma_squared = round_up(l2_squared * factor * factor * den, num * 2u32, Gaussian::LIMIT)?;
                Ok(Sampler::Gaussian(Gaussian::new(sigma_squared)))
            }
        }
    }

    /// The noise of one level of a tree: pure, scale `whole`/(ε·weight); concentrated, variance `whole`/(2ρ·weight).
    pub fn weighted(price: Price, whole: &BigUint, weight: u64) -> Result<Sampler> {
        let amount = price.amount;
        let (num, den) = (BigUint::from(amount.num()) * weight, BigUint::from(amount.den()));
        match price.privacy {
            Privacy::Pure => Ok(Sampler::Laplace(Laplace::new(round_up(whole * den, num, Laplace::LIMIT)?))),
            Privacy::Concentrated => {
                Ok(Sampler::Gaussian(Gaussian::new(round_up(whole * den, num * 2u32, Gaussian::LIMIT)?)))
            }
        }
    }

    /// The law of what it draws.
    pub fn law(&self) -> Law {
        match self {
            Sampler::Laplace(laplace) => Law::Laplace { scale: laplace.scale() },
            Sampler::Gaussian(gaussian) => Law::Gaussian { variance: gaussian.sigma_squared() },
        }
    }

    #[inline]
    pub fn draw(&self, entropy: &mut Entropy) -> Noise {
        match self {
            Sampler::Laplace(laplace) => laplace.draw(entropy),
            Sampler::Gaussian(gaussian) => gaussian.draw(entropy),
        }
    }

    /// In words, for the log.
    pub fn describe(&self) -> String {
        match self {
            Sampler::Laplace(laplace) => format!("discrete Laplace, scale {}", laplace.scale()),
            Sampler::Gaussian(gaussian) => format!("discrete Gaussian, variance {}", gaussian.sigma_squared()),
        }
    }
}

/// Counts plus independent noise; plain counts without coins, which only the quiet double has not.
pub(super) fn noisy(coins: Option<&mut Entropy>, sampler: &Sampler, counts: &[u64]) -> Vec<i64> {
    match coins {
        Some(coins) => counts.iter().map(|&count| clamp_to_i64(sampler.draw(coins).added_to(count.into()))).collect(),
        None => counts.iter().map(|&count| clamp_to_i64(count.into())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scales_are_never_rounded_down(num in 1u128.., den in 1u128.., shift in 0u32..100) {
            let (num, den) = (BigUint::from(num >> shift), BigUint::from(den >> (shift / 2)));
            prop_assume!(num > BigUint::ZERO && den > BigUint::ZERO);
            if let Ok(scale) = round_up(num.clone(), den.clone(), 100) {
                // scale ≥ num/den, and by at most one part in 2²⁰ (fractions below one: one part in 2⁶¹ of one).
                let (up, down) = (BigUint::from(scale.num()) * &den, BigUint::from(scale.den()) * &num);
                prop_assert!(up >= down);
                prop_assert!((up - &down) << 20 <= down + ((BigUint::from(scale.den()) * den) >> 40));
                prop_assert!(scale.num() < 1 << 101 && scale.den() < 1 << 62);
            } else {
                prop_assert!(num > den << 100);
            }
        }
    }

    #[test]
    fn short_scales_are_exact() {
        let exact = round_up(BigUint::from(65535u32 * 3), BigUint::from(10u32), 100).unwrap();
        assert_eq!(exact, Ratio::new(65535 * 3, 10).unwrap());
        let whole = round_up(BigUint::from(1u128 << 90), BigUint::from(3u32), 100).unwrap();
        assert_eq!(whole, Ratio::whole((1u128 << 90).div_ceil(3)));
        assert_eq!(round_up(BigUint::from(1u32), BigUint::ZERO, 100).unwrap_err().kind(), Kind::Budget);
    }

    #[test]
    fn sums_clamp() {
        let huge = Noise { negative: false, magnitude: u128::MAX };
        assert_eq!(huge.added_to(i128::MIN), i128::MAX);
        assert_eq!(Noise { negative: true, magnitude: 5 }.added_to(3), -2);
        assert_eq!(clamp_to_i64(i128::MAX), i64::MAX);
    }
}
