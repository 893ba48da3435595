//! How the coordinates of a row are read before they are summed or compared: clamped to where rows are likely, less a
//! centre, and stretched, so that a column of narrow values counts beside one of wide values.
//!
//! Everything here is public and a function of one row alone.

use serde::{Deserialize, Serialize};

/// How one coordinate is read: `u = (clamp(x, low, high) − centre) · times / 2⁸`, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u16, u16, u16, u16)", into = "(u16, u16, u16, u16)")]
pub struct Score {
    /// What is taken away, in codes.
    pub centre: u16,
    /// Codes below it count as it.
    pub low: u16,
    /// Codes above it count as it.
    pub high: u16,
    /// In 2⁻⁸; at most [`Score::MOST`].
    pub times: u16,
}

impl From<(u16, u16, u16, u16)> for Score {
    fn from((centre, low, high, times): (u16, u16, u16, u16)) -> Score {
        Score { centre, low, high, times }
    }
}

impl From<Score> for (u16, u16, u16, u16) {
    fn from(score: Score) -> Self {
        (score.centre, score.low, score.high, score.times)
    }
}

/// Fractional bits of [`Score::times`].
const FRACTION: u32 = 8;

impl Score {
    /// The largest stretch, 64: `|u| ≤ 2¹⁶ · 2⁶`.
    pub const MOST: u16 = 1 << 14;

    /// The coordinate as it is, less a centre.
    pub fn plain(centre: u16) -> Score {
        Score { centre, low: 0, high: u16::MAX, times: 1 << FRACTION }
    }

    /// Whether the bounds of the numbers hold.
    pub(super) fn fits(&self) -> bool {
        self.low <= self.high && self.times <= Score::MOST
    }

    /// The score of a code.
    #[inline(always)]
    pub fn of(&self, code: u16) -> i32 {
        // Not `clamp`, which may panic.
        let inside = code.min(self.high).max(self.low);
        (i32::from(inside) - i32::from(self.centre)).wrapping_mul(i32::from(self.times)) >> FRACTION
    }

    /// The score of a place between the bounds, in the same unit; places are not rounded to codes.
    pub fn at(&self, unit: f64) -> f64 {
        let code = (unit * f64::from(u16::MAX)).clamp(f64::from(self.low), f64::from(self.high));
        (code - f64::from(self.centre)) * self.stretch()
    }

    /// The stretch as a number.
    pub fn stretch(&self) -> f64 {
        f64::from(self.times) / f64::from(1_u32 << FRACTION)
    }
}

/// Writes the scores of a row.
#[inline(always)]
pub(super) fn write(row: &[u16], scores: &[Score], out: &mut [i32]) {
    for ((u, &x), score) in out.iter_mut().zip(row).zip(scores) {
        *u = score.of(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Scores grow with the code, stay within 2²², and are those of places, but for rounding.
        #[test]
        fn scores_are_monotone_and_bounded(
            centre: u16, ends in (any::<u16>(), any::<u16>()), times in 0..=Score::MOST, x: u16, y: u16,
        ) {
            let score = Score { centre, low: ends.0.min(ends.1), high: ends.0.max(ends.1), times };
            prop_assert!(score.fits());
            let (a, b) = (score.of(x.min(y)), score.of(x.max(y)));
            prop_assert!(a <= b && a.abs() <= 1 << 22 && b.abs() <= 1 << 22);
            let place = score.at(f64::from(x) / f64::from(u16::MAX));
            prop_assert!((place - f64::from(score.of(x))).abs() <= 1.0 + 1e-6);
        }
    }
}
