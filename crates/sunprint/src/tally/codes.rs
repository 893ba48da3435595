//! A batch of rows as codes.

use crate::wipe::wipe;

/// The largest code: a value at its upper bound. Codes run from 0 (lower bound) to `Q`.
pub const Q: u16 = u16::MAX;

/// The first code that is nearer to a value than to the one before it, of `values` values at equal distances.
pub(crate) fn below_value(value: u64, values: u64) -> u16 {
    let twice = (2 * value - 1).saturating_mul(u64::from(Q));
    twice.div_ceil(2 * (values - 1)).min(u64::from(Q)) as u16
}

/// Some rows of the sensitive table, one `u16` code for each feature and one stratum for each row.
///
/// No `Debug`, no `Serialize`: codes are private rows in another spelling. Overwritten when dropped.
pub struct Codes {
    width: usize,
    rows: usize,
    values: Vec<u16>,
    strata: Vec<u32>,
}

impl Codes {
    /// An empty batch of `width` features, with room for `rows` rows.
    pub fn with_capacity(width: usize, rows: usize) -> Self {
        Codes { width, rows: 0, values: Vec::with_capacity(width * rows), strata: Vec::with_capacity(rows) }
    }

    /// Takes row-major codes and one stratum per row (all 0 where the schema has no strata).
    ///
    /// # Panics
    /// If the lengths do not fit together; they come from the shape of a batch, never from its values.
    pub fn from_parts(width: usize, values: Vec<u16>, strata: Vec<u32>) -> Self {
        let rows = strata.len();
        assert_eq!(values.len(), rows * width, "codes: one value for each feature of each row");
        Codes { width, rows, values, strata }
    }

    /// Appends one row.
    ///
    /// # Panics
    /// If `values` has another width than the batch.
    pub fn push(&mut self, values: &[u16], stratum: u32) {
        assert_eq!(values.len(), self.width, "codes: every row has the same width");
        self.values.extend_from_slice(values);
        self.strata.push(stratum);
        self.rows += 1;
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        self.width
    }

    /// One row's codes.
    pub fn row(&self, i: usize) -> &[u16] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    /// One row's stratum.
    pub fn stratum(&self, i: usize) -> u32 {
        self.strata[i]
    }
}

impl Codes {
    /// Appends one row that comes in several parts, side by side.
    ///
    /// # Panics
    /// If the parts together have another width than the batch.
    pub(crate) fn push_parts<'a>(&mut self, parts: impl Iterator<Item = &'a [u16]>, stratum: u32) {
        parts.for_each(|part| self.values.extend_from_slice(part));
        self.strata.push(stratum);
        self.rows += 1;
        assert_eq!(self.values.len(), self.rows * self.width, "codes: every row has the same width");
    }

    /// Appends `rows` rows; where `strata` end before them, they are in stratum 0.
    ///
    /// # Panics
    /// If there are other numbers of values or of strata.
    pub(crate) fn extend(&mut self, rows: usize, values: impl Iterator<Item = u16>, strata: impl Iterator<Item = u32>) {
        self.rows += rows;
        self.values.extend(values);
        self.strata.extend(strata);
        assert!(self.strata.len() <= self.rows, "codes: one stratum for each row");
        self.strata.resize(self.rows, 0);
        assert_eq!(self.values.len(), self.rows * self.width, "codes: one value for each feature of each row");
    }

    /// The codes row by row and the strata, to be read as a whole.
    pub(crate) fn parts(&self) -> (&[u16], &[u32]) {
        (&self.values, &self.strata)
    }

    /// The same to be taken away, for the next rows to be put in.
    pub(crate) fn into_parts(mut self) -> (Vec<u16>, Vec<u32>) {
        (std::mem::take(&mut self.values), std::mem::take(&mut self.strata))
    }
}

impl Drop for Codes {
    fn drop(&mut self) {
        // Codes never get fewer, so there is nothing behind their end.
        wipe(&mut self.values);
        wipe(&mut self.strata);
    }
}
