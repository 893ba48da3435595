//! From integers to a distance, and the check of a proof.

use super::distances::Distances;
use super::points::{Masses, Points};
use super::{Certificate, LARGEST_COST, Metric, Transport, exact_sum};

/// Both sides, multiplied by a power of two so that no difference, square or sum leaves the range of floats.
pub(super) struct Scaled {
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    width: usize,
    /// True coordinates are the scaled ones times 2 to this.
    exponent: i32,
}

fn power_of_two(exponent: i32) -> f64 {
    libm::ldexp(1.0, exponent)
}

/// The e with 2^(e−1) ≤ x < 2^e.
fn exponent_of(x: f64) -> i32 {
    libm::frexp(x).1
}

impl Scaled {
    pub fn new(a: &Points, b: &Points) -> Self {
        let both = a.coordinates().iter().chain(b.coordinates());
        let largest = both.fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let exponent = exponent_of(largest).clamp(-1000, 1000);
        let factor = power_of_two(-exponent);
        let scale = |points: &Points| points.coordinates().iter().map(|x| x * factor).collect();
        Scaled { a: scale(a), b: scale(b), width: a.width(), exponent }
    }

    /// No distance between the sides is larger: that of opposite corners of the box around all points.
    pub fn reach(&self, metric: Metric) -> f64 {
        let mut low = vec![f64::INFINITY; self.width];
        let mut high = vec![f64::NEG_INFINITY; self.width];
        for point in self.a.chunks_exact(self.width).chain(self.b.chunks_exact(self.width)) {
            for ((low, high), &x) in low.iter_mut().zip(&mut high).zip(point) {
                (*low, *high) = (low.min(x), high.max(x));
            }
        }
        metric.distance(&low, &high)
    }

    /// The unit, in scaled coordinates, in which a distance of `reach` is below the largest cost. Not so small that it
    /// could not be written down, scaled or not.
    pub fn unit_for(&self, reach: f64) -> f64 {
        let exponent = exponent_of(reach) - exponent_of(LARGEST_COST) + 1;
        power_of_two(exponent.max(-1000).max(-1074 - self.exponent))
    }

    fn distance(&self, metric: Metric, i: u32, j: u32) -> f64 {
        let at = |k: u32| k as usize * self.width..(k as usize + 1) * self.width;
        metric.distance(&self.a[at(i)], &self.b[at(j)])
    }

    /// The mean distance of a plan, scaled.
    fn cost(&self, metric: Metric, moved: &[(u32, u32, i64)], total: i64) -> f64 {
        exact_sum(moved.iter().map(|&(i, j, mass)| mass as f64 * self.distance(metric, i, j))) / total as f64
    }

    /// A lower bound of W1, scaled, from potentials that are feasible for the rounded costs.
    ///
    /// 1. c_ij · unit ≤ d_ij + unit/2 for the computed distances d, so a plan costs at least unit · (dual − ½).
    /// 2. If masses are rounded, the dual value of the true ones differs by Σ|mass off|·|potential| at most.
    /// 3. A computed distance is too large by a share of (width + 4) 2⁻⁵³ at most: one last place for each difference,
    ///    square, addition and the root. As much again covers this computation itself.
    fn lower(&self, masses: &Masses, unit: f64, rows: &[i64], columns: &[i64]) -> f64 {
        let dual = dual(masses, rows, columns) as f64;
        let off = masses.off.as_ref().map_or(0.0, |(off_a, off_b)| {
            let terms = off_a.iter().zip(rows).chain(off_b.iter().zip(columns));
            exact_sum(terms.map(|(off, potential)| off * potential.unsigned_abs() as f64))
        });
        let bound = unit * ((dual - off) / masses.total as f64 - 0.5);
        (bound * (1.0 - (self.width + 8) as f64 * f64::EPSILON)).max(0.0)
    }

