//! How far apart two points are.

use crate::error::{Error, Kind};
use std::str::FromStr;

/// How far apart two points are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// √Σ(x_j − y_j)²
    Euclidean,
    /// max_j |x_j − y_j|
    Largest,
    /// Σ|x_j − y_j|
    Manhattan,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Metric; 3] = [Metric::Euclidean, Metric::Largest, Metric::Manhattan];

    /// The short name: `l2`, `linf` or `l1`.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Euclidean => "l2",
            Metric::Largest => "linf",
            Metric::Manhattan => "l1",
        }
    }

    /// The distance of two points of the same width. A distance that is not a number counts as infinite.
    pub fn distance(self, x: &[f64], y: &[f64]) -> f64 {
        let apart = || x.iter().zip(y).map(|(x, y)| (x - y).abs());
        let largest = || apart().fold(0.0, |m, d| if d <= m { m } else { d });
        let distance = match self {
            Metric::Euclidean => {
                let squares = sum_of_squares(x, y);
                if (TOO_SMALL..=TOO_LARGE).contains(&squares) {
                    return squares.sqrt();
                }
                // Squares that leave the range of floats: in units of the largest difference none of them does.
                let unit: f64 = largest();
                if unit > 0.0 && unit < f64::INFINITY {
                    unit * apart().map(|d| (d / unit) * (d / unit)).sum::<f64>().sqrt()
                } else {
                    unit
                }
            }
            Metric::Largest => largest(),
            Metric::Manhattan => apart().sum(),
        };
        if distance.is_nan() { f64::INFINITY } else { distance }
    }
}

/// Below this, squares that were lost for being too small may matter; above it, some may have been infinite.
pub(super) const TOO_SMALL: f64 = 1e-270;
const TOO_LARGE: f64 = f64::MAX;

/// Eight partial sums: the order of additions is fixed, and the loop fits wide registers.
fn sum_of_squares(x: &[f64], y: &[f64]) -> f64 {
    let mut lanes = [0.0_f64; 8];
    for (x, y) in x.chunks(8).zip(y.chunks(8)) {
        for ((lane, x), y) in lanes.iter_mut().zip(x).zip(y) {
            *lane += (x - y) * (x - y);
        }
    }
    lanes.iter().sum()
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name).ok_or_else(|| {
            Error::new(Kind::Usage, format!("`metric` must be l2, linf or l1, not {name:?}"))
                .hint("l2 is the Euclidean distance, linf the largest difference, l1 the sum of the differences")
        })
    }
}
