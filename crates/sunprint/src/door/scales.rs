//! Numbers to codes and back: linear, logarithmic and cyclic.
//!
//! Logarithms, sines and the like come from `libm`, which is software: a value has the same codes on every machine.

use super::MIDDLE;
use crate::tally::codes::Q;
use std::f64::consts::TAU;

/// The nearest code. The cast drops the fraction and saturates: everything below 0 becomes 0, above 65535 becomes Q,
/// infinities included.
#[inline]
pub(super) fn real_code(x: f64, min: f64, scale: f64) -> u16 {
    if x.is_nan() { MIDDLE } else { ((x - min) * scale + 0.5) as u16 }
}

/// The nearest code, exactly: floor((2 (x - min) Q + span) / (2 span)).
#[inline]
pub(super) fn whole_code(x: i64, min: i64, max: i64, span: u64) -> u16 {
    let above = x.clamp(min, max).abs_diff(min);
    // Up to 2^35 numerator and denominator are exact as `f64`. A quotient that is no integer is at least 2^-36 below
    // the next one, which is at most 2^16; there numbers are rounded by at most 2^-38, so never up to the integer, and
    // dropping the fraction is the floor.
    if span <= 1 << 35 {
        return ((2 * above * u64::from(Q) + span) as i64 as f64 / (2 * span) as i64 as f64) as u16;
    }
    let (above, span) = (u128::from(above), u128::from(span));
    ((2 * above * u128::from(Q) + span) / (2 * span)) as u16
}

/// A place between the bounds; no place at all is the middle.
#[inline]
pub(super) fn inside(unit: f64) -> f64 {
    if unit.is_nan() { 0.5 } else { unit.clamp(0.0, 1.0) }
}

#[inline]
pub(super) fn real_at(unit: f64, min: f64, max: f64) -> f64 {
    (min + inside(unit) * (max - min)).clamp(min, max)
}

#[inline]
pub(super) fn whole_at(unit: f64, min: i64, max: i64, span: u64) -> i64 {
    // The cast saturates; a span above 2^53 loses low digits only.
    let above = ((inside(unit) * span as f64).round() as u64).min(span);
    min.saturating_add_unsigned(above).min(max)
}

/// A log scale: places are between the logarithms of the bounds.
#[derive(Clone, Copy)]
pub(super) struct Log {
    min: f64,
    max: f64,
    low: f64,
    span: f64,
}

impl Log {
    pub(super) fn new(min: f64, max: f64) -> Log {
        let low = libm::log(min);
        Log { min, max, low, span: libm::log(max) - low }
    }

    #[inline]
    pub(super) fn code(&self, x: f64) -> u16 {
        if x <= self.min {
            0
        } else if x >= self.max {
            Q
        } else {
            // The cast saturates.
            ((libm::log(x) - self.low) / self.span * f64::from(Q) + 0.5) as u16
        }
    }

    #[inline]
    pub(super) fn at(&self, unit: f64) -> f64 {
        // The bounds themselves are met exactly.
        match inside(unit) {
            0.0 => self.min,
            1.0 => self.max,
            unit => libm::exp(self.low + unit * self.span).clamp(self.min, self.max),
        }
    }
}

/// A circle around the middle of the square of codes.
///
/// Its radius is 32766: two opposite points are 65532 apart, and rounding each coordinate of both by a half at most adds
/// √2, so that two points never differ by more than Q.
#[derive(Clone, Copy)]
pub(super) struct Circle {
    ring: Ring,
}

#[derive(Clone, Copy)]
enum Ring {
    /// `max` is the same place as `min`.
    Real { min: f64, max: f64 },
    /// `max` and `min` are neighbours.
    Whole { min: i64, count: i128 },
}

/// A point of a circle on its way out.
pub(super) enum Point {
    Real(f64),
    Whole(i64),
}

impl Circle {
    const RADIUS: f64 = 32766.0;

    pub(super) fn real(min: f64, max: f64) -> Circle {
        Circle { ring: Ring::Real { min, max } }
    }

    pub(super) fn whole(min: i64, max: i64) -> Circle {
        Circle { ring: Ring::Whole { min, count: i128::from(max) - i128::from(min) + 1 } }
    }

    pub(super) fn is_whole(&self) -> bool {
        matches!(self.ring, Ring::Whole { .. })
    }

    /// The codes of a real number; `None` for infinities, which are nowhere on a circle.
    pub(super) fn code(&self, x: f64) -> Option<(u16, u16)> {
        match self.ring {
            Ring::Real { min, max } => {
                let turns = (x - min) / (max - min);
                turns.is_finite().then(|| Circle::codes(turns - turns.floor()))
            }
            Ring::Whole { .. } => x.is_finite().then(|| self.whole_code(x.round() as i64)),
        }
    }

    /// The codes of a whole number.
    pub(super) fn whole_code(&self, x: i64) -> (u16, u16) {
        match self.ring {
            Ring::Real { .. } => self.code(x as f64).unwrap_or((MIDDLE, MIDDLE)),
            Ring::Whole { min, count } => {
                let steps = (i128::from(x) - i128::from(min)).rem_euclid(count);
                Circle::codes(steps as f64 / count as f64)
            }
        }
    }

    fn codes(turns: f64) -> (u16, u16) {
        let (sin, cos) = libm::sincos(TAU * turns);
        // 32767.5 + 0.5: the middle of the codes, and rounding by dropping the fraction.
        let code = |x: f64| (32768.0 + Circle::RADIUS * x) as u16;
        (code(cos), code(sin))
    }

    /// The value in the direction of a point; the middle itself is in the direction of the lower bound.
    pub(super) fn at(&self, units: &[f64]) -> Point {
        let off = |i: usize| units.get(i).map_or(0.0, |unit| unit - 0.5);
        let turns = libm::atan2(off(1), off(0)) / TAU;
        let turns = if turns.is_nan() { 0.0 } else { turns - turns.floor() };
        match self.ring {
            Ring::Real { min, max } => Point::Real(real_at(turns, min, max)),
            Ring::Whole { min, count } => {
                let steps = ((turns * count as f64).round() as i128).rem_euclid(count);
                Point::Whole((i128::from(min) + steps) as i64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written down once: the codes are the same on every machine and must stay the same for ever.
    #[test]
    fn the_codes_never_change() {
        let log = Log::new(0.001, 54_321.0);
        let codes = [0.0011, 0.5, 1.0, 3.3, 987.6, 54_320.0].map(|x| log.code(x));
        assert_eq!(codes, LOGS);
        let day = Circle::whole(0, 23);
        assert_eq!([0, 1, 7, 12, 23, 24, -1].map(|hour| day.whole_code(hour)), HOURS);
    }

    const LOGS: [u16; 6] = [351, 22867, 25418, 29811, 50789, 65535];
    const HOURS: [(u16, u16); 7] =
        [(65534, 32768), (64417, 41248), (24287, 64417), (2, 32768), (64417, 24287), (65534, 32768), (64417, 24287)];

    #[test]
    fn opposite_points_are_at_most_q_apart() {
        let circle = Circle::real(0.0, 1.0);
        for i in 0..20_000 {
            let (a, b) = (circle.code(f64::from(i) / 2e4).unwrap(), circle.code(f64::from(i) / 2e4 + 0.5).unwrap());
            let square = |a: u16, b: u16| (i64::from(a) - i64::from(b)).pow(2);
            assert!(square(a.0, b.0) + square(a.1, b.1) <= i64::from(Q).pow(2));
        }
    }
}
