//! Which of the drawn rows are kept, so that strata are mixed everywhere as they were counted.
//!
//! A tree of questions divides the rows; the released counts say how many rows of each stratum every leaf should have, a
//! trial draw how many it would get. A row is kept with a probability proportional to the one over the other, and drawn
//! again otherwise. Post-processing: only released numbers enter.

use super::grow::code;
use super::heard::{self, LEAST};
use super::{Draw, Release};
use crate::schema::Schema;
use crate::tally::Forks;
use serde::{Deserialize, Serialize};

/// A tree, and for each stratum how often a row in each leaf is kept: a probability, after the numbers of all sieves were
/// multiplied and cut at 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sieve {
    /// The questions.
    pub forks: Forks,
    /// One list for each stratum, one number for each leaf.
    pub keep: Vec<Vec<f64>>,
}

/// Rows of the trial for each leaf, its rows at least, and its numbers at most.
const ROWS_A_LEAF: usize = 600;
const LEAST_TRIAL: usize = 65_536;
const MOST_NUMBERS: usize = 1 << 25;
/// Any fixed number but that of the trial on which the tree was grown.
const TRIAL_SEED: u64 = 2;
/// The part of a stratum's rows whose weights may be cut.
const CUT: f64 = 0.02;

impl Sieve {
    /// A sieve after which the strata have as many rows in each leaf as were counted, leaf by leaf for one stratum after the
    /// other, with a noise of deviation σ. How far it goes: [`heard`]. The release has none yet.
    pub(crate) fn of(release: &Release, schema: &Schema, forks: &Forks, counts: &[f64], noise: f64) -> Sieve {
        let leaves = forks.leaves();
        let tried = trial(release, schema, forks);
        let expected: Vec<f64> = (tried.chunks_exact(leaves).enumerate())
            .flat_map(|(s, tried)| {
                let part = release.measure.rows(s) as f64 / tried.iter().sum::<f64>().max(1.0);
                tried.iter().map(move |t| t * part)
            })
            .collect();
        let factors = heard::weights(forks, counts, &expected, &tried, noise);
        let own = factors.chunks_exact(leaves).zip(tried.chunks_exact(leaves));
        let keep = own.map(|(factors, tried)| normalised(factors, tried)).collect();
        Sieve { forks: forks.clone(), keep }
    }

    /// How often a row of a stratum of the schema is kept.
    pub(super) fn keep(&self, stratum: usize, row: &[f64]) -> f64 {
        let leaf = self.forks.leaf(|at| code(row[at]));
        self.keep.get(stratum).and_then(|keep| keep.get(leaf)).copied().unwrap_or(1.0)
    }

    /// What drawing relies on; rows have `width` coordinates.
    pub(super) fn fits(&self, width: usize, strata: usize) -> bool {
        let leaves = self.forks.leaves();
        let factor = |keep: &f64| (0.0..=heard::MOST).contains(keep);
        let list = |keep: &Vec<f64>| keep.len() == leaves && keep.iter().all(factor);
        self.forks.fit(width) && self.keep.len() == strata && self.keep.iter().all(list)
    }
}

/// In a file one sieve stands by itself, as it did when there was never more than one.
pub(super) mod one_or_several {
    use super::Sieve;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(Sieve),
        Several(Vec<Sieve>),
    }

    pub fn serialize<S: Serializer>(sieves: &[Sieve], to: S) -> Result<S::Ok, S::Error> {
        match sieves {
            [one] => one.serialize(to),
            several => several.serialize(to),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Sieve>, D::Error> {
        Ok(match Written::deserialize(from)? {
            Written::One(one) => vec![one],
            Written::Several(several) => several,
        })
    }
}

/// How many rows of a trial draw fall into each leaf, for one stratum after the other.
fn trial(release: &Release, schema: &Schema, forks: &Forks) -> Vec<f64> {
    let (width, leaves) = (schema.width(), forks.leaves());
    let rows = (ROWS_A_LEAF * leaves).max(LEAST_TRIAL).min(MOST_NUMBERS / width.max(1));
    let draw = Draw::new(release, width, rows as u64, TRIAL_SEED);
    let mut tried = vec![0.0; leaves * schema.strata()];
    draw.each(|drawn| {
        for (row, &stratum) in drawn.units.chunks_exact(width).zip(&drawn.strata) {
            tried[stratum as usize * leaves + forks.leaf(|at| code(row[at]))] += 1.0;
        }
    });
    tried
}

/// A stratum's factors, divided so that rows are kept as often as can be; `tried` rows have each of them.
///
/// Rows with the largest factor could be kept always, and all others in proportion; but a few such rows would make all
/// others wait. So factors are cut where they concern only a small part of the rows.
pub(super) fn normalised(factors: &[f64], tried: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<(f64, f64)> = factors.iter().copied().zip(tried.iter().copied()).collect();
    sorted.retain(|(_, rows)| *rows > 0.0);
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all: f64 = sorted.iter().map(|(factor, rows)| factor * rows).sum();
    let mut before = 0.0;
    let enough = sorted.iter().find(|(factor, rows)| {
        before += factor * rows;
        before > CUT * all
    });
    let most = enough.map_or(1.0, |(factor, _)| *factor).max(LEAST);
    // A few digits are more than the counts deserve, and short in a file.
    factors.iter().map(|w| (1e3 * (w / most).min(1.0)).round() / 1e3).collect()
}
