//! Noisy counts become a measure: non-negative integers that add up to n.

use super::shape::{Measure, StratumTree, TreeMeasure};
use crate::math::rounding::Expected;
use crate::math::{rounding, tree};
use crate::privacy::{Law, PathLaws, StratumCounts};

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

/// Makes released counts consistent.
pub fn consistent(counts: &[StratumCounts], laws: &PathLaws, cuts: Vec<u16>, rows: u64, rule: &Consistency) -> Measure {
    let level = |(level, law): (&Vec<i64>, &Law)| tree::NoisyLevel {
        counts: level.iter().map(|&count| count as f64).collect(),
        variance: law.variance(),
    };
    let noisy: Vec<tree::NoisyStratum> = counts
        .iter()
        .zip(&laws.strata)
        .map(|(stratum, of_levels)| tree::NoisyStratum {
            root: stratum.root.zip(laws.root).map(|(count, law)| (count as f64, law.variance())),
            levels: stratum.levels.iter().zip(of_levels).map(level).collect(),
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
        .zip(&laws.strata)
        .map(|(leaves, levels)| StratumTree { depth: levels.len() as u8, leaves: occupied(leaves) })
        .collect();
    Measure::Tree(TreeMeasure { cuts, strata })
}

/// The cells that hold rows.
pub(super) fn occupied(counts: Vec<u64>) -> Vec<(u64, u64)> {
    counts.into_iter().enumerate().filter(|cell| cell.1 > 0).map(|(i, count)| (i as u64, count)).collect()
}
