//! The last pass of tables with strata: how these are mixed in the leaves of a tree that tells them apart.
//!
//! Directions of large variance need not be those in which strata differ, and a Gaussian for each stratum knows only
//! their means. So, once everything else is known, a tree of questions is grown on rows drawn from the model itself,
//! which is free, and the real rows are counted in its leaves, stratum by stratum.

use super::marginals::count_noise;
use super::{Fit, Later, Stage};
use crate::error::Result;
use crate::model::{Release, Sieve, Target, grow, recalibrate};
use crate::plan::most_leaves;
use crate::privacy::{Charge, Sensitive};
use crate::tally::{Answer, Forks, Histogram, Marginals, Work};

/// So often is the sieve made for the values as they are settled, and these are settled for what the sieve keeps.
const ROUNDS: u32 = 2;

/// What this pass needs.
pub(super) struct LabelStage {
    forks: Forks,
    charge: Charge,
    /// For one more pass, if there is one.
    sites: Charge,
    release: Release,
    /// What is wanted of the values of each block.
    targets: Vec<Target>,
}

impl Later {
    /// Whether there is nothing to spend on further passes.
    pub fn is_empty(&self) -> bool {
        self.labels.amount().is_zero() && self.sites.amount().is_zero()
    }
}

impl LabelStage {
    /// Whether no pass follows.
    pub fn is_last(&self) -> bool {
        self.sites.amount().is_zero()
    }

    /// One histogram: the leaves of the tree, in every stratum.
    pub fn work(&self) -> Work {
        Work::Marginals(Marginals { histograms: vec![Histogram::Tree(self.forks.clone())] })
    }
}

impl Fit {
    /// The end of a fit, or one more pass.
    pub(super) fn after_measure(&mut self, release: Release, targets: Vec<Target>, later: Option<Later>) -> Stage {
        let Some(Later { labels: charge, sites }) = later else {
            return self.complete(release, &targets);
        };
        if charge.amount().is_zero() {
            return self.after_labels(release, targets, sites);
        }
        let most = most_leaves(self.rows, count_noise(1, &charge));
        let forks = grow(&release, &self.schema, most);
        Stage::Labels(Box::new(LabelStage { forks, charge, sites, release, targets }))
    }

    /// Noisy counts of the leaves; the model keeps its rows by them.
    ///
    /// Every row is in exactly one leaf of one stratum: one histogram.
    pub(super) fn absorb_labels(&mut self, answer: Sensitive<Answer>, stage: LabelStage) -> Result<Stage> {
        let LabelStage { forks, charge, sites, mut release, targets } = stage;
        let counts = answer.map(|answer| match answer {
            Answer::Cells(mut counts) => std::mem::take(&mut counts.leaves),
            _ => Vec::new(),
        });
        let noise = count_noise(1, &charge);
        let counts = self.kernel.histograms("labels", counts, 1, charge)?.into_inner();
        let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        // What is kept moves how often values come, and settling them anew moves what falls into which leaf.
        for _ in 0..ROUNDS {
            release.sieves.clear();
            release.sieves = vec![Sieve::of(&release, &self.schema, &forks, &counts, noise)];
            recalibrate(&mut release, &self.schema, &targets);
        }
        Ok(self.after_labels(release, targets, sites))
    }
}
