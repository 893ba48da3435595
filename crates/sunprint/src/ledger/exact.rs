//! Sums of budgets, exact however many there are.

use crate::privacy::Ratio;
use num_bigint::BigUint;
use serde::{Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;

/// An exact non-negative rational without a bound on its digits: a sum of many [`Ratio`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    num: BigUint,
    den: BigUint,
}

impl Sum {
    /// Nothing.
    pub fn zero() -> Sum {
        Sum { num: BigUint::ZERO, den: BigUint::from(1_u8) }
    }

    /// Is it 0?
    pub fn is_zero(&self) -> bool {
        self.num == BigUint::ZERO
    }

    fn reduced(num: BigUint, den: BigUint) -> Sum {
        let common = gcd(num.clone(), den.clone());
        Sum { num: num / &common, den: den / common }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(&self, other: &Sum) -> Sum {
        Sum::reduced(&self.num * &other.den + &other.num * &self.den, &self.den * &other.den)
    }

    /// What is left of this after the other; nothing where the other is more.
    #[must_use]
    pub fn less(&self, other: &Sum) -> Sum {
        if other >= self {
            return Sum::zero();
        }
        Sum::reduced(&self.num * &other.den - &other.num * &self.den, &self.den * &other.den)
    }

    /// Half of the square.
    #[must_use]
    pub fn half_square(&self) -> Sum {
        Sum::reduced(&self.num * &self.num, &self.den * &self.den * 2_u8)
    }

    /// A number that is at least as large, and larger by a relative 10⁻¹² at most; infinite where no float is.
    pub fn as_float_above(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        // 64 bits of the quotient, rounded up, and its place.
        let (bits, over) = (self.num.bits() as i64, self.den.bits() as i64);
        let shift = 64 - (bits - over);
        let num = if shift > 0 { &self.num << shift as u64 } else { self.num.clone() };
        let den = if shift < 0 { &self.den << (-shift) as u64 } else { self.den.clone() };
        let digits = (num / den + 1_u8).to_u64_digits();
        let value = digits.iter().rev().fold(0.0, |value, &digit| value * 64_f64.exp2() + digit as f64);
        libm::scalbn(value, i32::try_from(-shift).unwrap_or(i32::MAX)) * (1.0 + 1e-15)
    }
}

fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

impl From<Ratio> for Sum {
    fn from(ratio: Ratio) -> Sum {
        Sum { num: ratio.num().into(), den: ratio.den().into() }
    }
}

impl Ord for Sum {
    fn cmp(&self, other: &Sum) -> Ordering {
        (&self.num * &other.den).cmp(&(&other.num * &self.den))
    }
}

impl PartialOrd for Sum {
    fn partial_cmp(&self, other: &Sum) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The most decimals that are written out: every δ has fewer.
const DECIMALS: usize = 60;

/// As a decimal where it is a finite one, otherwise as `a/b`.
impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut num, mut den) = (self.num.clone(), self.den.clone());
        let one = BigUint::from(1_u8);
        let mut decimals = 0;
        while den != one && decimals < DECIMALS {
            let common = gcd(den.clone(), BigUint::from(10_u8));
            if common == one {
                break;
            }
            (num, den) = (num * 10_u8 / &common, den / common);
            decimals += 1;
        }
        if den != one {
            return write!(f, "{}/{}", self.num, self.den);
        }
        if decimals == 0 {
            return write!(f, "{num}");
        }
        let text = format!("{:0>width$}", num.to_string(), width = decimals + 1);
        let (whole, rest) = text.split_at(text.len() - decimals);
        write!(f, "{whole}.{rest}")
    }
}

/// As `a/b`, like a [`Ratio`].
impl Serialize for Sum {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}/{}", self.num, self.den))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(text: &str) -> Sum {
        text.parse::<Ratio>().unwrap().into()
    }

    #[test]
    fn a_tenth_and_two_are_three() {
        assert_eq!(sum("0.1").plus(&sum("0.2")), sum("0.3"));
        assert_eq!(sum("0.1").plus(&sum("0.2")).to_string(), "0.3");
        assert_eq!(sum("1").half_square(), sum("0.5"));
        assert_eq!(sum("3").less(&sum("2.5")).to_string(), "0.5");
        assert_eq!(sum("1").less(&sum("2.5")), Sum::zero());
    }

    #[test]
    fn many_odd_fractions_do_not_overflow() {
        let odd = (1..200_u128).map(|k| Sum::from(Ratio::new(1, 2 * k * k + 1).unwrap()));
        let (forwards, backwards) = (odd.clone().fold(Sum::zero(), |a, b| a.plus(&b)), odd.rev());
        assert_eq!(backwards.fold(Sum::zero(), |a, b| a.plus(&b)), forwards);
        assert!(forwards.as_float_above() < 1.0);
    }

    proptest! {
        #[test]
        fn floats_lie_just_above(num in 1_u128.., den in 1_u128..) {
            let value = Sum::from(Ratio::new(num, den).unwrap());
            let float = value.as_float_above();
            // A float is a fraction of two integers: compare exactly.
            let scale = 80 - libm::ilogb(float);
            let digits = libm::scalbn(float, scale) as u128;
            let exact = if scale >= 0 {
                Sum::reduced(digits.into(), BigUint::from(1_u8) << scale as u64)
            } else {
                Sum::reduced(BigUint::from(digits) << (-scale) as u64, 1_u8.into())
            };
            prop_assert!(exact >= value && float <= num as f64 / den as f64 * (1.0 + 1e-12));
        }
    }
}
