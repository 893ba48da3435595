//! Numbers in plain digits, read eight digits at a time.
//!
//! Most values of a text file are written this way. Whatever is not, or cannot be decided here beyond doubt, is read
//! as text; both ways give the same code.

/// The bytes that must be there to read a number, its end and what follows it.
pub const AHEAD: usize = 64;

/// A number as it was written: ± `mantissa` · 10^`power`. No `Debug`: it is a private value.
#[derive(Clone, Copy)]
pub struct Decimal {
    negative: bool,
    mantissa: u64,
    power: i32,
    /// Without a point and without an exponent.
    whole: bool,
}

const TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

const POWERS: [f64; 31] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30,
];

impl Decimal {
    /// The number that some bytes begin with, and its length: an optional sign, digits with or without a point, and a
    /// short exponent. `None` for everything else and for more digits than are sure to fit in 64 bits.
    #[inline]
    pub fn read(bytes: &[u8; AHEAD]) -> Option<(Decimal, usize)> {
        let negative = bytes[0] == b'-';
        let start = usize::from(negative || bytes[0] == b'+');
        let (before, whole) = digits(bytes, start, 0)?;
        let mut at = start + before;
        let (mut behind, mut mantissa) = (0, whole);
        let pointed = bytes[at] == b'.';
        if pointed {
            (behind, mantissa) = digits(bytes, at + 1, whole)?;
            at += 1 + behind;
        }
        // Nineteen digits fit in 64 bits, and zeros in front of the point count for nothing.
        let significant = behind + if whole == 0 { 0 } else { before };
        if before + behind == 0 || before > 19 || significant > 19 {
            return None;
        }
        let mut power = -(behind as i32);
        let lifted = bytes[at] | 0x20 == b'e';
        if lifted {
            let (exponent, length) = exponent(bytes, at + 1)?;
            power += exponent;
            at += 1 + length;
        }
        Some((Decimal { negative, mantissa, power, whole: !pointed && !lifted }, at))
    }

    /// The whole number, if it is written as one and certainly fits.
    #[inline]
    pub(super) fn whole(self) -> Option<i64> {
        let size = i64::try_from(self.mantissa).ok().filter(|_| self.whole)?;
        Some(if self.negative { -size } else { size })
    }

    /// The nearest `f64`, where one rounding gives it: the mantissa and the power are exact numbers then.
    #[inline]
    pub(super) fn exact(self) -> Option<f64> {
        (self.mantissa <= 1 << 53 && self.power.unsigned_abs() <= 22).then(|| self.rounded()).flatten()
    }

    /// The code of the nearest `f64` under a function that never falls.
    ///
    /// Let t be the number as written and u = 2⁻⁵³. The mantissa as `f64`, the power and their product or quotient are
    /// each rounded once, so that x′ = t (1 + e) with |e| < 3.1 u; the nearest `f64` is x = t (1 + e) with |e| ≤ u.
    /// Hence |x − x′| < 5 |x′| u. The ends x′ (1 ∓ 8 u) are rounded once more, by u each, and still lie on both sides
    /// of x. A function that never falls and has one value at both ends has the same value at x. All numbers here are
    /// 0 or between 10⁻³⁰ and 10⁵⁰, far from where `f64` loses digits.
    #[inline]
    pub(super) fn code(self, code: impl Fn(f64) -> u16) -> Option<u16> {
        const EIGHT: f64 = 8.0 / (1u64 << 53) as f64;
        if let Some(x) = self.exact() {
            return Some(code(x));
        }
        let x = self.rounded()?;
        let (one, other) = (code(x * (1.0 - EIGHT)), code(x * (1.0 + EIGHT)));
        (one == other).then_some(one)
    }

    /// Mantissa times power in floating point.
    #[inline]
    fn rounded(self) -> Option<f64> {
        let power = *POWERS.get(self.power.unsigned_abs() as usize)?;
        // As signed numbers, which are converted in one instruction.
        let size = i64::try_from(self.mantissa).ok()? as f64;
        let size = if self.power < 0 { size / power } else { size * power };
        Some(if self.negative { -size } else { size })
    }
}

