//! Where to begin: potentials from a coarse problem, and a tree from a greedy plan.

use super::sweep::{Found, each_row, in_stretches, lot};
use super::{Costs, Sparse, by_pricing_on};
use crate::math::flow::simplex::{Arc, Simplex};
use crate::math::flow::tree::Link;

/// One in so many rows and columns make up the coarse problem.
const COARSE: usize = 4;

/// Fewer rows or columns than this need no coarse problem.
const SMALL: usize = 64;

/// The coarse problem has a table, of at most so many rows and columns: 200 MB, twice that while it is made.
const LARGEST_TABLE: usize = 5_000;

struct Table {
    columns: usize,
    costs: Vec<i64>,
}

impl Costs for Table {
    fn rows(&self) -> usize {
        self.costs.len() / self.columns
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn row(&self, i: usize, out: &mut [i64]) {
        out.copy_from_slice(&self.costs[i * self.columns..(i + 1) * self.columns]);
    }
}

/// Solves the problem of a few rows and columns, and carries its potentials over by v_j = min_i (c_ij − u_i). Where costs
/// are distances they are near the final ones, since a potential varies no faster than the distance. This is a matter of
/// speed alone: any v would do.
pub(super) fn coarse(problem: &Sparse, threads: usize) -> Vec<i64> {
    let cost = problem.cost;
    let (n, m) = (cost.rows(), cost.columns());
    if n.min(m) < SMALL {
        return vec![0; m];
    }
    let step = COARSE.max(n.max(m).div_ceil(LARGEST_TABLE));
    let (few, few_columns) = (one_of_each(step, n), one_of_each(step, m));
    let parts = in_stretches(cost, &few, threads, |few| {
        let mut costs = Vec::with_capacity(few.len() * few_columns.len());
        each_row(cost, few, |_, row| costs.extend(few_columns.iter().map(|&j| row[j as usize])));
        costs
    });
    let table = Table { columns: few_columns.len(), costs: parts.concat() };
    let mut supplies: Vec<i64> = few.iter().map(|&i| problem.supplies[i as usize]).collect();
    let mut demands: Vec<i64> = few_columns.iter().map(|&j| problem.demands[j as usize]).collect();
    even_out(&mut supplies, &mut demands);
    let u = by_pricing_on(&Sparse { supplies: &supplies, demands: &demands, cost: &table }, threads).rows;
    let parts = in_stretches(cost, &few, threads, |few| {
        let mut v = vec![i64::MAX; m];
        each_row(cost, few, |i, row| {
            let u = u[i / step];
            v.iter_mut().zip(row).for_each(|(v, c)| *v = (*v).min(c - u));
        });
        v
    });
    (0..m).map(|j| parts.iter().map(|v| v[j]).fold(i64::MAX, i64::min)).collect()
}

/// One of every `step` numbers below `count`, as if drawn by lot: a fixed stride might keep time with the data.
fn one_of_each(step: usize, count: usize) -> Vec<u32> {
    (0..count).step_by(step).map(|k| (k + lot(k, 0) as usize % step.min(count - k)) as u32).collect()
}

/// Gives the side that has less the same more everywhere, until both have as much.
fn even_out(supplies: &mut [i64], demands: &mut [i64]) {
    let missing = demands.iter().sum::<i64>() - supplies.iter().sum::<i64>();
    let side = if missing > 0 { supplies } else { demands };
    let (each, rest) = (missing.abs() / side.len() as i64, missing.abs() % side.len() as i64);
    for (k, mass) in side.iter_mut().enumerate() {
        *mass += each + i64::from((k as i64) < rest);
    }
}

/// Carries as much as possible over each pair, those with the smallest reduced cost first, and the rest over the root.
///
/// Whoever is emptied hangs from the other end of the pair and is done, so the pairs used make a forest; of each of its
/// trees one node remains, and hangs from the root with what it has left. Every link can carry something up: one that
/// points up always can, and one that points down is used only if it carries something.
pub(super) fn greedy(problem: &Sparse, found: &Found, v: &[i64]) -> Simplex {
    let n = problem.supplies.len();
    let root = n + problem.demands.len();
    let mut order: Vec<(i64, usize)> = Vec::with_capacity(found.pairs.len());
    for (k, pair) in found.pairs.iter().enumerate() {
        order.push((pair.cost - found.least[pair.row as usize] - v[pair.column as usize], k));
    }
    order.sort_unstable();
    let mut left: Vec<i64> = problem.supplies.iter().chain(problem.demands).copied().collect();
    let mut links: Vec<Option<Link>> = vec![None; root];
    for (_, k) in order {
        let Arc { from, to, .. } = found.pairs[k].arc(n);
        let (row, column) = (from as usize, to as usize);
        if links[row].is_some() || links[column].is_some() {
            continue;
        }
        let amount = left[row].min(left[column]);
        if left[row] == amount {
            links[row] = Some(Link::rising(column, root + k, amount));
        } else if amount > 0 {
            links[column] = Some(Link::falling(row, root + k, amount));
        }
        left[row] -= amount;
        left[column] -= amount;
    }
    // What goes over the root costs twice this, more than any pair: see `moved`.
    let dear = found.highest / 2 + 1;
    let mut arcs = Vec::with_capacity(root + found.pairs.len());
    for node in 0..root {
        let (node_to_root, cost) = (node < n || left[node] == 0, dear);
        let (from, to) = if node_to_root { (node as u32, root as u32) } else { (root as u32, node as u32) };
        arcs.push(Arc { from, to, cost });
        links[node].get_or_insert_with(|| match node_to_root {
            true => Link::rising(root, node, left[node]),
            false => Link::falling(root, node, left[node]),
        });
    }
    arcs.extend(found.pairs.iter().map(|pair| pair.arc(n)));
    let links = links.into_iter().flatten().chain([Link::rising(root, root, 0)]);
    Simplex::new(links.collect(), arcs, Vec::new(), root)
}
