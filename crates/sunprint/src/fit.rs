//! The protocol: a fit is a conversation of a few passes.
//!
//! ```text
//! begin ─▶ next_pass ─▶ (tally each part, merge) ─▶ absorb ─▶ next_pass ─▶ … ─▶ finish
//! ```
//!
//! [`Fit::next_pass`] is public and may be sent anywhere; the tally that answers it is secret; [`Fit::absorb`] adds the
//! noise, once. What is asked, and what is made of the answers, is for the methods to say: the protocol knows none of them.

use crate::error::{Error, Kind, Result};
use crate::ledger::Entry;
pub use crate::method::Ahead;
use crate::method::{self, Course, Next};
use crate::model::{Evidence, Model};
use crate::plan::Plan;
use crate::privacy::{Budget, Kernel, Sensitive};
use crate::receipt::Receipt;
use crate::schema::Schema;
use crate::tally::{Digest, FitName, MOST_ROWS, Pass, Tally};

/// A fit in progress.
pub struct Fit {
    course: Course,
    /// What comes next; nothing once a pass has failed: its charge is gone, and the fit cannot go on.
    next: Option<Next>,
    /// Its name and the digest of its schema, which every pass carries, and the number of the next pass.
    name: FitName,
    schema_digest: Digest,
    number: u32,
}

impl Fit {
    /// Begins a fit of a table with `rows` rows. Spends nothing and reads nothing.
    pub fn begin(schema: &Schema, plan: Plan, budget: Budget, rows: u64) -> Result<Fit> {
        Fit::begin_with(schema, plan, budget, rows, Kernel::new()?)
    }

    /// Begins a fit with a kernel of the caller's choice: a spy, or one without noise. For tests only.
    #[cfg(any(test, feature = "seam"))]
    pub fn begin_with_danger_kernel(
        schema: &Schema,
        plan: Plan,
        budget: Budget,
        rows: u64,
        kernel: Kernel,
    ) -> Result<Fit> {
        Fit::begin_with(schema, plan, budget, rows, kernel)
    }

    fn begin_with(schema: &Schema, plan: Plan, budget: Budget, rows: u64, kernel: Kernel) -> Result<Fit> {
        if rows == 0 {
            return Err(Error::new(Kind::Data, "the table has no rows").hint("a fit needs at least one row"));
        }
        if rows > MOST_ROWS {
            return Err(Error::new(
                Kind::Data,
                format!("the table has {rows} rows, at most {MOST_ROWS} are supported"),
            )
            .hint("fit a random part of the table"));
        }
        check(&plan, schema)?;
        let mut receipt = Receipt::promise(schema, &plan, &budget);
        receipt.rows = Some(rows);
        let (evidence, schema) = (Evidence::default(), schema.clone());
        let mut course = Course { schema, plan, rows, kernel, receipt, evidence, asked: Vec::new() };
        let next = Some(method::begin(&mut course, budget)?);
        let (name, schema_digest) = (FitName::fresh()?, digest_of(&course.schema));
        Ok(Fit { course, next, name, schema_digest, number: 1 })
    }

    /// The receipt as it stands: the promise first, then what was spent so far.
    pub fn receipt(&self) -> &Receipt {
        &self.course.receipt
    }

    /// Says in the receipt where the spending is written down.
    #[must_use]
    pub fn recorded(mut self, entry: Entry) -> Fit {
        self.course.receipt.ledger = Some(entry);
        self
    }

    /// The next pass over the rows, or nothing when the fit is complete. Public.
    pub fn next_pass(&self) -> Option<Pass> {
        let Some(Next::Ask(measurement)) = &self.next else { return None };
        let schema = &self.course.schema;
        let pass = Pass::new(self.number, schema.width(), schema.strata(), measurement.work());
        Some(pass.of_fit(self.name, self.schema_digest))
    }

    /// What lies ahead once the current pass is absorbed, where that is more than adding noise. Public.
    pub fn ahead(&self) -> Option<Ahead> {
        match &self.next {
            Some(Next::Ask(measurement)) => measurement.ahead(),
            _ => None,
        }
    }

    /// Whether no pass comes after the current one, whatever its noise, so that the rows may go once they answered it.
    /// Public.
    pub fn needs_no_more_rows(&self) -> bool {
        matches!(&self.next, Some(Next::Ask(measurement)) if measurement.is_last())
    }

    /// Whether [`Fit::absorb`] would take this tally: spends nothing.
    ///
    /// # Errors
    /// [`Kind::Protocol`] for a tally of another fit, of another pass or of another number of rows, and where no pass is
    /// left. All of these are public.
    pub fn admits(&self, tally: &Tally) -> Result<()> {
        let pass = self.next_pass().ok_or_else(|| Error::new(Kind::Protocol, "this fit has no pass left to absorb"))?;
        if let Some(apart) = tally.origin.apart(&pass.origin()) {
            return Err(apart.refused(
                "the tally belongs to another fit than this one",
                "the tally answers another pass than the current one",
            ));
        }
        if tally.rows != self.course.rows {
            return Err(Error::new(
                Kind::Protocol,
                format!("the tally counts {} rows and the fit was begun with {}", tally.rows, self.course.rows),
            )
            .hint("tally every part of the table exactly once"));
        }
        Ok(())
    }

    /// Takes the merged tally of the current pass and spends that pass's charges on it.
    ///
    /// A tally of another fit, of another pass, or of another number of rows, is refused before anything is spent: see
    /// [`Fit::admits`]. Every release gets noise of its own, also in processes that forked from the one where the fit
    /// began; but each of them then releases, and each costs its ε.
    pub fn absorb(&mut self, tally: Tally) -> Result<()> {
        self.absorb_watched(tally, &|_, _| {})
    }

    /// The same, with someone who watches the search for the nearest measure, the one step of a fit that may take long
    /// after the rows were read: `watch(done, whole)`. Both are made of released numbers.
    pub fn absorb_watched(&mut self, tally: Tally, watch: &dyn Fn(u64, u64)) -> Result<()> {
        self.admits(&tally)?;
        let Some(Next::Ask(measurement)) = self.next.take() else { return Ok(()) };
        self.number += 1;
        let next = measurement.release(&mut self.course, Sensitive::new(tally.answer), watch);
        // What was spent before a failure is spent all the same.
        self.course.receipt.spent = self.course.kernel.log().to_vec();
        self.next = Some(next?);
        Ok(())
    }

    /// The finished model: public.
    pub fn finish(self) -> Result<Model> {
        let Course { schema, receipt, evidence, .. } = self.course;
        match self.next {
            Some(Next::Done(release)) => Ok(Model::new(schema, receipt, *release).with_evidence(evidence)),
            _ => Err(Error::new(Kind::Protocol, "the fit is not complete: passes are left")
                .hint("absorb a tally for every pass that `next_pass` gives")),
        }
    }
}

/// Refuses a plan that contradicts itself or does not suit the schema. A fit checks this before it begins; whoever wants to
/// know it before the table is opened may ask earlier.
pub fn check(plan: &Plan, schema: &Schema) -> Result<()> {
    method::check(plan, schema)
}

/// The digest of a schema, as passes carry it.
pub fn digest_of(schema: &Schema) -> Digest {
    Digest::of(schema.to_toml().as_bytes())
}
