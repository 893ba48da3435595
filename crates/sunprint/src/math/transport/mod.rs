//! Exact one-Wasserstein distances between point sets, with proof.
//!
//! W1(a, b) is the least mean distance over which the mass of a can be carried onto that of b. [`wasserstein1`] finds an
//! optimal plan and potentials that prove it: no plan is cheaper than Σ mass·u + Σ mass·v if u_i + v_j ≤ d_ij for all
//! pairs. To have a proof without rounding errors the distances are rounded to whole multiples of a unit, about
//! 2⁻⁴⁴ of the largest, and that problem is solved exactly, in integers.
//!
//! Equally many points of the same weight are an [assignment](super::assignment). Everything else is priced pair by pair.
//! Neither needs a table of all distances, so 20,000 points against 20,000 fit in memory.

mod distances;
mod groups;
mod line;
mod metric;
mod points;
mod proof;
mod solve;

pub use line::{w1_line, w1_line_weighted};
pub use metric::Metric;
pub use points::Points;

use crate::error::{Error, Kind, Result};
use crate::math::assignment::LARGEST_COST;
use groups::Groups;
use points::Masses;
use proof::Scaled;
use solve::Problem;

/// An optimal plan, what it costs, and why no plan costs less.
#[derive(Clone, Debug)]
pub struct Transport {
    /// The distance: the mean of the distances over which mass is carried.
    pub cost: f64,
    /// The proof.
    pub certificate: Certificate,
    metric: Metric,
    /// Point of `a`, point of `b`, mass.
    moved: Vec<(u32, u32, i64)>,
    /// What all masses add up to.
    total: i64,
}

/// Potentials u of the points of `a` and v of those of `b`, in whole units, with u_i + v_j ≤ (distance of i and j) in
/// units, rounded, for all pairs, and equality where mass is carried.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// No plan costs less than this, rounding errors of every kind included.
    pub lower: f64,
    /// The length of a unit, a power of two.
    pub unit: f64,
    /// u, one for each point of `a`.
    pub rows: Vec<i64>,
    /// v, one for each point of `b`.
    pub columns: Vec<i64>,
}

/// A step of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// The point of `a` that gives.
    pub from: usize,
    /// The point of `b` that takes.
    pub to: usize,
    /// How much, as a share of the whole.
    pub mass: f64,
}

/// A proof that leaves open more than this share of the cost is sharpened.
const OPEN: f64 = 1e-10;

