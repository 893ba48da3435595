//! Exact transport without a table of costs: of all pairs of a row and a column, only those that may matter are held.
//!
//! The simplex method works on a few pairs for each row and column. Its potentials u and v then *price* all pairs: one with
//! c_ij < u_i + v_j pays, is offered, and the simplex goes on from the tree it has. When no pair pays, the plan is
//! optimal among all, and u and v prove it. What makes this take few rounds:
//!
//! * the first pairs are chosen by the potentials of a coarse problem ([`mod@start`]);
//! * a row brings the pairs that nearly pay along with those that pay, and remembers a floor under all others. Potentials
//!   move little in later rounds, and most rows are proved by their floor without computing a cost again ([`mod@sweep`]).

mod start;
mod sweep;

use super::flow::simplex::{Arc, Simplex};
use sweep::{Pair, Prices, sweep};

/// Costs that are computed when asked for.
pub(crate) trait Costs {
    /// The number of rows, at least 1.
    fn rows(&self) -> usize;

    /// The number of columns, at least 1.
    fn columns(&self) -> usize;

    /// The costs of row i, each from 0 to 2⁴⁴, always the same.
    fn row(&self, i: usize, out: &mut [i64]);

    /// The costs of some rows, one behind the other. Worth writing when several rows at once are faster.
    fn block(&self, rows: &[u32], out: &mut [i64]) {
        for (&i, out) in rows.iter().zip(out.chunks_exact_mut(self.columns())) {
            self.row(i as usize, out);
        }
    }
}

/// Masses on the rows that are to be carried to the columns.
pub(crate) struct Sparse<'a> {
    /// What each row has: not negative, in all less than 2⁶⁰.
    pub supplies: &'a [i64],
    /// What each column wants: not negative, in all the same.
    pub demands: &'a [i64],
    /// What it costs to carry one unit.
    pub cost: &'a (dyn Costs + Sync),
}

/// A cheapest plan and the potentials that prove it: u_i + v_j ≤ c_ij everywhere, with equality where something moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SparsePlan {
    /// Row, column and mass (positive), in this order.
    pub moved: Vec<(u32, u32, i64)>,
    /// u: one potential for each row.
    pub rows: Vec<i64>,
    /// v: one potential for each column.
    pub columns: Vec<i64>,
}

/// How many pairs each row and each column bring at first.
const FIRST: (usize, usize) = (16, 8);

/// How many they bring later. Where many plans cost nearly the same it takes long to settle which pairs matter: more
/// rounds than usual, and each brings more.
fn later(round: usize) -> (usize, usize) {
    let more = 1 << (round / 6).min(3);
    (8 * more, 4 * more)
}

/// A cheapest plan, on all cores. The result does not depend on their number.
///
/// # Panics
/// If the masses do not fit the costs, or their sums differ.
pub(crate) fn by_pricing(problem: &Sparse) -> SparsePlan {
    by_pricing_on(problem, std::thread::available_parallelism().map_or(1, usize::from))
}

pub(crate) fn by_pricing_on(problem: &Sparse, threads: usize) -> SparsePlan {
    let cost = problem.cost;
    let (n, m) = (cost.rows(), cost.columns());
    assert!(
        n > 0 && m > 0 && problem.supplies.len() == n && problem.demands.len() == m,
        "a mass for each row and column"
    );
    let total: i64 = problem.supplies.iter().sum();
    assert_eq!(total, problem.demands.iter().sum::<i64>(), "as much is wanted as there is");

    let mut priced = start::coarse(problem, threads);
    let every: Vec<u32> = (0..n as u32).collect();
    let found = sweep(cost, &every, Prices { rows: None, columns: &priced }, FIRST, threads);
    let mut known: Vec<(u32, u32)> = found.pairs.iter().map(Pair::place).collect();
    // Invariant: c_ij − priced_j ≥ floors_i for every pair (i, j) that was never offered.
    let mut floors = found.floors.clone();
    let mut simplex = start::greedy(problem, &found, &priced);
    for round in 0.. {
        simplex.run().expect("no cost is negative, hence no cycle");
        let (u, v) = potentials(&simplex, n, m);
        // v moved by at most `rise`; a row whose floor stays above u_i has no pair that pays.
        let rise = v.iter().zip(&priced).map(|(new, old)| new - old).max().unwrap_or(0);
        floors.iter_mut().for_each(|floor| *floor = floor.saturating_sub(rise));
        let doubtful: Vec<u32> = (0..n as u32).filter(|&i| floors[i as usize] < u[i as usize]).collect();
        let found = sweep(cost, &doubtful, Prices { rows: Some(&u), columns: &v }, later(round), threads);
        doubtful.iter().zip(&found.floors).for_each(|(&i, &floor)| floors[i as usize] = floor);
        if !found.pays {
            return SparsePlan { moved: moved(&simplex, n), rows: u, columns: v };
        }
        let fresh = found.pairs.iter().filter(|pair| known.binary_search(&pair.place()).is_err());
        let fresh: Vec<Pair> = fresh.copied().collect();
        known.extend(fresh.iter().map(Pair::place));
        known.sort();
        simplex.offer(fresh.iter().map(|pair| pair.arc(n)));
        priced = v;
    }
    unreachable!("every round but the last offers a new pair, and there are finitely many")
}

/// The nodes of the network are the rows, the columns and the root. A unit is worth −u at a row and v at a column, so
/// that cost + y_from − y_to = c − u − v.
fn potentials(simplex: &Simplex, n: usize, m: usize) -> (Vec<i64>, Vec<i64>) {
    let y = simplex.potentials();
    (y[..n].iter().map(|y| -y).collect(), y[n..n + m].to_vec())
}

/// What moves. Nothing does over the root any more. Artificial arcs cost more than half the highest cost. If row i sent
/// something to the root and column j got something from it, u_i + v_j would be more than c_ij, which pays; if what
/// arrives at the root comes from a column, then a row that sends to this column has an even larger u.
fn moved(simplex: &Simplex, n: usize) -> Vec<(u32, u32, i64)> {
    let carried = simplex.carried().filter(|&(_, amount)| amount > 0);
    let mut moved: Vec<(u32, u32, i64)> = carried
        .map(|(arc, amount)| {
            let Arc { from, to, .. } = simplex.arcs()[arc];
            (from, to - n as u32, amount)
        })
        .collect();
    moved.sort_unstable();
    moved
}

#[cfg(test)]
#[path = "pricing_tests.rs"]
mod tests;
