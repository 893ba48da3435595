//! How deep to cut, and how much of the budget each level gets. Public: it sees sizes, never counts.
//!
//! Proof: docs/proofs.md, Lemma 16.

use super::partition::{Side, cuts, diameters};
use crate::privacy::{PathTree, Privacy};

/// What the allocation may know.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    /// n.
    pub rows: f64,
    /// The measure's ε, or its ρ.
    pub amount: f64,
    /// Which of the two.
    pub privacy: Privacy,
    /// Strata; the measure is split by them first.
    pub strata: usize,
    /// Weight of the noise term against the cell size when the depth is chosen.
    pub depth_noise: f64,
}

/// The cuts, each stratum's depth, and the weights that the kernel turns into noise.
#[derive(Clone, Debug)]
pub struct MeasurePlan {
    /// Which coordinate each cut halves.
    pub cuts: Vec<u16>,
    /// How many cuts are made in each stratum.
    pub depths: Vec<u8>,
    /// Integer weights of the levels.
    pub tree: PathTree,
}

/// All weights along a path add up to at most this.
const WHOLE: u64 = 1_000_000;
/// A tree never has more leaves than 2 to this, over all strata.
const DEEPEST: usize = 22;

impl Allocation {
    fn deepest(&self) -> usize {
        let strata = usize::BITS - self.strata.max(1).leading_zeros() - 1;
        DEEPEST - (strata as usize).min(DEEPEST - 1)
    }

    /// The noise of a level that gets this fraction of the amount.
    ///
    /// A replacement moves two counts of a level by one. Pure: `Lap_Z(σ)` with `2/σ = ε w`. zCDP: `1/σ² = ρ w`.
    fn sigma(&self, fraction: f64) -> f64 {
        match self.privacy {
            Privacy::Pure => 2.0 / (self.amount * fraction),
            Privacy::Concentrated => 1.0 / (self.amount * fraction).sqrt(),
        }
    }

