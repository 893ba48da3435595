//! The last passes: rows are counted where the model proposes.
//!
//! The model is right about what means, covariances and single columns can say, and wrong about everything else, however
//! small the noise. So it proposes partitions of the space of rows, which is free, and the rows in each cell are counted:
//! the leaves of a tree of questions that tells strata apart, stratum by stratum, and, where rows are many, the nearest of
//! many sites. Each is one histogram.

use super::marginals::count_noise;
use super::{Fit, Later, Stage};
use crate::error::Result;
use crate::infer::correct::{Counted, correct};
use crate::infer::sites::propose;
use crate::model::{Pool, Release, Target, grow};
use crate::plan::{candidates, most_leaves, site_count};
use crate::privacy::{Charge, Sensitive};
use crate::tally::{Answer, Histogram, Marginals, Work};

/// What such a pass needs.
pub(super) struct CountStage {
    name: &'static str,
    histogram: Histogram,
    charge: Charge,
    /// For sites after this, if there are to be any.
    sites: Option<Charge>,
    model: Proposed,
}

/// The model so far.
struct Proposed {
    release: Release,
    /// What is wanted of the values of each block.
    targets: Vec<Target>,
    /// What was counted already.
    counted: Vec<Counted>,
    /// How many candidates there are.
    candidates: usize,
}

impl CountStage {
    /// One histogram.
    pub fn work(&self) -> Work {
        Work::Marginals(Marginals { histograms: vec![self.histogram.clone()] })
    }

    /// Whether no pass follows.
    pub fn is_last(&self) -> bool {
        self.sites.is_none()
    }
}

impl Later {
    /// Whether there is nothing to spend on further passes.
    pub fn is_empty(&self) -> bool {
        self.labels.amount().is_zero() && self.sites.amount().is_zero()
    }
}

impl Fit {
    /// The end of a fit, or one more pass.
    pub(super) fn after_measure(&mut self, release: Release, targets: Vec<Target>, later: Option<Later>) -> Stage {
        let Some(Later { labels, sites }) = later.filter(|later| !later.is_empty()) else {
            return self.complete(release, &targets);
        };
        let sites = Some(sites).filter(|charge| !charge.amount().is_zero());
        let leaves = if labels.amount().is_zero() { 0 } else { most_leaves(self.rows, count_noise(1, &labels)) };
        let width = self.schema.width();
        let count = sites.as_ref().map_or(0, |charge| site_count(self.rows, width, count_noise(1, charge)));
        let candidates = candidates(count, leaves * self.schema.strata(), width);
        let model = Proposed { release, targets, counted: Vec::new(), candidates };
        if leaves == 0 {
            return self.ask_sites(model, sites);
        }
        let pool = Pool::of(&model.release, &self.schema, candidates);
        let histogram = Histogram::Tree(grow(&pool, &self.schema, leaves));
        Stage::Counts(Box::new(CountStage { name: "labels", histogram, charge: labels, sites, model }))
    }

    fn ask_sites(&mut self, model: Proposed, charge: Option<Charge>) -> Stage {
        let Some(charge) = charge else {
            return self.complete(model.release, &model.targets);
        };
        let count = site_count(self.rows, self.schema.width(), count_noise(1, &charge));
        let pool = Pool::of(&model.release, &self.schema, model.candidates);
        let sites = propose(&pool, &model.release.weights, &self.schema, count);
        if let Some(cells) = &mut self.receipt.cells {
            cells.push_str(&format!("; {} sites", sites.len()));
        }
        Stage::Counts(Box::new(CountStage {
            name: "sites",
            histogram: Histogram::Sites(sites),
            charge,
            sites: None,
            model,
        }))
    }

    /// Noisy counts, by which the model is corrected. Every row is in exactly one cell: one histogram.
    pub(super) fn absorb_counts(&mut self, answer: Sensitive<Answer>, stage: CountStage) -> Result<Stage> {
        let CountStage { name, histogram, charge, sites, mut model } = stage;
        let counts = answer.map(|answer| match answer {
            Answer::Cells(mut counts) => std::mem::take(&mut counts.leaves),
            _ => Vec::new(),
        });
        let noise = count_noise(1, &charge);
        let counts = self.kernel.histograms(name, counts, 1, charge)?.into_inner();
        let counts = counts.iter().map(|&count| count as f64).collect();
        model.counted.push(Counted { histogram, counts, noise });
        let Proposed { release, targets, counted, candidates } = &mut model;
        correct(release, &self.schema, counted, targets, *candidates);
        Ok(self.ask_sites(model, sites))
    }
}
