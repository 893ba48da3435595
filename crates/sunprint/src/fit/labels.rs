//! The last pass of tables with strata: how these are mixed in the leaves of a tree that tells them apart.
//!
//! Directions of large variance need not be those in which strata differ, and a Gaussian for each stratum knows only
//! their means. So, once everything else is known, a tree of questions is grown on rows drawn from the model itself,
//! which is free, and the real rows are counted in its leaves, stratum by stratum. Where rows are many there are two trees:
//! one asks what the model knows, the other finds out what it does not.

use super::marginals::count_noise;
use super::{Fit, Stage};
use crate::error::Result;
use crate::model::{Question, Release, Sieve, Target, grow, recalibrate};
use crate::plan::{Facts, as_float, most_leaves};
use crate::privacy::{Charge, Sensitive};
use crate::tally::{Answer, Forks, Histogram, Marginals};

/// So often is the sieve made for the values as they are settled, and these are settled for what the sieve keeps.
const ROUNDS: u32 = 2;

/// What this pass needs.
pub(super) struct LabelStage {
    pub spec: Marginals,
    charge: Charge,
    release: Release,
    /// What is wanted of the values of each block.
    targets: Vec<Target>,
}

impl Fit {
    /// The end of a fit, or one more pass.
    pub(super) fn after_measure(&self, release: Release, targets: Vec<Target>, charge: Option<Charge>) -> Stage {
        let Some(charge) = charge.filter(|charge| !charge.amount().is_zero()) else {
            return self.complete(release, &targets);
        };
        let facts = Facts::of(&self.schema, self.rows, as_float(&self.receipt.epsilon));
        let grown = |questions: &[Question]| -> Vec<Forks> {
            let most = most_leaves(self.rows, count_noise(questions.len(), &charge), questions.len());
            questions.iter().map(|&question| grow(&release, &self.schema, most, question)).collect()
        };
        let mut trees = if facts.many_rows() { grown(&[Question::Known, Question::Blind]) } else { Vec::new() };
        // Without numbers there is nothing to divide evenly, and the one tree has all of the charge.
        if trees.iter().any(|forks| forks.leaves() == 1) || trees.is_empty() {
            trees = grown(&[Question::Known]);
        }
        let spec = Marginals { histograms: trees.into_iter().map(Histogram::Tree).collect() };
        Stage::Labels(Box::new(LabelStage { spec, charge, release, targets }))
    }

    /// Noisy counts of the leaves; the model keeps its rows by them.
    ///
    /// Every row is in exactly one leaf of one stratum of each tree, so there are as many histograms as trees.
    pub(super) fn absorb_labels(&mut self, answer: Sensitive<Answer>, stage: LabelStage) -> Result<Stage> {
        let LabelStage { spec, charge, mut release, targets } = stage;
        let counts = answer.map(|answer| match answer {
            Answer::Cells(mut counts) => std::mem::take(&mut counts.leaves),
            _ => Vec::new(),
        });
        let histograms = spec.histograms.len();
        let noise = count_noise(histograms, &charge);
        let counts = self.kernel.histograms("labels", counts, histograms as u64, charge)?.into_inner();
        let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        let mut rest = counts.as_slice();
        let mut trees: Vec<(&Forks, &[f64])> = Vec::new();
        for histogram in &spec.histograms {
            let (mine, others) = rest.split_at(histogram.size(self.schema.strata()));
            rest = others;
            if let Histogram::Tree(forks) = histogram {
                trees.push((forks, mine));
            }
        }
        // What is kept moves how often values come, and settling them anew moves what falls into which leaf.
        for _ in 0..ROUNDS {
            release.sieves.clear();
            release.sieves = Sieve::several(&release, &self.schema, &trees, noise);
            recalibrate(&mut release, &self.schema, &targets);
        }
        Ok(self.complete(release, &targets))
    }
}
