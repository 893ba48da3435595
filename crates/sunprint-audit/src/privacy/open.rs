//! Tallies in the clear. An auditor made the tables up and may see what a worker of a cluster sees: the wire form of a
//! tally, which is public in its format and secret in its numbers.

use sunprint::tally::{CellTally, MomentTally, ProductTally, SumTally, Tally};

/// Magic word, version and kind.
const HEAD: usize = 4 + 4 + 1;

/// What is left to read.
struct Wire(Vec<u8>);

impl Wire {
    /// Behind the head, the number of the pass, the number of rows, the name of the fit and the digest of the pass.
    fn new(tally: &Tally) -> Wire {
        let mut wire = Wire(tally.to_secret_bytes());
        wire.0.drain(..HEAD);
        wire.take::<{ 8 + 8 + 16 + 32 }>();
        wire
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let taken: Vec<u8> = self.0.drain(..N).collect();
        taken.try_into().expect("as many bytes as were asked for")
    }

    fn integers(&mut self) -> Vec<i64> {
        let length = u64::from_le_bytes(self.take());
        (0..length).map(|_| i64::from_le_bytes(self.take())).collect()
    }
}

/// A tally of sums.
pub fn sums(tally: &Tally) -> SumTally {
    let mut wire = Wire::new(tally);
    SumTally { sums: wire.integers(), square: i128::from_le_bytes(wire.take()) }
}

/// A tally of products.
pub fn products(tally: &Tally) -> ProductTally {
    let mut wire = Wire::new(tally);
    ProductTally { sums: wire.integers(), products: wire.integers() }
}

/// A tally of clipped or clamped rows.
pub fn moments(tally: &Tally) -> MomentTally {
    let mut wire = Wire::new(tally);
    MomentTally { products: wire.integers(), stratum_sums: wire.integers(), stratum_rows: wire.integers() }
}

/// A tally of counts.
pub fn cells(tally: &Tally) -> CellTally {
    CellTally { leaves: Wire::new(tally).integers().into_iter().map(|count| count as u64).collect() }
}

#[cfg(all(test, feature = "seam"))]
mod tests {
    use super::*;
    use crate::privacy::tables::Neighbours;
    use sunprint::tally::{ClippedMoments, Coordinates, Opened, Score, Sums, Work};

    #[test]
    fn the_wire_holds_what_the_tally_holds() {
        let pair = Neighbours::one_row_strata();
        let clipped =
            ClippedMoments { scores: vec![Score::plain(32_768); pair.width], radius: 1000, plane: None, apart: true };
        let cells_of =
            sunprint::tally::Cells { coordinates: Coordinates::Columns, cuts: vec![0, 1], depths: vec![2; 6] };
        for work in
            [Work::Sums(Sums { counted: vec![true; 2] }), Work::Products, Work::Moments(clipped), Work::Cells(cells_of)]
        {
            for tally in pair.tallies(&work) {
                assert!(match tally.open_danger() {
                    Opened::Sums(t) => *t == sums(&tally),
                    Opened::Products(t) => *t == products(&tally),
                    Opened::Moments(t) => *t == moments(&tally),
                    Opened::Cells(t) => *t == cells(&tally),
                });
            }
        }
    }
}
