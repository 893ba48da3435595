//! Shares that noisy counts and noisy sums say together.
//!
//! Shares p ≥ 0 with sum 1 were measured twice: each by itself, `q_i = p_i + noise of deviation s_i`, and all together by
//! a few sums, `v_k = Σ_i p_i f_ki + noise of deviation σ_k`. The likeliest shares are the least of
//!
//! ```text
//! ½ Σ_i (p_i − q_i)²/a_i + ½ Σ_k w_k (⟨f_k, p⟩ − v_k)²,   a_i = s_i²/s², w_k = s²/σ_k², s² the mean of all s_i².
//! ```
//!
//! *The dual.* With `r_k = ⟨f_k, p⟩ − v_k` as variables and λ as their prices, the inner minimum is taken by
//! `r_k = λ_k/w_k` and `p(λ)`, the shares nearest to `q_i − a_i Σ_k λ_k f_ki` by the same measure: `p_i = max(0, x_i − a_i ν)`
//! with the ν that makes their sum 1. What is left is a concave function of the few λ,
//! `D(λ) = ½ Σ_i (p_i(λ) − q_i)²/a_i + Σ_k λ_k (⟨f_k, p(λ)⟩ − v_k) − Σ_k λ_k²/2w_k`, with gradient `⟨f_k, p(λ)⟩ − v_k − λ_k/w_k`.
//! Its second derivative is at most −1/w_k < 0, so it has one maximum, whatever is asked for: sums that no shares have
//! are approached as far as their noise deserves, and no further. Where the gradient is zero the objective at p(λ)
//! equals D(λ): that is the certificate.

use super::cholesky::Cholesky;
use super::vector::dot;

/// A sum over all shares that was measured: `Σ_i p_i f_i = value`, up to a noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// f, one for each share.
    pub features: Vec<f64>,
    /// v.
    pub value: f64,
    /// σ, the standard deviation of its noise.
    pub noise: f64,
}

/// Steps of Newton's method; it ends long before.
const STEPS: usize = 200;
/// The gap between objective and dual at which it ends.
const GAP: f64 = 1e-14;
/// No share is held more firmly, against the mean of all.
const LEAST_FREEDOM: f64 = 1e-6;
/// No sum weighs more against the shares than this: one without any noise is met to a ten-thousandth of that of a share.
const MOST_WEIGHT: f64 = 1e8;

/// The likeliest shares, for noise of these deviations in `counted`.
pub fn likeliest(counted: &[f64], noise: &[f64], told: &[Told]) -> Vec<f64> {
    let problem = Problem::new(counted, noise, told);
    let mut at = problem.point(vec![0.0; told.len()]);
    for _ in 0..STEPS {
        if at.gap() <= GAP {
            break;
        }
        let step = problem.step(&at);
        let mut length = 1.0;
        let next = loop {
            let moved = at.prices.iter().zip(&step).map(|(price, step)| price + length * step).collect();
            let next = problem.point(moved);
            if next.dual > at.dual {
                break Some(next);
            }
            length *= 0.5;
            if length < 1e-9 {
                break None;
            }
        };
        let Some(next) = next else { break };
        at = next;
    }
    // Large prices leave rounding errors in the sum.
    let sum: f64 = at.shares.iter().sum();
    at.shares.iter().map(|share| share / sum.max(f64::MIN_POSITIVE)).collect()
}

struct Problem<'a> {
    counted: &'a [f64],
    /// How freely each share moves: 1 on average.
    freedom: Vec<f64>,
    told: &'a [Told],
    weights: Vec<f64>,
}

/// A point of the dual and the shares that belong to it.
struct Point {
    prices: Vec<f64>,
    shares: Vec<f64>,
    gradient: Vec<f64>,
    dual: f64,
    objective: f64,
}

impl Point {
    /// How far the shares may be from the best, in the objective.
    fn gap(&self) -> f64 {
        self.objective - self.dual
    }
}

