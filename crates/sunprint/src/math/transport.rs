//! Exact one-Wasserstein distances between point sets.
//!
//! W1(a, b) is the least mean distance over which the points of a can be carried onto the points of b. For two sets of
//! the same size an optimal plan is a one-to-one assignment (Birkhoff), and [`w1`] finds it with a certificate.

use super::assignment::{Assignment, assign};

/// How far apart two points are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// √Σ(x_j − y_j)²
    Euclidean,
    /// max_j |x_j − y_j|
    Largest,
    /// Σ|x_j − y_j|
    Manhattan,
}

impl Metric {
    /// The distance of two points of the same width. A distance that is not a number counts as infinite.
    pub fn distance(self, x: &[f64], y: &[f64]) -> f64 {
        // Eight partial sums: the order of additions is fixed, and the loop fits wide registers.
        let mut lanes = [0.0_f64; 8];
        let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
        let rest = xs.remainder().iter().zip(ys.remainder());
        let distance = match self {
            Metric::Euclidean => {
                for (x, y) in xs.zip(ys) {
                    for ((lane, x), y) in lanes.iter_mut().zip(x).zip(y) {
                        *lane += (x - y) * (x - y);
                    }
                }
                (lanes.iter().sum::<f64>() + rest.map(|(x, y)| (x - y) * (x - y)).sum::<f64>()).sqrt()
            }
            Metric::Manhattan => x.iter().zip(y).map(|(x, y)| (x - y).abs()).sum(),
            Metric::Largest => {
                x.iter().zip(y).fold(0.0, |m, (x, y)| if (x - y).abs() <= m { m } else { (x - y).abs() })
            }
        };
        if distance.is_nan() { f64::INFINITY } else { distance }
    }
}

/// A distance between two point sets, and the proof of it.
///
/// Distances are rounded to multiples of `unit` = (largest distance)/(2³² − 1) and the rounded problem is solved
/// exactly, so `value` is within `unit`/2 of the true W1 (a relative 10⁻¹⁰ of the largest distance).
#[derive(Clone, Debug)]
pub struct W1 {
    /// The distance.
    pub value: f64,
    /// What one unit of the integer costs and potentials stands for.
    pub unit: f64,
    /// `assignment.column_of[i]` is the point of `b` that point `i` of `a` is carried to.
    pub assignment: Assignment,
    metric: Metric,
    width: usize,
}

/// The exact W1 between two sets of equally many points, each `width` wide, row by row; 0 for empty sets.
///
/// # Panics
/// If the sets differ in size or do not consist of whole points.
pub fn w1(a: &[f64], b: &[f64], width: usize, metric: Metric) -> W1 {
    let size = a.len().checked_div(width).unwrap_or(0);
    assert!(a.len() == b.len() && a.len() == size * width, "w1: two sets of equally many points");
    let mut distances = vec![0.0; size * size];
    for i in 0..size {
        for j in 0..size {
            distances[i * size + j] = metric.distance(&a[i * width..][..width], &b[j * width..][..width]);
        }
    }
    let largest = distances.iter().filter(|x| x.is_finite()).fold(0.0_f64, |m, &x| m.max(x));
    let unit = unit_for(largest);
    let costs: Vec<u32> = distances.into_iter().map(|x| in_units(x, unit)).collect();
    let assignment = assign(&costs, size);
    let total = assignment.cost(|i, j| costs[i * size + j]);
    let value = if size == 0 { 0.0 } else { total as f64 * unit / size as f64 };
    W1 { value, unit, assignment, metric, width }
}

fn unit_for(largest: f64) -> f64 {
    let unit = largest / f64::from(u32::MAX);
    if unit > 0.0 { unit } else { f64::MIN_POSITIVE }
}

/// Rounds to nearest; a cast saturates, so that nothing wraps.
fn in_units(distance: f64, unit: f64) -> u32 {
    (distance / unit).round() as u32
}

impl W1 {
    /// Computes every distance of the two sets again and checks in integers that the plan is a bijection, that the
    /// potentials are feasible, that dual equals primal, and that `value` is their common value.
    pub fn verify(&self, a: &[f64], b: &[f64]) -> bool {
        let width = self.width;
        let cost = |i: usize, j: usize| {
            in_units(self.metric.distance(&a[i * width..][..width], &b[j * width..][..width]), self.unit)
        };
        let size = self.assignment.column_of.len();
        let shaped = a.len() == size * width && b.len() == size * width;
        shaped
            && self.assignment.verify(cost)
            && self.value == if size == 0 { 0.0 } else { self.assignment.cost(cost) as f64 * self.unit / size as f64 }
    }
}

