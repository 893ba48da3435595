//! How much candidates weigh, so that rows are where they were counted.
//!
//! A partition divides the rows; released counts say how many rows every cell should have, the candidates how many it would
//! get. A candidate weighs the one over the other, as far as it can be heard. Post-processing: only released numbers enter.

use super::grow::code;
use crate::tally::{Forks, SiteIndex, Sites};
use serde::{Deserialize, Serialize};

/// A partition, and how much a candidate in each cell weighs; the weights of several sieves are multiplied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sieve {
    /// The leaves of a tree of questions, in every stratum.
    Tree {
        /// The questions.
        forks: Forks,
        /// One list for each stratum, one number for each leaf.
        weights: Vec<Vec<f64>>,
    },
    /// Sites, of which every row belongs to the nearest.
    Sites {
        /// The sites.
        sites: Sites,
        /// One number for each.
        weights: Vec<f64>,
    },
}

/// What looking up a site needs.
pub(super) struct Prepared {
    index: Option<SiteIndex>,
}

/// No candidate weighs less than this, nor more than that.
const LEAST: f64 = 1e-3;
const MOST: f64 = 1e6;

/// Weights as they stand in a file: a few digits are more than the counts deserve.
pub(crate) fn short(weights: Vec<f64>) -> Vec<f64> {
    weights.into_iter().map(|w| (1e4 * w.clamp(LEAST, MOST)).round() / 1e4).collect()
}

impl Sieve {
    pub(super) fn prepare(&self, strata: usize) -> Prepared {
        let index = match self {
            Sieve::Tree { .. } => None,
            Sieve::Sites { sites, .. } => Some(sites.index(strata)),
        };
        Prepared { index }
    }

    /// How much a row of a stratum weighs.
    pub(super) fn weight(&self, prepared: &Prepared, stratum: usize, row: &[f64], scratch: &mut Scratch) -> f64 {
        match (self, &prepared.index) {
            (Sieve::Tree { forks, weights }, _) => {
                let leaf = forks.leaf(|at| code(row[at]));
                weights.get(stratum).and_then(|weights| weights.get(leaf)).copied().unwrap_or(1.0)
            }
            (Sieve::Sites { sites, weights }, Some(index)) => {
                scratch.codes.clear();
                scratch.codes.extend(row.iter().map(|&unit| code(unit)));
                scratch.scores.resize(row.len(), 0);
                scratch.point.resize(row.len(), 0);
                sites.on_grid(&scratch.codes, &mut scratch.scores, &mut scratch.point);
                weights.get(sites.nearest(index, &scratch.point, stratum)).copied().unwrap_or(1.0)
            }
            (Sieve::Sites { .. }, None) => 1.0,
        }
    }

    /// What drawing relies on; rows have `width` coordinates.
    pub(super) fn fits(&self, width: usize, strata: usize) -> bool {
        let factor = |weight: &f64| (0.0..=MOST).contains(weight);
        match self {
            Sieve::Tree { forks, weights } => {
                let list = |list: &Vec<f64>| list.len() == forks.leaves() && list.iter().all(factor);
                forks.fit(width) && weights.len() == strata && weights.iter().all(list)
            }
            Sieve::Sites { sites, weights } => {
                sites.fit(width, strata) && weights.len() == sites.len() && weights.iter().all(factor)
            }
        }
    }
}

/// Memory for one row.
#[derive(Default)]
pub(super) struct Scratch {
    codes: Vec<u16>,
    scores: Vec<i32>,
    point: Vec<i16>,
}
