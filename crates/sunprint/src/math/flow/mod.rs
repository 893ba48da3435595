//! Minimum-cost flow: carry what some nodes have to those that need it, along arcs that cost, as cheaply as possible.
//!
//! Everything is an integer, so the proof of optimality that comes with a [`Flow`] has no rounding in it. Method: the
//! network simplex, with artificial arcs to a root, block pricing and strongly feasible trees, which cannot cycle.
//!
//! ```
//! use sunprint::math::flow::Network;
//!
//! // Two bakeries, three shops: 7 and 5 loaves to bring to where 4, 6 and 2 are wanted.
//! let mut network = Network::new(&[7, 5, -4, -6, -2]);
//! for (bakery, shop, cost) in [(0, 2, 3), (0, 3, 1), (0, 4, 7), (1, 2, 2), (1, 3, 6), (1, 4, 4)] {
//!     network.arc(bakery, shop, cost, None)?;
//! }
//! // A van goes on from the second shop to the third, with at most one loaf.
//! let van = network.arc(3, 4, 1, Some(1))?;
//!
//! let flow = network.solve()?;
//! assert_eq!(flow.amounts, [0, 7, 0, 4, 0, 1, 1]);
//! assert_eq!(flow.amounts[van], 1);
//! assert_eq!(flow.cost, 7 * 1 + 4 * 2 + 1 * 4 + 1 * 1);
//! assert!(flow.verify(&network), "the potentials prove that nothing is cheaper");
//! # Ok::<(), sunprint::error::Error>(())
//! ```

mod certificate;
pub(crate) mod simplex;
pub(crate) mod tree;

pub use certificate::Flow;

use crate::error::{Error, Kind, Result};
use simplex::{Arc, Simplex};
use tree::{ENDLESS, Link};

/// The largest sum of all positive supplies and all capacities, and the largest product of the number of nodes and the
/// largest cost: 2⁶⁰ − 1.
///
/// In a basic flow every cycle has a full arc, so no arc carries more than this sum. A potential is the cost of a path in
/// the tree: at most `MOST` over real arcs and `MOST`/2 + 1 for the artificial one. Differences of two stay below 2⁶².
pub const MOST: i64 = (1 << 60) - 1;

#[derive(Clone, Copy, Debug)]
struct Edge {
    arc: Arc,
    /// [`ENDLESS`] if there is none.
    capacity: i64,
}

/// Nodes with supplies, and arcs along which things can be carried.
#[derive(Clone, Debug)]
pub struct Network {
    supplies: Vec<i64>,
    edges: Vec<Edge>,
    /// The sum of all capacities.
    capacities: i64,
}

impl Network {
    /// A network without arcs. Node v has `supplies[v]` to give away, or wants −`supplies[v]`.
    pub fn new(supplies: &[i64]) -> Self {
        Network { supplies: supplies.to_vec(), edges: Vec::new(), capacities: 0 }
    }

    /// Adds an arc on which each unit costs `cost` (it may be negative), and returns its number. Parallel arcs and arcs
    /// from a node to itself are allowed.
    ///
    /// Fails if a node is unknown, or if the arc is dearer or wider than can be reckoned with (see [`MOST`]).
    pub fn arc(&mut self, from: usize, to: usize, cost: i64, capacity: Option<u64>) -> Result<usize> {
        let nodes = self.supplies.len();
        if let Some(node) = [from, to].into_iter().find(|&node| node >= nodes) {
            let rule = format!("an arc names node {node}, but the network has {nodes} nodes");
            return Err(Error::new(Kind::Data, rule).hint("number the nodes from 0"));
        }
        if i128::from(cost).abs() * nodes as i128 > i128::from(MOST) {
            let rule = format!("a cost times the number of nodes ({nodes}) is larger than 2^60");
            return Err(Error::new(Kind::Data, rule).hint("give the costs in a coarser unit"));
        }
        let sum = i128::from(self.capacities) + i128::from(capacity.unwrap_or(0));
        if sum > i128::from(MOST) {
            let hint = "give no capacity to an arc that can never be full";
            return Err(Error::new(Kind::Data, "the capacities add up to more than 2^60").hint(hint));
        }
        if nodes + self.edges.len() >= u32::MAX as usize - 1 {
            return Err(Error::new(Kind::Data, "a network has at most 2^32 nodes and arcs"));
        }
        self.capacities = sum as i64;
        let capacity = capacity.map_or(ENDLESS, |capacity| capacity as i64);
        self.edges.push(Edge { arc: Arc { from: from as u32, to: to as u32, cost }, capacity });
        Ok(self.edges.len() - 1)
    }

