//! Rows as plain numbers in the unit cube, for comparing tables.

use sunprint::math::stream::Stream;
use sunprint::tally::codes::{Codes, Q};

/// Rows of equal width, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    width: usize,
    values: Vec<f64>,
}

impl Rows {
    /// Takes row-major values.
    ///
    /// # Panics
    /// If the values do not make whole rows.
    pub fn new(width: usize, values: Vec<f64>) -> Self {
        assert!(width > 0 && values.len().is_multiple_of(width), "rows: whole rows");
        Rows { width, values }
    }

    /// The values that codes stand for: code/Q.
    pub fn from_codes(codes: &Codes) -> Self {
        let unit = |&code: &u16| f64::from(code) / f64::from(Q);
        Rows::new(codes.width(), (0..codes.rows()).flat_map(|i| codes.row(i).iter().map(unit)).collect())
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.values.len() / self.width
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    /// One column.
    pub fn column(&self, j: usize) -> Vec<f64> {
        self.values.iter().skip(j).step_by(self.width).copied().collect()
    }

    /// The rows of the given numbers.
    pub fn pick(&self, numbers: &[usize]) -> Rows {
        Rows::new(self.width, numbers.iter().flat_map(|&i| self.row(i)).copied().collect())
    }

    /// Some rows, drawn without replacement.
    pub fn subsample(&self, count: usize, stream: &mut Stream) -> Rows {
        self.pick(&stream.choose(self.count(), count))
    }

    /// Coordinates ⟨x − ½, v⟩ along orthonormal vectors: the table as seen in a subspace.
    pub fn coordinates(&self, basis: &[Vec<f64>]) -> Rows {
        let along = |x: &[f64], v: &[f64]| x.iter().zip(v).map(|(x, v)| (x - 0.5) * v).sum::<f64>();
        let values = self.values.chunks_exact(self.width).flat_map(|x| basis.iter().map(move |v| along(x, v)));
        Rows::new(basis.len(), values.collect())
    }
}

/// Independent uniform rows: the table of someone who knows nothing.
pub fn uniform(count: usize, width: usize, stream: &mut Stream) -> Rows {
    Rows::new(width, (0..count * width).map(|_| stream.unit()).collect())
}
