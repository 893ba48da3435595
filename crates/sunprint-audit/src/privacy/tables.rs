//! Worst-case neighbours: few rows, and one of them replaced by the row furthest away.

use super::Side;
use sunprint::plan::budget;
use sunprint::privacy::{Budget, Charge, Delta, Epsilon};
use sunprint::tally::codes::{Codes, Q};
use sunprint::tally::{Pass, Tally, Work};

/// Two tables that differ in one row.
pub struct Neighbours {
    /// What they are.
    pub name: &'static str,
    /// Features.
    pub width: usize,
    /// Strata.
    pub strata: usize,
    /// The two tables.
    pub tables: [Codes; 2],
}

/// The middle of a column's bounds.
const MIDDLE: u16 = 32_768;

impl Neighbours {
    /// `others` four times, and one row that differs.
    fn new(name: &'static str, strata: usize, others: &[u16], rows: [(&[u16], u32); 2]) -> Self {
        let tables = rows.map(|(row, stratum)| {
            let mut codes = Codes::with_capacity(row.len(), 5);
            (0..4).for_each(|i| codes.push(others, if strata > 1 { i % strata as u32 } else { 0 }));
            codes.push(row, stratum);
            codes
        });
        Neighbours { name, width: others.len(), strata, tables }
    }

    /// Five rows in the middle; one goes from corner to opposite corner.
    pub fn opposite_corners() -> Self {
        Neighbours::new("corner to opposite corner", 1, &[MIDDLE; 2], [(&[0, 0], 0), (&[Q, Q], 0)])
    }

    /// Five rows in the middle; one goes from a corner to the next: the directions from the middle are orthogonal.
    pub fn next_corners() -> Self {
        Neighbours::new("corner to next corner", 1, &[MIDDLE; 2], [(&[0, 0], 0), (&[Q, 0], 0)])
    }

    /// All rows equal, or one of them in the opposite corner.
    pub fn all_equal() -> Self {
        Neighbours::new("all rows equal", 1, &[0; 2], [(&[0, 0], 0), (&[Q, Q], 0)])
    }

    /// The middle against a corner: the total square moves most.
    pub fn middle_to_corner() -> Self {
        Neighbours::new("middle to corner", 1, &[0; 2], [(&[MIDDLE, MIDDLE], 0), (&[Q, Q], 0)])
    }

    /// Four strata with one row each, and a fifth and a sixth of which one has the last row.
    pub fn one_row_strata() -> Self {
        let mut pair = Neighbours::new("one-row strata", 6, &[0; 2], [(&[0, 0], 4), (&[Q, Q], 5)]);
        pair.strata = 6;
        pair
    }

    /// Two strata; one row goes from corner to corner and stays in its stratum.
    pub fn within_a_stratum() -> Self {
        Neighbours::new("corner to corner of a stratum", 2, &[MIDDLE; 2], [(&[0, 0], 0), (&[Q, Q], 0)])
    }

    /// Two strata; one row in a corner changes its stratum and nothing else.
    pub fn between_strata() -> Self {
        Neighbours::new("from stratum to stratum", 2, &[MIDDLE; 2], [(&[Q, Q], 0), (&[Q, Q], 1)])
    }

    /// Three strata; one row goes from corner to corner and from the first to the last.
    pub fn corners_of_strata() -> Self {
        Neighbours::new("corner to corner and stratum to stratum", 3, &[MIDDLE; 2], [(&[0, 0], 0), (&[Q, Q], 2)])
    }

    /// Two strata of equal rows, and one of them in the opposite corner.
    pub fn all_equal_in_strata() -> Self {
        Neighbours::new("all rows equal in two strata", 2, &[0; 2], [(&[0, 0], 0), (&[Q, Q], 0)])
    }

    /// The others in the middle; one row goes from there to a corner, the most extreme row there is.
    pub fn extreme_row() -> Self {
        Neighbours::new("middle to extreme", 1, &[MIDDLE; 2], [(&[MIDDLE, MIDDLE], 0), (&[Q, Q], 0)])
    }

    /// Two rows are the same, or one of them goes to the opposite corner.
    pub fn two_identical_rows() -> Self {
        let tables = [[0, 0], [Q, Q]].map(|last| {
            let mut codes = Codes::with_capacity(2, 5);
            [[MIDDLE; 2], [20_000, 40_000], [50_000, 9_000], [0, 0], last].iter().for_each(|row| codes.push(row, 0));
            codes
        });
        Neighbours { name: "two identical rows", width: 2, strata: 1, tables }
    }

    /// One of the tables.
    pub fn table(&self, side: Side) -> &Codes {
        &self.tables[side as usize]
    }

    /// Both tallies of some work, through the public pass.
    pub fn tallies(&self, work: &Work) -> [Tally; 2] {
        let pass = Pass::new(1, self.width, self.strata, work.clone());
        [pass.tally(&self.tables[0]), pass.tally(&self.tables[1])]
    }
}

/// A promise that is made again for every run.
#[derive(Clone, Copy)]
pub struct Purse {
    /// ε.
    pub epsilon: Epsilon,
    /// δ, if there is one.
    pub delta: Option<Delta>,
}

impl Purse {
    /// The whole as a budget.
    ///
    /// # Panics
    /// If δ leaves no budget: it is the audit's own.
    pub fn budget(&self) -> Budget {
        budget(self.epsilon, self.delta).expect("the audit's own numbers leave a budget")
    }

    /// The whole as one charge.
    ///
    /// # Panics
    /// Never: a budget is not zero.
    pub fn charge(&self) -> Charge {
        let [charge] = self.budget().split([1]).expect("a budget is not zero");
        charge
    }
}
