//! The last pass where rows are many: where rows really are.
//!
//! The model is right about what means, covariances and single columns can say, and wrong about everything else, however
//! small the noise. So it proposes places to look, which is free, and the rows nearest to each are counted.

use super::marginals::count_noise;
use super::{Fit, Stage};
use crate::error::Result;
use crate::infer::sites::{factors, propose};
use crate::model::{Pool, Release, SiteSieve, Target, recalibrate};
use crate::plan::{pool_rows, site_count};
use crate::privacy::{Charge, Sensitive};
use crate::tally::{Answer, Histogram, Marginals, Sites, Work};

/// So often is the model corrected for the values as they are settled, and these are settled for the rows that it keeps.
const ROUNDS: u32 = 2;

/// What this pass needs.
pub(super) struct SiteStage {
    sites: Sites,
    charge: Charge,
    release: Release,
    /// What is wanted of the values of each block.
    targets: Vec<Target>,
}

impl SiteStage {
    /// One histogram.
    pub fn work(&self) -> Work {
        Work::Marginals(Marginals { histograms: vec![Histogram::Sites(self.sites.clone())] })
    }
}

impl Fit {
    /// The end of a fit, or one more pass.
    pub(super) fn after_labels(&mut self, release: Release, targets: Vec<Target>, charge: Charge) -> Stage {
        if charge.amount().is_zero() {
            return self.complete(release, &targets);
        }
        let count = site_count(self.rows, self.schema.width(), count_noise(1, &charge));
        let pool = Pool::of(&release, &self.schema, pool_rows(count, self.schema.width()));
        let sites = propose(&pool, &self.schema, count);
        if let Some(cells) = &mut self.receipt.cells {
            cells.push_str(&format!("; {} sites", sites.len()));
        }
        Stage::Sites(Box::new(SiteStage { sites, charge, release, targets }))
    }

    /// Noisy counts of the sites; the model keeps its rows by them.
    ///
    /// Every row belongs to exactly one site: one histogram.
    pub(super) fn absorb_sites(&mut self, answer: Sensitive<Answer>, stage: SiteStage) -> Result<Stage> {
        let SiteStage { sites, charge, mut release, targets } = stage;
        let counts = answer.map(|answer| match answer {
            Answer::Cells(mut counts) => std::mem::take(&mut counts.leaves),
            _ => Vec::new(),
        });
        let noise = count_noise(1, &charge);
        let counts = self.kernel.histograms("sites", counts, 1, charge)?.into_inner();
        let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        for _ in 0..ROUNDS {
            release.sites = None;
            let pool = Pool::of(&release, &self.schema, pool_rows(sites.len(), self.schema.width()));
            let (expected, seen) = pool.expect(&sites, &release.measure);
            let factors = factors(&sites, &counts, &expected, &seen, noise);
            release.sites = Some(SiteSieve::of(sites.clone(), &factors, &seen));
            recalibrate(&mut release, &self.schema, &targets);
        }
        Ok(self.complete(release, &targets))
    }
}
