//! The assignment problem: give each row of a square cost table its own column, as cheaply as possible.
//!
//! Costs are integers and so are the potentials, so optimality is proved without a rounding error: potentials with
//! u_i + v_j ≤ c_ij for all i, j bound every assignment from below by Σu + Σv, and the one returned reaches it.
//! Method: Jonker and Volgenant's (1987): column reduction, row reduction with displacement, then shortest augmenting
//! paths. Cubic in the worst case; a thousand points take a few hundredths of a second.

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
    /// The total cost.
    pub fn cost(&self, cost: impl Fn(usize, usize) -> u32) -> i64 {
        self.column_of.iter().enumerate().map(|(i, &j)| i64::from(cost(i, j))).sum()
    }

    /// Checks the proof: every column is given once, no potential is too high, and dual equals primal.
    pub fn verify(&self, cost: impl Fn(usize, usize) -> u32) -> bool {
        let size = self.column_of.len();
        let mut taken = vec![false; size];
        let each_once = self.column_of.iter().all(|&j| j < size && !std::mem::replace(&mut taken[j], true));
        let feasible = self.rows.len() == size
            && self.columns.len() == size
            && (0..size).all(|i| (0..size).all(|j| self.rows[i] + self.columns[j] <= i64::from(cost(i, j))));
        let dual: i64 = self.rows.iter().sum::<i64>() + self.columns.iter().sum::<i64>();
        each_once && feasible && dual == self.cost(cost)
    }
}

const NONE: usize = usize::MAX;

/// Every so-manieth row and column make up the coarse problem.
const COARSE: usize = 4;

/// A cheapest assignment for a square table of costs, row by row.
///
/// # Panics
/// If the table is not square.
pub fn assign(costs: &[u32], size: usize) -> Assignment {
    assert_eq!(costs.len(), size * size, "assign: a square table, row by row");
    let mut state = State { costs, size, column_of: vec![NONE; size], row_of: vec![NONE; size], v: vec![0; size] };
    if size < COARSE * 16 {
        state.reduce_columns();
    } else {
        state.start_from_coarse();
    }
    for _ in 0..2 {
        state.reduce_rows();
    }
    state.augment();
    let u = (0..size).map(|i| state.reduced(i, state.column_of[i])).collect();
    Assignment { column_of: state.column_of, rows: u, columns: state.v }
}

/// Invariant: every assigned row has its smallest reduced cost c_ij − v_j at its own column. Hence u_i, defined as that
/// minimum, is a feasible potential and tight where it must be.
struct State<'a> {
    costs: &'a [u32],
    size: usize,
    column_of: Vec<usize>,
    row_of: Vec<usize>,
    v: Vec<i64>,
}

