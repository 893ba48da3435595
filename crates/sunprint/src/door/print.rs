//! Numbers as text, quickly and with no more digits than the codes carry.

use std::io::Write;

/// Appends a whole number.
#[inline]
pub fn push_integer(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_whole(out, value.unsigned_abs());
}

/// The eight digits of a number below 10⁸, the first in the lowest byte.
///
/// Every half is split in two by the same division in all its lanes: first thousands, then hundreds, then tens. A
/// quotient is a product and a shift, exact for dividends below 10⁴ and 10² as the tests try them all.
#[inline]
fn eight_digits(value: u32) -> u64 {
    let fours = u64::from(value / 10_000) | u64::from(value % 10_000) << 32;
    let hundreds = ((fours * 5243) >> 19) & 0x0000_007F_0000_007F;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((twos * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | (twos - 10 * tens) << 8
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Appends the first `count` of eight digits. A copy of fixed length, cut afterwards, is quicker than a short one.
#[inline]
fn push_first(out: &mut Vec<u8>, digits: u64, count: usize) {
    let length = out.len() + count;
    out.extend_from_slice(&(digits + ZEROS).to_le_bytes());
    out.truncate(length);
}

#[inline]
fn push_whole(out: &mut Vec<u8>, value: u64) {
    if value < 10 {
        out.push(b'0' + value as u8);
    } else if value < 100_000_000 {
        let digits = eight_digits(value as u32);
        let leading = digits.trailing_zeros() / 8;
        push_first(out, digits >> (8 * leading), 8 - leading as usize);
    } else {
        push_digits(out, value, 1);
    }
}

/// Appends at least `least` digits.
fn push_digits(out: &mut Vec<u8>, mut value: u64, least: usize) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    while value > 0 || digits.len() - first < least {
        first -= 1;
        digits[first] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    out.extend_from_slice(&digits[first..]);
}

/// The nearest whole number, halves away from zero, of a number that is smaller than 2⁵³: the fraction is exact.
#[inline]
fn nearest(x: f64) -> i64 {
    let whole = x as i64;
    let fraction = x - whole as f64;
    whole + i64::from(fraction >= 0.5) - i64::from(fraction <= -0.5)
}

/// Whole numbers up to here, and halves between them up to half of it, are exact as an f64.
const EXACT: f64 = 9e15;

/// How a continuous column is written: as whole multiples of a power of ten just below the resolution
/// (max - min) / 65535, and never outside the bounds.
pub struct Ticks {
    decimals: usize,
    per_one: f64,
    per_one_whole: u64,
    /// What makes eight decimals of fewer.
    to_eight: u64,
    least: i64,
    most: i64,
    plain: bool,
    /// Zeros at the end are kept.
    fixed: bool,
}

impl Ticks {
    /// The ticks of a column with these bounds.
    pub fn new(min: f64, max: f64) -> Self {
        let step = (max - min) / 65535.0;
        // Powers of ten up to 22 are exact, so that this gives the same text on every machine.
        let (mut decimals, mut per_one) = (0, 1.0);
        while per_one * step < 1.0 && decimals < 22 {
            decimals += 1;
            per_one *= 10.0;
        }
        Ticks::with(min, max, decimals, false)
    }

    /// The ticks of a column with these bounds and so many decimals, at most 15, which are all written.
    pub fn fixed(min: f64, max: f64, decimals: u8) -> Self {
        Ticks::with(min, max, usize::from(decimals.min(15)), true)
    }

    fn with(min: f64, max: f64, decimals: usize, fixed: bool) -> Self {
        let per_one = (0..decimals).fold(1.0, |power, _| power * 10.0);
        let (least, most) = ((min * per_one).ceil(), (max * per_one).floor());
        // Only while every tick is exact as an f64; other columns are rare and take the slower way.
        let plain = decimals <= 15 && least.abs() < EXACT && most.abs() < EXACT && least <= most;
        // The product is rounded; the quotient is what a reader of the text gets, and that must not leave the bounds.
        let (mut least, mut most) = (least as i64, most as i64);
        if plain {
            least += i64::from((least as f64 / per_one) < min);
            most -= i64::from((most as f64 / per_one) > max);
        }
        Ticks {
            decimals,
            per_one,
            per_one_whole: if plain { 10u64.pow(decimals as u32) } else { 1 },
            to_eight: 10u64.pow(8u32.saturating_sub(decimals as u32)),
            least,
            most,
            plain,
            fixed,
        }
    }

    /// The nearest tick between the bounds.
    #[inline]
    pub fn rounded(&self, value: f64) -> f64 {
        if self.plain { self.ticks(value) as f64 / self.per_one } else { value }
    }

    #[inline]
    fn ticks(&self, value: f64) -> i64 {
        nearest((value * self.per_one).clamp(-EXACT, EXACT)).max(self.least).min(self.most)
    }

    /// Appends a number.
    #[inline]
    pub fn push(&self, out: &mut Vec<u8>, value: f64) {
        if !self.plain {
            // The shortest text that reads back to the same number. Writing to memory does not fail.
            let _ = write!(out, "{value:?}");
            return;
        }
        let ticks = self.ticks(value);
        if ticks < 0 {
            out.push(b'-');
        }
        let ticks = ticks.unsigned_abs();
        push_whole(out, ticks / self.per_one_whole);
        if self.decimals > 0 {
            out.push(b'.');
            if self.fixed {
                push_digits(out, ticks % self.per_one_whole, self.decimals);
            } else {
                self.push_fraction(out, ticks % self.per_one_whole);
            }
        }
    }

    /// Appends the decimals without zeros at the end, but one digit at least.
    #[inline]
    fn push_fraction(&self, out: &mut Vec<u8>, fraction: u64) {
        if self.decimals <= 8 {
            let digits = eight_digits((fraction * self.to_eight) as u32);
            push_first(out, digits, (8 - digits.leading_zeros() as usize / 8).max(1));
        } else {
            push_digits(out, fraction, self.decimals);
            while out.ends_with(b"0") && out[out.len() - 2] != b'.' {
                out.pop();
            }
        }
    }
}

/// How a column on a log scale is written: with as many digits as the codes carry, wherever the point is.
pub struct Significant {
    digits: usize,
    min: f64,
    max: f64,
}

impl Significant {
    /// For a column with these bounds, both above 0.
    pub fn new(min: f64, max: f64) -> Self {
        // From one code to the next numbers grow by this part.
        let step = (libm::log(max) - libm::log(min)) / 65535.0;
        let (mut digits, mut part) = (1, 1.0);
        while part > step && digits < 17 {
            digits += 1;
            part /= 10.0;
        }
        Significant { digits, min, max }
    }

    /// Appends a number.
    pub fn push(&self, out: &mut Vec<u8>, value: f64) {
        let rounded: f64 = format!("{value:.*e}", self.digits - 1).parse().unwrap_or(value);
        // Writing to memory does not fail.
        let _ = write!(out, "{:?}", rounded.clamp(self.min, self.max));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_four_digits_are_right() {
        let text = |value: u32| String::from_utf8((eight_digits(value) + ZEROS).to_le_bytes().to_vec()).unwrap();
        for low in 0..10_000 {
            assert_eq!(text(low), format!("{low:08}"));
            assert_eq!(text(low * 10_000 + 9_999 - low), format!("{low:04}{:04}", 9_999 - low));
        }
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        let tricky = [0.5, 1.5, 2.5, 0.499_999_999_999_999_94, 4_503_599_627_370_495.5, 8.9e15, 0.0];
        for x in tricky.into_iter().flat_map(|x: f64| [x, -x]) {
            assert_eq!(nearest(x), x.round() as i64, "{x}");
        }
    }

    /// As it was written before it was made quick.
    fn reference(ticks: &Ticks, value: f64) -> String {
        let whole = ((value * ticks.per_one).round() as i64).max(ticks.least).min(ticks.most);
        let sign = if whole < 0 { "-" } else { "" };
        let (before, behind) = (whole.unsigned_abs() / ticks.per_one_whole, whole.unsigned_abs() % ticks.per_one_whole);
        if ticks.decimals == 0 {
            return format!("{sign}{before}");
        }
        let mut text = format!("{sign}{before}.{behind:0width$}", width = ticks.decimals);
        while text.ends_with('0') && !text.ends_with(".0") {
            text.pop();
        }
        text
    }

    proptest! {
        #[test]
        fn quick_numbers_are_the_plain_ones(
            magnitude in -12i32..16, low in -1.0f64..1.0, span in 1e-6f64..2.0, at in 0.0f64..=1.0, whole: i64,
        ) {
            let unit = 10f64.powi(magnitude);
            let (min, max) = (low * unit, (low + span) * unit);
            let ticks = Ticks::new(min, max);
            for value in [min, max, min + at * (max - min), min - unit, max + unit, f64::NAN, f64::INFINITY] {
                let mut text = Vec::new();
                ticks.push(&mut text, value);
                if ticks.plain {
                    prop_assert_eq!(String::from_utf8(text).unwrap(), reference(&ticks, value));
                }
            }
            for whole in [whole, whole % 100_000_000, whole % 1000, i64::MIN, i64::MAX] {
                let mut text = Vec::new();
                push_integer(&mut text, whole);
                prop_assert_eq!(String::from_utf8(text).unwrap(), whole.to_string());
            }
        }
    }
}
