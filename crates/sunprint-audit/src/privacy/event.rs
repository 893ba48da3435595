//! Events: which sets of outputs tell two tables apart.

use super::Side;

/// A number of the output lies at or above (or below) a threshold; and the table that makes it likelier.
#[derive(Clone, Copy)]
pub(super) struct Event {
    number: usize,
    threshold: f64,
    above: bool,
    likelier: Side,
}

/// What runs on either table gave: for each run some numbers.
pub(super) type Outputs = [Vec<Vec<f64>>; 2];

/// Thresholds tried for each number.
const THRESHOLDS: usize = 120;

impl Event {
    /// The event with the largest score, which sees how often it happened on the likelier table and on the other.
    pub fn choose(outputs: &Outputs, score: impl Fn([u64; 2]) -> f64) -> Event {
        let runs = outputs[0].len() as u64;
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
                        let [here, there] = counts.map(|count| if above { count } else { runs - count });
                        for (likelier, counts) in [(Side::Here, [here, there]), (Side::There, [there, here])] {
                            let score = score(counts);
                            if score > best.0 {
                                best = (score, Event { number, threshold, above, likelier });
                            }
                        }
                    }
                }
            }
        }
        best.1
    }

    /// How often it happened: on the likelier table, on the other.
    pub fn counts(&self, outputs: &Outputs) -> [u64; 2] {
        let count = |outputs: &Vec<Vec<f64>>| {
            outputs.iter().filter(|output| (output[self.number] >= self.threshold) == self.above).count() as u64
        };
        let [here, there] = [count(&outputs[0]), count(&outputs[1])];
        if self.likelier == Side::Here { [here, there] } else { [there, here] }
    }
}
