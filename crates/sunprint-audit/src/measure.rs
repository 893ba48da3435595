//! How near a synthetic table is to a real one.

use crate::rows::{Rows, uniform};
use serde::Serialize;
use sunprint::math::stream::Stream;
use sunprint::math::transport::{Metric, Points, Transport, w1_line, wasserstein1};

/// A mean over runs, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean over the runs.
    pub mean: f64,
    /// Its standard error; 0 for a single run.
    pub standard_error: f64,
    /// How many runs.
    pub runs: usize,
}

impl Estimate {
    /// The mean of some values; not a number if there are none.
    pub fn of(values: &[f64]) -> Self {
        let runs = values.len();
        let mean = values.iter().sum::<f64>() / runs as f64;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        let standard_error = if runs > 1 { (squares / ((runs - 1) * runs) as f64).sqrt() } else { 0.0 };
        Estimate { mean, standard_error, runs }
    }
}

/// The exact Euclidean W1 between two tables.
///
/// # Panics
/// If a table has no rows, the tables differ in width, or a value is not finite.
pub fn exact_transport(a: &Rows, b: &Rows) -> Transport {
    let a = Points::new(a.values(), a.width()).expect("whole rows");
    let b = Points::new(b.values(), b.width()).expect("whole rows");
    wasserstein1(&a, &b, Metric::Euclidean).expect("tables of finite numbers and one width")
}

/// Euclidean W1 between `size` rows of each table (fewer if a table has fewer).
pub fn subsample_w1(real: &Rows, synthetic: &Rows, size: usize, stream: &mut Stream) -> f64 {
    let size = size.min(real.count()).min(synthetic.count());
    let (a, b) = (real.subsample(size, stream), synthetic.subsample(size, stream));
    exact_transport(&a, &b).cost
}

/// The floor: W1 between two disjoint subsamples of the real rows. A perfect synthetic table has this distance.
pub fn floor_w1(real: &Rows, size: usize, stream: &mut Stream) -> f64 {
    let size = size.min(real.count() / 2);
    let chosen = stream.choose(real.count(), 2 * size);
    let (a, b) = (real.pick(&chosen[..size]), real.pick(&chosen[size..]));
    exact_transport(&a, &b).cost
}

/// The ceiling: W1 between a subsample of the real rows and uniform noise.
pub fn ceiling_w1(real: &Rows, size: usize, stream: &mut Stream) -> f64 {
    let noise = uniform(size.min(real.count()), real.width(), stream);
    subsample_w1(real, &noise, size, stream)
}

/// The mean over columns of the one-dimensional W1, all rows.
pub fn mean_line_w1(real: &Rows, synthetic: &Rows) -> f64 {
    let columns = (0..real.width()).map(|j| w1_line(&real.column(j), &synthetic.column(j)));
    columns.sum::<f64>() / real.width() as f64
}

/// The mean absolute difference of the correlations of all pairs of different columns; 0 for a single column.
pub fn correlation_error(real: &Rows, synthetic: &Rows) -> f64 {
    let (a, b) = (correlations(real), correlations(synthetic));
    let pairs = a.len().max(1);
    a.iter().zip(&b).map(|(x, y)| (x - y).abs()).sum::<f64>() / pairs as f64
}

/// Correlations of the pairs (i, j), j < i. A column that does not vary has correlation 0 with every other.
fn correlations(rows: &Rows) -> Vec<f64> {
    let (width, count) = (rows.width(), rows.count().max(1) as f64);
    let mut mean = vec![0.0; width];
    for i in 0..rows.count() {
        mean.iter_mut().zip(rows.row(i)).for_each(|(m, x)| *m += x / count);
    }
    let mut products = vec![0.0; width * width];
    let mut centred = vec![0.0; width];
    for i in 0..rows.count() {
        centred.iter_mut().zip(rows.row(i)).zip(&mean).for_each(|((c, x), m)| *c = x - m);
        for (j, &x) in centred.iter().enumerate() {
            products[j * width..][..=j].iter_mut().zip(&centred).for_each(|(p, y)| *p += x * y);
        }
    }
    // Below this a column counts as constant: a hundredth of a code step.
    let least = count * 1e-14;
    let deviation: Vec<f64> = (0..width).map(|j| products[j * width + j].max(0.0).sqrt()).collect();
    let correlation = |i: usize, j: usize| {
        let scale = deviation[i] * deviation[j];
        if scale > least { products[i * width + j] / scale } else { 0.0 }
    };
    (0..width).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| correlation(i, j)).collect()
}

/// The slope of a straight line through points (x, y), by least squares, and its standard error.
pub fn slope(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let (x0, y0) = (points.iter().map(|p| p.0).sum::<f64>() / count, points.iter().map(|p| p.1).sum::<f64>() / count);
    let xx: f64 = points.iter().map(|p| (p.0 - x0) * (p.0 - x0)).sum();
    let slope = points.iter().map(|p| (p.0 - x0) * (p.1 - y0)).sum::<f64>() / xx;
    let residual: f64 = points.iter().map(|p| (p.1 - y0 - slope * (p.0 - x0)).powi(2)).sum();
    (slope, (residual / ((count - 2.0).max(1.0) * xx)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Rows {
        let mut stream = Stream::new(4, 0, 0);
        Rows::new(
            3,
            (0..400)
                .flat_map(|_| {
                    let (x, y) = (stream.unit(), stream.unit());
                    [x, 1.0 - x, y]
                })
                .collect(),
        )
    }

    #[test]
    fn a_table_is_near_itself_and_far_from_noise() {
        let (table, mut stream) = (table(), Stream::new(1, 0, 0));
        assert_eq!(subsample_w1(&table, &table, 400, &mut stream), 0.0);
        assert_eq!((mean_line_w1(&table, &table), correlation_error(&table, &table)), (0.0, 0.0));
        let floor = floor_w1(&table, 200, &mut stream);
        assert!(floor > 0.0 && floor < ceiling_w1(&table, 200, &mut stream));
    }

    #[test]
    fn correlations_are_what_they_should_be() {
        let found = correlations(&table());
        assert!((found[0] + 1.0).abs() < 1e-12 && found[1].abs() < 0.25 && (found[1] + found[2]).abs() < 1e-12);
        let constant = Rows::new(2, vec![0.5, 0.1, 0.5, 0.2, 0.5, 0.9]);
        assert_eq!(correlations(&constant), [0.0]);
    }

    #[test]
    fn means_errors_and_slopes() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0]);
        assert_eq!((estimate.mean, estimate.runs), (2.0, 3));
        assert!((estimate.standard_error - (1.0f64 / 3.0).sqrt()).abs() < 1e-15);
        let (found, error) = slope(&[(0.0, 1.0), (1.0, -1.0), (2.0, -3.0)]);
        assert!((found + 2.0).abs() < 1e-15 && error < 1e-12);
    }
}
