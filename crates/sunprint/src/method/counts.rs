//! The last passes: rows are counted where the model proposes.
//!
//! The model is right about what means, covariances and single columns can say, and wrong about everything else, however
//! small the noise. So it proposes partitions of the space of rows, which is free, and the rows in each cell are counted:
//! the leaves of a tree of questions that tells strata apart, stratum by stratum, and, where rows are many, the nearest of
//! many sites, more than once where noise allows. Each is one histogram.

use super::certificate::Asked;
use super::course::{Course, Measurement, Next, counts_of};
use super::default::Later;
use crate::error::Result;
use crate::infer::correct::{Counted, correct};
use crate::infer::generations::nearby;
use crate::infer::sites::propose;
use crate::measure::Measure;
use crate::model::{Generation, Noisy, Pool, Release, Target, grow};
use crate::plan::{candidates, most_leaves, site_count, site_rounds};
use crate::privacy::{Charge, Law, Sensitive};
use crate::tally::{Answer, Histogram, Marginals, Work};

/// What such a pass needs.
pub(super) struct CountStage {
    name: &'static str,
    histogram: Histogram,
    charge: Charge,
    /// For every round of sites after this.
    sites: Vec<Charge>,
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
    /// What is known of the rows of each stratum, where they were not counted by themselves.
    sizes: Vec<Noisy>,
}

impl Measurement for CountStage {
    /// One histogram.
    fn work(&self) -> Work {
        Work::Marginals(Marginals { histograms: vec![self.histogram.clone()] })
    }

    fn is_last(&self) -> bool {
        self.sites.is_empty()
    }

    /// Noisy counts, by which the model is corrected. Every row is in exactly one cell: one histogram.
    fn release(self: Box<Self>, course: &mut Course, answer: Sensitive<Answer>, _: &dyn Fn(u64, u64)) -> Result<Next> {
        let CountStage { name, histogram, charge, sites, mut model } = *self;
        let counts = counts_of(answer);
        let (counts, law) = course.kernel.histograms(name, counts, 1, charge)?.into_parts();
        let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        let marginals = Marginals { histograms: vec![histogram.clone()] };
        course.asked.push(Asked { stage: name, marginals, counts: counts.clone(), noise: law.deviation() });
        model.hear(Counted { histogram, counts, noise: law.deviation() }, course.rows);
        correct(&mut model.release, &course.schema, &model.counted, &model.targets, model.candidates);
        course.ask_sites(model, sites)
    }
}

impl Proposed {
    /// Takes counts in. They say how many rows each stratum has, too: what is known of that is weighed by its noise.
    fn hear(&mut self, counted: Counted, rows: u64) {
        for (size, sum) in self.sizes.iter_mut().zip(counted.of_strata()) {
            *size = size.and(sum);
        }
        if self.sizes.len() > 1 {
            let sizes: Vec<f64> = self.sizes.iter().map(|size| size.value).collect();
            self.release.measure = Measure::of_strata(rows, &sizes);
        }
        self.counted.push(counted);
    }

    /// The sites that were counted last.
    fn sites(&self) -> Option<&Histogram> {
        self.counted.last().map(|counted| &counted.histogram).filter(|cells| matches!(cells, Histogram::Sites(_)))
    }
}

impl Course {
    /// The end of a fit, or one more pass. `sizes` are what is known of the rows of strata.
    pub(super) fn after_measure(
        &mut self,
        release: Release,
        targets: Vec<Target>,
        later: Option<Later>,
        sizes: Vec<Noisy>,
    ) -> Result<Next> {
        let Some(Later { labels, sites }) = later.filter(|later| !later.is_empty()) else {
            return Ok(self.complete(release, &targets));
        };
        let (rows, width) = (self.rows, self.schema.width());
        let mut rounds = Vec::new();
        if !sites.amount().is_zero() {
            let count = site_rounds(rows, self.schema.blocks().len(), noise_of(&sites)?);
            rounds = sites.split(&vec![1; count])?;
        }
        let leaves = if labels.amount().is_zero() { 0 } else { most_leaves(rows, noise_of(&labels)?) };
        let count = match rounds.last() {
            Some(charge) => site_count(rows, width, noise_of(charge)?),
            None => 0,
        };
        let candidates = candidates(count, leaves * self.schema.strata(), width);
        let model = Proposed { release, targets, counted: Vec::new(), candidates, sizes };
        if leaves == 0 {
            return self.ask_sites(model, rounds);
        }
        let pool = Pool::of(&model.release, &self.schema, candidates);
        let histogram = Histogram::Tree(grow(&pool, &self.schema, leaves));
        Ok(Next::ask(CountStage { name: "labels", histogram, charge: labels, sites: rounds, model }))
    }

    /// The next round of sites, or the end.
    fn ask_sites(&mut self, mut model: Proposed, mut rounds: Vec<Charge>) -> Result<Next> {
        let Some(charge) = rounds.pop() else {
            return Ok(self.complete(model.release, &model.targets));
        };
        let count = site_count(self.rows, self.schema.width(), noise_of(&charge)?);
        if let Some(cells) = model.sites() {
            let fresh = nearby(&model.release, &self.schema, cells);
            let weights = std::mem::take(&mut model.release.weights);
            model.release.ancestors.push(Generation { weights, fresh });
        }
        let pool = Pool::of(&model.release, &self.schema, model.candidates);
        let sites = propose(&pool, &model.release.weights, &self.schema, count);
        if let Some(cells) = &mut self.receipt.cells {
            let again = !model.release.ancestors.is_empty();
            cells.push_str(&if again { format!(", then {}", sites.len()) } else { format!("; {} sites", sites.len()) });
        }
        let histogram = Histogram::Sites(sites);
        Ok(Next::ask(CountStage { name: "sites", histogram, charge, sites: rounds, model }))
    }
}

/// The deviation of the noise in a count that takes this charge.
fn noise_of(charge: &Charge) -> Result<f64> {
    Ok(Law::of_histograms(1, charge.price())?.deviation())
}
