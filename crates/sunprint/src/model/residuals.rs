//! How far the rows of a model are from what was released.

use super::grow::code;
use super::{Draw, Release};
use crate::schema::Schema;
use crate::tally::codes::Codes;
use serde::{Deserialize, Serialize};

/// Any fixed number: the draw is part of the fit and its result is stored.
const SEED: u64 = 7;

/// The distance of drawn rows from one release, in deviations of its noise and of the draw's own chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Residual {
    /// The stage that released it.
    pub stage: String,
    /// How many numbers.
    pub numbers: usize,
    /// The root of the mean square.
    pub typical: f64,
    /// The largest.
    pub worst: f64,
}

impl Residual {
    /// Of some distances; nothing for none.
    pub(crate) fn of(stage: &str, off: impl Iterator<Item = f64>) -> Option<Residual> {
        let mut found = Residual { stage: stage.to_string(), numbers: 0, typical: 0.0, worst: 0.0 };
        // A hundred thousand deviations say as much as more, and are a number whatever was divided by what.
        for off in off.map(|off| if off.is_finite() { off.abs().min(MOST) } else { MOST }) {
            found.numbers += 1;
            found.typical += off * off;
            found.worst = off.max(found.worst);
        }
        let short = |x: f64| (100.0 * x).round() / 100.0;
        found.typical = short((found.typical / found.numbers.max(1) as f64).sqrt());
        found.worst = short(found.worst);
        (found.numbers > 0).then_some(found)
    }

    /// What a reader relies on.
    pub(super) fn fits(&self) -> bool {
        let number = |x: f64| (0.0..=MOST).contains(&x);
        self.stage.len() <= 100 && number(self.typical) && number(self.worst)
    }
}

/// Nothing is further off.
const MOST: f64 = 1e5;

/// Drawn rows: as codes, and their means and covariances in units.
pub(crate) struct Rows {
    pub codes: Codes,
    pub means: Vec<f64>,
    products: Vec<f64>,
}

/// So many rows of a release; the covariances of different coordinates only if `pairs` are asked for.
pub(crate) fn rows_of(release: &Release, schema: &Schema, count: u64, pairs: bool) -> Rows {
    let width = schema.width();
    let draw = Draw::new(release, width, count, SEED);
    let mut codes = Codes::with_capacity(width, count as usize);
    let (mut means, mut products) = (vec![0.0; width], vec![0.0; width * (width + 1) / 2]);
    let mut row_codes = vec![0; width];
    draw.each(|drawn| {
        for (row, &stratum) in drawn.units.chunks_exact(width).zip(&drawn.strata) {
            row_codes.iter_mut().zip(row).for_each(|(to, &unit)| *to = code(unit));
            codes.push(&row_codes, stratum);
            let mut at = 0;
            for (i, x) in row.iter().enumerate() {
                means[i] += x;
                let first = if pairs { 0 } else { i };
                products[at + first..=at + i].iter_mut().zip(&row[first..]).for_each(|(sum, y)| *sum += x * y);
                at += i + 1;
            }
        }
    });
    means.iter_mut().chain(&mut products).for_each(|sum| *sum /= count as f64);
    Rows { codes, means, products }
}

impl Rows {
    /// The covariance of two coordinates, j at most i.
    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        let covariance = self.products[i * (i + 1) / 2 + j] - self.means[i] * self.means[j];
        if i == j { covariance.max(0.0) } else { covariance }
    }
}
