//! Rows of a table as points of the cube.

use crate::math::stream::Stream;
use crate::source::Table;
use crate::tally::codes::{Codes, Q};

/// Finds rows by their number.
pub(super) struct Picks<'a> {
    table: &'a Table,
    /// The number of the first row of each chunk.
    starts: Vec<usize>,
}

impl<'a> Picks<'a> {
    pub(super) fn new(table: &'a Table) -> Self {
        let start = |next: &mut usize, codes: &Codes| {
            *next += codes.rows();
            Some(*next - codes.rows())
        };
        Picks { table, starts: table.chunks().iter().scan(0, start).collect() }
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.table.rows()
    }

    /// The numbers of `count` different rows. Where that is all of them their order plays no part, and is the table's.
    ///
    /// Otherwise a longer choice from the same stream begins with the shorter one.
    pub(super) fn choose(&self, count: usize, stream: &mut Stream) -> Vec<usize> {
        if count < self.rows() { stream.choose(self.rows(), count) } else { (0..self.rows()).collect() }
    }

    /// The points of some rows, one after the other.
    pub(super) fn points(&self, rows: &[usize]) -> Vec<f64> {
        let mut points = Vec::with_capacity(rows.len() * self.table.width());
        for &row in rows {
            let chunk = self.starts.partition_point(|&start| start <= row) - 1;
            let codes = self.table.chunks()[chunk].row(row - self.starts[chunk]);
            points.extend(codes.iter().map(|&code| f64::from(code) / f64::from(Q)));
        }
        points
    }
}
