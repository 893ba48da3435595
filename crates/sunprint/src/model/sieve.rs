//! Which of the drawn rows are kept, so that strata are mixed everywhere as they were counted.
//!
//! A tree of questions divides the rows; the released counts say how many rows of each stratum every leaf should have, a
//! trial draw how many it would get. A row is kept with a probability proportional to the one over the other, and drawn
//! again otherwise. Post-processing: only released numbers enter.

use super::grow::code;
use super::heard::{self, LEAST};
use super::{Draw, Release};
use crate::schema::Schema;
use crate::source::Drawn;
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
/// So often is each of several sieves made anew for what the others keep.
const TURNS: u32 = 3;
/// The part of a stratum's rows whose weights may be cut.
const CUT: f64 = 0.02;

impl Sieve {
    /// Sieves after which the strata have as many rows in each leaf as the trees say, each with its counts: leaf by leaf for
    /// one stratum after the other, with a noise of deviation σ. How far they go: [`heard`]. The release has none yet.
    ///
    /// Each sieve is made for the rows that the others keep, in turn.
    pub(crate) fn several(release: &Release, schema: &Schema, trees: &[(&Forks, &[f64])], noise: f64) -> Vec<Sieve> {
        let forks: Vec<&Forks> = trees.iter().map(|(forks, _)| *forks).collect();
        let trial = Trial::of(release, schema, &forks);
        let open = |forks: &&Forks| vec![vec![1.0; forks.leaves()]; schema.strata()];
        let mut factors: Vec<Factors> = forks.iter().map(open).collect();
        let turns = if trees.len() > 1 { TURNS } else { 1 };
        for _ in 0..turns {
            for (number, (forks, counts)) in trees.iter().enumerate() {
                let others = trial.weights(&factors, Some(number));
                factors[number] = trial.factors(number, forks, counts, &others, noise);
            }
        }
        trial.normalise(&mut factors);
        let sieve = |(forks, keep): (&&Forks, Factors)| Sieve { forks: (*forks).clone(), keep };
        forks.iter().zip(factors).map(sieve).collect()
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

/// For each stratum a number for each leaf.
type Factors = Vec<Vec<f64>>;

/// Rows of a draw: where they come from and where they fall.
struct Trial<'a> {
    release: &'a Release,
    strata: usize,
    /// The stratum of the measure of each row: a facet of a stratum of the schema.
    parts: Vec<u32>,
    /// Its leaf in each tree.
    leaves: Vec<Vec<u32>>,
}

impl Trial<'_> {
    fn of<'a>(release: &'a Release, schema: &Schema, trees: &[&Forks]) -> Trial<'a> {
        let width = schema.width();
        let most = trees.iter().map(|forks| forks.leaves()).max().unwrap_or(1);
        let rows = (ROWS_A_LEAF * most).max(LEAST_TRIAL).min(MOST_NUMBERS / width.max(1));
        let draw = Draw::new(release, width, rows as u64, TRIAL_SEED);
        let mut trial =
            Trial { release, strata: schema.strata(), parts: Vec::new(), leaves: vec![Vec::new(); trees.len()] };
        let mut drawn = Drawn::default();
        for block in 0..draw.blocks() {
            draw.fill(block, &mut drawn);
            trial.parts.extend(&drawn.strata);
            for (leaves, forks) in trial.leaves.iter_mut().zip(trees) {
                leaves.extend(drawn.units.chunks_exact(width).map(|row| forks.leaf(|at| code(row[at])) as u32));
            }
        }
        trial
    }

    /// The products of the factors of each row, but for one tree.
    fn products(&self, factors: &[Factors], but: Option<usize>) -> Vec<f64> {
        let facets = self.release.facets.count();
        let product = |(row, &part): (usize, &u32)| {
            let trees = (0..factors.len()).filter(|&tree| Some(tree) != but);
            trees.map(|tree| factors[tree][part as usize / facets][self.leaves[tree][row] as usize]).product()
        };
        self.parts.iter().enumerate().map(product).collect()
    }

    /// How often each row is kept by all sieves but one. A row that is not kept is drawn again in its own part, so every
    /// part keeps as many rows as it had.
    fn weights(&self, factors: &[Factors], but: Option<usize>) -> Vec<f64> {
        let mut weights = self.products(factors, but);
        let mut sums = vec![(0.0, 0.0); self.strata * self.release.facets.count()];
        for (&part, weight) in self.parts.iter().zip(&weights) {
            let (rows, kept) = &mut sums[part as usize];
            *rows += 1.0;
            *kept += weight;
        }
        for (&part, weight) in self.parts.iter().zip(&mut weights) {
            let (rows, kept) = sums[part as usize];
            *weight *= rows / f64::max(kept, 1e-9);
        }
        weights
    }

    /// By what the rows of each leaf of a tree should be more, if they have these weights.
    fn factors(&self, tree: usize, forks: &Forks, counts: &[f64], weights: &[f64], noise: f64) -> Factors {
        let (leaves, facets) = (forks.leaves(), self.release.facets.count());
        let mut tried = vec![0.0; leaves * self.strata];
        for ((&part, &leaf), weight) in self.parts.iter().zip(&self.leaves[tree]).zip(weights) {
            tried[part as usize / facets * leaves + leaf as usize] += weight;
        }
        let expected: Vec<f64> = (tried.chunks_exact(leaves).enumerate())
            .flat_map(|(s, tried)| {
                let cells = (s * facets..(s + 1) * facets).flat_map(|part| self.release.measure.leaves(part));
                let rows: u64 = cells.map(|(_, count)| count).sum();
                let part = rows as f64 / tried.iter().sum::<f64>().max(1.0);
                tried.iter().map(move |t| t * part).collect::<Vec<f64>>()
            })
            .collect();
        heard::weights(forks, counts, &expected, &tried, noise).chunks_exact(leaves).map(<[f64]>::to_vec).collect()
    }

    /// Divides the factors of the first tree so that rows are kept as often as can be.
    ///
    /// Rows with the largest product could be kept always, and all others in proportion; but a few such rows would make
    /// all others wait. So the products are cut where they concern only a small part of the rows.
    fn normalise(&self, factors: &mut [Factors]) {
        let facets = self.release.facets.count();
        let mut products: Vec<Vec<f64>> = vec![Vec::new(); self.strata];
        for (&part, product) in self.parts.iter().zip(self.products(factors, None)) {
            products[part as usize / facets].push(product);
        }
        let several = factors.len() > 1;
        for (s, products) in products.iter_mut().enumerate() {
            products.sort_by(|a, b| b.total_cmp(a));
            let all: f64 = products.iter().sum();
            let mut before = 0.0;
            let enough = products.iter().find(|product| {
                before += **product;
                before > CUT * all
            });
            let most = enough.map_or(1.0, |&product| product).max(LEAST);
            for (tree, factors) in factors.iter_mut().enumerate() {
                // A few digits are more than the counts deserve, and short in a file.
                let (over, digits) = (if tree == 0 { most } else { 1.0 }, if several { 1e4 } else { 1e3 });
                let limit = if several { heard::MOST } else { 1.0 };
                factors[s].iter_mut().for_each(|w| *w = (digits * (*w / over).min(limit)).round() / digits);
            }
        }
    }
}
