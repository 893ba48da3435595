//! One line of an audit: many runs on two tables, and what they say about a claim.

use super::bounds::{self, lower, upper};
use super::event::{Event, Outputs};
use super::{Claim, Level, Noise, Side, Source};

/// Something to be audited.
pub struct Trial {
    /// Its name in the table.
    pub name: String,
    /// What it claims.
    pub claim: Claim,
    /// Runs on each table in each half.
    pub runs: u64,
    /// Whether its exact loss on these tables equals the claim, so that an audit should see nearly all of it.
    pub tight: bool,
    /// Whether it stands for its kind in a short audit.
    pub short: bool,
    /// One run: some numbers computed from the output. The first whose threshold tells most is used.
    pub run: Run,
}

/// One run of a trial.
pub type Run = Box<dyn Fn(Noise, Side) -> Vec<f64> + Sync>;

/// What an audit found.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Finding {
    /// The trial.
    pub name: String,
    /// The ε that it claims.
    pub claimed: f64,
    /// Its δ.
    pub delta: f64,
    /// The lower bound of its ε.
    pub measured: f64,
    /// How often the chosen event happened on the one table, and on the other.
    pub counts: [u64; 2],
    /// Runs on each table, of which as many again chose the event.
    pub runs: u64,
    /// Whether the exact loss on these tables equals the claim.
    pub tight: bool,
    /// What it says about ρ and μ, where there is a δ.
    pub gaussian: Option<Gaussian>,
}

/// What a finding says about noise that claims a ρ.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Gaussian {
    /// The ρ that is claimed.
    pub rho_claimed: f64,
    /// Its lower bound.
    pub rho_measured: f64,
    /// `√(2ρ)`.
    pub mu_claimed: f64,
    /// The lower bound of μ.
    pub mu_measured: f64,
    /// How often the event behind both happened on the one table, and on the other.
    pub counts: [u64; 2],
}

impl Finding {
    /// Whether a claim is shown to be false.
    pub fn caught(&self) -> bool {
        self.measured > self.claimed || self.gaussian.is_some_and(|found| found.rho_measured > found.rho_claimed)
    }

    /// The part of the claimed ε that was seen.
    pub fn part(&self) -> f64 {
        self.measured / self.claimed
    }
}

/// Runs between two reports of progress.
const STRIDE: u64 = 64;

impl Trial {
    /// Runs in all, on both tables and in both halves.
    pub fn all_runs(&self) -> u64 {
        4 * self.runs
    }

    /// Runs both halves on all cores and judges. The same seed gives the same finding. `advance` hears of finished runs.
    pub fn audit(&self, source: Source, level: Level, advance: &(dyn Fn(u64) + Sync)) -> Finding {
        let [choice, judged] = [0, 1].map(|half| self.half(source, half, advance));
        let Claim { epsilon, delta, rho } = self.claim;
        // Each of two bounds for ε, and of two more for ρ and μ.
        let failure = level.line() / if rho.is_some() { 4.0 } else { 2.0 };
        let n = self.runs as f64;
        let spread = bounds::quantile(1.0 - failure);
        // About what the bounds would say. Choosing an event needs no rigour, and this takes no time.
        let rough = |counts: [u64; 2]| {
            let [p, q] = counts.map(|count| count as f64 / n);
            let error = |p: f64| spread * (p * (1.0 - p) / n).sqrt();
            (p - error(p) - spread / n, (q + error(q) + 2.0 * spread / n).min(1.0))
        };
        let loss = |(p, q): (f64, f64)| if p <= delta { f64::NEG_INFINITY } else { ((p - delta) / q).ln() };
        let mu = |(p, q): (f64, f64)| if p <= q { 0.0 } else { bounds::quantile(p) - bounds::quantile(q) };
        let bounded = |counts: [u64; 2]| (lower(counts[0], self.runs, failure), upper(counts[1], self.runs, failure));

        let counts = Event::choose(&choice, |counts| loss(rough(counts))).counts(&judged);
        let measured = loss(bounded(counts)).max(0.0);
        let gaussian = rho.map(|rho_claimed| {
            let counts = Event::choose(&choice, |counts| mu(rough(counts))).counts(&judged);
            let (p, q) = bounded(counts);
            Gaussian {
                rho_claimed,
                rho_measured: bounds::rho(p, q),
                mu_claimed: (2.0 * rho_claimed).sqrt(),
                mu_measured: mu((p, q)),
                counts,
            }
        });
        let (name, runs, tight) = (self.name.clone(), self.runs, self.tight);
        Finding { name, claimed: epsilon, delta, measured, counts, runs, tight, gaussian }
    }

    /// One half: the outputs on either table, in the order of their numbers whatever the number of threads.
    fn half(&self, source: Source, half: u64, advance: &(dyn Fn(u64) + Sync)) -> Outputs {
        let threads = std::thread::available_parallelism().map_or(2, |threads| threads.get() as u64);
        let each = self.runs.div_ceil(threads).max(1);
        let part = |side: Side, numbers: std::ops::Range<u64>| {
            let first = (half * 2 + side as u64) << 32;
            let run = |number: u64| {
                if number.is_multiple_of(STRIDE) {
                    advance(STRIDE.min(self.runs - number));
                }
                (self.run)(source.noise(first + number), side)
            };
            numbers.map(run).collect::<Vec<_>>()
        };
        std::thread::scope(|scope| {
            let part = &part;
            [Side::Here, Side::There].map(|side| {
                let parts =
                    (0..threads).map(|thread| (thread * each).min(self.runs)..((thread + 1) * each).min(self.runs));
                let workers: Vec<_> = parts.map(|numbers| scope.spawn(move || part(side, numbers))).collect();
                let outputs = workers.into_iter().map(|worker| worker.join());
                outputs.flat_map(|output| output.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
            })
        })
    }
}
