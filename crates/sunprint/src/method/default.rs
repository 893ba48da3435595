//! The default method, and the Gaussian one that it begins as.
//!
//! ```text
//! sums ─▶ moments ─▶ values ─▶ cells ─▶ labels ─▶ sites ─▶ model        rows suffice for directions
//! sums ─▶ contrasts ─▶ model                                            they do not
//! sums ─▶ moments ─▶ model                                              Gaussian
//! ```
//!
//! A measurement without a share is left out.

use super::course::{Course, Next};
use super::sums::SumStage;
use crate::error::Result;
use crate::plan::{Facts, Method, Shares, as_float};
use crate::privacy::{Budget, Charge};
use crate::subspace::Centre;

/// What the first pass leaves of the budget. A charge of nothing belongs to a measurement that does not run.
pub(super) struct Rest {
    pub contrasts: Charge,
    pub moments: Charge,
    pub marginals: Charge,
    pub measure: Charge,
    pub later: Later,
}

/// What is counted once a model is there.
pub(super) struct Later {
    pub labels: Charge,
    pub sites: Charge,
}

impl Later {
    /// Whether there is nothing to spend on further passes.
    pub fn is_empty(&self) -> bool {
        self.labels.amount().is_zero() && self.sites.amount().is_zero()
    }
}

/// The shares that a plan asks for, or those that suit the table.
fn shares(course: &Course, epsilon: f64) -> Result<Shares> {
    let (plan, facts) = (&course.plan, Facts::of(&course.schema, course.rows, epsilon));
    let shares = plan.shares.unwrap_or_else(|| match plan.method {
        Method::Gaussian => Shares::for_gaussian(&facts),
        _ if plan.public_basis.is_some() => Shares::with_public_basis(&facts),
        // Directions that are asked for are measured, however few the rows. Marginals are of the texture.
        _ if !plan.texture => Shares::without_marginals(&facts),
        _ if plan.dimension.is_some() => Shares::with_directions(&facts),
        _ => Shares::for_table(&facts),
    });
    shares.check(&facts)?;
    Ok(shares)
}

pub(super) fn begin(course: &mut Course, budget: Budget) -> Result<Next> {
    let shares = shares(course, as_float(&budget.epsilon().ratio()))?;
    course.receipt.default_stages(&shares);
    let Shares { centre, spread, contrasts, moments, marginals, measure, labels, sites } = shares;
    let [centre, spread, contrasts, moments, marginals, measure, labels, sites] =
        budget.split([centre, spread, contrasts, moments, marginals, measure, labels, sites])?;
    let rest = Rest { contrasts, moments, marginals, measure, later: Later { labels, sites } };
    let counted = course.open_coordinates();
    if counted.counted.contains(&true) {
        return Ok(Next::ask(SumStage { counted, centre, spread, rest }));
    }
    // Without numbers there is no centre to measure, and the first pass is the next one.
    let centre = Centre::read(course.rows, &course.before(), &[], 0, 0.0, 0.0);
    course.after_centre(centre, rest)
}
