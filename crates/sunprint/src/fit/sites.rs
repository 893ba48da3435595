//! The last pass of the default method: where rows really are.
//!
//! The model is right about what means, covariances and single columns can say, and wrong about everything else, however
//! small the noise. So it proposes a partition of the space of rows, for free, and the rows in each cell are counted: sites
//! in all columns at once, and, where there are strata, the leaves of a tree of questions that tells these apart. Both are
//! counted in one pass and believed as far as they can be heard.

use super::{Fit, Stage};
use crate::error::Result;
use crate::infer::hear;
use crate::infer::sites::{factors, propose};
use crate::model::{Pool, Release, Sieve, Target, deviation, grow, pool, recalibrate, short};
use crate::plan::{CellPlan, equivalent_epsilon};
use crate::privacy::{Charge, HistogramShare, Sensitive};
use crate::tally::{Answer, ClippedMoments, Histogram, Marginals};

/// What this pass needs.
pub(super) struct SiteStage {
    pub spec: Marginals,
    charge: Charge,
    release: Release,
    pool: Pool,
    /// What is wanted of the values of each block.
    targets: Vec<Target>,
}

impl Fit {
    /// The end of a fit, or one more pass.
    pub(super) fn ask_sites(
        &mut self,
        release: Release,
        targets: Vec<Target>,
        moments: &ClippedMoments,
        charge: Charge,
    ) -> Result<Stage> {
        if charge.amount().is_zero() {
            return Ok(self.complete(release, &targets));
        }
        let (width, strata) = (self.schema.width(), self.schema.strata());
        let plan = CellPlan::of_share(self.rows, width, strata, equivalent_epsilon(&charge));
        let pool = pool(&release, &self.schema, plan.pool(width));
        let mut histograms = Vec::new();
        if plan.sites > 0 {
            histograms.push(Histogram::Sites(propose(&pool, &moments.scores, plan.sites, strata)));
        }
        if plan.leaves > 1 {
            histograms.push(Histogram::Tree(grow(&pool, &self.schema, plan.leaves)));
        }
        self.receipt.cells = Some(plan.describe());
        let spec = Marginals { histograms };
        Ok(Stage::Sites(Box::new(SiteStage { spec, charge, release, pool, targets })))
    }

    /// Noisy counts of every cell; the model keeps its rows by them.
    pub(super) fn absorb_sites(&mut self, answer: Sensitive<Answer>, stage: SiteStage) -> Result<Stage> {
        let SiteStage { spec, charge, mut release, mut pool, targets } = stage;
        let counts = answer.map(|answer| match answer {
            Answer::Cells(mut counts) => std::mem::take(&mut counts.leaves),
            _ => Vec::new(),
        });
        let strata = self.schema.strata();
        let share = |histogram: &Histogram| HistogramShare { cells: histogram.size(strata), weight: 1 };
        let shares: Vec<HistogramShare> = spec.histograms.iter().map(share).collect();
        let released = self.kernel.histograms("cells", counts, &shares, charge)?.into_inner();
        let rows: Vec<f64> = (0..strata).map(|s| release.measure.rows(s) as f64).collect();
        let mut rest = released.counts.as_slice();
        for (histogram, law) in spec.histograms.into_iter().zip(&released.noises) {
            let (mine, others) = rest.split_at(histogram.size(strata));
            rest = others;
            let counts: Vec<f64> = mine.iter().map(|&count| count as f64).collect();
            let noise = deviation(law);
            match histogram {
                Histogram::Sites(sites) => {
                    let index = sites.index(strata);
                    let cells = on_sites(&pool, &sites, &index);
                    let (expected, seen) = pool.expect(&cells, counts.len(), &rows);
                    let factors = factors(&sites, &counts, &expected, &seen, noise);
                    pool.correct(&cells, &factors);
                    release.sieves.push(Sieve::Sites { sites, weights: short(factors) });
                }
                Histogram::Tree(forks) => {
                    let leaves = forks.leaves();
                    let cells = pool.cells(|row, stratum| stratum * leaves + forks.leaf(|at| row[at]));
                    let (expected, seen) = pool.expect(&cells, counts.len(), &rows);
                    let factors = of_leaves(&counts, &expected, &seen, noise);
                    pool.correct(&cells, &factors);
                    let weights = short(factors).chunks_exact(leaves).map(<[f64]>::to_vec).collect();
                    release.sieves.push(Sieve::Tree { forks, weights });
                }
                Histogram::Line { .. } | Histogram::Hot { .. } => {}
            }
        }
        release.pool = pool.rows() as u64;
        recalibrate(&mut release, &self.schema, &targets);
        Ok(self.complete(release, &targets))
    }
}

/// The site of every row of a pool.
fn on_sites(pool: &Pool, sites: &crate::tally::Sites, index: &crate::tally::SiteIndex) -> Vec<u32> {
    let width = pool.width;
    let (mut scratch, mut point) = (vec![0; width], vec![0; width]);
    let rows = pool.codes.chunks_exact(width).zip(&pool.strata);
    rows.map(|(row, &stratum)| {
        sites.on_grid(row, &mut scratch, &mut point);
        sites.nearest(index, &point, stratum as usize) as u32
    })
    .collect()
}

fn of_leaves(counts: &[f64], expected: &[f64], seen: &[f64], noise: f64) -> Vec<f64> {
    let cell = |i: usize| hear::Cell {
        counted: counts[i],
        expected: expected[i],
        noise: noise * noise,
        known: 1.0,
        seen: seen[i],
    };
    hear::factors(&(0..counts.len()).map(cell).collect::<Vec<_>>())
}
