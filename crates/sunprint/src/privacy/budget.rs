//! The budget and its shares.
//!
//! Proof: docs/proofs.md, Lemma 3.
//!
//! # Privacy
//! *Composition.* If stage i is εᵢ-private given everything released before it, the whole is (Σ εᵢ)-private, and
//! likewise for ρ of zero-concentrated privacy (zCDP): the privacy loss of a run is the sum of the losses of its
//! stages, and pointwise bounds (pure) or Rényi bounds at every order (zCDP) add up along the run. Stages may choose
//! their form, but not their charge beyond what is left, by looking at earlier releases.
//!
//! A [`Budget`] is turned into [`Charge`]s by exact rational arithmetic, and a mechanism takes its charge by value.
//! A charge can be neither copied nor made out of nothing, so that what is spent never exceeds what was promised.

use serde::{Deserialize, Serialize};

use super::epsilon::{Delta, Epsilon};
use super::ratio::Ratio;
use crate::error::{Error, Kind, Result};

/// What a charge is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Privacy {
    /// ε of pure differential privacy.
    Pure,
    /// ρ of zero-concentrated differential privacy.
    Concentrated,
}

/// The whole promise of a fit. Move-only: it is spent by [`Budget::split`].
#[derive(Debug)]
pub struct Budget {
    privacy: Privacy,
    amount: Ratio,
    epsilon: Epsilon,
    delta: Option<Delta>,
}

/// A share of a [`Budget`], to be moved into the mechanism that spends it.
///
/// It cannot be copied:
/// ```compile_fail,E0599
/// # use sunprint::privacy::{Budget, Epsilon};
/// let [charge] = Budget::pure("1".parse::<Epsilon>().unwrap()).split([1]).unwrap();
/// let twice = charge.clone();
/// ```
/// nor used twice:
/// ```compile_fail,E0382
/// # use sunprint::privacy::{Budget, Epsilon, Kernel, Sensitive};
/// # let mut kernel = Kernel::new().unwrap();
/// let [charge] = Budget::pure("1".parse::<Epsilon>().unwrap()).split([1]).unwrap();
/// kernel.scalar("one", Sensitive::new(7), 1, charge).unwrap();
/// kernel.scalar("two", Sensitive::new(7), 1, charge).unwrap();
/// ```
/// nor made out of nothing:
/// ```compile_fail,E0451
/// # use sunprint::privacy::{Charge, Privacy, Ratio};
/// let charge = Charge { privacy: Privacy::Pure, amount: Ratio::ONE };
/// ```
#[derive(Debug)]
pub struct Charge {
    privacy: Privacy,
    amount: Ratio,
}

/// How much a [`Charge`] is. A number like others: it may be copied and made up, and nothing can be bought with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// What the amount is counted in.
    pub privacy: Privacy,
    /// ε or ρ.
    pub amount: Ratio,
}

impl Budget {
    /// Pure ε-differential privacy.
    pub fn pure(epsilon: Epsilon) -> Budget {
        Budget { privacy: Privacy::Pure, amount: epsilon.ratio(), epsilon, delta: None }
    }

    /// ρ-zCDP, which the caller has shown to imply (ε, δ)-differential privacy; outside this crate
    /// [`crate::plan::budget`] does both.
    ///
    /// # Errors
    /// [`Kind::Budget`] where ρ is 0.
    pub(crate) fn concentrated(rho: Ratio, epsilon: Epsilon, delta: Delta) -> Result<Budget> {
        if rho.is_zero() {
            return Err(Error::new(Kind::Budget, "the concentrated budget rho must be above 0"));
        }
        Ok(Budget { privacy: Privacy::Concentrated, amount: rho, epsilon, delta: Some(delta) })
    }

    /// Any ρ under any (ε, δ), believed as it is. For tests and audits only.
    ///
    /// # Errors
    /// [`Kind::Budget`] where ρ is 0.
    #[cfg(any(test, feature = "seam"))]
    pub fn concentrated_danger(rho: Ratio, epsilon: Epsilon, delta: Delta) -> Result<Budget> {
        Budget::concentrated(rho, epsilon, delta)
    }

