//! From concentrated differential privacy to (ε, δ): the optimised conversion.
//!
//! Proof: docs/proofs.md, Lemma 7.
//!
//! ρ-zCDP implies (ε, δ)-DP for every α > 1 with
//!
//! > δ = exp((α−1)(αρ−ε)) / (α−1) · (1 − 1/α)^α
//!
//! (Canonne, Kamath, Steinke 2020, Corollary 13, from Proposition 12 with Rényi divergence ≤ αρ). With x = α − 1,
//!
//! > ln δ = f(x, ρ) = x((1+x)ρ − ε) − (1+x) ln(1+x) + x ln x.
//!
//! **Largest ρ.** f grows with ρ, so each x allows exactly
//!
//! > ρ(x) = (ln δ + xε + (1+x) ln(1+x) − x ln x) / (x(1+x)),
//!
//! and *every* x > 0 gives a valid ρ(x): a search that misses the best x loses accuracy, never privacy. The derivative
//! ∂f/∂x = (1+2x)ρ − ε − ln(1 + 1/x) grows with x, so f is convex in x. Where ρ′(x) = 0, ∂f/∂x = 0, so x minimises
//! f(·, ρ(x)), no x allows more, and the maximum is unique: ρ(x) rises before it and falls after it, and the sign of
//! ∂f/∂x at (x, ρ(x)) says on which side one is. Bisection finds it.

/// ln x runs over this range in the searches: from δ within 10⁻¹⁶ of 1 to ε = 10⁻⁹ with δ = 10⁻³⁰⁰.
const LOG_RANGE: (f64, f64) = (-50.0, 35.0);

/// The numerator of ρ(x), rounded down by more than its possible error.
///
/// Each of the four terms T is computed with relative error at most 4u, u = 2⁻⁵³ (a product, a logarithm of `libm`
/// within 1 ulp, a rounded quotient inside it), their sum adds at most 3u Σ|T|, and rounding ε and δ themselves to
/// doubles moves the first two terms by at most u(xε + 1). So the error is below 8u(Σ|T| + 1); 32u is subtracted.
fn numerator(x: f64, epsilon: f64, delta: f64) -> f64 {
    // (1+x) ln(1+x) − x ln x = ln(1+x) + x ln(1 + 1/x), where nothing cancels.
    let terms = [libm::log(delta), x * epsilon, libm::log1p(x), x * libm::log1p(1.0 / x)];
    let size: f64 = 1.0 + terms.iter().map(|t| t.abs()).sum::<f64>();
    terms.iter().sum::<f64>() - size * 32.0 * (f64::EPSILON / 2.0)
}

fn allowed(x: f64, epsilon: f64, delta: f64) -> f64 {
    numerator(x, epsilon, delta) / (x * (1.0 + x))
}

fn slope(x: f64, rho: f64, epsilon: f64) -> f64 {
    (1.0 + 2.0 * x) * rho - epsilon - libm::log1p(1.0 / x)
}

/// The x at which a function that grows through zero does so, searched for on a logarithmic scale.
fn crossing(mut growing: impl FnMut(f64) -> f64) -> f64 {
    let (mut low, mut high) = LOG_RANGE;
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if growing(libm::exp(middle)) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp(0.5 * (low + high))
}

/// The largest ρ such that ρ-zCDP implies (`epsilon`, `delta`)-DP, rounded down; 0 where there is none.
///
/// Rounded down twice: the numerator by its own error bound (see there), and the quotient by a relative 10⁻⁹, which
/// covers the three roundings of the division many times over. The loss is invisible; a ρ too large would be a lie.
pub fn rho_for(epsilon: f64, delta: f64) -> f64 {
    let sensible = epsilon > 0.0 && epsilon.is_finite() && delta > 0.0 && delta < 1.0;
    if !sensible {
        return 0.0;
    }
    let x = crossing(|x| slope(x, allowed(x, epsilon, delta), epsilon));
    let rho = allowed(x, epsilon, delta) * (1.0 - 1e-9);
    if rho.is_finite() { rho.max(0.0) } else { 0.0 }
}

/// [`rho_for`] as an exact fraction (numerator, denominator), rounded down to 32 significant bits, so that budgets can
/// be split in exact arithmetic without growing out of their integers. (0, 1) where there is no such ρ.
pub fn rho_fraction(epsilon: f64, delta: f64) -> (u128, u128) {
    let rho = rho_for(epsilon, delta);
    if rho == 0.0 {
        return (0, 1);
    }
    let shift = 31 - libm::ilogb(rho);
    if shift > 120 {
        return (0, 1);
    }
    // The product with a power of two is exact; the cast drops the fraction.
    let digits = libm::scalbn(rho, shift) as u128;
    if shift >= 0 { (digits, 1 << shift) } else { (digits << (-shift).min(80), 1) }
}

