//! What several fits of one dataset promise together.
//!
//! Proof: docs/proofs.md, Lemma 25.
//!
//! **The sum.** Fits that are (εᵢ, δᵢ)-private, each given what the earlier ones released, are (Σ εᵢ, Σ δᵢ)-private
//! together. This is what ceilings are compared with, in exact rationals.
//!
//! **By zCDP.** A fit with δ is ρ-zCDP, and a pure one is ε²/2-zCDP (Bun, Steinke 2016, Proposition 1.4). The ρ add up,
//! and the sum implies (ε′, Σ δᵢ) for the smallest ε′ that [`crate::math::zcdp`] proves. With many fits ε′ is below Σ εᵢ.
//! Both statements are true; neither takes anything from the other.

use super::book::Recorded;
use super::exact::Sum;
use crate::math::zcdp;
use serde::Serialize;

/// What entries add up to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Total {
    /// Σ ε.
    pub epsilon: Sum,
    /// Σ δ.
    pub delta: Sum,
    /// The same by zCDP; none where an entry with δ does not say its ρ.
    pub concentrated: Option<Concentrated>,
    /// Which of the two ε is smaller, at the same δ.
    pub smaller: Way,
}

/// A way to add promises up. Both hold; the smaller total is the one to go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// The plain sum, which ceilings are compared with.
    Sum,
    /// By concentrated privacy.
    Zcdp,
}

/// A total by zCDP.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Concentrated {
    /// Σ ρ.
    pub rho: Sum,
    /// ε at the summed δ, rounded up; none where every promise was pure, so that there is no δ to convert at.
    pub epsilon: Option<f64>,
}

impl Total {
    /// The sum of entries.
    pub(super) fn of<'a>(entries: impl Iterator<Item = &'a Recorded>) -> Total {
        let (mut epsilon, mut delta, mut rho) = (Sum::zero(), Sum::zero(), Some(Sum::zero()));
        for entry in entries {
            let charge = Sum::from(entry.epsilon);
            let concentrated = match (entry.rho, entry.delta) {
                (Some(rho), _) => Some(Sum::from(rho)),
                (None, None) => Some(charge.half_square()),
                (None, Some(_)) => None,
            };
            rho = rho.zip(concentrated).map(|(sum, rho)| sum.plus(&rho));
            epsilon = epsilon.plus(&charge);
            delta = entry.delta.map_or(delta.clone(), |more| delta.plus(&more.into()));
        }
        let concentrated =
            rho.map(|rho| Concentrated { epsilon: converted(rho.as_float_above(), delta.as_float_above()), rho });
        // Both were rounded up, by next to nothing: whichever is taken is true.
        let below = |found: f64| found < epsilon.as_float_above();
        let smaller = match concentrated.as_ref().and_then(|total| total.epsilon) {
            Some(found) if below(found) => Way::Zcdp,
            _ => Way::Sum,
        };
        Total { epsilon, delta, concentrated, smaller }
    }
}

