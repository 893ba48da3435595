//! Exact non-negative rationals: budgets, shares and noise scales.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Kind, Result};

/// An exact non-negative rational `num / den`, always reduced, with `den > 0`.
///
/// Arithmetic is checked: it is exact or it returns `None`, never rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    num: u128,
    den: u128,
}

/// The greatest common divisor (of 0 and `a`: `a`).
fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Ratio {
    /// Zero.
    pub const ZERO: Ratio = Ratio { num: 0, den: 1 };
    /// One.
    pub const ONE: Ratio = Ratio { num: 1, den: 1 };

    /// `num / den`, reduced; `None` where `den` is 0.
    pub fn new(num: u128, den: u128) -> Option<Ratio> {
        if den == 0 {
            return None;
        }
        let common = gcd(num, den);
        Some(Ratio { num: num / common, den: den / common })
    }

    /// A whole number.
    pub fn whole(value: u128) -> Ratio {
        Ratio { num: value, den: 1 }
    }

    /// The reduced numerator.
    pub fn num(&self) -> u128 {
        self.num
    }

    /// The reduced denominator, at least 1.
    pub fn den(&self) -> u128 {
        self.den
    }

    /// Is it 0?
    pub fn is_zero(&self) -> bool {
        self.num == 0
    }

    /// The exact sum, if it fits.
    pub fn checked_add(self, other: Ratio) -> Option<Ratio> {
        // a/(gb') + c/(gd') = (a d' + c b') / (g b' d'), which keeps the intermediate numbers small.
        let common = gcd(self.den, other.den);
        let (left, right) = (self.den / common, other.den / common);
        let num = self.num.checked_mul(right)?.checked_add(other.num.checked_mul(left)?)?;
        Ratio::new(num, self.den.checked_mul(right)?)
    }

    /// The exact product, if it fits.
    pub fn checked_mul(self, other: Ratio) -> Option<Ratio> {
        // Cancel across first: what is left is already reduced.
        let (down, up) = (gcd(self.num, other.den), gcd(other.num, self.den));
        let num = (self.num / down).checked_mul(other.num / up)?;
        Ratio::new(num, (self.den / up).checked_mul(other.den / down)?)
    }

    /// The exact quotient, if it fits; `None` where `other` is 0.
    pub fn checked_div(self, other: Ratio) -> Option<Ratio> {
        self.checked_mul(Ratio::new(other.den, other.num)?)
    }

    /// The smallest whole number that is not below the value.
    pub fn ceil(&self) -> u128 {
        self.num.div_ceil(self.den)
    }

    /// The largest whole number that is not above the value.
    pub fn floor(&self) -> u128 {
        self.num / self.den
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        // Compare continued fractions: no product can overflow.
        let (mut a, mut b, mut c, mut d) = (self.num, self.den, other.num, other.den);
        loop {
            let order = (a / b).cmp(&(c / d));
            if order != Ordering::Equal {
                return order;
            }
            (a, c) = (a % b, c % d);
            match (a, c) {
                (0, 0) => return Ordering::Equal,
                (0, _) => return Ordering::Less,
                (_, 0) => return Ordering::Greater,
                // a/b < c/d exactly when d/c < b/a.
                _ => (a, b, c, d) = (d, c, b, a),
            }
        }
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// As a decimal where it is finite (and short), otherwise as `a/b`.
impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // num/den is a finite decimal exactly when some power of ten is a multiple of den.
        let (mut num, mut digits) = (self.num, 0usize);
        let mut den = self.den;
        while den != 1 {
            let common = gcd(den, 10);
            let next = if common == 1 { None } else { num.checked_mul(10 / common) };
            match next {
                Some(next) => (num, den, digits) = (next, den / common, digits + 1),
                None => return write!(f, "{}/{}", self.num, self.den),
            }
        }
        if digits == 0 {
            return write!(f, "{num}");
        }
        let text = format!("{num:0>width$}", width = digits + 1);
        let (whole, fraction) = text.split_at(text.len() - digits);
        write!(f, "{whole}.{fraction}")
    }
}

