//! The local runner: every pass over a table in memory, on all cores.

use crate::error::Result;
use crate::fit::Fit;
use crate::model::Model;
use crate::plan::Plan;
use crate::privacy::Budget;
use crate::schema::Schema;
use crate::source::{Progress, Table};
use crate::tally::Tally;

/// Fits a table that is in memory and keeps its layout in the model.
pub fn fit_table(table: &Table, schema: &Schema, plan: Plan, budget: Budget, progress: &dyn Progress) -> Result<Model> {
    let fit = Fit::begin(schema, plan, budget, table.rows() as u64)?;
    Ok(run(fit, table, progress)?.with_layout(table.layout().clone()))
}

/// Answers every pass of a fit from a table.
pub fn run(mut fit: Fit, table: &Table, progress: &dyn Progress) -> Result<Model> {
    while let Some(pass) = fit.next_pass() {
        progress.start(&format!("measuring, pass {}", pass.number), Some(table.rows() as u64));
        let tally = table.tally(
            |codes| {
                let tally = pass.tally(codes);
                progress.advance(codes.rows() as u64);
                Ok(tally)
            },
            merge,
        );
        progress.done();
        fit.absorb(tally?)?;
    }
    fit.finish()
}

fn merge(a: Result<Tally>, b: Result<Tally>) -> Result<Tally> {
    let mut a = a?;
    a.merge(b?)?;
    Ok(a)
}
