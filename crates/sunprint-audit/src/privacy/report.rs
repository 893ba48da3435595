//! All lines of an audit, and the verdict.

use super::{Finding, Level, Source, Trial};

/// What an audit found.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Report {
    /// The confidence of all bounds together.
    pub confidence: f64,
    /// The confidence of each line, so that all of them hold together.
    pub line_confidence: f64,
    /// The lines.
    pub findings: Vec<Finding>,
}

/// The part of its claim that a tight line should reach.
pub const TEETH: f64 = 0.8;

/// Runs every trial in turn, with the noise of the operating system. `watch` hears the name of each trial and its number
/// of runs as it begins, and then of finished runs.
pub fn audit(trials: &[Trial], watch: &dyn Watch) -> Report {
    let level = Level::of(trials.len());
    let findings = trials.iter().map(|trial| {
        watch.begin(&trial.name);
        trial.audit(Source::System, level, &|runs| watch.advance(runs))
    });
    let findings = findings.collect();
    Report { confidence: 1.0 - level.whole, line_confidence: 1.0 - level.line(), findings }
}

/// Someone who watches an audit.
pub trait Watch: Sync {
    /// A trial begins.
    fn begin(&self, _name: &str) {}
    /// So many runs are done.
    fn advance(&self, _runs: u64) {}
}

/// Nobody watches.
impl Watch for () {}

impl Report {
    /// The lines whose claim is shown to be false.
    pub fn caught(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|found| found.caught())
    }

    /// The lines whose claim is not shown to be false.
    pub fn passed(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|found| !found.caught())
    }

    /// The smallest part of its claim that a tight line reached; nothing without a tight line.
    pub fn teeth(&self) -> Option<f64> {
        self.findings.iter().filter(|found| found.tight).map(Finding::part).min_by(f64::total_cmp)
    }
}
