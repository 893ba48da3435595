//! All distances between two sets, row by row, in whole units.

use super::metric::{Metric, TOO_SMALL};
use crate::math::assignment::LARGEST_COST;

/// Columns that are computed side by side.
const LANES: usize = 8;

/// Adding and subtracting 1.5 · 2⁵² rounds a number below 2⁵¹ to the nearest whole one, in any register.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Costs c_ij = nearest whole number to d_ij/unit, but at most [`LARGEST_COST`].
///
/// The unit is a power of two, so d_ij/unit is exact and |c_ij − d_ij/unit| ≤ ½ below the limit. Costs at the limit are
/// too low, never too high: potentials that are feasible for them are feasible for the distances.
pub(super) struct Distances {
    metric: Metric,
    width: usize,
    columns: usize,
    a: Vec<f64>,
    /// `b` in blocks of [`LANES`] points, coordinate by coordinate.
    b: Vec<f64>,
    per_unit: f64,
}

impl Distances {
    pub fn new(a: &[f64], b: &[f64], width: usize, metric: Metric, unit: f64) -> Self {
        let columns = b.len() / width;
        let mut blocks = vec![0.0; columns.div_ceil(LANES) * LANES * width];
        for (block, points) in blocks.chunks_exact_mut(LANES * width).zip(b.chunks(LANES * width)) {
            for (lane, point) in points.chunks_exact(width).enumerate() {
                point.iter().enumerate().for_each(|(k, &x)| block[k * LANES + lane] = x);
            }
        }
        Distances { metric, width, columns, a: a.to_vec(), b: blocks, per_unit: 1.0 / unit }
    }

    pub fn rows(&self) -> usize {
        self.a.len() / self.width
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The costs of row i to the first columns, as many as fit into `out`.
    pub fn fill<T: Copy>(&self, i: usize, out: &mut [T], convert: impl Fn(f64) -> T) {
        let columns = out.len();
        self.fill_rows(&[i as u32], columns, out, convert);
    }

    /// The costs of some rows to the first `columns`, one row behind the other.
    pub fn fill_rows<T: Copy>(&self, rows: &[u32], columns: usize, out: &mut [T], convert: impl Fn(f64) -> T) {
        match self.metric {
            Metric::Euclidean => self.sweep(rows, columns, out, |sum, d| sum + d * d, roots, convert),
            Metric::Manhattan => self.sweep(rows, columns, out, |sum, d| sum + d.abs(), |_, sums, _| sums, convert),
            Metric::Largest => {
                let larger = |most: f64, d: f64| if d.abs() > most { d.abs() } else { most };
                self.sweep(rows, columns, out, larger, |_, sums, _| sums, convert);
            }
        }
    }

    /// Block by block, each for all the rows while it is at hand.
    fn sweep<T: Copy>(
        &self,
        rows: &[u32],
        columns: usize,
        out: &mut [T],
        step: impl Fn(f64, f64) -> f64,
        finish: impl Fn(&[f64], [f64; LANES], &[f64]) -> [f64; LANES],
        convert: impl Fn(f64) -> T,
    ) {
        let (firsts, blocks) = ((0..columns).step_by(LANES), self.b.chunks_exact(LANES * self.width));
        for (first, block) in firsts.zip(blocks) {
            for (&i, out) in rows.iter().zip(out.chunks_exact_mut(columns)) {
                let x = &self.a[i as usize * self.width..][..self.width];
                let mut sums = [0.0; LANES];
                for (x, y) in x.iter().zip(block.chunks_exact(LANES)) {
                    for (sum, y) in sums.iter_mut().zip(y) {
                        *sum = step(*sum, x - y);
                    }
                }
                let mut costs = finish(x, sums, block);
                for cost in &mut costs {
                    let units = *cost * self.per_unit;
                    *cost = (if units < LARGEST_COST { units } else { LARGEST_COST }) + ROUND - ROUND;
                }
                out[first..].iter_mut().zip(costs).for_each(|(out, cost)| *out = convert(cost));
            }
        }
    }
}

/// Square roots; where squares were too small to be trusted the distance is computed with care.
fn roots(x: &[f64], sums: [f64; LANES], block: &[f64]) -> [f64; LANES] {
    let least = sums.iter().fold(f64::INFINITY, |least, &sum| if sum < least { sum } else { least });
    let mut distances = sums.map(f64::sqrt);
    if least < TOO_SMALL {
        for lane in (0..LANES).filter(|&lane| sums[lane] < TOO_SMALL) {
            let y: Vec<f64> = block.iter().skip(lane).step_by(LANES).copied().collect();
            distances[lane] = Metric::Euclidean.distance(x, &y);
        }
    }
    distances
}
