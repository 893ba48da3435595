//! Numbers as text, quickly and with no more digits than the codes carry.

use std::io::Write;

/// Appends a whole number.
pub fn push_integer(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_digits(out, value.unsigned_abs(), 1);
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

/// How a continuous column is written: as whole multiples of a power of ten just below the resolution
/// (max - min) / 65535, and never outside the bounds.
pub struct Ticks {
    decimals: usize,
    per_one: f64,
    per_one_whole: u64,
    least: i64,
    most: i64,
    plain: bool,
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
        let (least, most) = ((min * per_one).ceil(), (max * per_one).floor());
        // Only while every tick is exact as an f64; other columns are rare and take the slower way.
        let exact = 9e15;
        let plain = decimals <= 15 && least.abs() < exact && most.abs() < exact && least <= most;
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
            least,
            most,
            plain,
        }
    }

    /// Appends a number.
    pub fn push(&self, out: &mut Vec<u8>, value: f64) {
        if !self.plain {
            // The shortest text that reads back to the same number. Writing to memory does not fail.
            let _ = write!(out, "{value:?}");
            return;
        }
        let ticks = ((value * self.per_one).round() as i64).max(self.least).min(self.most);
        if ticks < 0 {
            out.push(b'-');
        }
        let ticks = ticks.unsigned_abs();
        push_digits(out, ticks / self.per_one_whole, 1);
        if self.decimals > 0 {
            out.push(b'.');
            push_digits(out, ticks % self.per_one_whole, self.decimals);
            while out.ends_with(b"0") && out[out.len() - 2] != b'.' {
                out.pop();
            }
        }
    }
}
