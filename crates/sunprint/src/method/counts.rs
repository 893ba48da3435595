//! The last passes: rows are counted where the model proposes.
//!
//! The model is right about what means, covariances and single columns can say, and wrong about everything else, however
//! small the noise. So it proposes partitions of the space of rows, which is free, and the rows in each cell are counted:
//! the leaves of a tree of questions that tells strata apart, stratum by stratum, and, where rows are many, the nearest of
//! many sites. Each is one histogram.

use super::course::{Course, Measurement, Next, counts_of};
use super::default::Later;
use crate::error::Result;
use crate::infer::correct::{Counted, correct};
use crate::infer::sites::propose;
use crate::model::{Pool, Release, Target, grow};
use crate::plan::{candidates, most_leaves, site_count};
use crate::privacy::{Charge, Law, Sensitive};
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

impl Measurement for CountStage {
    /// One histogram.
    fn work(&self) -> Work {
        Work::Marginals(Marginals { histograms: vec![self.histogram.clone()] })
    }

    fn is_last(&self) -> bool {
        self.sites.is_none()
    }

    /// Noisy counts, by which the model is corrected. Every row is in exactly one cell: one histogram.
    fn release(self: Box<Self>, course: &mut Course, answer: Sensitive<Answer>, _: &dyn Fn(u64, u64)) -> Result<Next> {
        let CountStage { name, histogram, charge, sites, mut model } = *self;
        let counts = counts_of(answer);
        let (counts, law) = course.kernel.histograms(name, counts, 1, charge)?.into_parts();
        let counts = counts.iter().map(|&count| count as f64).collect();
        model.counted.push(Counted { histogram, counts, noise: law.deviation() });
        let Proposed { release, targets, counted, candidates } = &mut model;
        correct(release, &course.schema, counted, targets, *candidates);
        course.ask_sites(model, sites)
    }
}

impl Course {
    /// The end of a fit, or one more pass.
    pub(super) fn after_measure(
        &mut self,
        release: Release,
        targets: Vec<Target>,
        later: Option<Later>,
    ) -> Result<Next> {
        let Some(Later { labels, sites }) = later.filter(|later| !later.is_empty()) else {
            return Ok(self.complete(release, &targets));
        };
        let sites = Some(sites).filter(|charge| !charge.amount().is_zero());
        let noise = |charge: &Charge| Law::of_histograms(1, charge.price()).map(|law| law.deviation());
        let leaves = if labels.amount().is_zero() { 0 } else { most_leaves(self.rows, noise(&labels)?) };
        let width = self.schema.width();
        let count = match &sites {
            Some(charge) => site_count(self.rows, width, noise(charge)?),
            None => 0,
        };
        let candidates = candidates(count, leaves * self.schema.strata(), width);
        let model = Proposed { release, targets, counted: Vec::new(), candidates };
        if leaves == 0 {
            return self.ask_sites(model, sites);
        }
        let pool = Pool::of(&model.release, &self.schema, candidates);
        let histogram = Histogram::Tree(grow(&pool, &self.schema, leaves));
        Ok(Next::ask(CountStage { name: "labels", histogram, charge: labels, sites, model }))
    }

    fn ask_sites(&mut self, model: Proposed, charge: Option<Charge>) -> Result<Next> {
        let Some(charge) = charge else {
            return Ok(self.complete(model.release, &model.targets));
        };
        let count = site_count(self.rows, self.schema.width(), Law::of_histograms(1, charge.price())?.deviation());
        let pool = Pool::of(&model.release, &self.schema, model.candidates);
        let sites = propose(&pool, &model.release.weights, &self.schema, count);
        if let Some(cells) = &mut self.receipt.cells {
            cells.push_str(&format!("; {} sites", sites.len()));
        }
        let histogram = Histogram::Sites(sites);
        Ok(Next::ask(CountStage { name: "sites", histogram, charge, sites: None, model }))
    }
}
