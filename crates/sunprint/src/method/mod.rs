//! The methods: what is asked of the rows, in which order, and what is made of the answers.
//!
//! A method begins with a measurement; each measurement releases its answer and says what comes next, until a model is
//! there. The protocol ([`crate::fit`]) knows none of them by name.

mod attune;
mod blob;
mod cells;
mod certificate;
mod contrasts;
mod counts;
mod course;
mod cube;
mod default;
mod mechanism;
mod moments;
mod noted;
mod one_of;
mod paper;
mod rules;
mod sums;
mod values;

use crate::error::Result;
use crate::plan::Method;
use crate::privacy::Budget;
pub use course::Ahead;
pub(crate) use course::{Course, Next};
pub(crate) use rules::check;

/// The first measurement of a method, with the charges of all. Spends nothing.
pub(crate) fn begin(course: &mut Course, budget: Budget) -> Result<Next> {
    match course.plan.method {
        Method::Default | Method::Gaussian => default::begin(course, budget),
        Method::Paper => paper::begin(course, budget),
        Method::Cube => cube::begin(course, budget),
    }
}

/// Fractional bits of the integer basis.
const BASIS_BITS: i32 = 30;

/// Unit vectors as integers: 2³⁰ is one.
fn fixed_point(vectors: &[Vec<f64>]) -> Vec<Vec<i32>> {
    let integer = |x: &f64| (x.clamp(-1.0, 1.0) * f64::from(BASIS_BITS).exp2()).round() as i32;
    vectors.iter().map(|v| v.iter().map(integer).collect()).collect()
}
