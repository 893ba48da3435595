//! The same fit again, on rows that were drawn from its own model.
//!
//! Nothing is spent: the rows are public, as everything is that a model gives. No ledger hears of it, and noise is drawn
//! as for any other fit.

use crate::error::Result;
use crate::fit::Fit;
use crate::measure::Measure;
use crate::model::{Frame, Model};
use crate::plan::{Mechanism, Method, Plan, Shares, budget};
use crate::privacy::{Budget, Delta, Epsilon};
use crate::receipt::Receipt;
use crate::source::Table;
use crate::subspace::Texture;
use crate::tally::{Pass, Tally};

/// How a fit begins: with the operating system's noise, or in tests with seeded noise, by the number of the run.
pub(super) type Begin<'a> = &'a (dyn Fn(&Model, Plan, Budget, u64, u64) -> Result<Fit> + Sync);

/// A search for the nearest measure that would take more seconds is not begun.
const LONGEST: f64 = 10.0;

/// Fits a table in which every row stands `times` times, as the model was fitted; nothing if that would take long.
pub(super) fn refit(model: &Model, table: &Table, times: u64, run: u64, begin: Begin) -> Result<Option<Model>> {
    let receipt = model.receipt();
    let epsilon = Epsilon::new(receipt.epsilon)?;
    let delta = receipt.delta.map(Delta::new).transpose()?;
    let rows = table.rows() as u64 * times;
    let mut fit = begin(model, plan(model), budget(epsilon, delta)?, rows, run)?;
    while let Some(pass) = fit.next_pass() {
        let mut tallying = pass.begin();
        table.chunks().iter().for_each(|codes| tallying.add(codes));
        if fit.ahead().is_some_and(|ahead| ahead.seconds > LONGEST) {
            return Ok(None);
        }
        fit.absorb(repeated(tallying.finish(), &pass, times)?)?;
    }
    fit.finish().map(Some)
}

/// The tally of every row `times` times: tallies are sums, so that is the sum of so many of them, by doubling.
fn repeated(tally: Tally, pass: &Pass, times: u64) -> Result<Tally> {
    let copy = |tally: &Tally| Tally::from_secret_bytes(&tally.to_secret_bytes(), pass);
    let (mut power, mut sum, mut left) = (tally, pass.empty(), times);
    while left > 0 {
        if left & 1 == 1 {
            sum.merge(copy(&power)?)?;
        }
        left >>= 1;
        if left > 0 {
            let twin = copy(&power)?;
            power.merge(twin)?;
        }
    }
    Ok(sum)
}

/// The plan of a release, as far as its receipt and its form say it. What they do not say, the side and the metric of
/// PSMM's cells, is taken by default.
fn plan(model: &Model) -> Plan {
    let (receipt, release) = (model.receipt(), model.release());
    let shares = matches!(receipt.method, Method::Default | Method::Gaussian).then(|| shares(receipt));
    let shaped = shares.is_none_or(|shares| shares.moments > 0 && shares.measure > 0);
    let projects = matches!(receipt.method, Method::Default | Method::Paper);
    let textured = release.texture != Texture::default();
    // Directions that were public cost little, and what they would have cost went to the measure.
    let public = shares.is_some_and(|shares| shares.measure > shares.moments) && shaped && !textured;
    let vectors = match &release.frame {
        Frame::Basis { vectors, .. } if !vectors.is_empty() => Some(vectors),
        _ => None,
    };
    Plan {
        method: receipt.method,
        dimension: receipt.dimension.filter(|&k| shaped && projects && k > 0),
        texture: textured || vectors.is_none() || public || receipt.method != Method::Default,
        mechanism: match release.measure {
            Measure::Tree(_) => Mechanism::Pmm,
            Measure::Lattice(_) => Mechanism::Psmm,
        },
        public_basis: vectors.filter(|_| public && receipt.method == Method::Default).cloned(),
        shares,
        ..Plan::default()
    }
}

/// The shares that the stages of a receipt had.
fn shares(receipt: &Receipt) -> Shares {
    let of = |name: &str| receipt.stages.iter().find(|stage| stage.name == name).map_or(0, |stage| stage.share);
    Shares {
        centre: of("centre"),
        spread: of("spread"),
        facets: of("facets"),
        contrasts: of("contrasts"),
        moments: of("moments"),
        marginals: of("marginals"),
        measure: of("measure"),
        labels: of("labels"),
    }
}
