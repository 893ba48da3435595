//! The local runner: every pass over a table in memory, and every draw from a model, on all cores.

use crate::error::Result;
use crate::fit::Fit;
use crate::model::{Draw, Model};
use crate::plan::Plan;
use crate::privacy::Budget;
use crate::schema::Schema;
use crate::source::{Drawn, Progress, Table, in_order};
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

/// Draws all rows on all cores and hands them on in order, block by block. The rows are the same for any number of
/// cores, because each block has a random stream of its own.
pub fn draw_rows(draw: &Draw<'_>, mut take: impl FnMut(&Drawn) -> Result<()>) -> Result<()> {
    let mut blocks = 0..draw.blocks();
    in_order(|| Ok(blocks.next()), |block| Ok(draw.block(block)), |drawn| take(&drawn))
}
