//! Keeping the means where they were measured.
//!
//! Drawn rows are projected onto the cube. A column whose mean lies near a bound loses only the tail beyond that bound,
//! so the projection alone would move its mean inwards. Before the model is finished, the origin is moved the other way,
//! column by column, until the projected mean is where the free mean was. Post-processing: only released numbers enter.

use super::{Draw, Frame, Release};

/// Rows of the trial draw. Its own error in a mean, a fiftieth of a standard deviation, is far below the noise.
const TRIAL: u64 = 2048;
/// Any fixed number: the trial is part of the fit and its result is stored.
const TRIAL_SEED: u64 = 0;
/// No column is moved further than this.
const FARTHEST: f64 = 0.5;

/// Moves the origin of a frame so that projection onto the cube leaves the columns' means alone.
pub(crate) fn balance(release: &mut Release, width: usize) {
    let draw = Draw::new(release, width, TRIAL, TRIAL_SEED);
    let mut columns = vec![Vec::with_capacity(TRIAL as usize); width];
    for block in 0..draw.blocks() {
        for row in draw.free_block(block).units.chunks_exact(width) {
            columns.iter_mut().zip(row).for_each(|(column, &x)| column.push(x));
        }
    }
    let shifts: Vec<f64> = columns.iter().map(|column| shift(column)).collect();
    if let Frame::Basis { origin, .. } = &mut release.frame {
        origin.iter_mut().zip(shifts).for_each(|(x, shift)| *x += shift);
    }
}

/// The shift after which the clamped mean equals the free mean, by bisection: the clamped mean grows with the shift.
fn shift(column: &[f64]) -> f64 {
    let mean = |shift: f64, low: f64, high: f64| {
        column.iter().map(|x| (x + shift).clamp(low, high)).sum::<f64>() / column.len() as f64
    };
    let wanted = mean(0.0, f64::MIN, f64::MAX).clamp(0.0, 1.0);
    if (mean(0.0, 0.0, 1.0) - wanted).abs() < 1e-9 {
        return 0.0;
    }
    let (mut low, mut high) = (-FARTHEST, FARTHEST);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if mean(middle, 0.0, 1.0) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_at_its_bound_keeps_its_mean() {
        let column: Vec<f64> = (0..1000).map(|i| 0.02 + 0.2 * (f64::from(i) / 999.0 - 0.5)).collect();
        let shift = shift(&column);
        let clamped = column.iter().map(|x| (x + shift).clamp(0.0, 1.0)).sum::<f64>() / 1000.0;
        assert!(shift < 0.0 && (clamped - 0.02).abs() < 1e-9);
    }

    #[test]
    fn a_column_inside_its_bounds_stays() {
        assert_eq!(shift(&[0.2, 0.4, 0.9]), 0.0);
    }
}
