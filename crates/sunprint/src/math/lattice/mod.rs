//! The nearest measure on a lattice: turn signed integer masses on the cells of a box into masses ≥ 0 with a given
//! total, by carrying as little mass as possible as short a way as possible.
//!
//! Mass may stay where it is for free, so only the *deficits* (cells below 0) have to be served. It travels between
//! neighbouring cells, and the price of a move is its length. A *bank* settles the difference between the masses' sum
//! and the total: it gives or takes that many units, wherever this is best. This is a minimum-cost flow; its arcs are
//! never stored, since the geometry gives them. Everything is an integer, the answer carries its proof
//! ([`Nearest::verify`]); `forest.rs` explains the method.
//!
//! ```
//! use sunprint::math::{lattice::Lattice, transport::Metric};
//!
//! // Three cells by three, and one unit missing in the middle of the first row.
//! let lattice = Lattice::new(&[3, 3], Metric::Largest)?;
//! let masses = [0, -1, 0, 0, 0, 0, 5, 0, 0];
//! let found = lattice.nearest(&masses, 4, &|_| {});
//! assert_eq!(found.measure, [0, 0, 0, 0, 0, 0, 4, 0, 0]);
//! assert_eq!(found.cost, 2, "one unit made two king's moves");
//! assert!(found.verify(&lattice, &masses, 4));
//! # Ok::<(), sunprint::error::Error>(())
//! ```

mod clock;
mod flows;
mod forest;
mod nearest;
mod proof;
mod steps;
#[cfg(test)]
mod tests;

pub use nearest::{Move, Nearest};

use super::transport::Metric;
use crate::error::{Error, Kind, Result};
use steps::Steps;

/// A lattice has at most so many cells.
pub const MOST_CELLS: usize = 1 << 24;

/// A lattice has at most so many sides that are longer than one cell: 3¹⁰ − 1 king's moves are enough.
pub const MOST_SIDES: usize = 10;

/// What a step of length 1 costs under [`Metric::Euclidean`]: √2 and √3 are off by less than 2·10⁻⁴.
pub const EUCLIDEAN_UNIT: i64 = 1_000;

/// With more long sides than this, Euclidean moves change at most two coordinates: 2k² moves instead of 3ᵏ − 1.
const MOST_KING_SIDES: usize = 4;

/// Costs of paths stay below this, so that they fit 32 bits with room for two more moves.
const MOST_COST: i64 = (1 << 31) - (1 << 16);

/// A box of cubic cells, the moves between neighbouring cells and what they cost, by metric.
///
/// Cells are numbered row by row, the last coordinate fastest. Sides of one cell take part in no move and count for
/// nothing.
#[derive(Clone, Debug)]
pub struct Lattice {
    steps: Steps,
    metric: Metric,
    unit: i64,
}

impl Lattice {
    /// The lattice with so many cells along each side.
    ///
    /// - [`Metric::Largest`]: king's moves (every coordinate changes by at most one), cost 1 each.
    /// - [`Metric::Manhattan`]: moves along one coordinate, cost 1 each.
    /// - [`Metric::Euclidean`]: king's moves on up to four long sides, else moves of at most two coordinates; a move
    ///   of j coordinates costs √j · [`EUCLIDEAN_UNIT`], rounded to the nearest integer.
    ///
    /// # Errors
    /// If there is no side, a side has no cells, or the lattice is too large: more than [`MOST_CELLS`] cells, more than
    /// [`MOST_SIDES`] long sides, or a way across that costs more than 2³¹ − 2¹⁶.
    pub fn new(shape: &[u32], metric: Metric) -> Result<Lattice> {
        let refuse = |rule: String, hint: &str| Err(Error::new(Kind::Usage, rule).hint(hint));
        if shape.is_empty() || shape.contains(&0) {
            return refuse(
                "`shape` must have at least one side, and every side at least one cell".into(),
                "use sides ≥ 1",
            );
        }
        let cells = shape.iter().try_fold(1usize, |cells, &side| cells.checked_mul(side as usize));
        if cells.is_none_or(|cells| cells > MOST_CELLS) {
            return refuse(format!("`shape` may have at most {MOST_CELLS} cells"), "use larger cells or fewer sides");
        }
        let long = shape.iter().filter(|&&side| side > 1).count();
        if long > MOST_SIDES {
            return refuse(
                format!("`shape` may have at most {MOST_SIDES} sides longer than one cell"),
                "use fewer sides",
            );
        }
        let (unit, most_changes) = match metric {
            Metric::Largest => (1, long),
            Metric::Manhattan => (1, 1),
            Metric::Euclidean => (EUCLIDEAN_UNIT, if long <= MOST_KING_SIDES { long } else { 2 }),
        };
        let across: i64 = shape.iter().map(|&side| i64::from(side - 1)).sum();
        if across * unit > MOST_COST {
            let longest = MOST_COST / unit;
            let rule = format!("`shape` is too long for this metric: its sides may add up to {longest} cells");
            return refuse(rule, "on a single side all metrics agree: use the largest coordinate");
        }
        // What one move costs, by the number of coordinates that it changes. libm: the same on every machine.
        let cost = |changes: usize| match metric {
            Metric::Largest | Metric::Manhattan => 1,
            Metric::Euclidean => libm::round(libm::sqrt(changes as f64) * EUCLIDEAN_UNIT as f64) as i32,
        };
        Ok(Lattice { steps: Steps::new(shape, most_changes, cost), metric, unit })
    }

