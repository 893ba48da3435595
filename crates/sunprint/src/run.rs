//! The local runner: every pass over a table in memory or out of core, and every draw from a model, on all cores.

use crate::error::{Error, Kind, Result};
use crate::fit::{Ahead, Fit};
use crate::ledger::Reservation;
use crate::model::{BLOCK, Draw, Model};
use crate::plan::Plan;
use crate::privacy::Budget;
use crate::schema::Schema;
use crate::source::{BatchMaker, Drawn, Progress, Store, Table, TableWriter, Unit, go_on, in_order};
use crate::tally::{Pass, Tally};
use arrow_array::RecordBatch;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Work that takes fewer seconds is not announced.
const PATIENCE: f64 = 3.0;

/// Fits a table that is in memory and keeps its layout in the model.
pub fn fit_table(table: &Table, schema: &Schema, plan: Plan, budget: Budget, progress: &dyn Progress) -> Result<Model> {
    let fit = Fit::begin(schema, plan, budget, table.rows() as u64)?;
    Ok(run(fit, table, progress)?.with_layout(table.layout().clone()))
}

/// Fits a table that may be larger than memory and keeps its layout in the model. The codes are gone as soon as the last
/// pass is answered: before the measure is looked for, which needs memory of its own.
pub fn fit_store(store: Store, schema: &Schema, plan: Plan, budget: Budget, progress: &dyn Progress) -> Result<Model> {
    fit_store_recorded(store, schema, plan, budget, progress, None)
}

/// The same with a charge in a ledger, which is marked as spent before noise is drawn.
pub fn fit_store_recorded(
    store: Store,
    schema: &Schema,
    plan: Plan,
    budget: Budget,
    progress: &dyn Progress,
    reservation: Option<&mut Reservation>,
) -> Result<Model> {
    let fit = Fit::begin(schema, plan, budget, store.rows())?;
    let layout = store.layout().clone();
    Ok(run_recorded(fit, store, progress, reservation)?.with_layout(layout))
}

/// Whoever can answer a pass.
pub trait Rows {
    /// The tally of all rows.
    fn answer(&self, pass: &Pass, progress: &dyn Progress) -> Result<Tally>;
}

impl Rows for Table {
    fn answer(&self, pass: &Pass, progress: &dyn Progress) -> Result<Tally> {
        self.answer(pass, progress)
    }
}

impl Rows for Store {
    fn answer(&self, pass: &Pass, progress: &dyn Progress) -> Result<Tally> {
        self.answer(pass, progress)
    }
}

impl<R: Rows> Rows for &R {
    fn answer(&self, pass: &Pass, progress: &dyn Progress) -> Result<Tally> {
        R::answer(self, pass, progress)
    }
}

/// Answers every pass of a fit from a table. Rows that are handed over, and not only lent, are dropped after the last one.
pub fn run(fit: Fit, rows: impl Rows, progress: &dyn Progress) -> Result<Model> {
    run_recorded(fit, rows, progress, None)
}

/// The same with a charge in a ledger, which is marked as spent before noise is drawn.
pub fn run_recorded(
    mut fit: Fit,
    rows: impl Rows,
    progress: &dyn Progress,
    mut reservation: Option<&mut Reservation>,
) -> Result<Model> {
    if let Some(reservation) = &reservation {
        fit = fit.recorded(reservation.entry().clone());
    }
    let mut rows = Some(rows);
    while let Some(pass) = fit.next_pass() {
        let unasked = || Error::new(Kind::Protocol, "a pass came after the last one");
        let tally = rows.as_ref().ok_or_else(unasked)?.answer(&pass, progress)?;
        if fit.needs_no_more_rows() {
            rows = None;
        }
        // Noise is drawn where a tally is absorbed, and nowhere else: this is the last moment before the first.
        if let Some(reservation) = reservation.take() {
            reservation.spend()?;
        }
        if let Some(ahead) = fit.ahead().filter(|ahead| ahead.seconds > PATIENCE) {
            let Ahead { cells, seconds } = ahead;
            progress.note(&format!("finding the measure nearest to {cells} noisy counts, about {seconds:.0} s"));
        }
        let solving = Solving { progress, done: AtomicU64::new(0) };
        let absorbed = fit.absorb_watched(tally, &|done, whole| solving.at(done, whole));
        solving.progress.done();
        absorbed?;
    }
    fit.finish()
}

/// Shows how far the search for the nearest measure has come.
struct Solving<'a> {
    progress: &'a dyn Progress,
    done: AtomicU64,
}

impl Solving<'_> {
    fn at(&self, done: u64, whole: u64) {
        let before = self.done.fetch_max(done.max(1), Ordering::Relaxed);
        if before == 0 {
            self.progress.start("finding the measure", Some(whole), Unit::Steps);
        }
        self.progress.advance(done.saturating_sub(before));
    }
}

/// Draws all rows on all cores and hands them on in order, block by block. The rows are the same for any number of
/// cores, because each block has a random stream of its own.
pub fn draw_rows(draw: &Draw<'_>, mut take: impl FnMut(&Drawn) -> Result<()>) -> Result<()> {
    let mut blocks = 0..draw.blocks();
    in_order(|| Ok(blocks.next()), |block| Ok(draw.block(block)), |drawn| take(&drawn))
}

/// Draws all rows into a table, on all cores from the random numbers to the encoded bytes. The bytes are the same for
/// any number of cores, and the memory is for any number of rows.
pub fn write_rows(draw: &Draw<'_>, table: &mut TableWriter, progress: &dyn Progress) -> Result<()> {
    table.write_blocks(draw.blocks(), BLOCK as usize, |block, rows| {
        draw.fill(block, rows);
        progress.advance(rows.rows() as u64);
    })
}

/// Draws some blocks of rows as Arrow batches, on all cores and in order. The rows are those that [`write_rows`] writes.
pub fn draw_batches(
    draw: &Draw<'_>,
    blocks: Range<u64>,
    maker: &BatchMaker,
    progress: &dyn Progress,
    take: impl FnMut(RecordBatch) -> Result<()>,
) -> Result<()> {
    let step = maker.blocks_of(BLOCK as usize);
    let last = blocks.end.min(draw.blocks());
    let mut first = blocks.start;
    let next = move || {
        go_on(progress)?;
        let some = first..first.saturating_add(step).min(last);
        first = some.end;
        Ok(Some(some).filter(|some| !some.is_empty()))
    };
    let make = |some: Range<u64>| {
        maker.batch(some, |block, rows| {
            draw.fill(block, rows);
            progress.advance(rows.rows() as u64);
        })
    };
    in_order(next, make, take)
}
