//! The sensitive table in memory, as codes.

use super::batches::Batches;
use super::check::CheckReport;
use super::chunks::{self, Shelf};
use super::place::Input;
use super::{Layout, Progress, Unit, store, threads, words};
use crate::error::{Error, Kind, Result};
use crate::schema::Schema;
use crate::tally::codes::Codes;
use crate::tally::{Pass, Tally};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The sensitive table in memory, as codes in chunks of rows. No `Debug`, no `Serialize`.
pub struct Table {
    chunks: Vec<Codes>,
    layout: Layout,
    rows: usize,
    width: usize,
    check: Option<CheckReport>,
}

impl Table {
    /// Reads a table. Every value is clamped to the schema's bounds; only the shape and the format of the file can be
    /// refused.
    pub fn open(input: &Input, schema: &Schema, progress: &dyn Progress) -> Result<Table> {
        let shelf = Shelf::default();
        let layout = chunks::read(input, schema, progress, &shelf)?;
        Table::of_shelf(shelf, layout, schema, &input.place())
    }

    /// The same, and counts what the schema changes in every column ([`Table::check`]). For the curator's eyes.
    pub fn open_checked(input: &Input, schema: &Schema, progress: &dyn Progress) -> Result<Table> {
        let shelf = Shelf::judging();
        let layout = chunks::read(input, schema, progress, &shelf)?;
        Table::of_shelf(shelf, layout, schema, &input.place())
    }

    /// Reads a table that comes as batches.
    pub fn of_batches(batches: Batches, schema: &Schema, progress: &dyn Progress) -> Result<Table> {
        let place = batches.place().to_string();
        let shelf = Shelf::default();
        let layout = batches.read(schema, progress, &shelf)?;
        Table::of_shelf(shelf, layout, schema, &place)
    }

    /// The same, and counts what the schema changes in every column ([`Table::check`]). For the curator's eyes.
    pub fn of_batches_checked(batches: Batches, schema: &Schema, progress: &dyn Progress) -> Result<Table> {
        let place = batches.place().to_string();
        let shelf = Shelf::judging();
        let layout = batches.read(schema, progress, &shelf)?;
        Table::of_shelf(shelf, layout, schema, &place)
    }

    fn of_shelf(mut shelf: Shelf, layout: Layout, schema: &Schema, place: &str) -> Result<Table> {
        let judged = shelf.take_judged();
        let chunks = shelf.into_chunks();
        let rows = chunks.iter().map(Codes::rows).sum();
        if rows == 0 {
            return Err(words::no_rows(place));
        }
        let columns = layout.match_schema(schema, place)?;
        let check = judged.map(|judged| judged.report(schema, &columns, place)).transpose()?;
        Ok(Table { chunks, layout, rows, width: schema.width(), check })
    }

    /// What the schema changed in every column, if it was counted. Private: it depends on the rows.
    pub fn check(&self) -> Option<&CheckReport> {
        self.check.as_ref()
    }

    /// The same table with what was counted elsewhere.
    pub fn with_check(mut self, check: CheckReport) -> Table {
        self.check = Some(check);
        self
    }

    /// A table from codes in memory, in chunks of rows, with the schema's own columns as its layout. Refuses chunks
    /// that do not belong to the schema, and a table without rows.
    pub fn of_codes(chunks: Vec<Codes>, schema: &Schema) -> Result<Table> {
        let (width, strata) = (schema.width(), schema.strata());
        let fits = |codes: &Codes| {
            codes.width() == width && (0..codes.rows()).all(|row| (codes.stratum(row) as usize) < strata)
        };
        if !chunks.iter().all(fits) {
            return Err(Error::new(Kind::Data, "the codes have other columns or strata than the schema")
                .hint("encode the rows by the schema that they are opened with"));
        }
        let rows = chunks.iter().map(Codes::rows).sum();
        if rows == 0 {
            return Err(words::no_rows("codes in memory"));
        }
        let chunks = chunks.into_iter().filter(|codes| codes.rows() > 0).collect();
        Ok(Table { chunks, layout: Layout::of_schema(schema), rows, width, check: None })
    }

    /// The number of rows, which is public.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The file's columns, for an output of the same form.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The rows in chunks.
    pub fn chunks(&self) -> &[Codes] {
        &self.chunks
    }

    /// Answers a pass on all cores.
    pub fn answer(&self, pass: &Pass, progress: &dyn Progress) -> Result<Tally> {
        progress.start(&format!("measuring, pass {}", pass.number), Some(self.rows as u64), Unit::Rows);
        let tally = store::answer(pass, &self.chunks, progress);
        progress.done();
        tally
    }

    /// Tallies every chunk on all cores and merges the tallies in the order of the rows.
    pub fn tally<T: Send>(&self, f: impl Fn(&Codes) -> T + Sync, merge: impl Fn(T, T) -> T + Sync) -> T {
        // A few runs of neighbouring chunks for each core: whichever core is free takes the next run, each run is
        // merged where it was tallied, and the runs are merged in order.
        let threads = threads::cores().min(self.chunks.len());
        let runs: Vec<&[Codes]> = self.chunks.chunks(self.chunks.len().div_ceil(4 * threads)).collect();
        let tallies: Vec<Mutex<Option<T>>> = runs.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((run, tally)) =
                Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| runs.get(i).zip(tallies.get(i)))
            {
                let merged = run.iter().map(&f).reduce(&merge);
                *tally.lock().unwrap_or_else(PoisonError::into_inner) = merged;
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        let tallies =
            tallies.into_iter().filter_map(|tally| tally.into_inner().unwrap_or_else(PoisonError::into_inner));
        tallies.reduce(&merge).expect("a table has at least one row")
    }
}
