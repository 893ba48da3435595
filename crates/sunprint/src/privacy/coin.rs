//! Exact coins: Bernoulli(a/b) and Bernoulli(exp(−a/b)), from uniform bits and integer comparisons alone.
//!
//! Proof: docs/proofs.md, Lemma 4.

use num_bigint::BigUint;

use super::entropy::Entropy;

/// True with probability exactly min(1, a/b); `b` must be positive.
///
/// Reads a uniform real X = 0.r₁r₂… in base 2⁶⁴ digit by digit until X < a/b is decided. After the digit r the question
/// is whether X′ < (a·2⁶⁴ − r·b)/b for the rest X′ of X: it is settled if the right side is ≥ 1 or ≤ 0, else it is the
/// same question again, with probability 2⁻⁶⁴.
#[inline]
pub(super) fn bernoulli(entropy: &mut Entropy, mut a: u64, b: u64) -> bool {
    debug_assert!(b > 0);
    if a >= b {
        return true;
    }
    loop {
        // r·b ≤ (2⁶⁴ − 1)·b and r·b + b ≤ 2⁶⁴·b: both fit in 128 bits.
        let reached = u128::from(entropy.next_u64()) * u128::from(b);
        let target = u128::from(a) << 64;
        if reached >= target {
            return false;
        }
        if reached + u128::from(b) <= target {
            return true;
        }
        // 0 < target − reached < b.
        a = (target - reached) as u64;
    }
}

/// True with probability exactly min(1, a/(b·k)); `b` and `k` must be positive.
#[inline]
fn bernoulli_over(entropy: &mut Entropy, a: u128, b: u128, k: u128) -> bool {
    match b.checked_mul(k) {
        Some(b) => match (u64::try_from(a), u64::try_from(b)) {
            (Ok(a), Ok(b)) => bernoulli(entropy, a, b),
            _ => entropy.below(b) < a,
        },
        // Two independent events: their probabilities multiply.
        None => entropy.below(k) == 0 && entropy.below(b) < a,
    }
}

/// True with probability exactly exp(−a/b), for a/b ≤ 1; `b` must be positive.
///
/// With γ = a/b, throw coins of probability γ/1, γ/2, γ/3, … until one fails. The first n all succeed with probability
/// γⁿ/n!, so the number N of successes has P(N even) = Σ (−γ)ⁿ/n! = exp(−γ).
#[inline]
fn exp_minus_fraction(entropy: &mut Entropy, a: u128, b: u128) -> bool {
    let mut k = 1;
    while bernoulli_over(entropy, a, b, k) {
        k += 1;
    }
    k % 2 == 1
}

/// As [`exp_minus_fraction`], for a ≤ b < 2⁵⁶.
#[inline]
pub(super) fn exp_minus_small(entropy: &mut Entropy, a: u64, b: u64) -> bool {
    let mut product = b;
    let mut odd = true;
    while bernoulli(entropy, a, product) {
        match product.checked_add(b) {
            Some(next) => product = next,
            // More than 2⁸ successes: start from there with wide numbers.
            None => {
                let mut k = u128::from(product / b) + 1;
                while bernoulli_over(entropy, u128::from(a), u128::from(b), k) {
                    k += 1;
                }
                return k % 2 == 1;
            }
        }
        odd = !odd;
    }
    odd
}

/// True with probability exactly 1/e.
#[inline]
pub(super) fn exp_minus_one(entropy: &mut Entropy) -> bool {
    // As exp_minus_small(1, 1); the first coin always succeeds.
    let mut k = 2;
    while bernoulli(entropy, 1, k) {
        k += 1;
    }
    k % 2 == 1
}

/// True with probability exactly exp(−a/b); `b` must be positive.
pub(super) fn exp_minus(entropy: &mut Entropy, a: u128, b: u128) -> bool {
    // exp(−a/b) = exp(−1)^⌊a/b⌋ · exp(−(a mod b)/b).
    let whole = a / b;
    let mut done = 0;
    while done < whole {
        if !exp_minus_one(entropy) {
            return false;
        }
        done += 1;
    }
    exp_minus_fraction(entropy, a % b, b)
}

/// True with probability exactly exp(−a/b), for numbers of any size; `b` must be positive.
///
/// The coins of [`exp_minus_fraction`] are decided by the leading `BITS` binary digits of X and of the exponent where
/// that is possible, and by exact long arithmetic where it is not. `BITS` changes the speed, never the law; tests use
/// few bits so that the second way is taken often.
pub(super) fn exp_minus_big<const BITS: u32>(entropy: &mut Entropy, a: &BigUint, b: &BigUint) -> bool {
    let whole = a / b;
    let mut done = BigUint::ZERO;
    while done < whole {
        if !exp_minus_one(entropy) {
            return false;
        }
        done += 1u32;
    }
    let a = a % b;
    // q ≤ 2^BITS · a/b < q + 1, and a < b.
    let q = u128::try_from((&a << BITS) / b).expect("a fraction below 1 has BITS digits");
    let mut k = 1u64;
    while leading_digits::<BITS>(entropy, q, k).unwrap_or_else(|r| long_division::<BITS>(entropy, &a, b, k, r)) {
        k += 1;
    }
    k % 2 == 1
}

