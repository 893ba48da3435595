//! Rows of a table as points of the cube.

use crate::math::stream::Stream;
use crate::source::Table;
use crate::tally::codes::{Codes, Q};

/// Finds rows by their number.
pub(crate) struct Picks<'a> {
    table: &'a Table,
    /// The number of the first row of each chunk.
    starts: Vec<usize>,
}

impl<'a> Picks<'a> {
    pub(crate) fn new(table: &'a Table) -> Self {
        let start = |next: &mut usize, codes: &Codes| {
            *next += codes.rows();
            Some(*next - codes.rows())
        };
        Picks { table, starts: table.chunks().iter().scan(0, start).collect() }
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.table.rows()
    }

    /// The numbers of `count` different rows. Where that is all of them their order plays no part, and is the table's.
    ///
    /// Otherwise a longer choice from the same stream begins with the shorter one.
    pub(crate) fn choose(&self, count: usize, stream: &mut Stream) -> Vec<usize> {
        if count < self.rows() { stream.choose(self.rows(), count) } else { (0..self.rows()).collect() }
    }

    /// The points of some rows, one after the other.
    pub(crate) fn points(&self, rows: &[usize]) -> Vec<f64> {
        let mut points = Vec::with_capacity(rows.len() * self.table.width());
        for &row in rows {
            let (chunk, row) = self.place(row);
            points.extend(chunk.row(row).iter().map(|&code| f64::from(code) / f64::from(Q)));
        }
        points
    }

    /// The stratum of a row.
    pub(crate) fn stratum(&self, row: usize) -> u32 {
        let (chunk, row) = self.place(row);
        chunk.stratum(row)
    }

    /// The chunk that holds a row, and the row's number in it.
    fn place(&self, row: usize) -> (&Codes, usize) {
        let chunk = self.starts.partition_point(|&start| start <= row) - 1;
        (&self.table.chunks()[chunk], row - self.starts[chunk])
    }
}
