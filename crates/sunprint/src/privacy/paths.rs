//! Counts of every cell of a binary partition, stratum by stratum and level by level.
//!
//! Proof: docs/proofs.md, Lemma 15; docs/proofs.md, Lemma 26.
//!
//! # Input
//! A public [`PathTree`] (strata, depths, weights) and the counts of the leaves.
//! # Output
//! For every node of every released level: its count (the sum of its leaves) plus independent integer noise.
//! # Sensitivity
//! A replaced row leaves one leaf and enters another. The counts on the path from its stratum to the old leaf fall by
//! one, those on the path to the new leaf rise by one (nodes on both paths do not move). The total is public.
//! # Privacy
//! Let level weights w along every path add up to at most `total`.
//!
//! *Pure.* A level of weight w gets Lap_Z(2·total/(ε·w)): a count that moves by one costs ε·w/(2·total). The old path
//! costs at most ε/2, the new path at most ε/2: together at most ε, whatever the depths and weights of the two strata.
//!
//! *Concentrated.* Variance total/(ρ·w): a count that moves by one costs 1/(2σ²) = ρ·w/(2·total); both paths, at most ρ.
//!
//! Nodes are drawn whether or not they are empty: the set of released nodes is public.
//! # Accuracy
//! The tree's consistency step decides; see the measure.
//! # Paper
//! He, Vershynin, Zhu (2023), PMM: there the noise of level j is σ_j = ε⁻¹2^{(1/2)(1−1/d′)(r−j)}, for which the loss is
//! several times ε. Here the condition 2·Σ 1/σ_j ≤ ε is kept by construction, in integers.

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use super::budget::Charge;
use super::entropy::Entropy;
use super::kernel::{Entry, Kernel};
use super::noise::Law;
use super::scale::{Sampler, noisy};
use super::sensitive::{Released, Sensitive};
use crate::error::{Error, Kind, Result};
use crate::wipe::Wiped;

/// The public shape of the counts: which levels are released, and how the charge is divided among them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathTree {
    /// What the weights along a path may add up to.
    pub total: u64,
    /// The weight of the level of strata; 0 where the strata's own counts are not released.
    pub root: u64,
    /// `strata[s][j]`: the weight of level j + 1 of stratum s, which has 2^(j+1) nodes; the depth is the length.
    pub strata: Vec<Vec<u64>>,
}

/// The noisy counts of one stratum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StratumCounts {
    /// The stratum's own count; none where the level of strata has no weight.
    pub root: Option<i64>,
    /// `levels[j]`: the 2^(j+1) counts of level j + 1; the children of node i are nodes 2i and 2i + 1 one level down.
    pub levels: Vec<Vec<i64>>,
}

/// The noise of all levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathLaws {
    /// That of the strata's own counts, where they are released.
    pub root: Option<Law>,
    /// `strata[s][j]`: that of level j + 1 of stratum s.
    pub strata: Vec<Vec<Law>>,
}

/// Deeper trees would not fit in memory.
const DEEPEST: usize = 40;

impl PathTree {
    /// How many leaves there are in all.
    pub fn leaves(&self) -> usize {
        let leaves = |depth: usize| u32::try_from(depth).ok().and_then(|depth| 1usize.checked_shl(depth));
        self.strata.iter().fold(0, |sum, weights| sum.saturating_add(leaves(weights.len()).unwrap_or(usize::MAX)))
    }

    /// # Errors
    /// [`Kind::Budget`] where the weights of a path exceed the total, or a released level has none.
    pub fn check(&self) -> Result<()> {
        for weights in &self.strata {
            let path = weights.iter().try_fold(self.root, |sum, &weight| sum.checked_add(weight));
            if path.is_none_or(|path| path > self.total) {
                return Err(Error::new(Kind::Budget, "the weights of every path must add up to at most the total"));
            }
            if weights.contains(&0) || weights.len() > DEEPEST {
                return Err(Error::new(
                    Kind::Budget,
                    "every released level needs a positive weight, at most 40 levels",
                ));
            }
        }
        Ok(())
    }
}