    /// The best fractions for levels whose noise is multiplied by `costs` in the bound.
    ///
    /// `Σ σ_j D_j` is least, given `Σ 1/σ_j`, for `1/σ_j ∝ √D_j`; given `Σ 1/σ_j²`, for `1/σ_j² ∝ D_j^{2/3}`.
    fn fractions(&self, costs: &[f64]) -> Vec<f64> {
        let power = match self.privacy {
            Privacy::Pure => 0.5,
            Privacy::Concentrated => 2.0 / 3.0,
        };
        let weights: Vec<f64> = costs.iter().map(|cost| cost.powf(power)).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    /// `(1/2n) Σ_j (σ_j + 1) D_j`: the proven bound on what the noise moves.
    fn noise_bound(&self, costs: &[f64], share: f64, rows: f64) -> f64 {
        let fractions = self.fractions(costs);
        let moved: f64 = costs.iter().zip(&fractions).map(|(cost, f)| (self.sigma(f * share) + 1.0) * cost).sum();
        moved / (2.0 * rows)
    }

    /// `D_j` of the stratum level (if there is one) and of `depth` binary levels, over all strata.
    ///
    /// A binary level has `strata · 2^{j−1}` parents of diameter `diam_{j−1}`. The stratum level has one parent with L
    /// children; two children are one binary cut, so L of them count as L/2.
    fn costs(&self, diameters: &[f64], depth: usize) -> Vec<f64> {
        let strata = self.strata as f64;
        let root = (self.strata > 1).then(|| 0.5 * strata * diameters[0]);
        root.into_iter().chain((0..depth).map(|j| strata * (1_u64 << j) as f64 * diameters[j])).collect()
    }
}

/// The measure's proven error at its best depth: `E W1 ≤ (1/2n) Σ_j (σ_j + 1) D_j + diam_r`.
pub fn predicted_error(sides: &[Side], allocation: &Allocation) -> f64 {
    let deepest = allocation.deepest();
    let diameters = diameters(sides, deepest);
    (1..=deepest)
        .map(|depth| {
            allocation.noise_bound(&allocation.costs(&diameters, depth), 1.0, allocation.rows) + diameters[depth]
        })
        .fold(f64::INFINITY, f64::min)
}

/// Chooses cuts, depths and weights. `stratum_rows` are released estimates of the strata's sizes, or equal guesses.
///
/// The weight of the stratum level comes from the common depth; below it every stratum divides what is left among its
/// own levels, at its own depth: a replacement leaves one path and enters another, so the weights of each path must
/// add up to at most the whole.
pub fn plan_measure(sides: &[Side], allocation: &Allocation, stratum_rows: &[f64]) -> MeasurePlan {
    let deepest = allocation.deepest();
    let diameters = diameters(sides, deepest);
    let weigh = |noise: f64, depth: usize| allocation.depth_noise * noise + diameters[depth];
    let common = best_depth(deepest, |depth| {
        weigh(allocation.noise_bound(&allocation.costs(&diameters, depth), 1.0, allocation.rows), depth)
    });
    let root_share =
        if allocation.strata > 1 { allocation.fractions(&allocation.costs(&diameters, common))[0] } else { 0.0 };
    let root = (root_share * WHOLE as f64).floor() as u64;
    let alone = Allocation { strata: 1, ..*allocation };
    let mut depths = Vec::with_capacity(stratum_rows.len());
    let mut strata = Vec::with_capacity(stratum_rows.len());
    for &rows in stratum_rows {
        let depth = best_depth(deepest, |depth| {
            weigh(alone.noise_bound(&alone.costs(&diameters, depth), 1.0 - root_share, rows.max(1.0)), depth)
        });
        strata.push(weights(&alone.fractions(&alone.costs(&diameters, depth)), WHOLE - root));
        depths.push(depth as u8);
    }
    let most = depths.iter().copied().max().unwrap_or(1);
    MeasurePlan { cuts: cuts(sides, usize::from(most)), depths, tree: PathTree { total: WHOLE, root, strata } }
}

/// The paper's depth `⌈log₂ εn⌉` and levels `1/σ_j ∝ 2^{−½(1−1/k)(r−j)}`, scaled so that they are private.
pub fn plan_paper(sides: &[Side], allocation: &Allocation) -> MeasurePlan {
    let depth = (allocation.amount * allocation.rows).max(2.0).log2().ceil() as usize;
    let depth = depth.clamp(1, allocation.deepest());
    let slope = 0.5 * (1.0 - 1.0 / sides.len() as f64);
    let rate = |above_leaves: usize| (-slope * above_leaves as f64).exp2();
    let root_rate = if allocation.strata > 1 { rate(depth) } else { 0.0 };
    let rates: Vec<f64> = (1..=depth).map(|j| rate(depth - j)).collect();
    let sum: f64 = root_rate + rates.iter().sum::<f64>();
    let root = (root_rate / sum * WHOLE as f64).floor() as u64;
    let levels = weights(&rates.iter().map(|r| r / (sum - root_rate)).collect::<Vec<_>>(), WHOLE - root);
    MeasurePlan {
        cuts: cuts(sides, depth),
        depths: vec![depth as u8; allocation.strata],
        tree: PathTree { total: WHOLE, root, strata: vec![levels; allocation.strata] },
    }
}

fn best_depth(deepest: usize, error: impl Fn(usize) -> f64) -> usize {
    let mut best = (f64::INFINITY, 1);
    for depth in 1..=deepest {
        let error = error(depth);
        if error < best.0 {
            best = (error, depth);
        }
    }
    best.1
}

/// Fractions as integers of at least 1 that add up to at most `whole`.
fn weights(fractions: &[f64], whole: u64) -> Vec<u64> {
    let spare = whole.saturating_sub(fractions.len() as u64) as f64;
    fractions.iter().map(|fraction| 1 + (fraction * spare).floor() as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn box_of(k: usize) -> Vec<Side> {
        vec![Side { low: 0.0, width: 1.0 }; k]
    }

    fn allocation(rows: f64, strata: usize, privacy: Privacy) -> Allocation {
        Allocation { rows, amount: 0.5, privacy, strata, depth_noise: 0.5 }
    }

    #[test]
    fn no_path_gets_more_than_the_whole() {
        for privacy in [Privacy::Pure, Privacy::Concentrated] {
            for strata in [1, 2, 7] {
                for rows in [10.0, 1e3, 1e6] {
                    let allocation = allocation(rows, strata, privacy);
                    let sizes = vec![rows / strata as f64; strata];
                    for plan in [plan_measure(&box_of(3), &allocation, &sizes), plan_paper(&box_of(3), &allocation)] {
                        for (levels, &depth) in plan.tree.strata.iter().zip(&plan.depths) {
                            assert_eq!(levels.len(), usize::from(depth));
                            assert!(plan.tree.root + levels.iter().sum::<u64>() <= plan.tree.total);
                        }
                    }
                }
            }
        }
    }

    /// The allocation is the best one: moving a little weight between any two levels does not lower the bound.
    #[test]
    fn the_fractions_are_stationary() {
        for privacy in [Privacy::Pure, Privacy::Concentrated] {
            let allocation = allocation(1e4, 1, privacy);
            let costs = allocation.costs(&diameters(&box_of(2), 9), 9);
            let best = allocation.fractions(&costs);
            let bound = |f: &[f64]| costs.iter().zip(f).map(|(c, f)| allocation.sigma(*f) * c).sum::<f64>();
            for i in 0..9 {
                for j in 0..9 {
                    let mut moved = best.clone();
                    moved[i] += 1e-3;
                    moved[j] -= 1e-3;
                    assert!(bound(&moved) >= bound(&best) * (1.0 - 1e-12));
                }
            }
        }
    }

    #[test]
    fn more_rows_allow_more_depth_and_less_error() {
        let plan = |rows: f64| plan_measure(&box_of(2), &allocation(rows, 1, Privacy::Pure), &[rows]).depths[0];
        assert!(plan(1e3) < plan(1e5) && plan(1e5) < plan(1e7));
        let error = |rows: f64| predicted_error(&box_of(2), &allocation(rows, 1, Privacy::Pure));
        assert!(error(1e6) < error(1e4));
    }
}