    /// The number of cells.
    pub fn cells(&self) -> usize {
        self.steps.cells()
    }

    /// The number of moves out of a cell that has neighbours on all sides.
    pub fn moves(&self) -> usize {
        self.steps.all().len()
    }

    /// What a step of length 1 costs.
    pub fn unit(&self) -> i64 {
        self.unit
    }

    /// How much longer than the distance the way by moves can be, at most: 1 is exact.
    ///
    /// **One coordinate at a time, or king's moves at cost 1:** ways are as long as the distance.
    ///
    /// **King's moves at Euclidean cost.** Let a₁ ≥ … ≥ a_k ≥ 0 be the coordinate differences. Changing all of them a_k
    /// times, then all but the last a_{k−1} − a_k times and so on makes Σ √i (a_i − a_{i+1}) = Σ a_i (√i − √(i−1)). By
    /// Cauchy and Schwarz that is at most ‖a‖ times the norm of the coefficients, which fall with i like the aᵢ and so
    /// can be met.
    ///
    /// **Two coordinates at a time** (k ≥ 5). Let s be the sum of the differences and m the largest. If m > s/2, pair
    /// every other step with one along the largest: √2 (s − m) + (2m − s) = m + (√2 − 1)(s − m), at most
    /// √(1 + (k − 1)(√2 − 1)²) ‖a‖. Otherwise all steps can be paired but one if s is odd: s/√2, plus 1 − 1/√2 if s is
    /// odd. For a given s ≥ 2 this is worst where ‖a‖ is smallest: the s steps are spread over the k coordinates as
    /// evenly as integers can be. The ratio tends to √(k/2), which exceeds the first case for k ≥ 3, and is larger for
    /// some odd s; since ‖a‖ ≥ s/√k the excess is at most (1 − 1/√2) √k/s, and beyond s = 8k that is less than what is
    /// reached before (odd k: at s = k; even k ≤ 10: at s = 2k + 1).
    pub fn factor(&self) -> f64 {
        let sides = self.steps.sides();
        let root = |x: usize| libm::sqrt(x as f64);
        match self.metric {
            Metric::Largest | Metric::Manhattan => 1.0,
            Metric::Euclidean if sides <= MOST_KING_SIDES => {
                let norm: f64 = (1..=sides).map(|i| (root(i) - root(i - 1)) * (root(i) - root(i - 1))).sum();
                libm::sqrt(norm).max(1.0)
            }
            Metric::Euclidean => (2..=8 * sides)
                .map(|s| {
                    let (each, over) = (s / sides, s % sides);
                    let shortest = root((sides - over) * each * each + over * (each + 1) * (each + 1));
                    ((s / 2) as f64 * root(2) + (s % 2) as f64) / shortest
                })
                .fold(1.0, f64::max),
        }
    }
}
