//! The proof that a measure is nearest, and its check.
//!
//! Proof: docs/proofs.md, Lemma 21.

use super::{Lattice, Nearest};

impl Nearest {
    /// Checks all of it in integers, without knowing how it was found.
    ///
    /// **Why it is a proof.** Let f be any flow that carries the supplies s and the bank's units b onto some τ ≥ 0, and
    /// let y ≥ 0 have y_w − y_v ≤ c(v, w) for all moves. Then Σ c f ≥ Σ (y_w − y_v) f = Σ_v y_v (τ_v − s_v − b_v)
    /// ≥ −Σ s_v y_v − Σ b_v y_v. If the bank gives (b ≥ 0, Σ b = r) and y_v ≤ Y everywhere, or takes (b ≤ 0) and y_v ≥ Y
    /// everywhere, that is at least −Σ s_v y_v − r Y: a bound for every flow. It is reached if moves with f > 0 are
    /// tight, y_v = 0 where τ_v > 0, and y_v = Y where b_v ≠ 0.
    pub fn verify(&self, lattice: &Lattice, supplies: &[i64], total: u64) -> bool {
        let cells = lattice.cells();
        if [supplies.len(), self.measure.len(), self.potentials.len()] != [cells; 3] {
            return false;
        }
        self.is_feasible(lattice, supplies, total)
            && self.is_fair(lattice, supplies, total)
            && self.cost == self.bound(supplies, total)
    }

    /// Moves are moves of the lattice, and masses, moves and bank lead to the measure; `cost` is what the moves cost.
    fn is_feasible(&self, lattice: &Lattice, supplies: &[i64], total: u64) -> bool {
        let given = i128::from(total) - sum(supplies);
        let mut mass: Vec<i128> = supplies.iter().map(|&s| i128::from(s)).collect();
        let mut cost = 0;
        for one in &self.moved {
            let Some(step) = step_of(lattice, one.from as usize, one.to as usize) else { return false };
            mass[one.from as usize] -= i128::from(one.amount);
            mass[one.to as usize] += i128::from(one.amount);
            cost += i128::from(one.amount) * i128::from(step);
        }
        let mut by_bank = 0;
        for &(cell, amount) in &self.bank {
            if cell as usize >= mass.len() || i128::from(amount).signum() != given.signum() {
                return false;
            }
            mass[cell as usize] += i128::from(amount);
            by_bank += i128::from(amount);
        }
        by_bank == given
            && cost == self.cost
            && mass.iter().zip(&self.measure).all(|(&mass, &measure)| mass == i128::from(measure))
            && mass.iter().sum::<i128>() == i128::from(total)
    }

    /// The potentials satisfy every inequality, with equality where the proof needs it.
    fn is_fair(&self, lattice: &Lattice, supplies: &[i64], total: u64) -> bool {
        let y = |cell: usize| i128::from(self.potentials[cell]);
        let highest = i128::from(self.bank_potential);
        let cells = 0..lattice.cells();
        let given = i128::from(total) - sum(supplies);
        cells.clone().all(|v| y(v) >= 0 && (self.measure[v] == 0 || y(v) == 0))
            && cells.clone().all(|v| lattice.steps.from(v).all(|(_, step, w)| y(w) - y(v) <= i128::from(step.cost)))
            && self.moved.iter().all(|one| {
                let (v, w) = (one.from as usize, one.to as usize);
                step_of(lattice, v, w).is_some_and(|cost| y(w) - y(v) == i128::from(cost))
            })
            && self.bank.iter().all(|&(v, _)| y(v as usize) == highest)
            && (given <= 0 || cells.clone().all(|v| y(v) <= highest))
            && (given >= 0 || cells.clone().all(|v| y(v) >= highest))
    }

    /// −Σ s y − r Y.
    fn bound(&self, supplies: &[i64], total: u64) -> i128 {
        let given = i128::from(total) - sum(supplies);
        let owed: i128 = supplies.iter().zip(&self.potentials).map(|(&s, &y)| i128::from(s) * i128::from(y)).sum();
        -owed - given * i128::from(self.bank_potential)
    }
}

fn sum(supplies: &[i64]) -> i128 {
    supplies.iter().map(|&s| i128::from(s)).sum()
}

/// The cost of the move from one cell to another, if there is one.
fn step_of(lattice: &Lattice, from: usize, to: usize) -> Option<i32> {
    (from < lattice.cells()).then(|| lattice.steps.from(from).find(|&(_, _, w)| w == to))?.map(|(_, step, _)| step.cost)
}