/// The exact W1 between two sets of points, which may differ in number and in weights.
///
/// `cost` is the sum of the true distances over the plan found, and lies above the true W1 by
/// `cost − certificate.lower` at most: in practice a relative 10⁻¹².
///
/// # Errors
/// [`Kind::Data`] if the sets differ in width, one is empty, a number is not finite, weights are negative or do not sum
/// to 1, or the distance is too large for a float.
///
/// # Examples
/// ```
/// use sunprint::math::transport::{Metric, Points, wasserstein1};
///
/// // Two points on the left; three on the right, of which the last has half of the weight.
/// let left = [0.0, 0.0, /**/ 0.0, 2.0];
/// let right = [1.0, 0.0, /**/ 1.0, 2.0, /**/ 5.0, 2.0];
/// let a = Points::new(&left, 2)?;
/// let b = Points::new(&right, 2)?.weighted(&[0.25, 0.25, 0.5])?;
///
/// let transport = wasserstein1(&a, &b, Metric::Manhattan)?;
/// assert_eq!(transport.cost, 3.5);
/// assert!(transport.verify(&a, &b));
/// for step in transport.plan() {
///     println!("{} of the mass goes from {} to {}", step.mass, step.from, step.to);
/// }
/// # Ok::<(), sunprint::error::Error>(())
/// ```
pub fn wasserstein1(a: &Points, b: &Points, metric: Metric) -> Result<Transport> {
    if a.width() != b.width() {
        return Err(Error::new(
            Kind::Data,
            format!("the points of `a` have {} coordinates and those of `b` have {}", a.width(), b.width()),
        )
        .hint("only points of the same space have a distance"));
    }
    a.check("a")?;
    b.check("b")?;
    let masses = Masses::of(a, b);
    let scaled = Scaled::new(a, b);
    // Equal points are one point with more mass. An assignment needs even masses and bears a few copies, not crowds: in a
    // crowd all pairs tie. (Measured: from an eighth of the points on, or a few hundred, the crowd costs more than the
    // assignment gains.)
    let even = masses.off.is_none() && a.count() == b.count();
    let merge = |count: usize, different: usize| !even || count - different > (count / 8).min(256);
    let problem = Problem {
        a: Groups::new(&scaled.a, a.width(), &masses.a, merge),
        b: Groups::new(&scaled.b, b.width(), &masses.b, merge),
        width: a.width(),
        metric,
    };
    let attempt = |reach: f64| {
        let unit = scaled.unit_for(reach);
        let solved = problem.solve(unit);
        let moved = between_points(&problem, &solved.moved, &masses);
        let of_points = |potentials: &[i64], groups: &Groups| {
            groups.group_of.iter().map(|&group| potentials[group as usize]).collect::<Vec<_>>()
        };
        let (rows, columns) = (of_points(&solved.rows, &problem.a), of_points(&solved.columns, &problem.b));
        scaled.transport(metric, &masses, unit, moved, rows, columns)
    };
    let mut reach = scaled.reach(metric);
    let mut best = attempt(reach);
    // Where distances of a plan are small beside the largest of all (one point far out, on both sides), the unit was too
    // coarse. A plan does not need dear pairs: let costs end at a few times the longest step that was taken.
    while best.cost - best.certificate.lower > OPEN * best.cost {
        let shorter = 4.0 * best.longest(&scaled);
        if shorter >= 0.25 * reach {
            break;
        }
        reach = shorter;
        let finer = attempt(reach);
        if finer.cost - finer.certificate.lower >= best.cost - best.certificate.lower {
            break;
        }
        best = finer;
    }
    if best.cost.is_finite() {
        Ok(best)
    } else {
        Err(Error::new(Kind::Data, "the distance of `a` and `b` is beyond the largest floating-point number")
            .hint("divide all coordinates by the same number"))
    }
}

impl Transport {
    /// The steps of the plan, in no particular order: at most one fewer than there are points on both sides.
    pub fn plan(&self) -> impl Iterator<Item = Moved> + '_ {
        let total = self.total as f64;
        let step = move |&(from, to, mass): &(u32, u32, i64)| Moved {
            from: from as usize,
            to: to as usize,
            mass: mass as f64 / total,
        };
        self.moved.iter().map(step)
    }

    /// The metric of the distance.
    pub fn metric(&self) -> Metric {
        self.metric
    }
}

/// Carries a plan between groups over to their points: as in a queue, the first that gives to the first that takes.
fn between_points(problem: &Problem, moved: &[(u32, u32, i64)], masses: &Masses) -> Vec<(u32, u32, i64)> {
    let queues = |groups: &Groups, masses: &[i64]| {
        let mut queues = vec![Vec::new(); groups.masses.len()];
        for (i, (&group, &mass)) in groups.group_of.iter().zip(masses).enumerate().rev() {
            if mass > 0 {
                queues[group as usize].push((i as u32, mass));
            }
        }
        queues
    };
    let (mut giving, mut taking) = (queues(&problem.a, &masses.a), queues(&problem.b, &masses.b));
    let mut steps = Vec::with_capacity(moved.len());
    for &(from, to, amount) in moved {
        let (giving, taking) = (&mut giving[from as usize], &mut taking[to as usize]);
        let mut left = amount;
        while let (1.., Some(giver), Some(taker)) = (left, giving.last_mut(), taking.last_mut()) {
            let mass = left.min(giver.1).min(taker.1);
            steps.push((giver.0, taker.0, mass));
            (left, giver.1, taker.1) = (left - mass, giver.1 - mass, taker.1 - mass);
            giving.pop_if(|giver| giver.1 == 0);
            taking.pop_if(|taker| taker.1 == 0);
        }
    }
    steps
}

/// A sum that is right to the last place or two: what each addition loses is added up too (Neumaier).
fn exact_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;