    /// A cheapest flow.
    ///
    /// Fails if the supplies do not add up to 0 or are too large (see [`MOST`]), if the arcs cannot carry them to where
    /// they are wanted, or if there is no cheapest flow because a cycle without a capacity has a negative cost.
    pub fn solve(&self) -> Result<Flow> {
        self.check_supplies()?;
        let nodes = self.supplies.len();
        let largest = self.edges.iter().map(|edge| edge.arc.cost.abs()).max().unwrap_or(0);
        // Dearer than any real path: if an artificial arc still carries something in the end, no path can.
        let dear = largest * nodes as i64 / 2 + 1;
        let star = self.supplies.iter().enumerate().map(|(node, &supply)| match supply {
            0.. => Arc { from: node as u32, to: nodes as u32, cost: dear },
            _ => Arc { from: nodes as u32, to: node as u32, cost: dear },
        });
        // What can carry nothing is never offered: an arc from a node to itself without cost does not pay.
        let real = self.edges.iter().map(|edge| match edge.capacity {
            0 => Arc { from: 0, to: 0, cost: 0 },
            _ => edge.arc,
        });
        let capacities = std::iter::repeat_n(ENDLESS, nodes).chain(self.edges.iter().map(|edge| edge.capacity));
        let links = self.supplies.iter().chain([&0]).enumerate().map(|(node, &supply)| match supply {
            0.. => Link::rising(nodes, node, supply),
            _ => Link::falling(nodes, node, -supply),
        });
        let mut simplex = Simplex::new(links.collect(), star.chain(real).collect(), capacities.collect(), nodes);
        simplex.run().map_err(|_| {
            Error::new(Kind::Data, "no flow is cheapest: a cycle of arcs without a capacity has a negative cost")
                .hint("give these arcs a capacity")
        })?;
        // Outside the tree an arc is empty, or full and turned round; in the tree it carries what its link says.
        let mut amounts: Vec<u64> = Vec::with_capacity(self.edges.len());
        for (edge, arc) in self.edges.iter().zip(&simplex.arcs()[nodes..]) {
            amounts.push(if edge.capacity == 0 || *arc == edge.arc { 0 } else { edge.capacity as u64 });
        }
        for (arc, carried) in simplex.carried() {
            let Some(at) = arc.checked_sub(nodes) else {
                if carried > 0 {
                    return Err(Error::new(Kind::Data, "the arcs cannot carry the supplies to where they are wanted"));
                }
                continue;
            };
            // Turned round, it carries what is missing from full.
            amounts[at] = amounts[at].abs_diff(carried as u64);
        }
        let cost =
            self.edges.iter().zip(&amounts).map(|(edge, &amount)| i128::from(edge.arc.cost) * i128::from(amount));
        Ok(Flow { cost: cost.sum(), potentials: simplex.potentials()[..nodes].to_vec(), amounts })
    }

    fn check_supplies(&self) -> Result<()> {
        let sum: i128 = self.supplies.iter().map(|&supply| i128::from(supply)).sum();
        if sum != 0 {
            let rule = format!("the supplies add up to {sum}, not to 0");
            return Err(Error::new(Kind::Data, rule).hint("add a node that gives or takes the rest"));
        }
        let given: i128 = self.supplies.iter().map(|&supply| i128::from(supply.max(0))).sum();
        if given + i128::from(self.capacities) > i128::from(MOST) {
            let rule = "the supplies and the capacities add up to more than 2^60";
            return Err(Error::new(Kind::Data, rule).hint("count in a coarser unit"));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
