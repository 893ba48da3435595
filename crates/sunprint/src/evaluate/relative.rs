//! Errors in units that mean the same on any table: a column's own deviation, and what chance alone would give.

use super::labels::variation;
use super::line::{self, Seen};
use crate::schema::Form;
use crate::tally::codes::Q;
use std::f64::consts::FRAC_2_PI;

/// An error of a column, and what rows of one law differ by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Relative {
    /// In deviations of the real column.
    pub(super) error: f64,
    /// The same, as it is to be expected of two tables of so many rows that were drawn from one law.
    pub(super) chance: f64,
}

/// What is left of an error when what chance gives is taken away. Independent errors add in squares.
pub(super) fn beyond(error: f64, chance: f64) -> f64 {
    (error * error - chance * chance).max(0.0).sqrt()
}

/// √(2/π) is the mean of |z| for a standard normal z, and a difference of two means of m and n rows has the deviation
/// √(1/m + 1/n).
fn mean_gap(m: u64, n: u64) -> f64 {
    FRAC_2_PI.sqrt() * (1.0 / m.max(1) as f64 + 1.0 / n.max(1) as f64).sqrt()
}

/// W1 of a column in deviations of the real column; for categories the total variation over √((1 − Σp²)/2), which for two
/// categories is the same number as for the column of zeros and ones. Where missing values are allowed, their shares are
/// such a column too, and the larger of both counts. If the real column does not vary: the part of the synthetic values
/// that are different.
pub(super) fn relative(form: Form, real: &Seen, synthetic: &Seen) -> Relative {
    let missing = shares(
        &[real.missing(), 1.0 - real.missing()],
        &[synthetic.missing(), 1.0 - synthetic.missing()],
        [real.rows, synthetic.rows],
    );
    if real.present == 0 || synthetic.present == 0 {
        return missing;
    }
    let values = match form {
        Form::OneHot => {
            let part = |seen: &Seen| seen.counts.iter().map(|&n| n as f64 / seen.present as f64).collect::<Vec<f64>>();
            shares(&part(real), &part(synthetic), [real.present, synthetic.present])
        }
        Form::Line => on_a_line(real, synthetic, line::w1(real, synthetic), f64::from(Q)),
        Form::Circle => {
            let [a, b] = [real, synthetic].map(|seen| turned(seen, opposite(real)));
            on_a_line(&a, &b, line::w1_around(real, synthetic), real.counts.len() as f64)
        }
    };
    if values.error >= missing.error { values } else { missing }
}

/// Shares of categories.
pub(super) fn shares(real: &[f64], synthetic: &[f64], rows: [u64; 2]) -> Relative {
    let error = variation(real, synthetic);
    let scale = ((1.0 - real.iter().map(|p| p * p).sum::<f64>()).max(0.0) / 2.0).sqrt();
    // Rounding of shares that add up to 1 is no variation.
    if scale < 1e-6 {
        return Relative { error, chance: 0.0 };
    }
    let roots: f64 = real.iter().map(|p| (p * (1.0 - p)).max(0.0).sqrt()).sum();
    Relative { error: error / scale, chance: mean_gap(rows[0], rows[1]) * roots / 2.0 / scale }
}

/// The distribution functions F and G of two tables of one law differ by √(F(1 − F)) times a normal of deviation
/// √(1/m + 1/n), and W1 is the area between them.
fn on_a_line(real: &Seen, synthetic: &Seen, w1: f64, steps: f64) -> Relative {
    let (n, mut below, mut area, mut sum, mut square) = (real.present as f64, 0_u64, 0.0, 0_i128, 0_i128);
    for (code, &count) in real.counts.iter().enumerate() {
        below += count;
        let part = below as f64 / n;
        area += (part * (1.0 - part)).max(0.0).sqrt();
        (sum, square) = (sum + code as i128 * i128::from(count), square + (code * code) as i128 * i128::from(count));
    }
    let deviation = ((i128::from(real.present) * square - sum * sum) as f64).sqrt() / n;
    if deviation == 0.0 {
        let same = real.counts.iter().position(|&count| count > 0).map_or(0, |code| synthetic.counts[code]);
        return Relative { error: 1.0 - same as f64 / synthetic.present as f64, chance: 0.0 };
    }
    Relative { error: w1 * steps / deviation, chance: mean_gap(real.present, synthetic.present) * area / deviation }
}

