//! Which of the drawn rows are kept, so that rows are where they were counted.
//!
//! A partition divides the rows; released counts say how many rows every cell should have, a pool of drawn rows how many
//! it would get. A row is kept with a probability proportional to the one over the other, and drawn again otherwise.
//! Post-processing: only released numbers enter.

use super::Pool;
use super::grow::code;
use crate::tally::{Forks, SiteIndex, Sites};
use serde::{Deserialize, Serialize};

/// A partition, and how often a row of each cell is kept: the products of all sieves are probabilities once they are cut
/// at 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sieve {
    /// The leaves of a tree of questions, in every stratum.
    Tree {
        /// The questions.
        forks: Forks,
        /// One list for each stratum, one number for each leaf.
        keep: Vec<Vec<f64>>,
    },
    /// Sites, of which every row belongs to the nearest.
    Sites {
        /// The sites.
        sites: Sites,
        /// One number for each.
        keep: Vec<f64>,
    },
}

/// What looking up a site needs.
pub(super) struct Prepared {
    index: Option<SiteIndex>,
}

/// The part of all rows whose weights may be cut: a few rows with large weights would make all others wait.
const CUT: f64 = 0.02;
/// No row is kept less often than this part of those that are kept most, nor more often than this.
const LEAST: f64 = 1e-3;
const MOST: f64 = 1e6;

impl Sieve {
    /// Divides the factors of the first sieve, stratum by stratum, so that rows are kept as often as can be. `pool` has the
    /// products of all factors as weights.
    pub(crate) fn normalise(sieves: &mut [Sieve], pool: &Pool, strata: usize) {
        let most: Vec<f64> = (0..strata).map(|s| cut(pool, s)).collect();
        let short = |x: f64| (1e4 * x.clamp(0.0, MOST)).round() / 1e4;
        for (number, sieve) in sieves.iter_mut().enumerate() {
            let over = |s: usize| if number == 0 { most[s.min(strata - 1)] } else { 1.0 };
            match sieve {
                Sieve::Tree { keep, .. } => {
                    for (s, keep) in keep.iter_mut().enumerate() {
                        keep.iter_mut().for_each(|w| *w = short(w.max(LEAST) / over(s)));
                    }
                }
                Sieve::Sites { sites, keep } => {
                    let width = sites.scores.len().max(1);
                    let mut first = 0;
                    for group in &sites.groups {
                        let size = group.sites.len() / width;
                        let by = over(group.stratum as usize);
                        keep[first..first + size].iter_mut().for_each(|w| *w = short(w.max(LEAST) / by));
                        first += size;
                    }
                }
            }
        }
    }

    pub(super) fn prepare(&self, strata: usize) -> Prepared {
        let index = match self {
            Sieve::Tree { .. } => None,
            Sieve::Sites { sites, .. } => Some(sites.index(strata)),
        };
        Prepared { index }
    }

    /// How often a row of a stratum is kept.
    pub(super) fn keep(&self, prepared: &Prepared, stratum: usize, row: &[f64], scratch: &mut Scratch) -> f64 {
        match (self, &prepared.index) {
            (Sieve::Tree { forks, keep }, _) => {
                let leaf = forks.leaf(|at| code(row[at]));
                keep.get(stratum).and_then(|keep| keep.get(leaf)).copied().unwrap_or(1.0)
            }
            (Sieve::Sites { sites, keep }, Some(index)) => {
                scratch.codes.clear();
                scratch.codes.extend(row.iter().map(|&unit| code(unit)));
                scratch.scores.resize(row.len(), 0);
                scratch.point.resize(row.len(), 0);
                sites.on_grid(&scratch.codes, &mut scratch.scores, &mut scratch.point);
                keep.get(sites.nearest(index, &scratch.point, stratum)).copied().unwrap_or(1.0)
            }
            (Sieve::Sites { .. }, None) => 1.0,
        }
    }

    /// What drawing relies on; rows have `width` coordinates.
    pub(super) fn fits(&self, width: usize, strata: usize) -> bool {
        let factor = |keep: &f64| (0.0..=MOST).contains(keep);
        match self {
            Sieve::Tree { forks, keep } => {
                let list = |keep: &Vec<f64>| keep.len() == forks.leaves() && keep.iter().all(factor);
                forks.fit(width) && keep.len() == strata && keep.iter().all(list)
            }
            Sieve::Sites { sites, keep } => {
                sites.fit(width, strata) && keep.len() == sites.len() && keep.iter().all(factor)
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

/// The weight above which a stratum has a small part of its rows.
fn cut(pool: &Pool, stratum: usize) -> f64 {
    let of = pool.strata.iter().zip(&pool.weights).filter(|(s, _)| **s as usize == stratum);
    let mut weights: Vec<f64> = of.map(|(_, weight)| *weight).collect();
    weights.sort_by(|a, b| b.total_cmp(a));
    let all: f64 = weights.iter().sum();
    let mut before = 0.0;
    let enough = weights.iter().find(|weight| {
        before += **weight;
        before > CUT * all
    });
    enough.copied().unwrap_or(1.0).max(LEAST)
}
