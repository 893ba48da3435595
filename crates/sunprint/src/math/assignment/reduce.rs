//! A good start: potentials from a smaller problem, then rows that take what suits them and displace each other.

use super::lists::SHORT;
use super::{COARSE, CostRows, DISPLACEMENTS, NONE, State};

impl<C: CostRows> State<'_, C> {
    /// v_j = min_i c_ij makes every reduced cost non-negative and one in each column zero.
    pub(super) fn reduce_columns(&mut self) {
        self.v.fill(f64::INFINITY);
        for i in 0..self.size {
            let row = self.costs.row(i, self.size, &mut self.scratch.buffer);
            self.v.iter_mut().zip(row).for_each(|(v, &cost)| *v = if cost < *v { cost } else { *v });
        }
    }

    /// Solves the problem of the first few rows and columns, and keeps its assignment and potentials: with
    /// v_j = min_i (c_ij − u_i) for all columns, over its rows i, those rows stay tight. Where costs are distances such a
    /// start is near the end, since a potential varies no faster than the distance.
    pub(super) fn start_from_coarse(&mut self) {
        let coarse = State::solve(self.costs, self.size / COARSE);
        self.v.fill(f64::INFINITY);
        for i in 0..coarse.size {
            let u = coarse.row_potential(i);
            let row = self.costs.row(i, self.size, &mut self.scratch.buffer);
            self.v.iter_mut().zip(row).for_each(|(v, &cost)| *v = if cost - u < *v { cost - u } else { *v });
            self.give(i, coarse.column_of[i], coarse.paid[i]);
        }
    }

    /// A free row takes its cheapest column, whose potential falls until the second cheapest is as cheap: the row stays
    /// tight, and a lower v_j hurts no other row. Whoever held the column is free and tries at once if that was a gain.
    pub(super) fn reduce_rows(&mut self) {
        let mut free: Vec<u32> =
            (0..self.size).rev().filter(|&i| self.column_of[i] == NONE).map(|i| i as u32).collect();
        // Each gain lowers a potential, but perhaps by little; the allowance ends a long quarrel, the paths finish it.
        let mut allowance = DISPLACEMENTS * self.size;
        while let Some(i) = free.pop() {
            let i = i as usize;
            let mut best = self.lists[i].best_two(&self.v);
            if best.first.0.max(best.second.0) > self.lists[i].bound {
                self.read(i, SHORT);
                best = self.lists[i].best_two(&self.v);
            }
            let (first, second) = (best.first, best.second);
            let gain = if second.0 < f64::INFINITY { second.0 - first.0 } else { 0.0 };
            let tied_and_taken = gain == 0.0 && second.1.column != NONE && self.row_of[first.1.column as usize] != NONE;
            let chosen = if tied_and_taken { second.1 } else { first.1 };
            self.v[chosen.column as usize] -= gain;
            let displaced = self.give(i, chosen.column, chosen.cost);
            if displaced != NONE {
                self.column_of[displaced as usize] = NONE;
                if gain > 0.0 && allowance > 0 {
                    allowance -= 1;
                    free.push(displaced);
                }
            }
        }
    }
}
