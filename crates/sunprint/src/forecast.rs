//! What a fit can be expected to give, before there is a table: noise against signal, directions, error, time, memory.
//!
//! Everything here follows from public numbers: the schema's coordinates and strata, n, ε and δ. The noise of each stage
//! is that of the fit, by the same formulas; what the table itself looks like is not known, so the prediction is made for
//! three typical spectra. Nothing is drawn and nothing is read.

mod cost;
mod noise;
mod outlook;

use crate::plan::{Facts, Shares};
use crate::schema::{Form, Schema};
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
    /// Columns whose values can be counted one by one: all but those that split the table, and angles.
    pub columns: usize,
    /// Columns by which rows are compared: all but those that split the table.
    #[serde(skip)]
    pub compared: usize,
    /// Columns of categories without an order: those of the other coordinates.
    pub categories: usize,
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

/// Whether the rows suffice: whether the fit looks for directions, and the leading ones of a typical table stand out of
/// the noise.
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
    /// Directions are looked for and likely to drown. So many rows would do, rounded up to two digits; nothing where no
    /// number of rows would.
    TooFew {
        /// Rows that would do.
        would_do: Option<u64>,
    },
    /// No direction is looked for ([`Facts::few_rows`]): the stages with a share measure means and counts, and that is
    /// all. So many rows would do, as above.
    OnlyMeans {
        /// Rows with which directions are looked for and found.
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
        let Facts { rows, width, lines, columns, compared, strata, .. } = Facts::of(schema, rows.max(1), epsilon);
        let categories = schema.blocks().iter().filter(|block| block.form == Form::OneHot).count();
        let (width, strata) = (width.max(1), strata.max(1));
        Question { rows, width, lines, columns, compared, categories, strata, epsilon, delta }
    }

    /// What the shares depend on.
    pub(crate) fn facts(&self) -> Facts {
        let Question { rows, width, lines, columns, compared, strata, epsilon, .. } = *self;
        Facts { rows, width, lines, columns, compared, strata, epsilon }
    }

    /// What can be expected.
    pub fn forecast(&self) -> Forecast {
        let shares = Shares::for_table(&self.facts());
        Forecast {
            question: *self,
            shares,
            noise: Noise::of(self, &shares),
            outlooks: Spectrum::ALL.iter().map(|&spectrum| self.outlook(spectrum)).collect(),
            cost: Cost::of(self, &shares),
            verdict: self.verdict(&shares),
        }
    }

    /// What to expect for a spectrum. The directions are those of this ε; the error is the least over it and smaller ones.
    ///
    /// Shares and clip change with ε by rules that were tuned, not proved, and at one ε the fit turns from means to
    /// directions. Whoever may spend ε may also spend less, so that a prediction never has to grow with ε.
    pub fn outlook(&self, spectrum: Spectrum) -> Outlook {
        let here = outlook::at(self, spectrum);
        let less = (1..=12).map(|step| self.epsilon * 0.5_f64.powf(0.25 * f64::from(step)));
        let others = less.chain(self.last_of_means());
        let w1 = |epsilon: f64| outlook::at(&Question { epsilon, ..*self }, spectrum).w1;
        Outlook { w1: others.map(w1).fold(here.w1, f64::min), ..here }
    }

    /// The largest ε below this one at which the fit would measure means alone, if there is one.
    fn last_of_means(&self) -> Option<f64> {
        let few = |epsilon: f64| Facts { epsilon, ..self.facts() }.few_rows();
        let (mut low, mut high) = (SMALLEST_EPSILON, self.epsilon);
        if few(high) || !few(low) {
            return None;
        }
        while high / low > 1.0 + 1e-6 {
            let middle = (low * high).sqrt();
            if few(middle) { low = middle } else { high = middle }
        }
        Some(low)
    }

    fn verdict(&self, shares: &Shares) -> Verdict {
        let wanted = WANTED.min(self.width);
        let found = |rows: u64| {
            let asked = Question { rows, ..*self };
            !asked.facts().few_rows() && outlook::at(&asked, Spectrum::Decaying).above >= wanted
        };
        if found(self.rows) {
            let outlook = outlook::at(self, Spectrum::Decaying);
            return Verdict::Enough { directions: outlook.above, measured: outlook.dimension };
        }
        let would_do = self.fewest(found).map(two_digits);
        if shares.moments == 0 { Verdict::OnlyMeans { would_do } } else { Verdict::TooFew { would_do } }
    }

    /// The fewest rows, from these on, for which something holds; up to a part in 200.
    fn fewest(&self, holds: impl Fn(u64) -> bool) -> Option<u64> {
        let (mut low, mut high) = (self.rows, self.rows);
        while !holds(high) {
            if high >= MOST_ROWS {
                return None;
            }
            (low, high) = (high, high.saturating_mul(2));
        }
        while high - low > low / 200 + 1 {
            let middle = low + (high - low) / 2;
            if holds(middle) { high = middle } else { low = middle }
        }
        Some(high)
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
