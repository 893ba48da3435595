//! The privacy audit: how large ε must be, judged from outputs alone.
//!
//! Two neighbouring tables, many runs on each. If a mechanism is (ε, δ)-private then for every event S
//! `P(S | here) ≤ e^ε P(S | there) + δ`, and the same with the tables exchanged. So a lower bound of one probability and
//! an upper bound of the other give a lower bound of ε that owes nothing to any proof: if it lies above the claim, the
//! claim is false. Events are chosen on one half of the runs and judged on the other half, so choosing costs nothing.
//!
//! *False alarms.* Each bound holds with probability 97.5 %, both together with 95 %. A mechanism that exactly attains its
//! claim would be accused with probability at most 5 % for fresh seeds (about 1 % in practice: both bounds would have to
//! err together); one that has room to spare, hardly ever. Tests run on fixed seeds, so what passes keeps passing.
//!
//! *Power.* An audit that finds nothing proves nothing unless it finds what is there: [`broken`] holds mechanisms broken on
//! purpose, each of which must be caught.

pub mod bounds;
pub mod broken;
pub mod stages;
pub mod tables;
pub mod values;
pub mod whole;

use bounds::{lower, upper};

/// What a mechanism claims.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// ε.
    pub epsilon: f64,
    /// δ; 0 for pure privacy.
    pub delta: f64,
}

/// Which of the two neighbouring tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    Here,
    /// The second.
    There,
}

/// Something to be audited.
pub struct Trial {
    /// Its name in the table.
    pub name: String,
    /// What it claims.
    pub claim: Claim,
    /// Runs on each table in each half.
    pub runs: u64,
    /// One run with a seed: some numbers computed from the output. The first whose threshold tells most is used.
    pub run: Run,
}

/// One run of a trial.
pub type Run = Box<dyn Fn(u64, Side) -> Vec<f64> + Sync>;

/// What an audit found.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Finding {
    /// The trial.
    pub name: String,
    /// The ε that it claims.
    pub claimed: f64,
    /// Its δ.
    pub delta: f64,
    /// The 95 % lower bound of its ε.
    pub measured: f64,
    /// How often the chosen event happened on the one table, and on the other.
    pub counts: [u64; 2],
    /// Runs on each table.
    pub runs: u64,
}

impl Finding {
    /// Whether the claim is shown to be false.
    pub fn caught(&self) -> bool {
        self.measured > self.claimed
    }
}

/// An event: a number of the output lies at or above (or below) a threshold; and the table that makes it likelier.
#[derive(Clone, Copy)]
struct Event {
    number: usize,
    threshold: f64,
    above: bool,
    likelier: Side,
}

/// Each of two bounds fails with at most this probability.
const FAILURE: f64 = 0.025;
/// Thresholds tried for each number.
const THRESHOLDS: usize = 120;

impl Trial {
    /// Runs both halves and judges. The same seed gives the same finding.
    pub fn audit(&self, seed: u64) -> Finding {
        let halves = [0, 1].map(|half| self.half(seed * 2 + half));
        let event = self.choose(&halves[0]);
        let counts = event.counts(&halves[1]);
        let measured = self.bound(counts).max(0.0);
        let Claim { epsilon, delta } = self.claim;
        Finding { name: self.name.clone(), claimed: epsilon, delta, measured, counts, runs: self.runs }
    }

    /// One half: the outputs on either table, each on a thread of its own.
    fn half(&self, seed: u64) -> [Vec<Vec<f64>>; 2] {
        let side = |side: Side| {
            let first = (seed * 2 + side as u64) << 32;
            (0..self.runs).map(|number| (self.run)(first + number, side)).collect::<Vec<_>>()
        };
        std::thread::scope(|scope| {
            let there = scope.spawn(|| side(Side::There));
            [side(Side::Here), there.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))]
        })
    }

    /// The event with the largest lower bound on the first half.
    fn choose(&self, outputs: &[Vec<Vec<f64>>; 2]) -> Event {
        let mut best = (f64::NEG_INFINITY, Event { number: 0, threshold: 0.0, above: true, likelier: Side::Here });
        for number in 0..outputs[0].first().map_or(0, Vec::len) {
            let sorted = |outputs: &Vec<Vec<f64>>| {
                let mut values: Vec<f64> = outputs.iter().map(|output| output[number]).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            let [here, there] = [sorted(&outputs[0]), sorted(&outputs[1])];
            for step in 1..THRESHOLDS {
                // Denser at both ends, where few runs tell the tables apart best.
                let x = std::f64::consts::PI * step as f64 / THRESHOLDS as f64;
                let at = ((here.len() - 1) as f64 * 0.5 * (1.0 - x.cos())) as usize;
                for threshold in [here[at], there[at]] {
                    let above = |values: &[f64]| values.len() - values.partition_point(|&value| value < threshold);
                    let counts = [above(&here) as u64, above(&there) as u64];
                    for above in [true, false] {
                        let [here, there] = counts.map(|count| if above { count } else { self.runs - count });
                        for (likelier, counts) in [(Side::Here, [here, there]), (Side::There, [there, here])] {
                            let bound = self.guess(counts);
                            if bound > best.0 {
                                best = (bound, Event { number, threshold, above, likelier });
                            }
                        }
                    }
                }
            }
        }
        best.1
    }

    /// About what [`Trial::bound`] would say. Choosing an event needs no rigour, and this takes no time.
    fn guess(&self, counts: [u64; 2]) -> f64 {
        let n = self.runs as f64;
        let [p, q] = counts.map(|count| count as f64 / n);
        let error = |p: f64| 2.0 * (p * (1.0 - p) / n).sqrt();
        let likely = p - error(p) - self.claim.delta;
        if likely <= 0.0 { f64::NEG_INFINITY } else { (likely / (q + error(q) + 4.0 / n)).ln() }
    }

    /// `ln((p − δ)/q)` with p at its lower and q at its upper bound; minus infinity where p does not clear δ.
    fn bound(&self, counts: [u64; 2]) -> f64 {
        let likely = lower(counts[0], self.runs, FAILURE) - self.claim.delta;
        if likely <= 0.0 { f64::NEG_INFINITY } else { (likely / upper(counts[1], self.runs, FAILURE)).ln() }
    }
}

impl Event {
    /// How often it happened: on the likelier table, on the other.
    fn counts(&self, outputs: &[Vec<Vec<f64>>; 2]) -> [u64; 2] {
        let count = |outputs: &Vec<Vec<f64>>| {
            outputs.iter().filter(|output| (output[self.number] >= self.threshold) == self.above).count() as u64
        };
        let [here, there] = [count(&outputs[0]), count(&outputs[1])];
        if self.likelier == Side::Here { [here, there] } else { [there, here] }
    }
}

/// Every stage and every whole fit, as they are shipped.
pub fn shipped() -> Vec<Trial> {
    stages::all().into_iter().chain(whole::all()).collect()
}