/// The δ that ρ-zCDP gives at `epsilon`: what the conversion proves, to about 10⁻¹⁰ relative.
///
/// For reporting. A promise is made with [`rho_for`], which rounds to the safe side.
pub fn delta_for(rho: f64, epsilon: f64) -> f64 {
    let x = crossing(|x| slope(x, rho, epsilon));
    let log = x * ((1.0 + x) * rho - epsilon) - libm::log1p(x) - x * libm::log1p(1.0 / x);
    libm::exp(log).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The formula as printed, in α.
    fn printed(alpha: f64, rho: f64, epsilon: f64) -> f64 {
        ((alpha - 1.0) * (alpha * rho - epsilon)).exp() / (alpha - 1.0) * (1.0 - 1.0 / alpha).powf(alpha)
    }

    fn least_on_a_grid(rho: f64, epsilon: f64) -> f64 {
        (0..400_000).map(|k| printed(1.0 + (-12.0 + k as f64 * 1e-4).exp(), rho, epsilon)).fold(1.0, f64::min)
    }

    fn simple_rho(epsilon: f64, delta: f64) -> f64 {
        // ε = ρ + 2√(ρ ln 1/δ)
        let root = (1.0 / delta).ln().sqrt();
        ((epsilon + root * root).sqrt() - root).powi(2)
    }

    #[test]
    fn agrees_with_the_printed_formula_on_a_fine_grid() {
        for (epsilon, delta) in
            [(0.1, 1e-6), (1.0, 1e-6), (1.0, 1e-9), (3.0, 1e-5), (8.0, 1e-10), (0.5, 0.01), (20.0, 1e-5)]
        {
            let rho = rho_for(epsilon, delta);
            let at = least_on_a_grid(rho, epsilon);
            // The grid misses the best α by a relative 10⁻⁷ at most.
            assert!((at / delta - 1.0).abs() < 1e-7, "epsilon {epsilon}, delta {delta}: {at}");
            let above = least_on_a_grid(rho * (1.0 + 1e-6), epsilon);
            assert!(above > delta, "epsilon {epsilon}, delta {delta}: a larger rho would do");
            assert!((delta_for(rho, epsilon) / delta - 1.0).abs() < 1e-6);
        }
    }

    proptest! {
        #[test]
        fn never_promises_more_than_the_formula_gives(e in -9.2f64..6.9, d in -69.0f64..-0.0001) {
            let (epsilon, delta) = (e.exp(), d.exp());
            let rho = rho_for(epsilon, delta);
            prop_assert!(rho > 0.0);
            prop_assert!(delta_for(rho, epsilon) <= delta * (1.0 + 1e-13));
            prop_assert!(delta_for(rho * 1.000_001, epsilon) > delta);
            prop_assert!(rho > simple_rho(epsilon, delta), "the textbook conversion is weaker");
            let (digits, denominator) = rho_fraction(epsilon, delta);
            let fraction = digits as f64 / denominator as f64;
            prop_assert!(fraction <= rho && fraction > rho * (1.0 - 1e-9));
            prop_assert!(digits < 1 << 32);
        }
    }

    #[test]
    fn the_gaussian_mechanism_keeps_the_promise_and_nearly_needs_it() {
        // The exact δ of the Gaussian mechanism (Balle and Wang 2018), which is ρ-zCDP with ρ = μ²/2.
        let below = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        for (epsilon, delta) in
            [(0.1, 1e-6), (1.0, 1e-6), (1.0, 1e-9), (3.0, 1e-5), (8.0, 1e-10), (0.5, 0.01), (20.0, 1e-5)]
        {
            let mu = (2.0 * rho_for(epsilon, delta)).sqrt();
            let exact = below(mu / 2.0 - epsilon / mu) - epsilon.exp() * below(-mu / 2.0 - epsilon / mu);
            assert!(exact <= delta && exact > delta / 12.0, "epsilon {epsilon}, delta {delta}: {exact}");
        }
    }

    #[test]
    fn nonsense_gives_no_budget() {
        for (epsilon, delta) in
            [(0.0, 0.1), (-1.0, 0.1), (f64::NAN, 0.1), (f64::INFINITY, 0.1), (1.0, 0.0), (1.0, 1.0), (1.0, f64::NAN)]
        {
            assert_eq!(rho_for(epsilon, delta), 0.0);
            assert_eq!(rho_fraction(epsilon, delta), (0, 1));
        }
    }

    #[test]
    fn extremes_are_finite() {
        for (epsilon, delta) in
            [(1e-4, 1e-30), (1000.0, 1e-30), (1e-4, 0.999_999), (1000.0, 0.999_999), (1e-300, 1e-300)]
        {
            let rho = rho_for(epsilon, delta);
            assert!(rho.is_finite() && rho >= 0.0, "epsilon {epsilon}, delta {delta}: {rho}");
        }
    }
}
