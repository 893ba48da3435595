//! Noisy counts become a measure: non-negative integers that add up to n.

use super::shape::{Measure, StratumTree, TreeMeasure};
use crate::math::rounding::Expected;
use crate::math::{rounding, tree};
use crate::privacy::{PathTree, Privacy, StratumCounts};

/// Which rule makes the counts consistent.
#[derive(Clone, Debug, PartialEq)]
pub enum Consistency {
    /// Weighted least squares on the tree, then the difference rule.
    LeastSquares,
    /// The same, drawn towards what is expected where the noise is larger than the counts.
    Expecting {
        /// What is expected of each stratum.
        expected: Vec<Expected>,
        /// How far a node may be from it.
        beta: f64,
    },
    /// The paper's: top down, in proportion.
    Proportional,
}

/// Makes released counts consistent. `amount` is the measure's ε or ρ.
pub fn consistent(
    counts: &[StratumCounts],
    tree: &PathTree,
    cuts: Vec<u16>,
    rows: u64,
    amount: f64,
    privacy: Privacy,
    rule: &Consistency,
) -> Measure {
    // Lap_Z(σ) has variance close to 2σ² = 8/(ε w)²; the Gaussian 1/(ρ w).
    let variance = |weight: u64| {
        let fraction = weight as f64 / tree.total as f64;
        match privacy {
            Privacy::Pure => 8.0 / (amount * fraction).powi(2),
            Privacy::Concentrated => 1.0 / (amount * fraction),
        }
    };
    let noisy: Vec<tree::NoisyStratum> = counts
        .iter()
        .zip(&tree.strata)
        .map(|(stratum, weights)| tree::NoisyStratum {
            root: stratum.root.map(|count| (count as f64, variance(tree.root))),
            levels: stratum
                .levels
                .iter()
                .zip(weights)
                .map(|(level, &weight)| tree::NoisyLevel {
                    counts: level.iter().map(|&count| count as f64).collect(),
                    variance: variance(weight),
                })
                .collect(),
        })
        .collect();
    let leaves = match rule {
        Consistency::LeastSquares => rounding::difference_rule(rows, &tree::least_squares(rows as f64, &noisy)),
        Consistency::Expecting { expected, beta } => {
            rounding::expected_difference_rule(rows, &tree::least_squares(rows as f64, &noisy), expected, *beta)
        }
        Consistency::Proportional => rounding::proportional(rows, &noisy),
    };
    let strata = leaves
        .into_iter()
        .zip(&tree.strata)
        .map(|(leaves, levels)| StratumTree { depth: levels.len() as u8, leaves: occupied(leaves) })
        .collect();
    Measure::Tree(TreeMeasure { cuts, strata })
}

/// The cells that hold rows.
pub(super) fn occupied(counts: Vec<u64>) -> Vec<(u64, u64)> {
    counts.into_iter().enumerate().filter(|cell| cell.1 > 0).map(|(i, count)| (i as u64, count)).collect()
}