/// The smallest ε such that ρ-zCDP implies (ε, δ), rounded up.
///
/// `rho_for` grows with ε and is rounded down, so every ε with `rho_for(ε, δ) ≥ ρ` is proven: a search that stops early
/// gives a larger ε, never a smaller one. The textbook's ρ + 2√(ρ ln 1/δ) is enough, and is where it begins.
fn converted(rho: f64, delta: f64) -> Option<f64> {
    // The sum was rounded up by a relative 10⁻¹² at most, and a smaller δ is the safe side.
    let delta = delta * (1.0 - 1e-11);
    if !(rho > 0.0 && rho.is_finite() && delta > 0.0 && delta < 1.0) {
        return None;
    }
    let mut high = rho + 2.0 * (rho * -libm::log(delta)).sqrt();
    while zcdp::rho_for(high, delta) < rho {
        high *= 1.000_001;
    }
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if zcdp::rho_for(middle, delta) < rho {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::State;
    use crate::plan;
    use crate::privacy::Ratio;
    use proptest::prelude::*;

    fn entry(epsilon: &str, delta: Option<&str>) -> Recorded {
        let budget = plan::budget(epsilon.parse().unwrap(), delta.map(|delta| delta.parse().unwrap())).unwrap();
        Recorded {
            number: 1,
            time: String::new(),
            dataset: String::new(),
            state: State::Spent,
            epsilon: budget.epsilon().ratio(),
            delta: budget.delta().map(|delta| delta.ratio()),
            rho: budget.delta().map(|_| budget.amount()),
            method: String::new(),
            version: String::new(),
            schema: String::new(),
            hash: String::new(),
        }
    }

    #[test]
    fn pure_promises_add_up_and_have_no_delta_to_convert_at() {
        let total = Total::of([entry("0.1", None), entry("0.2", None)].iter());
        assert_eq!((total.epsilon.to_string(), total.delta.to_string()), ("0.3".to_string(), "0".to_string()));
        let concentrated = total.concentrated.unwrap();
        assert_eq!((concentrated.rho.to_string(), concentrated.epsilon), ("0.025".to_string(), None));
    }

    #[test]
    fn one_concentrated_promise_converts_back_to_itself() {
        for (epsilon, delta) in [("1", "1e-9"), ("0.1", "1e-6"), ("8", "1e-12")] {
            let total = Total::of([entry(epsilon, Some(delta))].iter());
            let (asked, found) = (epsilon.parse::<f64>().unwrap(), total.concentrated.unwrap().epsilon.unwrap());
            // ρ was rounded down to 32 bits, and the way back rounds up.
            assert!((found / asked - 1.0).abs() < 1e-7, "{epsilon}, {delta}: {found}");
        }
    }

    #[test]
    fn many_promises_together_are_better_by_zcdp() {
        let total = Total::of(vec![entry("0.5", Some("1e-9")); 40].iter());
        assert_eq!((total.epsilon.to_string(), total.delta.to_string()), ("20".to_string(), "0.00000004".to_string()));
        // √40 as much as one of them, roughly, instead of 40 times.
        let found = total.concentrated.unwrap().epsilon.unwrap();
        assert!(found > 0.5 * 5.0 && found < 0.5 * 7.0, "{found}");
        assert_eq!(total.smaller, Way::Zcdp);
    }

    #[test]
    fn a_few_promises_together_are_better_in_sum() {
        let total = Total::of([entry("0.1", None), entry("0.5", None), entry("0.5", Some("1e-9"))].iter());
        let found = total.concentrated.unwrap().epsilon.unwrap();
        assert!(found > 1.1, "{found}");
        assert_eq!((total.epsilon.to_string(), total.smaller), ("1.1".to_string(), Way::Sum));
        assert_eq!(Total::of([].iter()).smaller, Way::Sum);
    }

    #[test]
    fn an_unknown_rho_is_not_made_up() {
        let unknown = Recorded { rho: None, ..entry("1", Some("1e-9")) };
        assert_eq!(Total::of([unknown].iter()).concentrated, None);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_proven(rho in 1e-9_f64..50.0, log in -60.0_f64..-0.1) {
            let delta = log.exp();
            let epsilon = converted(rho, delta).unwrap();
            prop_assert!(zcdp::delta_for(rho, epsilon) <= delta);
            // No smaller ε would do, unless δ is so large that none is needed.
            let none_needed = zcdp::delta_for(rho, 0.0) <= delta;
            prop_assert!(none_needed || zcdp::delta_for(rho, epsilon * 0.999_999) > delta * (1.0 - 1e-9));
        }

        #[test]
        fn sums_are_those_of_fractions(parts in proptest::collection::vec((1_u128..1000, 1_u128..11), 1..20)) {
            let entries: Vec<Recorded> = parts
                .iter()
                .map(|&(num, den)| Recorded { epsilon: Ratio::new(num, den).unwrap(), ..entry("1", None) })
                .collect();
            // Every number up to 10 divides 2520.
            let common = Ratio::new(parts.iter().map(|&(num, den)| num * 2520 / den).sum(), 2520).unwrap();
            prop_assert_eq!(Total::of(entries.iter()).epsilon, Sum::from(common));
        }
    }
}
