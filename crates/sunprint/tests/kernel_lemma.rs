//! The lemma behind the Wishart-difference mechanism, by quadrature for 2 × 2 matrices, and the law of its noise.

#[path = "../src/privacy/law.rs"]
#[allow(dead_code)]
mod law;

use law::{Verdict, cells};
use sunprint::privacy::{Budget, Epsilon, Kernel, Sensitive};

/// A symmetric matrix (a + x, y; y, a − x): positive exactly when a ≥ √(x² + y²); trace 2a.
#[derive(Clone, Copy, Debug)]
struct Two {
    a: f64,
    x: f64,
    y: f64,
}

impl Two {
    fn plus(self, d: Two) -> Two {
        Two { a: self.a + d.a, x: self.x + d.x, y: self.y + d.y }
    }

    /// The sum of the absolute eigenvalues a ± √(x² + y²).
    fn nuclear(self) -> f64 {
        let r = self.x.hypot(self.y);
        (self.a + r).abs() + (self.a - r).abs()
    }
}

/// log g(A) up to a constant: g(A) = c ∫ exp(−(tr A + 2 tr B)/2s) over B ⪰ 0, A + B ⪰ 0. The integral over the trace of B
/// is done by hand: B's own half trace starts at m = max(|q|, |q + q_A| − a_A), where q = (x, y). What is left is a
/// plane integral of exp(−2m/s), by the midpoint rule.
fn log_density(at: Two, s: f64) -> f64 {
    let (half_width, step) = (12.0 * s, 0.05 * s);
    let points = (2.0 * half_width / step) as i32;
    let coordinate = |k: i32| -half_width + (f64::from(k) + 0.5) * step;
    let mut sum = 0.0;
    for i in 0..points {
        let x = coordinate(i);
        for j in 0..points {
            let y = coordinate(j);
            let (dx, dy) = (x + at.x, y + at.y);
            let m = (x * x + y * y).sqrt().max((dx * dx + dy * dy).sqrt() - at.a);
            sum += (-2.0 * m / s).exp();
        }
    }
    sum.ln() - at.a / s
}

/// The quadrature is good to about 1e-3: integrands have kinks, and the step is s/20.
const SLACK: f64 = 2e-3;

#[test]
fn the_density_changes_by_at_most_half_the_nuclear_norm() {
    // Points spread evenly by multiples of irrational numbers, so that there is no luck in it.
    let spread = |k: usize, salt: f64| ((k as f64 + 1.0) * salt).fract() * 2.0 - 1.0;
    let mut tightest = 0.0f64;
    for s in [1.0, 2.5] {
        for k in 0..40 {
            let at = Two {
                a: 2.0 * s * spread(k, 0.754_877),
                x: 2.0 * s * spread(k, 0.569_840),
                y: s * spread(k, 0.819_172),
            };
            let by = Two { a: s * spread(k, 0.671_043), x: s * spread(k, 0.549_700), y: s * spread(k, 0.450_637) };
            let change = (log_density(at.plus(by), s) - log_density(at, s)).abs();
            let bound = by.nuclear() / (2.0 * s);
            assert!(change <= bound + SLACK, "{at:?} {by:?}: {change} > {bound}");
            tightest = tightest.max(change / bound);
        }
    }
    assert!(tightest > 0.5, "{tightest}");
}

#[test]
fn the_bound_is_attained_so_less_noise_would_break_it() {
    let (at, by) = (Two { a: 1.0, x: 0.0, y: 0.0 }, Two { a: 0.5, x: 0.0, y: 0.0 });
    let change = (log_density(at.plus(by), 1.0) - log_density(at, 1.0)).abs();
    let bound = by.nuclear() / 2.0;
    assert!((change - bound).abs() < SLACK);
    assert!(change > bound * 0.7 + SLACK, "with 1/0.7 times the scale claimed the bound would not hold");
    // A row replaced by an orthogonal one, far from the origin in that direction: nearly attained too.
    let (far, swap) = (Two { a: 0.0, x: 6.0, y: 0.0 }, Two { a: 0.0, x: 1.0, y: 0.0 });
    let change = (log_density(far.plus(swap), 1.0) - log_density(far, 1.0)).abs();
    assert!(change <= swap.nuclear() / 2.0 + SLACK && change > 0.7 * swap.nuclear() / 2.0, "{change}");
}

#[test]
fn the_density_is_symmetric() {
    for (a, x, y) in [(1.0, 0.5, 0.2), (-0.5, 1.0, 0.0), (2.0, 0.0, -1.0), (0.3, 0.1, 0.4)] {
        let (here, there) = (log_density(Two { a, x, y }, 1.0), log_density(Two { a: -a, x: -x, y: -y }, 1.0));
        assert!((here - there).abs() < SLACK, "{here} {there}");
    }
}

fn noise(order: usize, bound: u64, draws: usize, seed: u64) -> Vec<Vec<i64>> {
    let mut kernel = Kernel::seeded(seed);
    (0..draws)
        .map(|_| {
            let [charge] = Budget::pure("1".parse::<Epsilon>().unwrap()).split([1]).unwrap();
            let zero = Sensitive::new(vec![0i64; order * (order + 1) / 2]);
            kernel.moments("noise", zero, order, bound, charge).unwrap().into_inner().lower
        })
        .collect()
}

/// Order 1: s(z₁² + z₂² − z₃² − z₄²) is a real Laplace variable of scale 2s. Its rounding has closed-form probabilities
/// (false-alarm rate 1e-7); scales of 0.7 and 1.3 are rejected.
#[test]
fn order_one_is_a_rounded_laplace_law() {
    let draws = noise(1, 3, 100_000, 1);
    for (factor, expected) in [(1.0, Verdict::Accepted), (0.7, Verdict::Rejected), (1.3, Verdict::Rejected)] {
        let b = 6.0 * factor;
        let law: Vec<(i128, f64)> = (-300..=300i32)
            .map(|k| {
                let size = f64::from(k.abs());
                let tail = |x: f64| 0.5 * (-x / b).exp();
                (i128::from(k), if k == 0 { 1.0 - 2.0 * tail(0.5) } else { tail(size - 0.5) - tail(size + 0.5) })
            })
            .collect();
        assert_eq!(cells(&law, draws.iter().map(|row| i128::from(row[0]))), expected, "{factor}");
    }
}

/// Order 2: the trace is 2s(γ − γ′) with independent gamma variables of shape 3, whose difference has the density
/// e^{−|x|}(x² + 3|x| + 3)/16. In cells of 1/4 (false-alarm rate 1e-7; the rounding of entries shifts an edge by 2⁻²⁰).
#[test]
fn order_two_has_the_right_trace() {
    let s = 1u64 << 20;
    let draws = noise(2, s, 40_000, 2);
    let density = |x: f64| (-x.abs()).exp() * (x * x + 3.0 * x.abs() + 3.0) / 16.0;
    let law = |stretch: f64| -> Vec<(i128, f64)> {
        (-200..200i32)
            .map(|cell| {
                let part = |k: i32| density((f64::from(cell) + (f64::from(k) + 0.5) / 100.0) / 4.0 / stretch);
                (i128::from(cell), (0..100).map(part).sum::<f64>() / 400.0 / stretch)
            })
            .collect()
    };
    let trace = || draws.iter().map(|row| (i128::from(row[0]) + i128::from(row[2])).div_euclid(i128::from(s / 2)));
    assert_eq!(cells(&law(1.0), trace()), Verdict::Accepted);
    assert_eq!(cells(&law(0.7), trace()), Verdict::Rejected);
    assert_eq!(cells(&law(1.3), trace()), Verdict::Rejected);
}