/// Appends digits to a mantissa, which wraps if they are too many; gives their number with it. `None` for 24 and more.
#[inline(always)]
fn digits(bytes: &[u8; AHEAD], start: usize, mut mantissa: u64) -> Option<(usize, u64)> {
    for run in 0..3 {
        let at = start + 8 * run;
        let (count, values) = leading(bytes, at);
        if count < 8 {
            if count > 0 {
                // Zeros in front instead of what stands behind.
                let value = eight(values << (64 - 8 * count));
                mantissa = mantissa.wrapping_mul(TENS[count]).wrapping_add(value);
            }
            return Some((8 * run + count, mantissa));
        }
        mantissa = mantissa.wrapping_mul(100_000_000).wrapping_add(eight(values));
    }
    None
}

/// How many of the next eight bytes are digits, and the eight bytes with the digits as 0 to 9, the first one lowest.
#[inline(always)]
fn leading(bytes: &[u8; AHEAD], at: usize) -> (usize, u64) {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    let values = u64::from_le_bytes(eight) ^ 0x3030_3030_3030_3030;
    // 10 + 0x76 = 0x80: the highest bit of a byte is set unless it is a digit. No sum leaves its byte.
    let others = ((values & LOW).wrapping_add(0x7676_7676_7676_7676) | values) & !LOW;
    (others.trailing_zeros() as usize / 8, values)
}

/// The value of eight digits. Neighbours are put together: pairs below 100, fours below 10⁴, all eight below 10⁸; what
/// leaves the highest byte is what had no neighbour.
#[inline(always)]
fn eight(values: u64) -> u64 {
    let pairs = (values.wrapping_mul((10 << 8) | 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul((100 << 16) | 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul((10_000 << 32) | 1) >> 32
}

/// A sign and one to three digits; their value and length.
#[inline]
fn exponent(bytes: &[u8; AHEAD], start: usize) -> Option<(i32, usize)> {
    let negative = bytes[start] == b'-';
    let first = start + usize::from(negative || bytes[start] == b'+');
    let (count, values) = leading(bytes, first);
    if !(1..=3).contains(&count) {
        return None;
    }
    let size = eight(values << (64 - 8 * count)) as i32;
    Some((if negative { -size } else { size }, first + count - start))
}

#[cfg(test)]
mod tests {
    use super::{AHEAD, Decimal};

    fn read(text: &str) -> Option<(bool, u64, i32, bool, usize)> {
        let mut bytes = [b','; AHEAD];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Decimal::read(&bytes).map(|(d, length)| (d.negative, d.mantissa, d.power, d.whole, length))
    }

    #[test]
    fn spellings() {
        for (text, expected) in [
            ("0", Some((false, 0, 0, true, 1))),
            ("-17", Some((true, 17, 0, true, 3))),
            ("+1.250", Some((false, 1250, -3, false, 6))),
            (".5", Some((false, 5, -1, false, 2))),
            ("5.", Some((false, 5, 0, false, 2))),
            ("-0.5535421157058136", Some((true, 5_535_421_157_058_136, -16, false, 19))),
            ("12345678", Some((false, 12_345_678, 0, true, 8))),
            ("1234567890123456789", Some((false, 1_234_567_890_123_456_789, 0, true, 19))),
            ("0000000000000000012", Some((false, 12, 0, true, 19))),
            ("0.0012345678901234567", Some((false, 12_345_678_901_234_567, -19, false, 21))),
            ("00000000000000000012", None),
            ("0.00012345678901234567", None),
            ("1e5", Some((false, 1, 5, false, 3))),
            ("1.5E-05", Some((false, 15, -6, false, 7))),
            ("2e+300", Some((false, 2, 300, false, 6))),
            ("7 ", Some((false, 7, 0, true, 1))),
            ("", None),
            ("-", None),
            (".", None),
            ("1e", None),
            ("1e+", None),
            ("1e1234", None),
            ("nan", None),
            ("99999999999999999999", None),
            ("000000000000000000000001", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
