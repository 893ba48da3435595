//! The standard normal law, drawn exactly as a stream of binary digits.
//!
//! Proof: docs/proofs.md, Lemma 14.
//!
//! # Input
//! Uniform bits.
//! # Output
//! ± (k + x): a sign, a whole number k ≥ 0, and a fraction x ∈ (0, 1) of which as many digits are known as were needed.
//! Further digits can be drawn at any time; the real number that they converge to is exactly standard normal.
//! # Sensitivity, Privacy
//! None of its own: see [`super::moments`].
//! # Accuracy
//! Exact: comparisons of digits only, no floating point.
//! # Paper
//! Karney (2016), *Sampling exactly from the normal distribution*; the acceptance of x is derived anew, below.
//!
//! # Why it is exact
//! The density of k + x is to be proportional to exp(−(k + x)²/2) = exp(−k²/2) · exp(−k·x) · exp(−x²/2).
//!
//! 1. k is geometric with ratio e^{−1/2}, kept with probability e^{−k(k−1)/2}: P(k) ∝ exp(−k/2 − k(k−1)/2) = exp(−k²/2).
//! 2. x is uniform, kept with probability exp(−x)^k · exp(−x²/2); else start again from 1.
//!
//! Every coin is a run. Let x > u₁ > u₂ > … > u_N be the longest falling run of fresh uniforms that starts below x:
//! P(N ≥ n) = xⁿ/n!, hence P(N even) = Σ (−x)ⁿ/n! = exp(−x). With x = ½ this is the coin e^{−1/2}. If each step of the
//! run must also win an independent event of probability x/2 (a fair bit, and one more uniform below x), then
//! P(N ≥ n) = (x²/2)ⁿ/n! and P(N even) = exp(−x²/2).
//!
//! A fresh digit of x is drawn only when a comparison needs it. Given the digits seen so far and the outcomes of the
//! comparisons that they decided, the digits not yet seen are uniform: so they may be drawn later, or never.

use super::entropy::Entropy;

/// A uniform real in (0, 1), known to as many base-2^`BITS` digits as have been drawn.
///
/// `BITS` is 64 in earnest; the tests take 1 and 2, so that ties happen all the time.
pub(super) struct Uniform<const BITS: u32> {
    first: u64,
    more: Vec<u64>,
}

impl<const BITS: u32> Uniform<BITS> {
    #[inline]
    fn new(entropy: &mut Entropy) -> Self {
        Uniform { first: digit::<BITS>(entropy), more: Vec::new() }
    }

    /// Digit `i` after the point, drawn now if it was not known.
    fn digit(&mut self, entropy: &mut Entropy, i: usize) -> u64 {
        while self.more.len() < i {
            self.more.push(digit::<BITS>(entropy));
        }
        if i == 0 { self.first } else { self.more[i - 1] }
    }

    /// Is self < other? Two uniforms are equal with probability 0, so the loop ends.
    #[inline]
    fn below(&mut self, other: &mut Self, entropy: &mut Entropy) -> bool {
        if self.first != other.first {
            return self.first < other.first;
        }
        self.below_after_tie(other, entropy)
    }

    #[cold]
    fn below_after_tie(&mut self, other: &mut Self, entropy: &mut Entropy) -> bool {
        let mut i = 1;
        loop {
            let (mine, theirs) = (self.digit(entropy, i), other.digit(entropy, i));
            if mine != theirs {
                return mine < theirs;
            }
            i += 1;
        }
    }
}

#[inline]
fn digit<const BITS: u32>(entropy: &mut Entropy) -> u64 {
    entropy.next_u64() >> (64 - BITS)
}

/// A standard normal: ± (whole + fraction).
pub(super) struct Normal<const BITS: u32> {
    pub negative: bool,
    pub whole: u64,
    fraction: Uniform<BITS>,
}

impl<const BITS: u32> Normal<BITS> {
    /// Draws one; on average about twenty uniforms.
    #[inline]
    pub fn draw(entropy: &mut Entropy) -> Self {
        loop {
            let mut whole = 0u64;
            while exp_minus_half::<BITS>(entropy) {
                whole += 1;
            }
            // k(k − 1) coins e^{−1/2}; for k ≤ 1 there is nothing to win.
            if !all(whole * whole.saturating_sub(1), || exp_minus_half::<BITS>(entropy)) {
                continue;
            }
            let mut fraction = Uniform::new(entropy);
            if exp_minus_half_square(&mut fraction, entropy) && all(whole, || exp_minus_x(&mut fraction, entropy)) {
                return Normal { negative: entropy.bit(), whole, fraction };
            }
        }
    }

    /// The digits of the fraction that are known: the first, and any that a comparison needed.
    pub fn into_digits(self) -> (u64, Vec<u64>) {
        (self.fraction.first, self.fraction.more)
    }
}

#[inline]
fn all(times: u64, mut coin: impl FnMut() -> bool) -> bool {
    (0..times).all(|_| coin())
}

/// e^{−1/2}: a falling run that starts below ½.
#[inline]
fn exp_minus_half<const BITS: u32>(entropy: &mut Entropy) -> bool {
    // u₁ < ½ exactly when its first binary digit is 0; only then are its other digits needed.
    if entropy.bit() {
        return true;
    }
    let first = Uniform::<BITS> { first: digit::<BITS>(entropy) >> 1, more: Vec::new() };
    !falling_run_is_even(first, entropy)
}