/// Is X·k < a/b? Decided from the first digit r of X = (r + X′)/2^BITS and from q = ⌊2^BITS a/b⌋, or else `Err(r)`.
fn leading_digits<const BITS: u32>(entropy: &mut Entropy, q: u128, k: u64) -> Result<bool, u64> {
    let r = entropy.next_u64() >> (64 - BITS);
    let least = u128::from(r) * u128::from(k);
    if least > q {
        return Ok(false);
    }
    if least + u128::from(k) <= q {
        return Ok(true);
    }
    Err(r)
}

/// Is (r + X′)/2^BITS · k < a/b for a fresh uniform X′? The method of [`bernoulli`] with numbers of any size.
fn long_division<const BITS: u32>(entropy: &mut Entropy, a: &BigUint, b: &BigUint, k: u64, mut r: u64) -> bool {
    let unit = b * k;
    let mut target = a << BITS;
    loop {
        let reached = &unit * r;
        if reached >= target {
            return false;
        }
        if &reached + &unit <= target {
            return true;
        }
        target = (target - reached) << BITS;
        r = entropy.next_u64() >> (64 - BITS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 200_000;

    /// By Hoeffding, a frequency of 200,000 coins is off by more than 0.0075 with probability below 3.4e-10. The tests
    /// of this file make fewer than 100 such comparisons: false-alarm rate below 1e-7.
    fn frequency(mut coin: impl FnMut() -> bool) -> f64 {
        f64::from((0..DRAWS).map(|_| u32::from(coin())).sum::<u32>()) / f64::from(DRAWS)
    }

    fn near(measured: f64, expected: f64) -> bool {
        (measured - expected).abs() < 0.0075
    }

    #[test]
    fn plain_coins() {
        let mut entropy = Entropy::seeded(11);
        for (a, b) in [(0, 1), (1, 1), (5, 3), (1, 3), (2, 7), (u64::MAX / 3, u64::MAX), (u64::MAX - 1, u64::MAX)] {
            let expected = (a as f64 / b as f64).min(1.0);
            assert!(near(frequency(|| bernoulli(&mut entropy, a, b)), expected), "{a}/{b}");
            let wide = frequency(|| bernoulli_over(&mut entropy, u128::from(a) << 60, u128::from(b) << 60, 3));
            assert!(near(wide, (a as f64 / b as f64 / 3.0).min(1.0)), "{a}/3{b}");
        }
        // b·k beyond 128 bits.
        let b = u128::MAX / 2;
        assert!(near(frequency(|| bernoulli_over(&mut entropy, b / 2, b, 3)), 1.0 / 6.0));
    }

    #[test]
    fn exponential_coins() {
        let mut entropy = Entropy::seeded(12);
        for (a, b) in [(0u64, 1u64), (1, 1), (1, 2), (9, 10), (1, 1000), (5, 2), (7, 3), (1 << 50, 3 << 50)] {
            let expected = (-(a as f64) / b as f64).exp();
            let (wide_a, wide_b) = (u128::from(a), u128::from(b));
            assert!(near(frequency(|| exp_minus(&mut entropy, wide_a, wide_b)), expected), "{a}/{b}");
            assert!(near(frequency(|| exp_minus(&mut entropy, wide_a << 64, wide_b << 64)), expected), "wide {a}/{b}");
            if a <= b {
                assert!(near(frequency(|| exp_minus_small(&mut entropy, a, b)), expected), "small {a}/{b}");
            }
            let (big_a, big_b) = (BigUint::from(a) << 200, BigUint::from(b) << 200);
            let big = frequency(|| exp_minus_big::<64>(&mut entropy, &big_a, &big_b));
            assert!(near(big, expected), "big {a}/{b}");
            for coarse in [
                frequency(|| exp_minus_big::<1>(&mut entropy, &big_a, &big_b)),
                frequency(|| exp_minus_big::<3>(&mut entropy, &big_a, &big_b)),
            ] {
                assert!(near(coarse, expected), "coarse {a}/{b}");
            }
        }
        assert!(near(frequency(|| exp_minus_one(&mut entropy)), (-1f64).exp()));
    }

    /// The controls: the same comparison refuses exponents that are 0.7 and 1.3 times the right one.
    #[test]
    fn wrong_exponents_are_noticed() {
        let mut entropy = Entropy::seeded(13);
        for (a, b) in [(7, 10), (13, 10)] {
            assert!(!near(frequency(|| exp_minus(&mut entropy, a, b)), (-1f64).exp()));
        }
    }
}
