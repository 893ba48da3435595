//! What a fit can be expected to give, before there is a table: noise against signal, directions, error, time, memory.
//!
//! Everything here follows from public numbers: the schema's coordinates and strata, n, ε and δ. The noise of each stage
//! is that of the fit, by the same formulas; what the table itself looks like is not known, so the prediction is made for
//! three typical spectra. Nothing is drawn and nothing is read.

mod cost;
mod noise;
mod outlook;

use crate::plan::{Facts, Shares};
use crate::schema::Schema;
use serde::Serialize;

pub use cost::Cost;
pub use noise::Noise;
pub use outlook::{Outlook, Spectrum};

/// What is asked: the shape of the table and the promise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Question {
    /// n.
    pub rows: u64,
    /// d: the coordinates of a row.
    pub width: usize,
    /// The coordinates that are not those of categories.
    pub lines: usize,
    /// The columns that they come from.
    pub columns: usize,
    /// Strata.
    pub strata: usize,
    /// ε.
    pub epsilon: f64,
    /// δ, if there is one.
    pub delta: Option<f64>,
}

/// What can be expected.
#[derive(Clone, Debug, Serialize)]
pub struct Forecast {
    /// What was asked.
    pub question: Question,
    /// How the budget is divided, in ten-thousandths.
    pub shares: Shares,
    /// The noise of the stages.
    pub noise: Noise,
    /// What that means for each of [`Spectrum::ALL`].
    pub outlooks: Vec<Outlook>,
    /// Time and memory.
    pub cost: Cost,
    /// Whether the rows suffice.
    pub verdict: Verdict,
}

/// Whether the rows suffice: whether the leading directions of a typical table stand out of the noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "rows")]
pub enum Verdict {
    /// So many directions are likely to be found.
    Enough {
        /// Directions of the decaying spectrum that clear the edge.
        directions: usize,
        /// d′: those that are measured in detail.
        measured: usize,
    },
    /// So many rows would do, rounded up to two digits; nothing where no number of rows would.
    TooFew {
        /// Rows that would do.
        would_do: Option<u64>,
    },
}

/// Directions of the decaying spectrum that enough rows must find; all of them where there are fewer.
const WANTED: usize = 3;
/// More rows than any fit takes.
const MOST_ROWS: u64 = 1 << 40;
/// The largest ε that is thought of when one is looked for.
pub const LARGEST_EPSILON: f64 = 100.0;
const SMALLEST_EPSILON: f64 = 1e-4;

impl Question {
    /// About a table with this schema.
    pub fn new(schema: &Schema, rows: u64, epsilon: f64, delta: Option<f64>) -> Question {
        let Facts { width, lines, columns, strata, .. } = Facts::of(schema, rows, epsilon);
        Question { rows: rows.max(1), width: width.max(1), lines, columns, strata: strata.max(1), epsilon, delta }
    }

    /// What the shares depend on.
    pub(crate) fn facts(&self) -> Facts {
        let Question { rows, width, lines, columns, strata, epsilon, .. } = *self;
        Facts { rows, width, lines, columns, strata, epsilon }
    }

    /// What can be expected.
    pub fn forecast(&self) -> Forecast {
        let shares = Shares::for_table(&self.facts());
        // What directions would cost is told even where the rows are too few for any.
        let directions = Shares::with_directions(&self.facts());
        Forecast {
            question: *self,
            shares,
            noise: Noise::of(self, &directions),
            outlooks: Spectrum::ALL.iter().map(|&spectrum| self.outlook(spectrum)).collect(),
            cost: Cost::of(self),
            verdict: self.verdict(),
        }
    }

    /// The predicted error for a spectrum: the least over this ε and smaller ones.
    ///
    /// Shares and clip change with ε by rules that were tuned, not proved. Whoever may spend ε may also spend less, so
    /// that a prediction never has to grow with ε.
    pub fn outlook(&self, spectrum: Spectrum) -> Outlook {
        let mut best = outlook::at(self, spectrum);
        for step in 1..=12 {
            let less = Question { epsilon: self.epsilon * 0.5_f64.powf(0.25 * f64::from(step)), ..*self };
            let other = outlook::at(&less, spectrum);
            if other.w1 < best.w1 {
                best = other;
            }
        }
        best
    }

    fn verdict(&self) -> Verdict {
        let wanted = WANTED.min(self.width);
        let found = |rows: u64| outlook::at(&Question { rows, ..*self }, Spectrum::Decaying).above >= wanted;
        if found(self.rows) {
            let outlook = self.outlook(Spectrum::Decaying);
            return Verdict::Enough { directions: outlook.above, measured: outlook.dimension };
        }
        let (mut low, mut high) = (self.rows, self.rows);
        while !found(high) {
            if high >= MOST_ROWS {
                return Verdict::TooFew { would_do: None };
            }
            (low, high) = (high, high.saturating_mul(2));
        }
        while high - low > low / 200 + 1 {
            let middle = low + (high - low) / 2;
            if found(middle) { high = middle } else { low = middle }
        }
        Verdict::TooFew { would_do: Some(two_digits(high)) }
    }

    /// The smallest ε whose predicted error is at most `wish`, up to a hundredth of itself; none if 100 is too small.
    pub fn epsilon_for(&self, spectrum: Spectrum, wish: f64) -> Option<f64> {
        let reached = |epsilon: f64| Question { epsilon, ..*self }.outlook(spectrum).w1 <= wish;
        if !reached(LARGEST_EPSILON) {
            return None;
        }
        let (mut low, mut high) = (SMALLEST_EPSILON, LARGEST_EPSILON);
        if reached(low) {
            return Some(low);
        }
        while high / low > 1.005 {
            let middle = (low * high).sqrt();
            if reached(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }
}

/// Rounded up to two digits.
fn two_digits(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    number.div_ceil(unit) * unit
}

#[cfg(test)]
#[path = "forecast/forecast_tests.rs"]
mod tests;
