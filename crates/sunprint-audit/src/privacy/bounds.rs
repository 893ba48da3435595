//! Bounds of a probability from a count (Clopper and Pearson 1934): exact for every number of runs.
//!
//! With k successes in n runs the lower bound is the p at which k or more successes have probability `failure`, the upper
//! bound the p at which k or fewer have it. `P(X ≥ k) = I_p(k, n − k + 1)`, the regularised incomplete beta function.

/// A lower bound of the probability that fails with probability at most `failure`.
pub fn lower(successes: u64, runs: u64, failure: f64) -> f64 {
    if successes == 0 {
        return 0.0;
    }
    root(|p| incomplete_beta(p, successes as f64, (runs - successes) as f64 + 1.0) - failure)
}

/// An upper bound of the probability that fails with probability at most `failure`.
pub fn upper(successes: u64, runs: u64, failure: f64) -> f64 {
    if successes >= runs {
        return 1.0;
    }
    // P(X ≤ k) = 1 − I_p(k + 1, n − k).
    root(|p| incomplete_beta(p, successes as f64 + 1.0, (runs - successes) as f64) - (1.0 - failure))
}

/// Φ⁻¹(p): the point below which a standard normal lies with probability p.
pub fn quantile(p: f64) -> f64 {
    let below = |x: f64| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
    let place = |t: f64| 80.0 * t - 40.0;
    place(root(|t| below(place(t)) - p))
}

/// The least ρ of zero-concentrated privacy that allows a coin of probability at least p on one table and at most q on the
/// other: the largest `D_α/α`, with the Rényi divergence
/// `D_α = ln(p^α q^{1−α} + (1−p)^α (1−q)^{1−α})/(α − 1)`, over some orders α and both directions. For p > q it grows with p
/// and falls with q, so bounds may stand in the place of the probabilities. 0 where p ≤ q.
pub fn rho(p: f64, q: f64) -> f64 {
    if p <= q {
        return 0.0;
    }
    let divergence = |order: f64, p: f64, q: f64| {
        // Logarithms of both terms: powers of small probabilities are far beyond what a float holds.
        let term = |p: f64, q: f64| if p <= 0.0 { f64::NEG_INFINITY } else { order * p.ln() + (1.0 - order) * q.ln() };
        let (one, other) = (term(p, q), term(1.0 - p, 1.0 - q));
        let (large, small) = (one.max(other), one.min(other));
        let rest = if small == large { 1.0 } else { (small - large).exp() };
        (large + rest.ln_1p()) / (order - 1.0)
    };
    // Orders from just above 1 to 1 + 2¹⁰.
    let orders = (0..84).map(|step| 1.0 + (f64::from(step) * 0.25 - 10.0).exp2());
    orders.map(|order| divergence(order, p, q).max(divergence(order, q, p)) / order).fold(0.0, f64::max)
}

/// Where a growing function of [0, 1] crosses 0, by bisection.
fn root(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if f(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// `I_x(a, b)` by its continued fraction, on the side where that converges fast; `I_x(a, b) = 1 − I_{1−x}(b, a)`.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let front = a * x.ln() + b * (1.0 - x).ln() + libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    if x < (a + 1.0) / (a + b + 2.0) {
        front.exp() / (a * fraction(x, a, b))
    } else {
        1.0 - front.exp() / (b * fraction(1.0 - x, b, a))
    }
}

/// `1 + d₁/(1 + d₂/(1 + …))`, `d_{2m} = m(b−m)x/((a+2m−1)(a+2m))`, `d_{2m+1} = −(a+m)(a+b+m)x/((a+2m)(a+2m+1))`,
/// from the front (Lentz): ratios of successive numerators and denominators.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let away = |y: f64| if y.abs() < 1e-300 { 1e-300 } else { y };
    let (mut value, mut numerator, mut denominator) = (1.0, 1.0, 0.0);
    for step in 1..10_000 {
        let m = f64::from(step / 2);
        let term = if step % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        denominator = 1.0 / away(1.0 + term * denominator);
        numerator = away(1.0 + term / numerator);
        let change = numerator * denominator;
        value *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(X ≥ k) of a binomial count, term by term.
    fn at_least(k: u64, n: u64, p: f64) -> f64 {
        let choose = |i: f64, n: f64| libm::lgamma(n + 1.0) - libm::lgamma(i + 1.0) - libm::lgamma(n - i + 1.0);
        (k..=n).map(|i| (choose(i as f64, n as f64) + i as f64 * p.ln() + (n - i) as f64 * (1.0 - p).ln()).exp()).sum()
    }

    #[test]
    fn at_the_bounds_the_tails_have_the_stated_probability() {
        for (k, n) in [(1, 10), (5, 10), (9, 10), (3, 1000), (500, 1000), (40, 20_000), (19_990, 20_000)] {
            for failure in [0.025, 1e-6] {
                let low = lower(k, n, failure);
                assert!((at_least(k, n, low) / failure - 1.0).abs() < 1e-6, "{k} of {n}");
                let high = upper(k, n, failure);
                assert!(((1.0 - at_least(k + 1, n, high)) / failure - 1.0).abs() < 1e-4, "{k} of {n}");
                let seen = k as f64 / n as f64;
                assert!(low < seen && seen < high);
            }
        }
    }

    #[test]
    fn quantiles_are_those_of_every_table() {
        for (p, x) in [(0.5, 0.0), (0.975, 1.959_964), (0.001, -3.090_232), (1.0 - 1e-6, 4.753_424)] {
            assert!((quantile(p) - x).abs() < 1e-6, "{p}");
        }
    }

    /// Two normals a distance μ apart have ρ = μ²/2, of which events see a part: at small μ 2/π of it in the middle.
    #[test]
    fn events_of_normals_never_see_more_than_there_is() {
        let above = |x: f64| 0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2);
        for mu in [0.1, 0.5, 1.0, 3.0] {
            let whole = 0.5 * mu * mu;
            let seen = (-40..=40).map(|step| f64::from(step) * 0.1).map(|x| rho(above(x - mu), above(x)));
            let most = seen.fold(0.0, f64::max);
            assert!(most < whole && most > 0.6 * whole, "{mu}: {most} of {whole}");
        }
        assert_eq!(rho(0.3, 0.3), 0.0);
        assert!(rho(0.5, 0.0) > 1e3 || rho(0.5, 0.0).is_infinite());
    }

    #[test]
    fn the_ends_have_closed_forms() {
        for n in [1, 10, 1000] {
            let all = 0.025_f64.powf(1.0 / n as f64);
            assert!((lower(n, n, 0.025) - all).abs() < 1e-12 && (upper(0, n, 0.025) - (1.0 - all)).abs() < 1e-12);
            assert_eq!((lower(0, n, 0.025), upper(n, n, 0.025)), (0.0, 1.0));
        }
        assert!((lower(5, 10, 0.025) - 0.187_086).abs() < 1e-6, "as in every table of the 95 % interval");
    }
}
