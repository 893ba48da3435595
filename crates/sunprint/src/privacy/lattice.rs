//! Counts of every cell of a lattice, stratum by stratum.
//!
//! Proof: docs/proofs.md, Lemma 20; docs/proofs.md, Lemma 26.
//!
//! # Input
//! Public [`LatticeShares`] (how many cells each stratum has, and the weights of its two levels) and the counts.
//! # Output
//! For every cell its count, and for every stratum (where that level has a weight) the sum of its cells, each plus
//! independent integer noise.
//! # Sensitivity
//! A replaced row leaves one cell and enters another: two counts of cells move by one, and at most two counts of
//! strata. The total is public.
//! # Privacy
//! Let `root + cells ≤ total`.
//!
//! *Pure.* A level of weight w gets Lap_Z(2·total/(ε·w)): a count that moves by one costs ε·w/(2·total), the two of a
//! level ε·w/total, both levels together at most ε. With one stratum the whole weight is the cells': Lap_Z(2/ε).
//!
//! *Concentrated.* Variance total/(ρ·w): two counts that move by one cost 2/(2σ²) = ρ·w/total; both levels, at most ρ.
//!
//! Cells are drawn whether or not they are empty: the lattice is public.
//! # Accuracy
//! The nearest measure decides; see the measure.
//! # Paper
//! Algorithm 5 (PSMM). It prints Lap_Z(1/ε), for which the loss is 2ε, since two cells move.

use num_bigint::BigUint;

use super::budget::Charge;
use super::kernel::{Entry, Kernel};
use super::noise::Law;
use super::scale::{Sampler, noisy};
use super::sensitive::{Released, Sensitive};
use crate::error::{Error, Kind, Result};
use crate::wipe::Wiped;

/// The public shape of the counts, and how the charge is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatticeShares {
    /// What the two weights may add up to.
    pub total: u64,
    /// The weight of the strata's own counts; 0 where these are not released.
    pub root: u64,
    /// The weight of the cells.
    pub cells: u64,
    /// How many cells each stratum has.
    pub sizes: Vec<usize>,
}

/// The noisy counts of one stratum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StratumCells {
    /// The stratum's own count; none where the level of strata has no weight.
    pub root: Option<i64>,
    /// The cells.
    pub cells: Vec<i64>,
}

/// The noise of both levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatticeLaws {
    /// That of the strata's own counts, where they are released.
    pub root: Option<Law>,
    /// That of the cells.
    pub cells: Law,
}

impl Kernel {
    /// Releases the counts of all cells. `counts` lists them for one stratum after another.
    ///
    /// # Errors
    /// [`Kind::Budget`] for a zero charge, weights above the total, cells without a weight, or noise beyond 128 bits;
    /// [`Kind::Protocol`] where the number of counts does not fit.
    pub fn lattice_counts(
        &mut self,
        stage: &str,
        shares: &LatticeShares,
        counts: Sensitive<Vec<u64>>,
        charge: Charge,
    ) -> Result<Released<Vec<StratumCells>, LatticeLaws>> {
        Kernel::admit(&charge, 1)?;
        if shares.cells == 0 || shares.root.checked_add(shares.cells).is_none_or(|sum| sum > shares.total) {
            return Err(Error::new(
                Kind::Budget,
                "the cells need a positive weight, and the weights must add up to at most the total",
            ));
        }
        let counts = Wiped(counts.open());
        let wanted = shares.sizes.iter().try_fold(0_usize, |sum, &size| sum.checked_add(size));
        if wanted != Some(counts.len()) {
            return Err(Error::new(Kind::Protocol, "the counts must have one number for each cell of the lattice"));
        }
        let twice = BigUint::from(shares.total) * 2u32;
        let cells = Sampler::weighted(charge.price(), &twice, shares.cells)?;
        let root = match shares.root {
            0 => None,
            weight => Some(Sampler::weighted(charge.price(), &twice, weight)?),
        };
        let noise = match &root {
            Some(root) => format!("strata: {}; cells: {}", root.describe(), cells.describe()),
            None => format!("cells: {}", cells.describe()),
        };
        let levels = 1 + usize::from(root.is_some());
        let sensitivity = format!("one count down and one up, by 1, on each of {levels} released levels");
        let mut coins = self.spend(Entry { stage, mechanism: "lattice counts", sensitivity, noise }, &charge)?;

        let mut rest = counts.as_slice();
        let mut released = Vec::with_capacity(shares.sizes.len());
        for &size in &shares.sizes {
            let (mine, others) = rest.split_at(size);
            rest = others;
            // A saturating sum moves by no more than its parts do.
            let sum = mine.iter().fold(0_u64, |sum, &count| sum.saturating_add(count));
            let root = root.as_ref().map(|sampler| noisy(coins.as_deref_mut(), sampler, &[sum])[0]);
            released.push(StratumCells { root, cells: noisy(coins.as_deref_mut(), &cells, mine) });
        }
        let laws = LatticeLaws { root: root.as_ref().map(Sampler::law), cells: cells.law() };
        Ok(Released::new(released, laws))
    }
}