impl State<'_> {
    fn row(&self, i: usize) -> &[u32] {
        &self.costs[i * self.size..(i + 1) * self.size]
    }

    fn reduced(&self, i: usize, j: usize) -> i64 {
        i64::from(self.costs[i * self.size + j]) - self.v[j]
    }

    fn give(&mut self, i: usize, j: usize) -> usize {
        self.column_of[i] = j;
        std::mem::replace(&mut self.row_of[j], i)
    }

    /// v_j = min_i c_ij makes every reduced cost non-negative and one in each column zero; a free row takes it.
    fn reduce_columns(&mut self) {
        let mut best = vec![(u32::MAX, NONE); self.size];
        for i in 0..self.size {
            for (best, &cost) in best.iter_mut().zip(self.row(i)) {
                if best.1 == NONE || cost < best.0 {
                    *best = (cost, i);
                }
            }
        }
        for (j, (cost, i)) in best.into_iter().enumerate() {
            self.v[j] = i64::from(cost);
            if self.column_of[i] == NONE {
                self.give(i, j);
            }
        }
    }

    /// Solves the problem of a few rows and columns first. Its potentials u, carried over by v_j = min_i (c_ij − u_i), are
    /// near the final ones where costs are distances, since a potential varies no faster than the distance. No row is
    /// assigned yet, so any v would do: this is a matter of speed alone.
    fn start_from_coarse(&mut self) {
        let few: Vec<usize> = (0..self.size).step_by(COARSE).collect();
        let costs: Vec<u32> =
            few.iter().flat_map(|&i| few.iter().map(move |&j| (i, j))).map(|(i, j)| self.row(i)[j]).collect();
        let coarse = assign(&costs, few.len());
        let mut v = vec![i64::MAX; self.size];
        for (&i, u) in few.iter().zip(&coarse.rows) {
            v.iter_mut().zip(self.row(i)).for_each(|(v, &cost)| *v = (*v).min(i64::from(cost) - u));
        }
        self.v = v;
    }

    /// A free row takes its cheapest column, whose potential falls until the second cheapest is as cheap: the row stays
    /// tight, and a lower v_j hurts no other row. Whoever held the column is free and tries at once if that was a gain.
    fn reduce_rows(&mut self) {
        let mut free: Vec<usize> = (0..self.size).rev().filter(|&i| self.column_of[i] == NONE).collect();
        // Each gain lowers a potential, but perhaps by little; the allowance ends a long quarrel, the paths finish it.
        let mut allowance = 8 * self.size;
        while let Some(i) = free.pop() {
            let (mut first, mut second) = ((i64::MAX, NONE), (i64::MAX, NONE));
            for (j, (&cost, &v)) in self.row(i).iter().zip(&self.v).enumerate() {
                let reduced = i64::from(cost) - v;
                if reduced < second.0 {
                    if reduced < first.0 {
                        (first, second) = ((reduced, j), first);
                    } else {
                        second = (reduced, j);
                    }
                }
            }
            let gain = if second.1 == NONE { 0 } else { second.0 - first.0 };
            let tied_and_taken = gain == 0 && second.1 != NONE && self.row_of[first.1] != NONE;
            let j = if tied_and_taken { second.1 } else { first.1 };
            self.v[j] -= gain;
            let displaced = self.give(i, j);
            if displaced != NONE {
                self.column_of[displaced] = NONE;
                if gain > 0 && allowance > 0 {
                    allowance -= 1;
                    free.push(displaced);
                }
            }
        }
    }

    /// For each free row, Dijkstra's shortest path over reduced costs to a free column; then the columns passed on the
    /// way get v_j += distance_j − distance of the end, which keeps the invariant, and the path is flipped.
    fn augment(&mut self) {
        let mut distance = vec![0i64; self.size];
        let mut came_from = vec![0usize; self.size];
        for start in 0..self.size {
            if self.column_of[start] != NONE {
                continue;
            }
            let mut open: Vec<usize> = (0..self.size).collect();
            let mut passed = Vec::new();
            // A row enters at the distance `base` already travelled, minus its own tight reduced cost.
            let (mut row, mut base) = (start, 0);
            let fresh = distance.iter_mut().zip(&mut came_from);
            fresh.for_each(|(distance, from)| (*distance, *from) = (i64::MAX, start));
            let (end, length) = loop {
                let costs = &self.costs[row * self.size..(row + 1) * self.size];
                let (mut nearest, mut at) = (i64::MAX, 0);
                for (k, &j) in open.iter().enumerate() {
                    let through = i64::from(costs[j]) - self.v[j] + base;
                    if through < distance[j] {
                        (distance[j], came_from[j]) = (through, row);
                    }
                    if distance[j] < nearest {
                        (nearest, at) = (distance[j], k);
                    }
                }
                let j = open.swap_remove(at);
                if self.row_of[j] == NONE {
                    break (j, nearest);
                }
                passed.push(j);
                row = self.row_of[j];
                base = nearest - self.reduced(row, j);
            };
            for j in passed {
                self.v[j] += distance[j] - length;
            }
            let mut j = end;
            loop {
                let i = came_from[j];
                let next = self.column_of[i];
                self.give(i, j);
                if i == start {
                    break;
                }
                j = next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use proptest::prelude::*;

    fn cheapest_by_trying(costs: &[u32], size: usize, row: usize, taken: &mut [bool]) -> i64 {
        if row == size {
            return 0;
        }
        let mut best = i64::MAX;
        for j in 0..size {
            if !std::mem::replace(&mut taken[j], true) {
                best = best.min(i64::from(costs[row * size + j]) + cheapest_by_trying(costs, size, row + 1, taken));
                taken[j] = false;
            }
        }
        best
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn small_tables_agree_with_trying_everything(size in 0usize..=7, seed: u64, high in prop::sample::select(vec![1u64, 3, 100, 1 << 32])) {
            let mut stream = Stream::new(seed, 0, 0);
            let costs: Vec<u32> = (0..size * size).map(|_| stream.below(high) as u32).collect();
            let found = assign(&costs, size);
            prop_assert!(found.verify(|i, j| costs[i * size + j]));
            prop_assert_eq!(found.cost(|i, j| costs[i * size + j]), cheapest_by_trying(&costs, size, 0, &mut vec![false; size]));
        }

        #[test]
        fn larger_tables_carry_their_proof(size in 1usize..120, seed: u64, high in prop::sample::select(vec![1u64, 2, 30, 5_000, 1 << 32])) {
            let mut stream = Stream::new(seed, 0, 0);
            let costs: Vec<u32> = (0..size * size).map(|_| stream.below(high) as u32).collect();
            prop_assert!(assign(&costs, size).verify(|i, j| costs[i * size + j]));
        }
    }

    #[test]
    fn a_false_proof_is_refused() {
        let costs = [1u32, 5, 5, 1];
        let cost = |i: usize, j: usize| costs[i * 2 + j];
        let good = assign(&costs, 2);
        assert!(good.verify(cost) && good.cost(cost) == 2);
        assert!(!Assignment { column_of: vec![1, 0], ..good.clone() }.verify(cost), "not the cheapest");
        assert!(!Assignment { column_of: vec![0, 0], ..good.clone() }.verify(cost), "a column twice");
        assert!(!Assignment { rows: vec![9, -9], ..good.clone() }.verify(cost), "a potential too high");
    }
}