    /// Puts a transport together; `unit` is scaled.
    pub fn transport(
        &self,
        metric: Metric,
        masses: &Masses,
        unit: f64,
        moved: Vec<(u32, u32, i64)>,
        mut rows: Vec<i64>,
        mut columns: Vec<i64>,
    ) -> Transport {
        centre(&mut rows, &mut columns);
        let back = power_of_two(self.exponent);
        let cost = self.cost(metric, &moved, masses.total);
        let lower = self.lower(masses, unit, &rows, &columns).min(cost);
        let certificate = Certificate { lower: lower * back, unit: unit * back, rows, columns };
        Transport { cost: cost * back, certificate, metric, moved, total: masses.total }
    }
}

/// Raising all u and lowering all v by the same proves the same; small numbers lose least.
fn centre(rows: &mut [i64], columns: &mut [i64]) {
    let (Some(least), Some(most)) = (rows.iter().min(), rows.iter().max()) else { return };
    let shift = least + (most - least) / 2;
    rows.iter_mut().for_each(|u| *u -= shift);
    columns.iter_mut().for_each(|v| *v += shift);
}

/// Σ mass·u + Σ mass·v.
fn dual(masses: &Masses, rows: &[i64], columns: &[i64]) -> i128 {
    let terms = masses.a.iter().zip(rows).chain(masses.b.iter().zip(columns));
    terms.map(|(&mass, &potential)| i128::from(mass) * i128::from(potential)).sum()
}

impl Transport {
    /// The longest step of the plan, scaled.
    pub(super) fn longest(&self, scaled: &Scaled) -> f64 {
        self.moved.iter().fold(0.0, |longest, &(i, j, _)| scaled.distance(self.metric, i, j).max(longest))
    }

    /// Checks everything again from the points: in integers that the plan carries each point's mass, that the potentials
    /// are feasible for all pairs and that dual equals primal; and that `cost` and `certificate.lower` follow.
    pub fn verify(&self, a: &Points, b: &Points) -> bool {
        let Certificate { lower, unit, rows, columns } = &self.certificate;
        let shaped = a.width() == b.width() && rows.len() == a.count() && columns.len() == b.count();
        if !shaped || a.check("a").is_err() || b.check("b").is_err() {
            return false;
        }
        let (masses, scaled) = (Masses::of(a, b), Scaled::new(a, b));
        let unit = unit * power_of_two(-scaled.exponent);
        if masses.total != self.total
            || !(unit.is_finite() && unit > 0.0 && unit == power_of_two(exponent_of(unit) - 1))
        {
            return false;
        }
        let Some(primal) = self.carried(&masses, &scaled, unit) else { return false };
        let distances = Distances::new(&scaled.a, &scaled.b, scaled.width, self.metric, unit);
        let mut costs = vec![0_i64; columns.len()];
        let feasible = rows.iter().enumerate().all(|(i, &u)| {
            distances.fill(i, &mut costs, |cost| cost as i64);
            costs.iter().zip(columns).all(|(&cost, &v)| u.saturating_add(v) <= cost)
        });
        let back = power_of_two(scaled.exponent);
        let cost = scaled.cost(self.metric, &self.moved, self.total);
        feasible
            && primal == dual(&masses, rows, columns)
            && self.cost == cost * back
            && *lower == scaled.lower(&masses, unit, rows, columns).min(cost) * back
    }

    /// Σ mass · cost in units, if the plan takes from each point of `a` and gives to each of `b` what it has.
    fn carried(&self, masses: &Masses, scaled: &Scaled, unit: f64) -> Option<i128> {
        let (mut left_a, mut left_b) = (masses.a.clone(), masses.b.clone());
        for &(i, j, mass) in &self.moved {
            let (a, b) = (left_a.get_mut(i as usize)?, left_b.get_mut(j as usize)?);
            if !(1..=*a.min(b)).contains(&mass) {
                return None;
            }
            (*a, *b) = (*a - mass, *b - mass);
        }
        if left_a.iter().chain(&left_b).any(|&left| left != 0) {
            return None;
        }
        let width = scaled.width;
        let mut cost = [0_i64];
        let terms = self.moved.iter().map(|&(i, j, mass)| {
            let one = Distances::new(
                &scaled.a[i as usize * width..][..width],
                &scaled.b[j as usize * width..][..width],
                width,
                self.metric,
                unit,
            );
            one.fill(0, &mut cost, |cost| cost as i64);
            i128::from(mass) * i128::from(cost[0])
        });
        Some(terms.sum())
    }
}
