//! Which of the drawn rows are kept, so that strata are mixed everywhere as they were counted.
//!
//! A tree of questions divides the rows; the released counts say how many rows of each stratum every leaf should have, a
//! trial draw how many it would get. A row is kept with a probability proportional to the one over the other, and drawn
//! again otherwise. Post-processing: only released numbers enter.

use super::grow::code;
use super::{Draw, Release};
use crate::schema::Schema;
use crate::tally::Forks;
use serde::{Deserialize, Serialize};

/// A tree, and for each stratum the probability with which a row in each leaf is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sieve {
    /// The questions.
    pub forks: Forks,
    /// One list for each stratum, one number for each leaf.
    pub keep: Vec<Vec<f64>>,
}

/// Rows of the trial for each leaf, its rows at least, and its numbers at most.
const ROWS_A_LEAF: usize = 200;
const LEAST_TRIAL: usize = 65_536;
const MOST_NUMBERS: usize = 1 << 25;
/// Any fixed number but that of the trial on which the tree was grown.
const TRIAL_SEED: u64 = 2;
/// A stratum never has more than so many times the rows in a leaf that were drawn there, and never fewer than this part.
const MOST: f64 = 8.0;
const LEAST: f64 = 0.05;
/// A leaf says how wrong the model is where more than so many deviations of the noise are expected in it.
const HEARD: f64 = 2.0;
/// The part of a stratum's rows whose weights may be cut.
const CUT: f64 = 0.02;
/// So many rows of the trial in a leaf are as good as the counts.
const TRIED: f64 = 8.0;

impl Sieve {
    /// A sieve after which the strata have as many rows in each leaf as `counts` say: leaf by leaf for one stratum after
    /// the other, each with a noise of deviation σ.
    ///
    /// *How far to go.* The model expects m rows where c were counted. Let the model be wrong by a factor of variance ρ²,
    /// the same everywhere: `E (c − m)² = ρ² m² + m + σ²`, and ρ² follows from the leaves in which enough are expected. The best guess is
    /// then `m + g (c − m)` with `g = ρ² m²/(ρ² m² + σ²)`: a model that is right as far as can be heard is left alone.
    pub(crate) fn new(release: &Release, schema: &Schema, forks: Forks, counts: &[f64], noise: f64) -> Sieve {
        let leaves = forks.leaves();
        let tried = trial(release, schema, &forks);
        let expected: Vec<f64> = (tried.chunks_exact(leaves).enumerate())
            .flat_map(|(s, tried)| {
                let facets = release.facets.count();
                let leaves = (s * facets..(s + 1) * facets).flat_map(|part| release.measure.leaves(part));
                let rows: u64 = leaves.map(|(_, count)| count).sum();
                let part = rows as f64 / tried.iter().sum::<f64>().max(1.0);
                tried.iter().map(move |t| t * part).collect::<Vec<f64>>()
            })
            .collect();
        let heard = counts.iter().zip(&expected).filter(|(_, m)| **m > HEARD * noise);
        let wrong: Vec<f64> = heard.map(|(c, m)| ((c - m) * (c - m) - m - noise * noise) / (m * m)).collect();
        let wrong = (wrong.iter().sum::<f64>() / wrong.len().max(1) as f64).clamp(0.0, 1.0);
        let weight = |((c, m), t): ((&f64, &f64), &f64)| {
            if *m <= 0.0 {
                return 1.0;
            }
            let model = wrong * m * m;
            let go = model / (model + noise * noise).max(f64::MIN_POSITIVE) * t / (t + TRIED);
            (1.0 + go * (c - m) / m).clamp(LEAST, MOST)
        };
        let weights: Vec<f64> = counts.iter().zip(&expected).zip(&tried).map(weight).collect();
        let keep = weights.chunks_exact(leaves).zip(tried.chunks_exact(leaves)).map(|(weights, tried)| {
            let most = largest(weights, tried);
            // Three digits are more than the counts deserve, and short in a file.
            weights.iter().map(|w| (1000.0 * (w / most).min(1.0)).round() / 1000.0).collect()
        });
        Sieve { keep: keep.collect(), forks }
    }

    /// The probability with which a row of a stratum of the schema is kept.
    pub(super) fn keep(&self, stratum: usize, row: &[f64]) -> f64 {
        let leaf = self.forks.leaf(|at| code(row[at]));
        self.keep.get(stratum).and_then(|keep| keep.get(leaf)).copied().unwrap_or(1.0)
    }

    /// What drawing relies on; rows have `width` coordinates.
    pub(super) fn fits(&self, width: usize, strata: usize) -> bool {
        let leaves = self.forks.leaves();
        let probability = |keep: &f64| (0.0..=1.0).contains(keep);
        let list = |keep: &Vec<f64>| keep.len() == leaves && keep.iter().all(probability);
        self.forks.fit(width) && self.keep.len() == strata && self.keep.iter().all(list)
    }
}

/// The weight of rows that are always kept. The largest would do; but one small leaf would then make all others wait, so
/// the largest weights are cut where they concern only a small part of the rows.
fn largest(weights: &[f64], tried: &[f64]) -> f64 {
    let mut leaves: Vec<(f64, f64)> = weights.iter().zip(tried).map(|(w, t)| (*w, w * t)).collect();
    leaves.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all: f64 = leaves.iter().map(|leaf| leaf.1).sum();
    let mut before = 0.0;
    let enough = leaves.iter().find(|leaf| {
        before += leaf.1;
        before > CUT * all
    });
    enough.map_or(1.0, |leaf| leaf.0).max(LEAST)
}

/// How many rows of a draw fall into each leaf, leaf by leaf for one stratum after the other.
fn trial(release: &Release, schema: &Schema, forks: &Forks) -> Vec<f64> {
    let (width, leaves) = (schema.width(), forks.leaves());
    let rows = (ROWS_A_LEAF * leaves).max(LEAST_TRIAL).min(MOST_NUMBERS / width.max(1));
    let draw = Draw::new(release, width, rows as u64, TRIAL_SEED);
    let facets = release.facets.count();
    let mut tried = vec![0.0; leaves * schema.strata()];
    for block in 0..draw.blocks() {
        let drawn = draw.block(block);
        for (row, &stratum) in drawn.units.chunks_exact(width).zip(&drawn.strata) {
            tried[stratum as usize / facets * leaves + forks.leaf(|at| code(row[at]))] += 1.0;
        }
    }
    tried
}
