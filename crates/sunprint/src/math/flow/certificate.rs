//! A flow and the proof that none is cheaper.

use super::{ENDLESS, Network};

/// A cheapest flow, with potentials y that prove it: a unit is worth y_v at node v, no arc that could carry more leads
/// to where a unit is worth more than there and the cost, and no arc that carries something leads to where it is worth
/// less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// What each arc carries, in the order in which the arcs were added.
    pub amounts: Vec<u64>,
    /// y: what a unit is worth at each node.
    pub potentials: Vec<i64>,
    /// The total cost.
    pub cost: i128,
}

impl Flow {
    /// Checks the proof in integers: the flow is feasible, each arc agrees with the potentials, dual equals primal.
    ///
    /// With reduced costs r = c + y_from − y_to every feasible flow x costs Σ r·x − Σ s·y, because what leaves node v
    /// minus what enters it is s_v. That is at least Σ capacity·min(r, 0) − Σ s·y, the dual, and x reaches it if it is
    /// full where r < 0 and empty where r > 0.
    pub fn verify(&self, network: &Network) -> bool {
        let Network { supplies, edges, .. } = network;
        let shaped = self.amounts.len() == edges.len() && self.potentials.len() == supplies.len();
        if !shaped || network.check_supplies().is_err() {
            return false;
        }
        let mut left: Vec<i128> = supplies.iter().map(|&supply| i128::from(supply)).collect();
        let worth = supplies.iter().zip(&self.potentials).map(|(&s, &y)| i128::from(s) * i128::from(y));
        let (mut primal, mut dual) = (0i128, -worth.sum::<i128>());
        for (edge, &amount) in edges.iter().zip(&self.amounts) {
            let (from, to) = (edge.arc.from as usize, edge.arc.to as usize);
            let (cost, amount) = (i128::from(edge.arc.cost), i128::from(amount));
            let reduced = cost + i128::from(self.potentials[from]) - i128::from(self.potentials[to]);
            let endless = edge.capacity == ENDLESS;
            let full = !endless && amount == i128::from(edge.capacity);
            let fits = endless || amount <= i128::from(edge.capacity);
            if !fits || (reduced < 0 && !full) || (reduced > 0 && amount > 0) {
                return false;
            }
            left[from] -= amount;
            left[to] += amount;
            let Some(sum) = primal.checked_add(cost * amount) else {
                return false;
            };
            primal = sum;
            dual += reduced.min(0) * if endless { 0 } else { i128::from(edge.capacity) };
        }
        left.iter().all(|&left| left == 0) && primal == dual && primal == self.cost
    }
}
