//! The privacy audit: how large ε must be, judged from outputs alone.
//!
//! Two neighbouring tables, many runs on each. If a mechanism is (ε, δ)-private then for every event S
//! `P(S | here) ≤ e^ε P(S | there) + δ`, and the same with the tables exchanged. So a lower bound of one probability and
//! an upper bound of the other give a lower bound of ε that owes nothing to any proof: if it lies above the claim, the
//! claim is false. Events are chosen on one half of the runs and judged on the other half, so choosing costs nothing.
//!
//! *Gaussian noise.* What is made with a δ claims a ρ of zero-concentrated privacy, which is more than its ε and δ. An
//! event turns either table into a coin, so the Rényi divergence of the two coins is at most αρ at every order α: a lower
//! bound of ρ ([`bounds::rho`]). With Gaussian noise the claim is μ-Gaussian privacy with `μ = √(2ρ)` (Dong, Roth, Su
//! 2022), and `Φ⁻¹(p) − Φ⁻¹(q)` a lower bound of μ. Rounded to integers, noise of variance σ² has a μ that is larger by
//! about 1/24σ² of itself, so μ is for reading; what is judged is ρ, which is proved for integers.
//!
//! *False alarms.* All bounds of an audit hold together with the confidence of its [`Level`]: 99.9 % is divided equally
//! among the lines, and within a line among its two bounds (four with a δ). If every claim is true, an audit of any
//! number of lines accuses somebody with probability at most 0.1 %. Tests run on fixed seeds, so what passes keeps
//! passing.
//!
//! *Power.* An audit that finds nothing proves nothing unless it finds what is there: [`broken`] holds mechanisms broken on
//! purpose, each of which must be caught; and where the exact loss is known to equal the claim, a line is marked as tight
//! and must come near to it.

pub mod bounds;
pub mod broken;
mod event;
pub mod flaws;
pub mod noise;
pub mod open;
pub mod report;
pub mod stages;
pub mod tables;
mod trial;
pub mod values;
pub mod whole;

pub use noise::{Noise, Source};
pub use report::{Report, audit};
pub use trial::{Finding, Run, Trial};

use sunprint::error::Result;
use sunprint::plan::budget;
use sunprint::privacy::{Delta, Epsilon, Privacy, Ratio};

/// What a mechanism claims.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// ε.
    pub epsilon: f64,
    /// δ; 0 for pure privacy.
    pub delta: f64,
    /// ρ of zero-concentrated privacy, where there is a δ.
    pub rho: Option<f64>,
}

impl Claim {
    /// What a promise claims.
    ///
    /// # Errors
    /// [`sunprint::error::Kind::Usage`] where δ leaves no budget.
    pub fn of(epsilon: Epsilon, delta: Option<Delta>) -> Result<Claim> {
        let budget = budget(epsilon, delta)?;
        let rho = (budget.privacy() == Privacy::Concentrated).then(|| number(budget.amount()));
        Ok(Claim { epsilon: number(epsilon.ratio()), delta: delta.map_or(0.0, |delta| number(delta.ratio())), rho })
    }
}

fn number(ratio: Ratio) -> f64 {
    ratio.num() as f64 / ratio.den() as f64
}

/// Which of the two neighbouring tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    Here,
    /// The second.
    There,
}

/// The confidence of an audit.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The probability with which any of its bounds may fail.
    pub whole: f64,
    /// The lines that share it.
    pub lines: usize,
}

impl Level {
    /// 99.9 % for so many lines together.
    pub fn of(lines: usize) -> Level {
        Level { whole: 0.001, lines: lines.max(1) }
    }

    /// What one line may fail with.
    pub fn line(&self) -> f64 {
        self.whole / self.lines as f64
    }
}

/// The ε at which things are audited.
#[derive(Clone, Copy, Debug)]
pub struct Epsilons {
    /// Single stages.
    pub stage: Epsilon,
    /// The moments: their loss is reached in the tails, which a larger ε brings nearer.
    pub moments: Epsilon,
    /// Whole fits, which divide theirs among their stages.
    pub whole: Epsilon,
}

impl Default for Epsilons {
    fn default() -> Self {
        Epsilons { stage: whole_number(1), moments: whole_number(3), whole: whole_number(2) }
    }
}

impl Epsilons {
    /// The same everywhere.
    pub fn all(epsilon: Epsilon) -> Epsilons {
        Epsilons { stage: epsilon, moments: epsilon, whole: epsilon }
    }
}

fn whole_number(value: u128) -> Epsilon {
    Epsilon::new(Ratio::whole(value)).expect("an ε within its range")
}

/// Every stage and every whole fit, as they are shipped.
pub fn shipped(epsilons: &Epsilons) -> Vec<Trial> {
    stages::all(epsilons).into_iter().chain(whole::all(epsilons)).collect()
}