/// exp(−x): a falling run that starts below x.
#[inline]
fn exp_minus_x<const BITS: u32>(x: &mut Uniform<BITS>, entropy: &mut Entropy) -> bool {
    let mut first = Uniform::new(entropy);
    !first.below(x, entropy) || !falling_run_is_even(first, entropy)
}

/// Is the longest falling run of fresh uniforms that starts below `previous` of even length?
#[inline]
fn falling_run_is_even<const BITS: u32>(mut previous: Uniform<BITS>, entropy: &mut Entropy) -> bool {
    let mut even = true;
    loop {
        let mut next = Uniform::new(entropy);
        if !next.below(&mut previous, entropy) {
            return even;
        }
        (previous, even) = (next, !even);
    }
}

/// exp(−x²/2): a falling run below x whose every step also wins an event of probability x/2.
#[inline]
fn exp_minus_half_square<const BITS: u32>(x: &mut Uniform<BITS>, entropy: &mut Entropy) -> bool {
    let mut previous: Option<Uniform<BITS>> = None;
    let mut even = true;
    loop {
        if entropy.bit() || !Uniform::new(entropy).below(x, entropy) {
            return even;
        }
        let mut next = Uniform::new(entropy);
        let falls = match &mut previous {
            None => next.below(x, entropy),
            Some(previous) => next.below(previous, entropy),
        };
        if !falls {
            return even;
        }
        (previous, even) = (Some(next), !even);
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::{Verdict, cells};
    use super::*;

    /// The law of ⌊8 y⌋, from erf.
    fn eighths(stretch: f64) -> Vec<(i128, f64)> {
        let phi = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        (-80..80)
            .map(|cell: i32| {
                let edge = |cell: i32| phi(f64::from(cell) / 8.0 / stretch);
                (i128::from(cell), edge(cell + 1) - edge(cell))
            })
            .collect()
    }

    /// ⌊8 y⌋ from the first three binary digits; y is not a multiple of 1/8.
    fn cell<const BITS: u32>(entropy: &mut Entropy) -> i128 {
        let mut normal = Normal::<BITS>::draw(entropy);
        let mut eighth = u128::from(normal.whole);
        let (mut bits, mut digit_index) = (0, 0);
        let mut fraction = 0u128;
        while bits < 3 {
            fraction = fraction << BITS | u128::from(normal.fraction.digit(entropy, digit_index));
            (bits, digit_index) = (bits + BITS, digit_index + 1);
        }
        eighth = eighth << 3 | fraction >> (bits - 3);
        if normal.negative { -(eighth as i128) - 1 } else { eighth as i128 }
    }

    /// Cells of width 1/8 against erf, false-alarm rate 1e-7 each; digits of one bit make every comparison tie often.
    #[test]
    fn the_law_is_exact_and_wrong_scales_are_noticed() {
        let mut entropy = Entropy::seeded(300);
        let wide: Vec<i128> = (0..300_000).map(|_| cell::<64>(&mut entropy)).collect();
        assert_eq!(cells(&eighths(1.0), wide.iter().copied()), Verdict::Accepted);
        for stretch in [0.7, 1.3, 0.97, 1.03] {
            assert_eq!(cells(&eighths(stretch), wide.iter().copied()), Verdict::Rejected, "{stretch}");
        }
        assert_eq!(cells(&eighths(1.0), (0..300_000).map(|_| cell::<1>(&mut entropy))), Verdict::Accepted);
        assert_eq!(cells(&eighths(1.0), (0..300_000).map(|_| cell::<2>(&mut entropy))), Verdict::Accepted);
    }

    /// Digits drawn after the acceptance are uniform given the rest: the last of 8 one-bit digits is a fair coin in
    /// every cell of the first 3. Conditioned on eighths the density changes by less than 2⁻⁷ over a cell, so that the
    /// 8th bit is off by less than 0.002; Hoeffding with 400,000 draws at 0.006 on top: 2 exp(−28.8) < 1e-12.
    #[test]
    fn late_digits_are_fair() {
        let mut entropy = Entropy::seeded(301);
        let ones = (0..400_000)
            .filter(|_| {
                let mut normal = Normal::<1>::draw(&mut entropy);
                normal.fraction.digit(&mut entropy, 7) == 1
            })
            .count();
        assert!((ones as f64 / 400_000.0 - 0.5).abs() < 0.008);
    }

    /// Mean, variance and fourth moment. With 300,000 draws the standard errors are 0.0018, 0.0026 and 0.018; six of
    /// them each (false-alarm rate below 1e-8).
    #[test]
    fn moments() {
        let mut entropy = Entropy::seeded(302);
        let n = 300_000;
        let (mut one, mut two, mut four) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let normal = Normal::<64>::draw(&mut entropy);
            let (sign, whole) = (if normal.negative { -1.0 } else { 1.0 }, normal.whole as f64);
            let y = sign * (whole + normal.into_digits().0 as f64 / 2f64.powi(64));
            (one, two, four) = (one + y, two + y * y, four + y.powi(4));
        }
        let n = f64::from(n);
        assert!((one / n).abs() < 0.011 && (two / n - 1.0).abs() < 0.016 && (four / n - 3.0).abs() < 0.11);
    }
}