/// Reads `a`, `a/b`, or a decimal with an optional exponent (`0.25`, `1e-3`), exactly.
impl FromStr for Ratio {
    type Err = Error;

    fn from_str(text: &str) -> Result<Ratio> {
        parse(text.trim()).ok_or_else(|| {
            Error::new(Kind::Usage, format!("`{}` is not a number that can be kept exactly", shorten(text)))
                .hint("write a plain decimal such as 0.5, or a fraction such as 1/3")
        })
    }
}

/// At most 40 characters of what was given.
pub(super) fn shorten(text: &str) -> String {
    let mut short: String = text.trim().chars().take(40).collect();
    if short.len() < text.trim().len() {
        short.push('…');
    }
    short
}

fn parse(text: &str) -> Option<Ratio> {
    let whole = |t: &str| t.bytes().all(|c| c.is_ascii_digit()).then(|| t.parse::<u128>().ok()).flatten();
    if let Some((num, den)) = text.split_once('/') {
        return Ratio::new(whole(num)?, whole(den)?);
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let after = after.trim_end_matches('0');
    if mantissa.is_empty() || mantissa == "." || !before.bytes().chain(after.bytes()).all(|c| c.is_ascii_digit()) {
        return None;
    }
    let digits = format!("{before}{after}");
    let digits = digits.trim_start_matches('0');
    let num = if digits.is_empty() { return Some(Ratio::ZERO) } else { digits.parse::<u128>().ok()? };
    let power = exponent.checked_sub(i32::try_from(after.len()).ok()?)?;
    let ten = 10u128.checked_pow(power.unsigned_abs())?;
    if power >= 0 { Ratio::new(num.checked_mul(ten)?, 1) } else { Ratio::new(num, ten) }
}

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}/{}", self.num, self.den))
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Ratio, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_exact() {
        for (text, num, den) in [
            ("0.1", 1, 10),
            ("1e-3", 1, 1000),
            ("2.50", 5, 2),
            ("1e3", 1000, 1),
            ("6/4", 3, 2),
            (".5", 1, 2),
            ("7.", 7, 1),
            ("0", 0, 1),
            ("0.000", 0, 1),
        ] {
            let ratio: Ratio = text.parse().unwrap();
            assert_eq!((ratio.num(), ratio.den()), (num, den), "{text}");
        }
        for text in [
            "",
            ".",
            "-1",
            "1/0",
            "1/-2",
            "NaN",
            "inf",
            "1e",
            "1e-300",
            "1e300",
            "1.2.3",
            "0x1",
            "1 2",
            "1e99999999999",
        ] {
            assert!(text.parse::<Ratio>().is_err(), "{text}");
        }
    }

    #[test]
    fn display_is_decimal_where_it_can_be() {
        for (num, den, text) in [(1, 10, "0.1"), (5, 2, "2.5"), (1, 3, "1/3"), (12, 1, "12"), (1, 1024, "0.0009765625")]
        {
            assert_eq!(Ratio::new(num, den).unwrap().to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn text_returns_unchanged(num in 0u128..1 << 80, den in 1u128..1 << 80) {
            let ratio = Ratio::new(num, den).unwrap();
            prop_assert_eq!(ratio.to_string().parse::<Ratio>().unwrap(), ratio);
            let json = serde_json::to_string(&ratio).unwrap();
            prop_assert_eq!(serde_json::from_str::<Ratio>(&json).unwrap(), ratio);
        }

        #[test]
        fn arithmetic_is_that_of_fractions(a in 0u128..1 << 30, b in 1u128..1 << 30, c in 1u128..1 << 30, d in 1u128..1 << 30) {
            let (x, y) = (Ratio::new(a, b).unwrap(), Ratio::new(c, d).unwrap());
            prop_assert_eq!(x.checked_add(y), Ratio::new(a * d + c * b, b * d));
            prop_assert_eq!(x.checked_mul(y), Ratio::new(a * c, b * d));
            prop_assert_eq!(x.checked_div(y), Ratio::new(a * d, b * c));
            prop_assert_eq!(x.cmp(&y), (a * d).cmp(&(c * b)));
            prop_assert!(x.ceil() * b >= a && x.floor() * b <= a);
        }
    }
}
