//! Keeping the means where they were measured.
//!
//! Drawn rows are projected onto the cube. A column whose mean lies near a bound loses only the tail beyond that bound,
//! so the projection alone would move its mean inwards. Before the model is finished, the origin is moved the other way,
//! column by column, until the projected mean is where the free mean was. And the free mean is brought to the one that was
//! released, where noisy counts have moved it. Post-processing: only released numbers enter.

use super::{Draw, Frame, Release};
use crate::math::vector::dot;

/// Rows of the trial draw. Its own error in a mean, a fiftieth of a standard deviation, is far below the noise.
const TRIAL: u64 = 2048;
/// Any fixed number: the trial is part of the fit and its result is stored.
const TRIAL_SEED: u64 = 0;
/// No column is moved further than this.
const FARTHEST: f64 = 0.5;

/// The means of the columns as they were released, and the standard deviation of the noise in one of them.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub means: &'a [f64],
    pub noise: f64,
}

/// Moves the origin of a frame so that projection onto the cube leaves the columns' means alone. Where they are known,
/// they are first brought to what is known of them.
pub(crate) fn balance(release: &mut Release, width: usize, known: Option<Known>) {
    let draw = Draw::new(release, width, TRIAL, TRIAL_SEED);
    let mut columns = vec![Vec::with_capacity(TRIAL as usize); width];
    draw.each_free(|drawn| {
        for row in drawn.units.chunks_exact(width) {
            columns.iter_mut().zip(row).for_each(|(column, &x)| column.push(x));
        }
    });
    let first = known.map_or_else(|| vec![0.0; width], |known| towards(release, &columns, known));
    for (column, by) in columns.iter_mut().zip(&first) {
        column.iter_mut().for_each(|x| *x += by);
    }
    if let Frame::Basis { origin, .. } = &mut release.frame {
        for ((x, by), column) in origin.iter_mut().zip(&first).zip(&columns) {
            *x += by + shift(column);
        }
    }
}

/// How rows are moved so that their means are those that are known.
///
/// They differ in two ways. The counts of strata have a noise of their own, so the strata's shifts no longer add up to
/// what they should: across the measured directions that is taken away. And along such a direction v the noisy counts of
/// the cells say where the mean is, with an error that may be larger than the noise of the known mean: a difference δ is
/// followed as far as that noise, σ along every unit vector, cannot explain it, by the part `1 − σ²/δ²` (James and
/// Stein). Rows move as the texture does when a measured coordinate moves: by its gain.
fn towards(release: &Release, columns: &[Vec<f64>], known: Known) -> Vec<f64> {
    let texture = &release.texture;
    let (origin, vectors) = match &release.frame {
        Frame::Basis { origin, vectors, .. } if texture.gains.len() == vectors.len() => (origin, vectors),
        _ => return vec![0.0; columns.len()],
    };
    let mut by: Vec<f64> = known.means.iter().zip(origin).map(|(mean, x)| mean - x).collect();
    let rows: Vec<f64> = (0..release.measure.strata()).map(|s| release.measure.rows(s) as f64).collect();
    let all = rows.iter().sum::<f64>().max(1.0);
    for (shift, rows) in texture.shifts.iter().zip(&rows) {
        by.iter_mut().zip(shift).for_each(|(by, x)| *by -= rows / all * x);
    }
    let now: Vec<f64> = columns.iter().map(|column| column.iter().sum::<f64>() / column.len().max(1) as f64).collect();
    // A gain moves its own direction and no other that is measured.
    let across = by.clone();
    for (v, gain) in vectors.iter().zip(&texture.gains) {
        let off = dot(v, known.means) - dot(v, &now);
        let heard = (1.0 - known.noise * known.noise / (off * off).max(f64::MIN_POSITIVE)).max(0.0);
        let along = heard * off - dot(v, &across);
        by.iter_mut().zip(gain).for_each(|(by, gain)| *by += along * gain);
    }
    by
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
    use crate::measure::{Measure, Side, StratumTree, TreeMeasure};
    use crate::model::{Settle, Spot};
    use crate::subspace::Texture;

    /// One cell along the first of two columns, which the second follows by a half; two strata of 300 and 100 rows that
    /// lie apart across it.
    fn release() -> Release {
        let tree = |rows: u64| StratumTree { depth: 0, leaves: vec![(0, rows)] };
        let sides = vec![Side { low: -0.1, width: 0.2 }];
        Release {
            frame: Frame::Basis { origin: vec![0.4, 0.4], vectors: vec![vec![1.0, 0.0]], sides },
            measure: Measure::Tree(TreeMeasure { cuts: Vec::new(), strata: vec![tree(300), tree(100)] }),
            texture: Texture {
                directions: Vec::new(),
                diagonal: vec![0.1, 0.0],
                shifts: vec![vec![0.0, 0.02], vec![0.0, -0.02]],
                pulls: Vec::new(),
                gains: vec![vec![1.0, 0.5]],
                root: vec![vec![0.1]],
            },
            spot: Spot::Uniform,
            spectrum: Vec::new(),
            edge: 0.0,
            settle: Settle::default(),
            sieves: Vec::new(),
            ancestors: Vec::new(),
            weights: Vec::new(),
        }
    }

    fn origin_after(means: &[f64], noise: f64) -> Vec<f64> {
        let mut release = release();
        balance(&mut release, 2, Some(Known { means, noise }));
        match release.frame {
            Frame::Basis { origin, .. } => origin,
            Frame::Columns { .. } => Vec::new(),
        }
    }

    /// A mean that the cells have missed by more than its noise is followed, in the columns that go with it too; one that
    /// the noise explains is not. What the strata's counts have moved is moved back.
    #[test]
    fn rows_go_to_a_known_mean_as_far_as_it_is_heard() {
        let mixed = 0.75 * 0.02 - 0.25 * 0.02;
        let near = |found: Vec<f64>, wanted: [f64; 2]| found.iter().zip(wanted).all(|(x, y)| (x - y).abs() < 0.005);
        assert!(near(origin_after(&[0.6, 0.5], 0.01), [0.6, 0.5 - mixed]), "far from the noise");
        assert!(near(origin_after(&[0.6, 0.5], 0.3), [0.4, 0.4 - mixed]), "within the noise");
        assert!(near(origin_after(&[0.4, 0.4], 0.01), [0.4, 0.4 - mixed]), "nothing to follow");
    }

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