    /// What the amount is counted in.
    pub fn privacy(&self) -> Privacy {
        self.privacy
    }

    /// The ε of the promise.
    pub fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// The δ of the promise; none where it is pure.
    pub fn delta(&self) -> Option<Delta> {
        self.delta
    }

    /// ε or ρ, as [`Budget::privacy`] says.
    pub fn amount(&self) -> Ratio {
        self.amount
    }

    /// Divides the whole in proportion to the weights; the shares add up to it exactly.
    ///
    /// # Errors
    /// [`Kind::Budget`] where all weights are 0, or where a share is not a fraction of 128-bit integers.
    pub fn split<const N: usize>(self, weights: [u64; N]) -> Result<[Charge; N]> {
        let shares = Charge { privacy: self.privacy, amount: self.amount }.split(&weights)?;
        shares.try_into().map_err(|_| Error::new(Kind::Budget, "as many shares as weights"))
    }
}

impl Charge {
    /// ε or ρ, as [`Charge::privacy`] says.
    pub fn amount(&self) -> Ratio {
        self.amount
    }

    /// What the amount is counted in.
    pub fn privacy(&self) -> Privacy {
        self.privacy
    }

    /// How much it is, for whoever wants to know what it would buy.
    pub fn price(&self) -> Price {
        Price { privacy: self.privacy, amount: self.amount }
    }

    /// Divides the charge in proportion to the weights; the shares add up to it exactly. A zero weight gives a zero
    /// charge, which no mechanism accepts.
    ///
    /// # Errors
    /// [`Kind::Budget`] where all weights are 0, or where a share is not a fraction of 128-bit integers.
    pub fn split(self, weights: &[u64]) -> Result<Vec<Charge>> {
        let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
        let share = |weight: u64| {
            let amount = self.amount.checked_mul(Ratio::new(u128::from(weight), total)?)?;
            Some(Charge { privacy: self.privacy, amount })
        };
        weights.iter().map(|&weight| share(weight)).collect::<Option<Vec<_>>>().ok_or_else(|| {
            Error::new(Kind::Budget, "a share of the budget must be a positive fraction of 128-bit integers")
                .hint("use a budget with fewer digits, or smaller weights")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    #[test]
    fn a_zero_weight_gives_a_zero_charge() {
        let [some, none] = Budget::pure(epsilon("0.5")).split([3, 0]).unwrap();
        assert_eq!(some.amount(), Ratio::new(1, 2).unwrap());
        assert!(none.amount().is_zero());
        assert_eq!(Budget::pure(epsilon("1")).split([0, 0]).unwrap_err().kind(), Kind::Budget);
    }

    #[test]
    fn a_concentrated_budget_keeps_its_promise_beside_it() {
        let delta: Delta = "1e-9".parse().unwrap();
        let budget = Budget::concentrated(Ratio::new(1, 50).unwrap(), epsilon("1"), delta).unwrap();
        assert_eq!(
            (budget.privacy(), budget.epsilon(), budget.delta()),
            (Privacy::Concentrated, epsilon("1"), Some(delta))
        );
        assert!(Budget::concentrated(Ratio::ZERO, epsilon("1"), delta).is_err());
    }

    proptest! {
        #[test]
        fn shares_add_up_exactly(
            thousandths in 1u128..1_000_000,
            weights in proptest::collection::vec(0u64..100_000, 1..8),
            inner in proptest::collection::vec(1u64..1000, 1..5),
        ) {
            prop_assume!(weights.iter().any(|&weight| weight > 0));
            let whole = Epsilon::new(Ratio::new(thousandths, 1000).unwrap()).unwrap();
            let [charge] = Budget::pure(whole).split([1]).unwrap();
            let sum = |charges: &[Charge]| charges.iter().fold(Ratio::ZERO, |sum, c| sum.checked_add(c.amount()).unwrap());
            let shares = charge.split(&weights).unwrap();
            prop_assert_eq!(sum(&shares), whole.ratio());
            for share in shares {
                let amount = share.amount();
                prop_assert_eq!(sum(&share.split(&inner).unwrap()), amount);
            }
        }
    }
}
