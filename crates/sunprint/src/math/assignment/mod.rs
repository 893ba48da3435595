//! The assignment problem: give each row of a square cost table its own column, as cheaply as possible.
//!
//! Costs are integers and so are the potentials, so optimality is proved without a rounding error: potentials with
//! u_i + v_j ≤ c_ij for all i, j bound every assignment from below by Σu + Σv, and the one returned reaches it.
//!
//! Method: Jonker and Volgenant's (1987), that is potentials of a coarse problem, row reduction with displacement, then
//! shortest augmenting paths, but on short lists instead of whole rows. It rests on one fact: **the column potentials
//! only ever fall**, so reduced costs c_ij − v_j only ever rise. Each row keeps a list of its cheapest columns and a
//! bound that no column outside the list was below when the list was made; none ever will be. A whole row is read again
//! only when the bound is reached. Rows are asked for a few times each, in any order, so they need not be stored.

mod augment;
mod lists;
mod reduce;

use lists::List;

/// The largest cost. Integers in an `f64` are exact below 2⁵³, and no number on the way exceeds a few dozen times this.
pub const LARGEST_COST: f64 = (1u64 << 44) as f64;

/// A square table of costs that is read row by row.
pub trait CostRows {
    /// The number of rows and of columns.
    fn size(&self) -> usize;

    /// The first `columns` costs of row `i`: whole numbers, none negative, none above [`LARGEST_COST`].
    ///
    /// They may be computed into the `buffer` or lie in memory already.
    fn row<'a>(&'a self, i: usize, columns: usize, buffer: &'a mut Vec<f64>) -> &'a [f64];
}

/// A table of costs in memory, row by row.
#[derive(Clone, Debug)]
pub struct Table {
    size: usize,
    costs: Vec<f64>,
}

impl Table {
    /// A table of `size` rows of `size` costs.
    ///
    /// # Panics
    /// If the number of costs is not the square of the size.
    pub fn new(costs: Vec<f64>, size: usize) -> Self {
        assert_eq!(costs.len(), size * size, "a square table, row by row");
        Table { size, costs }
    }
}

impl CostRows for Table {
    fn size(&self) -> usize {
        self.size
    }

    fn row<'a>(&'a self, i: usize, columns: usize, _: &'a mut Vec<f64>) -> &'a [f64] {
        &self.costs[i * self.size..][..columns]
    }
}

/// A cheapest assignment and the potentials that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The column given to each row.
    pub column_of: Vec<usize>,
    /// u: one potential for each row.
    pub rows: Vec<i64>,
    /// v: one potential for each column.
    pub columns: Vec<i64>,
}

impl Assignment {
    /// The total cost, Σu + Σv.
    pub fn cost(&self) -> i64 {
        self.rows.iter().sum::<i64>() + self.columns.iter().sum::<i64>()
    }

    /// Checks the proof: every column is given once, no potential is too high, and dual equals primal.
    pub fn verify(&self, costs: &impl CostRows) -> bool {
        let size = costs.size();
        if [self.column_of.len(), self.rows.len(), self.columns.len()] != [size; 3] {
            return false;
        }
        let mut taken = vec![false; size];
        let each_once = self.column_of.iter().all(|&j| j < size && !std::mem::replace(&mut taken[j], true));
        let mut buffer = Vec::new();
        // Tight at every chosen pair: then the two sums are equal term by term.
        each_once
            && self.column_of.iter().zip(&self.rows).enumerate().all(|(i, (&chosen, &u))| {
                let row = costs.row(i, size, &mut buffer);
                let slack = |j: usize| i128::from(row[j] as i64) - i128::from(u) - i128::from(self.columns[j]);
                (0..size).all(|j| slack(j) >= 0) && slack(chosen) == 0
            })
    }
}

/// A cheapest assignment.
///
/// Time: for distances between points a few readings of the table; cubic in the worst case.
///
/// # Panics
/// If there are 2³¹ rows or more.
///
/// # Examples
/// ```
/// use sunprint::math::assignment::{Table, assign};
///
/// let costs = Table::new(vec![4.0, 1.0, 2.0, 0.0], 2);
/// let best = assign(&costs);
/// assert_eq!((best.column_of.as_slice(), best.cost()), (&[1, 0][..], 3));
/// assert!(best.verify(&costs));
/// ```
pub fn assign(costs: &impl CostRows) -> Assignment {
    assert!(costs.size() <= LARGEST_SIZE, "assign: rows and columns are numbered with 31 bits each");
    let done = State::solve(costs, costs.size());
    Assignment {
        rows: (0..done.size).map(|i| done.row_potential(i) as i64).collect(),
        columns: done.v.iter().map(|&v| v as i64).collect(),
        column_of: done.column_of.into_iter().map(|j| j as usize).collect(),
    }
}

const NONE: u32 = u32::MAX;
const LARGEST_SIZE: usize = (1 << 31) - 1;

/// Rows and columns of the coarse problem: one in so many, the first ones.
const COARSE: usize = 2;
/// Below this size there is no coarse problem.
const SMALL: usize = 64;
/// Rounds of row reduction, and displacements allowed in each for every row.
const ROUNDS: usize = 3;
const DISPLACEMENTS: usize = 8;

/// The problem of the first `size` rows and columns, on its way.
///
/// Invariant: every assigned row has its smallest reduced cost c_ij − v_j at its own column. Hence u_i, defined as that
/// minimum, is a feasible potential and tight where it must be.
///
/// Range of the numbers, with C = [`LARGEST_COST`]: if row i holds column j, then for every column k the invariant gives
/// v_k − v_j ≤ c_ik − c_ij ≤ C, so a column that is held lies within C of the highest. A coarse problem ends with all its
/// columns held; those that join have v_k = min_i (c_ik − u_i) between (lowest v) − C and (lowest v) + C. So each of the
/// at most 32 levels widens the range by C at most, and potentials stay within 34 C, lengths of paths within 70 C < 2⁵³.
struct State<'a, C> {
    costs: &'a C,
    size: usize,
    lists: Vec<List>,
    column_of: Vec<u32>,
    row_of: Vec<u32>,
    /// What an assigned row pays.
    paid: Vec<f64>,
    v: Vec<f64>,
    scratch: lists::Scratch,
}

impl<'a, C: CostRows> State<'a, C> {
    fn solve(costs: &'a C, size: usize) -> Self {
        let mut state = State {
            costs,
            size,
            lists: vec![List::default(); size],
            column_of: vec![NONE; size],
            row_of: vec![NONE; size],
            paid: vec![0.0; size],
            v: vec![0.0; size],
            scratch: lists::Scratch::default(),
        };
        if size < SMALL {
            state.reduce_columns();
        } else {
            state.start_from_coarse();
        }
        for _ in 0..ROUNDS {
            state.reduce_rows();
        }
        state.augment();
        state
    }

    /// u_i of an assigned row.
    fn row_potential(&self, i: usize) -> f64 {
        self.paid[i] - self.v[self.column_of[i] as usize]
    }

    /// Gives column j to row i at a cost; returns the row that held it, or [`NONE`].
    fn give(&mut self, i: usize, j: u32, cost: f64) -> u32 {
        self.column_of[i] = j;
        self.paid[i] = cost;
        std::mem::replace(&mut self.row_of[j as usize], i as u32)
    }
}

#[cfg(test)]
mod tests;
