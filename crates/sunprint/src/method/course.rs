//! What a fit knows while it runs, and what a measurement is.

use super::certificate::Asked;
use crate::error::Result;
use crate::model::{Evidence, Release};
use crate::plan::Plan;
use crate::privacy::{Kernel, Sensitive};
use crate::receipt::Receipt;
use crate::schema::Schema;
use crate::tally::{Answer, Work};

/// What a fit knows while it runs. Public, but for the kernel's noise.
pub(crate) struct Course {
    pub schema: Schema,
    pub plan: Plan,
    pub rows: u64,
    pub kernel: Kernel,
    pub receipt: Receipt,
    /// What was released of single columns and pairs of them.
    pub evidence: Evidence,
    /// Counts that were released, to which the finished model is compared.
    pub asked: Vec<Asked>,
}

/// One thing that is asked of the rows. It holds its own charge, and those of what may follow it.
pub(crate) trait Measurement {
    /// What is asked of every row. Public.
    fn work(&self) -> Work;

    /// Spends the charge on the merged answer, and says what comes next. `watch(done, whole)` hears of long searches in what
    /// was released.
    fn release(
        self: Box<Self>,
        course: &mut Course,
        answer: Sensitive<Answer>,
        watch: &dyn Fn(u64, u64),
    ) -> Result<Next>;

    /// Whether nothing more is asked of the rows after this, whatever its noise.
    fn is_last(&self) -> bool {
        false
    }

    /// What is to be done once this is released, where that takes long.
    fn ahead(&self) -> Option<Ahead> {
        None
    }
}

/// What comes next.
pub(crate) enum Next {
    /// Another measurement.
    Ask(Box<dyn Measurement + Send>),
    /// Nothing: a model.
    Done(Box<Release>),
}

impl Next {
    pub fn ask(measurement: impl Measurement + Send + 'static) -> Next {
        Next::Ask(Box::new(measurement))
    }
}

/// The counts in an answer. Still secret. An answer of another kind cannot come: the protocol compares passes first.
pub(super) fn counts_of(answer: Sensitive<Answer>) -> Sensitive<Vec<u64>> {
    answer.map(|answer| match answer {
        Answer::Cells(mut counts) => std::mem::take(&mut counts.leaves),
        _ => Vec::new(),
    })
}

/// What the search for the nearest measure will take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ahead {
    /// Cells of all lattices together.
    pub cells: u64,
    /// A guess of the time, in seconds.
    pub seconds: f64,
}
