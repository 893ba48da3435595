//! Means, standard deviations and correlations of a table, from exact sums of codes.

use crate::math::gram::gram;
use crate::schema::Schema;
use crate::source::{Progress, Table};
use crate::tally::codes::{Codes, Q};
use crate::tally::packed_index;

/// What is taken from a code y = x − 2¹⁵, so that products are at most 2³⁰. It changes no covariance.
const SHIFT: f64 = 32_768.0;

/// So many rows are multiplied at a time: their products add up to 2⁴⁴ at most, which is exact in an `f64`.
const BLOCK: usize = 1 << 14;

/// The first two moments of a table, and the sums within each stratum. Private, like the rows.
///
/// Sums are integers, so they do not depend on the order of the rows, and a column that does not vary is known for
/// certain. They become floats only where they are asked for. All numbers are in units of the columns' widths.
pub struct Moments {
    rows: u64,
    width: usize,
    /// Sums of shifted codes.
    sums: Vec<i64>,
    /// Packed lower triangle of the sums of products of shifted codes.
    products: Vec<i64>,
    /// Rows of each stratum.
    stratum_rows: Vec<u64>,
    /// Row-major strata × d: the sum of codes in each stratum.
    stratum_sums: Vec<u64>,
    foreign: bool,
}

impl Moments {
    /// The moments of a table; `None` if it was not read by this schema.
    pub fn of(table: &Table, schema: &Schema, progress: &dyn Progress) -> Option<Moments> {
        let (width, strata) = (schema.width(), schema.strata());
        if table.width() != width {
            return None;
        }
        let tally = |codes: &Codes| {
            let moments = Moments::empty(width, strata).with(codes);
            progress.advance(codes.rows() as u64);
            moments
        };
        Some(table.tally(tally, Moments::merged)).filter(|moments| !moments.foreign)
    }

    fn empty(width: usize, strata: usize) -> Moments {
        Moments {
            rows: 0,
            width,
            sums: vec![0; width],
            products: vec![0; width * (width + 1) / 2],
            stratum_rows: vec![0; strata],
            stratum_sums: vec![0; strata * width],
            foreign: false,
        }
    }

    fn with(mut self, codes: &Codes) -> Moments {
        self.rows += codes.rows() as u64;
        for first in (0..codes.rows()).step_by(BLOCK) {
            let rows = first..codes.rows().min(first + BLOCK);
            let shifted: Vec<f64> = rows.flat_map(|row| codes.row(row)).map(|&code| f64::from(code) - SHIFT).collect();
            for row in shifted.chunks_exact(self.width) {
                self.sums.iter_mut().zip(row).for_each(|(sum, &y)| *sum += y as i64);
            }
            self.products.iter_mut().zip(gram(&shifted, self.width)).for_each(|(sum, y)| *sum += y as i64);
        }
        for row in 0..codes.rows() {
            let stratum = codes.stratum(row) as usize;
            let Some(rows) = self.stratum_rows.get_mut(stratum) else {
                self.foreign = true;
                continue;
            };
            *rows += 1;
            let sums = &mut self.stratum_sums[stratum * self.width..][..self.width];
            sums.iter_mut().zip(codes.row(row)).for_each(|(sum, &code)| *sum += u64::from(code));
        }
        self
    }

    fn merged(mut self, other: Moments) -> Moments {
        fn add<T: Copy + std::ops::AddAssign>(into: &mut [T], from: &[T]) {
            into.iter_mut().zip(from).for_each(|(a, b)| *a += *b);
        }
        self.rows += other.rows;
        add(&mut self.sums, &other.sums);
        add(&mut self.products, &other.products);
        add(&mut self.stratum_rows, &other.stratum_rows);
        add(&mut self.stratum_sums, &other.stratum_sums);
        self.foreign |= other.foreign;
        self
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The mean of a feature.
    pub fn mean(&self, feature: usize) -> f64 {
        let sum: u64 = self.stratum_sums.iter().skip(feature).step_by(self.width).sum();
        sum as f64 / (self.rows as f64 * f64::from(Q))
    }

    /// The mean of a feature over the rows of some strata; `None` if they have no rows.
    pub fn mean_within(&self, feature: usize, strata: impl IntoIterator<Item = usize>) -> Option<f64> {
        let add = |(sum, rows), stratum: usize| {
            (sum + self.stratum_sums[stratum * self.width + feature], rows + self.stratum_rows[stratum])
        };
        let (sum, rows) = strata.into_iter().fold((0, 0), add);
        (rows > 0).then(|| sum as f64 / (rows as f64 * f64::from(Q)))
    }

    /// The rows of some strata.
    pub(crate) fn rows_within(&self, strata: &[usize]) -> u64 {
        strata.iter().map(|&stratum| self.stratum_rows[stratum]).sum()
    }

    /// The standard deviation of a feature over the table: the root of the mean square deviation.
    pub fn deviation(&self, feature: usize) -> f64 {
        (self.covariance(feature, feature) as f64).sqrt() / (self.rows as f64 * f64::from(Q))
    }

    /// Whether a feature has one value in all rows.
    pub fn is_constant(&self, feature: usize) -> bool {
        self.covariance(feature, feature) == 0
    }

    /// Pearson's correlation of two features; 0 if one of them does not vary.
    pub fn correlation(&self, one: usize, other: usize) -> f64 {
        let root = |feature| (self.covariance(feature, feature) as f64).sqrt();
        let scale = root(one) * root(other);
        if scale > 0.0 { (self.covariance(one, other) as f64 / scale).clamp(-1.0, 1.0) } else { 0.0 }
    }

    /// The covariances of all pairs in units of the widths: the packed lower triangle.
    pub(crate) fn covariances(&self) -> Vec<f64> {
        let scale = (self.rows as f64 * f64::from(Q)).powi(2);
        let pairs = (0..self.width).flat_map(|i| (0..=i).map(move |j| (i, j)));
        pairs.map(|(i, j)| self.covariance(i, j) as f64 / scale).collect()
    }

    /// The correlations of all pairs of some coordinates, in their order: the packed lower triangle without the
    /// diagonal, (1, 0), (2, 0), (2, 1), …; 0 where one of the two does not vary.
    pub(crate) fn correlations(&self, of: &[usize]) -> Vec<f64> {
        let roots: Vec<f64> = of.iter().map(|&i| (self.covariance(i, i) as f64).sqrt()).collect();
        let pair = |(i, j): (usize, usize)| {
            let scale = roots[i] * roots[j];
            if scale > 0.0 { (self.covariance(of[i], of[j]) as f64 / scale).clamp(-1.0, 1.0) } else { 0.0 }
        };
        (0..of.len()).flat_map(|i| (0..i).map(move |j| (i, j))).map(pair).collect()
    }

    /// Each stratum's share of the rows.
    pub fn stratum_shares(&self) -> Vec<f64> {
        self.stratum_rows.iter().map(|&rows| rows as f64 / self.rows as f64).collect()
    }

    /// n Σ xy − Σx Σy, exactly. Products add up to 2⁶² at most for 2³² rows, so an `i128` has room to spare.
    fn covariance(&self, one: usize, other: usize) -> i128 {
        let products = self.products[packed_index(one.max(other), one.min(other))];
        let sum = |feature: usize| i128::from(self.sums[feature]);
        i128::from(self.rows) * i128::from(products) - sum(one) * sum(other)
    }
}