/// The direction opposite to the mean of a circle: where it is cut into a line.
fn opposite(seen: &Seen) -> usize {
    let (mut x, mut y) = (0.0, 0.0);
    let places = seen.counts.len();
    for (place, &count) in seen.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * place as f64 / places as f64);
        (x, y) = (x + cos * count as f64, y + sin * count as f64);
    }
    let turns = libm::atan2(y, x) / std::f64::consts::TAU + 0.5;
    ((turns - turns.floor()) * places as f64) as usize % places
}

/// A circle that begins at a place.
fn turned(seen: &Seen, start: usize) -> Seen {
    let mut counts = seen.counts.clone();
    counts.rotate_left(start);
    Seen { counts, ..*seen }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(counts: &[(usize, u64)], places: usize, missing: u64) -> Seen {
        let mut all = vec![0; places];
        counts.iter().for_each(|&(place, count)| all[place] += count);
        let present = all.iter().sum();
        Seen { counts: all, present, rows: present + missing }
    }

    const CODES: usize = Q as usize + 1;

    #[test]
    fn zeros_and_ones_are_the_same_as_numbers_and_as_categories() {
        let last = CODES - 1;
        let line =
            relative(Form::Line, &seen(&[(0, 80), (last, 20)], CODES, 0), &seen(&[(0, 350), (last, 150)], CODES, 0));
        let hot = relative(Form::OneHot, &seen(&[(0, 80), (1, 20)], 2, 0), &seen(&[(0, 350), (1, 150)], 2, 0));
        // |0.3 − 0.2| / √(0.2 · 0.8); chance: √(2/π) √(1/100 + 1/500).
        for found in [line, hot] {
            assert!((found.error - 0.25).abs() < 1e-9, "{found:?}");
            assert!((found.chance - 0.797_884_560_8 * 0.012_f64.sqrt()).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn what_does_not_vary_is_counted() {
        let real = seen(&[(7, 50)], CODES, 0);
        let found = relative(Form::Line, &real, &seen(&[(7, 30), (9, 10)], CODES, 0));
        assert_eq!(found, Relative { error: 0.25, chance: 0.0 });
        // All missing in one table: the shares of missing values say it.
        assert_eq!(relative(Form::Line, &real, &seen(&[], CODES, 40)).error, 1.0);
        let gaps = relative(Form::Line, &seen(&[(7, 50)], CODES, 50), &seen(&[(7, 50)], CODES, 0));
        assert!((gaps.error - 1.0).abs() < 1e-9, "half of the values, of a deviation of a half");
    }

    #[test]
    fn chance_is_what_chance_gives() {
        let mut random = crate::math::stream::Stream::new(3, 0, 0);
        let mut normals = |count: usize| {
            let mut counts = vec![0; CODES];
            (0..count).for_each(|_| counts[(32_768.0 + 6_000.0 * random.normal()).clamp(0.0, 65_535.0) as usize] += 1);
            Seen { counts, present: count as u64, rows: count as u64 }
        };
        let (mut error, mut chance) = (0.0, 0.0);
        for _ in 0..40 {
            let found = relative(Form::Line, &normals(400), &normals(600));
            (error, chance) = (error + found.error / 40.0, chance + found.chance / 40.0);
        }
        // The mean of 40 has a deviation of about a tenth of it; the seed is fixed.
        assert!((error / chance - 1.0).abs() < 0.3, "{error} {chance}");
        assert_eq!((beyond(0.5, 0.3), beyond(0.3, 0.5)), (0.4, 0.0));
    }

    #[test]
    fn a_circle_is_cut_where_nobody_is() {
        // Around the seam: half at 0.01 turns, half at 0.99. The deviation is 0.01 of a turn.
        let places = 1_000;
        let real = seen(&[(10, 50), (990, 50)], places, 0);
        let found = relative(Form::Circle, &real, &seen(&[(20, 50), (0, 50)], places, 0));
        assert!((found.error - 1.0).abs() < 0.05, "all rows moved by 0.01 of a turn: {found:?}");
    }
}
