//! The one loop by which counts correct a model: expect, hear, correct.
//!
//! ```text
//! twice:   settle the candidates as the model is now
//!          for every measurement, coarse ones before fine ones:
//!              expect   how many rows the weighed candidates put into each cell
//!              hear     expected against counted: by which factor is the model wrong, as far as noise lets one say
//!              correct  the weights of the candidates by that factor
//!          set the curves anew, so that every value comes as often as was released
//! ```
//!
//! Setting the curves moves rows from one cell to another, which is why it is done twice. Only released numbers enter.

use super::sites;
use crate::model::{Noisy, Pool, Release, Target, recalibrate, tree};
use crate::schema::Schema;
use crate::tally::Histogram;

/// Rounds of the loop.
const ROUNDS: u32 = 2;
/// What weights are a multiple of, as a part of their mean: finer than any count deserves, and short in a file.
const STEP: f64 = 1.0 / 64.0;
/// A candidate never counts as more than so many.
const MOST: f64 = 1024.0;

/// Noisy counts, and what they are counts of.
pub(crate) struct Counted {
    /// The cells.
    pub histogram: Histogram,
    /// One for each.
    pub counts: Vec<f64>,
    /// The deviation of the noise in each.
    pub noise: f64,
}

impl Counted {
    /// How many rows of each stratum there are, by these counts alone.
    pub fn of_strata(&self) -> Vec<Noisy> {
        let sum = |counts: &[f64]| Noisy {
            value: counts.iter().sum(),
            noise: self.noise * (counts.len().max(1) as f64).sqrt(),
        };
        match &self.histogram {
            Histogram::Tree(forks) => self.counts.chunks_exact(forks.leaves()).map(sum).collect(),
            Histogram::Sites(_) | Histogram::Line { .. } | Histogram::Hot { .. } => Vec::new(),
        }
    }
}

/// Weighs the candidates of a release, so many, by everything that was counted; `targets` are what is wanted of values.
pub(crate) fn correct(release: &mut Release, schema: &Schema, counted: &[Counted], targets: &[Target], count: usize) {
    for _ in 0..ROUNDS {
        let pool = Pool::of(release, schema, count);
        let weights = weights(&pool, release, counted);
        release.weights = weights.iter().map(|weight| (weight / STEP).round().min(MOST / STEP) as u32).collect();
        recalibrate(release, schema, targets);
    }
}

/// What every candidate counts for, about 1 on average.
fn weights(pool: &Pool, release: &Release, counted: &[Counted]) -> Vec<f64> {
    let mut weights = vec![1.0; pool.rows()];
    for Counted { histogram, counts, noise } in counted {
        let cells = pool.cells(histogram, release.measure.strata());
        let (expected, seen) = pool.expect(&cells, counts.len(), &weights, &release.measure);
        let factors = match histogram {
            Histogram::Tree(forks) => tree::factors(forks, counts, &expected, &seen, *noise),
            Histogram::Sites(sites) => sites::factors(sites, counts, &expected, &seen, *noise),
            Histogram::Line { .. } | Histogram::Hot { .. } => vec![1.0; counts.len()],
        };
        weights.iter_mut().zip(&cells).for_each(|(weight, &cell)| *weight *= factors[cell as usize]);
    }
    weights
}