/// The exact W1 between two samples on the line, of any sizes: ∫|F − G|. Infinite if just one of them is empty.
///
/// On the line the monotone plan is optimal, and its cost is the area between the distribution functions.
pub fn w1_line(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return if a.len() == b.len() { 0.0 } else { f64::INFINITY };
    }
    let sorted = |x: &[f64]| {
        let mut x = x.to_vec();
        x.sort_by(f64::total_cmp);
        x
    };
    let (a, b) = (sorted(a), sorted(b));
    if a.len() == b.len() {
        return a.iter().zip(&b).map(|(x, y)| (x - y).abs()).sum::<f64>() / a.len() as f64;
    }
    // Between quantile levels k/(|a||b|) both quantile functions are constant; walk the levels where one of them steps.
    let (mut i, mut j, mut level, mut area) = (0, 0, 0u128, 0.0);
    let (na, nb) = (a.len() as u128, b.len() as u128);
    while i < a.len() && j < b.len() {
        let (next_a, next_b) = ((i as u128 + 1) * nb, (j as u128 + 1) * na);
        let next = next_a.min(next_b);
        area += (next - level) as f64 * (a[i] - b[j]).abs();
        level = next;
        i += usize::from(next_a == next);
        j += usize::from(next_b == next);
    }
    area / (na * nb) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use proptest::prelude::*;

    fn cloud(points: usize, width: usize, seed: u64) -> Vec<f64> {
        let mut stream = Stream::new(seed, 0, 0);
        (0..points * width).map(|_| stream.normal()).collect()
    }

    fn by_trying(a: &[f64], b: &[f64], width: usize, metric: Metric, at: usize, taken: &mut [bool]) -> f64 {
        let size = taken.len();
        if at == size {
            return 0.0;
        }
        let mut best = f64::INFINITY;
        for j in 0..size {
            if !std::mem::replace(&mut taken[j], true) {
                let step = metric.distance(&a[at * width..][..width], &b[j * width..][..width]);
                best = best.min(step + by_trying(a, b, width, metric, at + 1, taken));
                taken[j] = false;
            }
        }
        best
    }

    fn metric() -> impl Strategy<Value = Metric> {
        prop::sample::select(vec![Metric::Euclidean, Metric::Largest])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn few_points_agree_with_trying_everything(size in 1usize..=7, width in 1usize..20, seed: u64, metric in metric()) {
            let (a, b) = (cloud(size, width, seed), cloud(size, width, !seed));
            let found = w1(&a, &b, width, metric);
            prop_assert!(found.verify(&a, &b));
            let tried = by_trying(&a, &b, width, metric, 0, &mut vec![false; size]) / size as f64;
            prop_assert!((found.value - tried).abs() <= found.unit);
        }

        #[test]
        fn one_dimension_agrees_with_sorting(size in 1usize..80, seed: u64, metric in metric()) {
            let (a, b) = (cloud(size, 1, seed), cloud(size, 1, !seed));
            let found = w1(&a, &b, 1, metric);
            prop_assert!(found.verify(&a, &b));
            prop_assert!((found.value - w1_line(&a, &b)).abs() <= found.unit);
        }

        #[test]
        fn a_shift_costs_its_length(size in 1usize..60, width in 1usize..12, seed: u64, shift in -3.0f64..3.0) {
            let a = cloud(size, width, seed);
            let mut b: Vec<f64> = a.iter().map(|x| x + shift).collect();
            b.rotate_left(width * (size / 3));
            prop_assert!((w1(&a, &b, width, Metric::Largest).value - shift.abs()).abs() < 1e-8);
            prop_assert!((w1(&a, &b, width, Metric::Euclidean).value - shift.abs() * (width as f64).sqrt()).abs() < 1e-8);
        }

        #[test]
        fn repeating_a_sample_changes_nothing_on_the_line(na in 1usize..30, nb in 1usize..30, seed: u64) {
            let (a, b) = (cloud(na, 1, seed), cloud(nb, 1, !seed));
            let repeated = w1_line(&a.repeat(nb), &b.repeat(na));
            prop_assert!((w1_line(&a, &b) - repeated).abs() < 1e-12);
        }
    }

    #[test]
    fn certificates_hold_at_many_sizes() {
        for (size, width) in [(1, 1), (2, 3), (50, 50), (200, 7), (500, 3), (1_000, 20)] {
            let (a, b) = (cloud(size, width, 1), cloud(size, width, 2));
            let found = w1(&a, &b, width, Metric::Euclidean);
            assert!(found.verify(&a, &b), "{size} points");
            assert!(!found.verify(&b, &a) || size == 1, "the proof of another problem");
        }
    }

    #[test]
    fn degenerate_sets_do_not_panic() {
        assert_eq!(w1(&[], &[], 3, Metric::Euclidean).value, 0.0);
        assert_eq!(w1(&[], &[], 0, Metric::Euclidean).value, 0.0);
        let same = vec![0.5; 60];
        let found = w1(&same, &same, 3, Metric::Euclidean);
        assert!(found.value == 0.0 && found.verify(&same, &same));
        let odd = [f64::NAN, 1.0, f64::INFINITY, 0.0];
        assert!(w1(&odd, &[0.0, 1.0, 2.0, 3.0], 2, Metric::Euclidean).value.is_finite());
        assert_eq!(w1_line(&[], &[]), 0.0);
        assert_eq!(w1_line(&[], &[1.0]), f64::INFINITY);
        assert_eq!(w1_line(&[0.0, 1.0], &[0.0]), 0.5);
    }
}
