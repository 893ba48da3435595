//! Models of formats 4 to 6: which of the drawn rows are kept, so that strata are mixed everywhere as they were counted.
//!
//! A tree of questions divides the rows. A row is kept with a probability of its leaf, and drawn again otherwise. Today's
//! models weigh candidates instead.

use super::grow::code;
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

/// No number of a sieve is larger.
const MOST: f64 = 8.0;

impl Sieve {
    /// How often a row of a stratum of the schema is kept.
    pub(super) fn keep(&self, stratum: usize, row: &[f64]) -> f64 {
        let leaf = self.forks.leaf(|at| code(row[at]));
        self.keep.get(stratum).and_then(|keep| keep.get(leaf)).copied().unwrap_or(1.0)
    }

    /// What drawing relies on; rows have `width` coordinates.
    pub(super) fn fits(&self, width: usize, strata: usize) -> bool {
        let leaves = self.forks.leaves();
        let factor = |keep: &f64| (0.0..=MOST).contains(keep);
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