impl Problem<'_> {
    fn new<'a>(counted: &'a [f64], noise: &[f64], told: &'a [Told]) -> Problem<'a> {
        let mean = noise.iter().map(|noise| noise * noise).sum::<f64>() / noise.len().max(1) as f64;
        let free = |noise: &f64| if mean > 0.0 { (noise * noise / mean).max(LEAST_FREEDOM) } else { 1.0 };
        let weight = |told: &Told| (mean / told.noise.max(1e-12).powi(2)).clamp(1e-12, MOST_WEIGHT);
        let (freedom, weights) = (noise.iter().map(free).collect(), told.iter().map(weight).collect());
        Problem { counted, freedom, told, weights }
    }

    /// The shares `max(0, x_i − a_i ν)` that add up to 1.
    fn nearest(&self, values: &[f64]) -> Vec<f64> {
        if values.iter().any(|x| !x.is_finite()) {
            return vec![1.0 / values.len() as f64; values.len()];
        }
        let mut order: Vec<(f64, f64)> = values.iter().copied().zip(self.freedom.iter().copied()).collect();
        order.sort_by(|a, b| (b.0 / b.1).total_cmp(&(a.0 / a.1)));
        let (mut sum, mut free, mut price) = (0.0, 0.0, 0.0);
        for (x, freedom) in order {
            let next = (sum + x - 1.0) / (free + freedom);
            if x / freedom <= next {
                break;
            }
            (sum, free, price) = (sum + x, free + freedom, next);
        }
        values.iter().zip(&self.freedom).map(|(x, freedom)| (x - freedom * price).max(0.0)).collect()
    }

    fn point(&self, prices: Vec<f64>) -> Point {
        let mut moved = self.counted.to_vec();
        for (told, price) in self.told.iter().zip(&prices) {
            let moves = told.features.iter().zip(&self.freedom).map(|(f, freedom)| price * freedom * f);
            moved.iter_mut().zip(moves).for_each(|(x, by)| *x -= by);
        }
        let shares = self.nearest(&moved);
        let off: Vec<f64> = self.told.iter().map(|told| dot(&told.features, &shares) - told.value).collect();
        let off_by = shares.iter().zip(self.counted).zip(&self.freedom);
        let apart = 0.5 * off_by.map(|((p, q), freedom)| (p - q) * (p - q) / freedom).sum::<f64>();
        let (mut dual, mut objective, mut gradient) = (apart, apart, Vec::with_capacity(off.len()));
        for ((off, price), weight) in off.iter().zip(&prices).zip(&self.weights) {
            dual += price * off - 0.5 * price * price / weight;
            objective += 0.5 * weight * off * off;
            gradient.push(off - price / weight);
        }
        Point { prices, shares, gradient, dual, objective }
    }

    /// Newton's step: among the shares that are not at nothing, all move together but for their mean.
    fn step(&self, at: &Point) -> Vec<f64> {
        let order = self.told.len();
        let free: Vec<usize> = (0..at.shares.len()).filter(|&i| at.shares[i] > 0.0).collect();
        let centred: Vec<Vec<f64>> = self
            .told
            .iter()
            .map(|told| {
                let whole = free.iter().map(|&i| self.freedom[i]).sum::<f64>().max(f64::MIN_POSITIVE);
                let mean = free.iter().map(|&i| self.freedom[i] * told.features[i]).sum::<f64>() / whole;
                free.iter().map(|&i| (told.features[i] - mean) * self.freedom[i].sqrt()).collect()
            })
            .collect();
        let mut curvature = vec![0.0; order * order];
        for i in 0..order {
            for j in 0..order {
                curvature[i * order + j] =
                    dot(&centred[i], &centred[j]) + if i == j { 1.0 / self.weights[i] } else { 0.0 };
            }
        }
        Cholesky::new(&curvature, order).solve(&at.gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares_and_sums() -> impl Strategy<Value = (Vec<f64>, f64, Vec<Told>)> {
        let told = |cells: usize| {
            let one = (prop::collection::vec(-1.0_f64..1.0, cells), -3.0_f64..3.0, -6.0_f64..1.0);
            prop::collection::vec(
                one.prop_map(|(features, value, noise)| Told { features, value, noise: 10.0_f64.powf(noise) }),
                0..3,
            )
        };
        (1_usize..40)
            .prop_flat_map(move |cells| (prop::collection::vec(-0.5_f64..1.0, cells), 1e-4_f64..1.0, told(cells)))
    }

    proptest! {
        /// Objective and dual meet, so nothing is better; also where no shares have the sums that are asked for.
        #[test]
        fn objective_and_dual_meet((counted, noise, told) in shares_and_sums()) {
            let noise: Vec<f64> = (0..counted.len()).map(|i| noise * (1.0 + (i % 5) as f64)).collect();
            let problem = Problem::new(&counted, &noise, &told);
            let shares = likeliest(&counted, &noise, &told);
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 && shares.iter().all(|p| *p >= 0.0));
            // The prices of the best point are what is off, weighed: at any other point the gap is larger than nothing.
            let objective = |shares: &[f64]| {
                let off = shares.iter().zip(&counted).zip(&problem.freedom);
                let apart = 0.5 * off.map(|((p, q), freedom)| (p - q) * (p - q) / freedom).sum::<f64>();
                apart + told.iter().zip(&problem.weights).map(|(t, w)| 0.5 * w * (dot(&t.features, shares) - t.value).powi(2)).sum::<f64>()
            };
            let prices = told.iter().zip(&problem.weights).map(|(t, w)| w * (dot(&t.features, &shares) - t.value)).collect();
            let (found, bound) = (objective(&shares), problem.point(prices).dual);
            prop_assert!(found - bound <= 1e-4 * (1.0 + found.abs()), "{found} {bound}");
        }

        /// Sums that the shares have already move nothing.
        #[test]
        fn agreement_changes_nothing(shares in prop::collection::vec(0.01_f64..1.0, 1..30), sigma in 1e-6_f64..1.0) {
            let whole: f64 = shares.iter().sum();
            let shares: Vec<f64> = shares.iter().map(|p| p / whole).collect();
            let features: Vec<f64> = (0..shares.len()).map(|i| i as f64 / 30.0).collect();
            let value = dot(&features, &shares);
            let found = likeliest(&shares, &vec![0.01; shares.len()], &[Told { features, value, noise: sigma }]);
            prop_assert!(found.iter().zip(&shares).all(|(a, b)| (a - b).abs() < 1e-7));
        }
    }

    /// One sum against one: the mean is where the inverse variances put it.
    #[test]
    fn each_is_weighed_by_its_noise() {
        // Two shares (1 − p, p): q says 0.2 with deviation s in each, so p has s²/2; the sum says 0.6 with σ.
        for (s, sigma) in [(0.1_f64, 0.1_f64), (0.01, 0.1), (0.2, 0.05)] {
            let found = likeliest(&[0.8, 0.2], &[s, s], &[Told { features: vec![0.0, 1.0], value: 0.6, noise: sigma }]);
            let (one, two) = (1.0 / (s * s / 2.0), 1.0 / (sigma * sigma));
            let wanted = (0.2 * one + 0.6 * two) / (one + two);
            assert!((found[1] - wanted).abs() < 1e-9, "{found:?} {wanted}");
        }
    }

    /// A variance that no column with these cells has is approached, and nothing runs away: the mean stays.
    #[test]
    fn what_cannot_be_is_approached() {
        let cells: Vec<f64> = (0..16).map(|i| f64::from(i) * 0.0055).collect();
        let mut counted = vec![0.0; 16];
        (counted[0], counted[1], counted[2]) = (0.7, 0.2, 0.1);
        let mean = Told { features: cells.clone(), value: 0.0096, noise: 0.001 };
        let square = Told { features: cells.iter().map(|x| x * x).collect(), value: 0.0026, noise: 0.0005 };
        let found = likeliest(&counted, &[0.01; 16], &[mean, square]);
        assert!(dot(&cells, &found) < 0.02, "{found:?}");
    }
}
