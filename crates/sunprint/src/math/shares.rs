//! Shares that noisy counts and noisy sums say together.
//!
//! Shares p ≥ 0 with sum 1 were measured twice: each by itself, `q_i = p_i + noise of deviation s`, and all together by
//! a few sums, `v_k = Σ_i p_i f_ki + noise of deviation σ_k`. The likeliest shares are the least of
//!
//! ```text
//! ½ ‖p − q‖² + ½ Σ_k w_k (⟨f_k, p⟩ − v_k)²,   w_k = s²/σ_k².
//! ```
//!
//! *The dual.* With `r_k = ⟨f_k, p⟩ − v_k` as variables and λ as their prices, the inner minimum is taken by
//! `r_k = λ_k/w_k` and `p(λ)`, the shares nearest to `q − Σ_k λ_k f_k`. What is left is a concave function of the few λ,
//! `D(λ) = ½ ‖p(λ) − q‖² + Σ_k λ_k (⟨f_k, p(λ)⟩ − v_k) − Σ_k λ_k²/2w_k`, with gradient `⟨f_k, p(λ)⟩ − v_k − λ_k/w_k`.
//! Its second derivative is at most −1/w_k < 0, so it has one maximum, whatever is asked for: sums that no shares have
//! are approached as far as their noise deserves, and no further. Where the gradient is zero the objective at p(λ)
//! equals D(λ): that is the certificate.

use super::cholesky::Cholesky;
use super::rounding::nearest_shares;
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
/// Halvings of a step that goes too far.
const HALVINGS: usize = 30;
/// The gap between objective and dual at which it ends.
const GAP: f64 = 1e-14;
/// No sum weighs more against the shares than this: one without any noise is met to a ten-thousandth of that of a share.
const MOST_WEIGHT: f64 = 1e8;

/// The likeliest shares, for noise of deviation `noise` in each of `counted`.
pub fn likeliest(counted: &[f64], noise: f64, told: &[Told]) -> Vec<f64> {
    let problem = Problem::new(counted, noise, told);
    let mut at = problem.point(vec![0.0; told.len()]);
    for _ in 0..STEPS {
        if at.gap() <= GAP {
            break;
        }
        let Some(next) = problem.risen(&at, &problem.step(&at)) else { break };
        at = next;
    }
    // Large prices leave rounding errors in the sum.
    let sum: f64 = at.shares.iter().sum();
    at.shares.iter().map(|share| share / sum.max(f64::MIN_POSITIVE)).collect()
}

struct Problem<'a> {
    counted: &'a [f64],
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

    fn slope(&self) -> f64 {
        dot(&self.gradient, &self.gradient).sqrt()
    }
}

impl Problem<'_> {
    fn new<'a>(counted: &'a [f64], noise: f64, told: &'a [Told]) -> Problem<'a> {
        let weight = |told: &Told| (noise / told.noise.max(1e-12)).powi(2).clamp(1e-12, MOST_WEIGHT);
        Problem { counted, told, weights: told.iter().map(weight).collect() }
    }

    fn point(&self, prices: Vec<f64>) -> Point {
        let mut moved = self.counted.to_vec();
        for (told, price) in self.told.iter().zip(&prices) {
            moved.iter_mut().zip(&told.features).for_each(|(x, f)| *x -= price * f);
        }
        let shares = nearest_shares(&moved);
        let off: Vec<f64> = self.told.iter().map(|told| dot(&told.features, &shares) - told.value).collect();
        let apart = 0.5 * shares.iter().zip(self.counted).map(|(p, q)| (p - q) * (p - q)).sum::<f64>();
        let (mut dual, mut objective, mut gradient) = (apart, apart, Vec::with_capacity(off.len()));
        for ((off, price), weight) in off.iter().zip(&prices).zip(&self.weights) {
            dual += price * off - 0.5 * price * price / weight;
            objective += 0.5 * weight * off * off;
            gradient.push(off - price / weight);
        }
        Point { prices, shares, gradient, dual, objective }
    }

    /// The dual along a step: the whole of it where it still rises there, else where it is highest, by halving. D is
    /// concave with kinks in its slope, so shorter and shorter tries alone could creep along a kink.
    fn risen(&self, at: &Point, step: &[f64]) -> Option<Point> {
        let along =
            |length: f64| self.point(at.prices.iter().zip(step).map(|(price, step)| price + length * step).collect());
        let (mut low, mut high, mut length, mut best) = (0.0, 1.0, 1.0, None);
        for _ in 0..HALVINGS {
            let next = along(length);
            let rises = dot(&next.gradient, step) >= 0.0;
            if next.dual > best.as_ref().map_or(at.dual, |best: &Point| best.dual) {
                best = Some(next);
            }
            if rises && length == 1.0 {
                break;
            }
            *(if rises { &mut low } else { &mut high }) = length;
            length = 0.5 * (low + high);
        }
        // At the top the dual is flat to its rounding, and only the slope still tells.
        best.or_else(|| Some(along(1.0)).filter(|next| next.slope() < 0.5 * at.slope()))
    }

    /// Newton's step: among the shares that are not at nothing, all move together but for their mean.
    fn step(&self, at: &Point) -> Vec<f64> {
        let order = self.told.len();
        let free: Vec<usize> = (0..at.shares.len()).filter(|&i| at.shares[i] > 0.0).collect();
        let centred: Vec<Vec<f64>> = self
            .told
            .iter()
            .map(|told| {
                let mean = free.iter().map(|&i| told.features[i]).sum::<f64>() / free.len().max(1) as f64;
                free.iter().map(|&i| told.features[i] - mean).collect()
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
            let problem = Problem::new(&counted, noise, &told);
            let shares = likeliest(&counted, noise, &told);
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 && shares.iter().all(|p| *p >= 0.0));
            // The prices of the best point are what is off, weighed: at any other point the gap is larger than nothing.
            let objective = |shares: &[f64]| {
                let apart = 0.5 * shares.iter().zip(&counted).map(|(p, q)| (p - q) * (p - q)).sum::<f64>();
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
            let found = likeliest(&shares, 0.01, &[Told { features, value, noise: sigma }]);
            prop_assert!(found.iter().zip(&shares).all(|(a, b)| (a - b).abs() < 1e-7));
        }
    }

    /// One sum against one: the mean is where the inverse variances put it.
    #[test]
    fn each_is_weighed_by_its_noise() {
        // Two shares (1 − p, p): q says 0.2 with deviation s in each, so p has s²/2; the sum says 0.6 with σ.
        for (s, sigma) in [(0.1_f64, 0.1_f64), (0.01, 0.1), (0.2, 0.05)] {
            let found = likeliest(&[0.8, 0.2], s, &[Told { features: vec![0.0, 1.0], value: 0.6, noise: sigma }]);
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
        let found = likeliest(&counted, 0.01, &[mean, square]);
        assert!(dot(&cells, &found) < 0.02, "{found:?}");
    }
}
