//! Charges of a whole budget, and the laws that draws are compared with.

#[path = "../../src/privacy/law.rs"]
pub mod law;

use sunprint::privacy::{Budget, Charge, Epsilon, Ratio};

fn epsilon() -> Epsilon {
    "2".parse().unwrap()
}

/// ε = 2.
pub fn pure() -> Charge {
    let [charge] = Budget::pure(epsilon()).split([1]).unwrap();
    charge
}

/// ρ = ½.
pub fn concentrated() -> Charge {
    let budget = Budget::concentrated_danger(Ratio::new(1, 2).unwrap(), epsilon(), "1e-6".parse().unwrap()).unwrap();
    let [charge] = budget.split([1]).unwrap();
    charge
}
