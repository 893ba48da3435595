//! The integer problem: which solver, and potentials for every point.

use super::distances::Distances;
use super::groups::Groups;
use super::metric::Metric;

use crate::math::assignment::{CostRows, Table, assign};
use crate::math::pricing::{Costs, Sparse, by_pricing};

/// Up to so many pairs all costs are kept in memory (half a gigabyte); beyond it they are computed when asked for.
const PAIRS_IN_MEMORY: usize = 1 << 26;

/// On a line or a plane the shortest augmenting paths are long. Pricing does better with more points than this (measured:
/// the same at 2,000, three times as fast at 10,000; not so in three dimensions).
const MOST_ON_A_PLANE: usize = 2_000;

/// Two sides with integer masses of the same total.
pub(super) struct Problem {
    pub a: Groups,
    pub b: Groups,
    pub width: usize,
    pub metric: Metric,
}

/// An optimal plan between groups, and potentials of all groups.
pub(super) struct Solved {
    pub moved: Vec<(u32, u32, i64)>,
    pub rows: Vec<i64>,
    pub columns: Vec<i64>,
}

/// The costs between groups that have mass: these come first.
struct Kept<'a> {
    distances: &'a Distances,
    rows: usize,
    columns: usize,
}

impl CostRows for Kept<'_> {
    fn size(&self) -> usize {
        self.columns
    }

    fn row<'a>(&'a self, i: usize, columns: usize, buffer: &'a mut Vec<f64>) -> &'a [f64] {
        buffer.resize(columns, 0.0);
        self.distances.fill(i, buffer, |cost| cost);
        buffer
    }
}

impl Costs for Kept<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn row(&self, i: usize, out: &mut [i64]) {
        self.distances.fill(i, out, |cost| cost as i64);
    }

    fn block(&self, rows: &[u32], out: &mut [i64]) {
        self.distances.fill_rows(rows, self.columns, out, |cost| cost as i64);
    }
}

impl Problem {
    /// Solves the problem with distances in whole multiples of `unit`.
    pub fn solve(&self, unit: f64) -> Solved {
        let distances = Distances::new(&self.a.points, &self.b.points, self.width, self.metric, unit);
        let kept = Kept { distances: &distances, rows: self.a.masses.len(), columns: self.b.masses.len() };
        let each = self.a.masses[0];
        // Masses that are all the same: an optimal plan is a one-to-one assignment (Birkhoff).
        let even = kept.rows == kept.columns && self.a.masses.iter().chain(&self.b.masses).all(|&mass| mass == each);
        let flat = self.width <= 2 && kept.rows > MOST_ON_A_PLANE;
        let mut solved = if even && !flat {
            let found = if kept.rows * kept.columns <= PAIRS_IN_MEMORY { assign(&kept.table()) } else { assign(&kept) };
            let pairs = found.column_of.iter().enumerate();
            let moved = pairs.map(|(i, &j)| (i as u32, j as u32, each)).collect();
            Solved { moved, rows: found.rows, columns: found.columns }
        } else {
            let found = by_pricing(&Sparse { supplies: &self.a.masses, demands: &self.b.masses, cost: &kept });
            Solved { moved: found.moved, rows: found.rows, columns: found.columns }
        };
        solved.add_those_without_mass(&distances);
        solved
    }
}

impl Kept<'_> {
    fn table(&self) -> Table {
        let mut costs = vec![0.0; self.rows * self.columns];
        for (i, row) in costs.chunks_exact_mut(self.columns).enumerate() {
            self.distances.fill(i, row, |cost| cost);
        }
        Table::new(costs, self.rows)
    }
}

impl Solved {
    /// Points without mass take no part in the plan, yet the proof speaks of all pairs. The highest feasible potentials,
    /// first of the rows u_i = min_j (c_ij − v_j), then of the columns v_j = min_i (c_ij − u_i), will do.
    fn add_those_without_mass(&mut self, distances: &Distances) {
        let mut costs = vec![0; distances.columns()];
        let kept_columns = self.columns.len();
        for i in self.rows.len()..distances.rows() {
            distances.fill(i, &mut costs[..kept_columns], |cost| cost as i64);
            let least = costs.iter().zip(&self.columns).map(|(cost, v)| cost - v).min();
            self.rows.push(least.unwrap_or(0));
        }
        if kept_columns < distances.columns() {
            self.columns.resize(distances.columns(), i64::MAX);
            for (i, u) in self.rows.iter().enumerate() {
                distances.fill(i, &mut costs, |cost| cost as i64);
                let pairs = self.columns.iter_mut().zip(&costs).skip(kept_columns);
                pairs.for_each(|(v, cost)| *v = (*v).min(cost - u));
            }
        }
    }
}
