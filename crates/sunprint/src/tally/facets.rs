//! Facets: parts of the rows that columns of two values mark, so that each can have a shape of its own.
//!
//! Proof: docs/proofs.md, Lemma 27.
//!
//! The list of columns is public. A row's facet depends on that row alone, so whatever a pass tallies stratum by
//! stratum moves as before when a row is replaced: the row leaves one part and enters another.

use super::codes::Codes;
use serde::{Deserialize, Serialize};

/// Coordinates of columns with two values, in the order in which they are asked.
///
/// A row belongs to the facet of the first of them that is set, counted from 1, or to facet 0 where none is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Facets {
    /// The coordinates; none where rows are not divided.
    pub asked: Vec<u32>,
}

/// Codes from here on are the upper of two values.
const SET: u16 = 1 << 15;

/// Rows that are divided at a time.
const TOGETHER: usize = 4096;

impl Facets {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.asked.len() + 1
    }

    /// Whether rows are not divided.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// The facet of a row.
    pub fn of(&self, row: &[u16]) -> usize {
        self.asked.iter().position(|&at| row[at as usize] >= SET).map_or(0, |first| first + 1)
    }

    /// What tells the rows of a facet: its own column is set, and no other. (Columns that exclude one another are asked;
    /// what may be set behind a row's own is so rare that it is left out.)
    pub fn told_by(&self, facet: usize) -> impl Iterator<Item = (usize, bool)> {
        self.asked.iter().enumerate().map(move |(number, &at)| (at as usize, number + 1 == facet))
    }

    /// Every coordinate is one of `width`, and none is asked twice.
    pub fn fit(&self, width: usize) -> bool {
        // The width may be anything in a file: no memory is taken by it.
        let mut sorted = self.asked.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] < pair[1]) && sorted.last().is_none_or(|&at| (at as usize) < width)
    }

    /// Hands on the rows, some at a time, facet f of stratum s as stratum `s · count + f`.
    pub(super) fn divide(&self, codes: &Codes, mut each: impl FnMut(&Codes)) {
        let count = self.count() as u32;
        let (values, strata) = codes.parts();
        let width = codes.width();
        for (values, strata) in values.chunks(TOGETHER * width.max(1)).zip(strata.chunks(TOGETHER)) {
            let rows = values.chunks_exact(width.max(1)).zip(strata);
            // A stratum that cannot be stays one that cannot be, which tallies know how to take.
            let divide =
                |(row, stratum): (&[u16], &u32)| stratum.saturating_mul(count).saturating_add(self.of(row) as u32);
            let divided = rows.map(divide).collect();
            each(&Codes::from_parts(width, values.to_vec(), divided));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::codes::Q;
    use proptest::prelude::*;

    proptest! {
        /// A row that has what tells a facet is in that facet, whatever else it has.
        #[test]
        fn a_facet_is_told(bits in prop::collection::vec(any::<bool>(), 6), facet in 0_usize..4) {
            let facets = Facets { asked: vec![4, 0, 2] };
            let mut row: Vec<u16> = bits.iter().map(|&bit| if bit { Q } else { 0 }).collect();
            facets.told_by(facet).for_each(|(at, set)| row[at] = if set { Q } else { 0 });
            prop_assert_eq!(facets.of(&row), facet);
            prop_assert!(facets.asked.iter().filter(|&&at| row[at as usize] == Q).count() <= 1);
        }

        /// Every row is handed on once, as it is, in the order of the table.
        #[test]
        fn divided_rows_are_the_rows(rows in 0_usize..10_000) {
            let mut codes = Codes::with_capacity(2, rows);
            (0..rows).for_each(|i| codes.push(&[if i % 3 == 0 { Q } else { 0 }, i as u16], (i % 5) as u32));
            let facets = Facets { asked: vec![0] };
            let mut seen = 0;
            facets.divide(&codes, |part| {
                for i in 0..part.rows() {
                    assert_eq!(part.row(i), codes.row(seen));
                    assert_eq!(part.stratum(i), 2 * codes.stratum(seen) + u32::from(seen % 3 == 0));
                    seen += 1;
                }
            });
            prop_assert_eq!(seen, rows);
        }
    }

    #[test]
    fn strata_that_cannot_be_stay_so() {
        let mut codes = Codes::with_capacity(1, 1);
        codes.push(&[Q], u32::MAX);
        Facets { asked: vec![0] }.divide(&codes, |part| assert_eq!(part.stratum(0), u32::MAX));
    }

    #[test]
    fn lists_that_do_not_fit() {
        assert!(Facets { asked: vec![2, 0] }.fit(3) && Facets::default().fit(1));
        assert!(!Facets { asked: vec![3] }.fit(3) && !Facets { asked: vec![1, 1] }.fit(3));
        assert!(Facets { asked: vec![7] }.fit(usize::MAX), "whatever a file says of its width");
    }
}