impl Kernel {
    /// Releases the counts of all nodes. `leaves` lists 2^depth counts for each stratum, one stratum after another.
    ///
    /// # Errors
    /// [`Kind::Budget`] for a zero charge, weights above the total, or noise beyond 128 bits; [`Kind::Protocol`] where
    /// the number of leaves does not fit the tree.
    pub fn path_counts(
        &mut self,
        stage: &str,
        tree: &PathTree,
        leaves: Sensitive<Vec<u64>>,
        charge: Charge,
    ) -> Result<Released<Vec<StratumCounts>, PathLaws>> {
        tree.check()?;
        Kernel::admit(&charge, 1)?;
        let leaves = Wiped(leaves.open());
        if leaves.len() != tree.leaves() {
            return Err(Error::new(Kind::Protocol, "the counts must have one leaf for each path of the tree"));
        }
        // Pure: scale 2·total/(ε·w). Concentrated: variance total/(ρ·w) = 2·total/(2ρ·w).
        let twice = BigUint::from(tree.total) * 2u32;
        let sampler = |weight: u64| Sampler::weighted(charge.price(), &twice, weight);
        let root = if tree.root == 0 { None } else { Some(sampler(tree.root)?) };
        let strata = tree
            .strata
            .iter()
            .map(|weights| weights.iter().map(|&weight| sampler(weight)).collect::<Result<Vec<_>>>())
            .collect::<Result<Vec<_>>>()?;

        let levels = tree.strata.iter().map(Vec::len).max().unwrap_or(0);
        let noise = match &root {
            Some(root) => format!("strata: {}; {}", root.describe(), describe(&strata)),
            None => describe(&strata),
        };
        let sensitivity = format!(
            "one count down and one up, by 1, on each of {} released levels",
            levels + usize::from(root.is_some())
        );
        let mut coins = self.spend(Entry { stage, mechanism: "path counts", sensitivity, noise }, &charge)?;

        let mut rest = leaves.as_slice();
        let mut released = Vec::with_capacity(strata.len());
        for samplers in &strata {
            let (mine, others) = rest.split_at(1 << samplers.len());
            rest = others;
            released.push(stratum(coins.as_deref_mut(), root.as_ref(), samplers, mine));
        }
        let laws = |samplers: &Vec<Sampler>| samplers.iter().map(Sampler::law).collect();
        let laws = PathLaws { root: root.as_ref().map(Sampler::law), strata: strata.iter().map(laws).collect() };
        Ok(Released::new(released, laws))
    }
}

/// Sums upwards from the leaves, then adds noise to every node.
fn stratum(
    mut coins: Option<&mut Entropy>,
    root: Option<&Sampler>,
    samplers: &[Sampler],
    leaves: &[u64],
) -> StratumCounts {
    let mut counts = Wiped(leaves.to_vec());
    let mut levels = Vec::with_capacity(samplers.len());
    for sampler in samplers.iter().rev() {
        levels.push(noisy(coins.as_deref_mut(), sampler, &counts));
        // A saturating sum moves by no more than its parts do.
        counts = Wiped(counts.chunks_exact(2).map(|pair| pair[0].saturating_add(pair[1])).collect());
    }
    levels.reverse();
    let root = root.map(|sampler| noisy(coins, sampler, &counts)[0]);
    StratumCounts { root, levels }
}

/// The noise of the levels of the first stratum with the most of them; the others follow from the weights.
fn describe(strata: &[Vec<Sampler>]) -> String {
    let deepest = strata.iter().max_by_key(|samplers| samplers.len());
    let levels = deepest.map(|samplers| samplers.iter().map(Sampler::describe).collect::<Vec<_>>());
    format!("levels of the deepest stratum: {}", levels.unwrap_or_default().join("; "))
}
