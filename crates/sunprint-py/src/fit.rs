//! A whole fit of one table, in the one order that keeps the promise.

use crate::errors::{raise, returned};
use crate::model::Model;
use crate::options::{Options, ledger};
use crate::schema::Schema;
use crate::tables::Handed;
use crate::watch;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use sunprint::error::Result;
use sunprint::ledger::Ledger;
use sunprint::run::fit_store_recorded;
use sunprint::source::{Progress, Room};

/// Fits a table. The options, the schema and the table's columns are checked before the charge is reserved; from the
/// first row on nothing takes the charge back, and an exception says so in a note.
#[pyfunction]
#[pyo3(signature = (schema, options, table, format=None, progress=None))]
pub(crate) fn fit(
    py: Python<'_>,
    schema: &Bound<'_, Schema>,
    options: &str,
    table: &Bound<'_, PyAny>,
    format: Option<&str>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let schema = &schema.get().inner;
    let options = returned(py, Options::read(options))?;
    let handed = Handed::of(table, format, options.ignore_extra)?;
    // The number of the entry, once the rows are read.
    let (kept, read) = (AtomicU64::new(0), AtomicBool::new(false));
    let work = |progress: &watch::Watch| measure(handed, schema, &options, (&kept, &read), progress);
    watch::run(py, progress, work).map(|inner| Model { inner }).inspect_err(|error| {
        let (number, was_opened) = (kept.load(Ordering::Relaxed), read.load(Ordering::Relaxed));
        // An exception that takes no attribute is not one of ours; it says as much without.
        let _ = error.value(py).setattr("charged", was_opened);
        if number > 0 {
            let note = format!("the rows were read, so the charge stays in the ledger, as entry {number}");
            // A note that cannot be added leaves the error as it is.
            let _ = error.value(py).call_method1("add_note", (note,));
        }
    })
}

fn measure(
    handed: Handed,
    schema: &sunprint::schema::Schema,
    options: &Options,
    (kept, read): (&AtomicU64, &AtomicBool),
    progress: &dyn Progress,
) -> Result<sunprint::model::Model> {
    let prepared = options.prepare(schema)?;
    let room = options.memory.map_or_else(Room::default, Room::of);
    let room = Room { spill_dir: options.spill_dir.clone(), ..room };
    room.check()?;
    let opened = handed.open(schema, options.ignore_extra)?;
    let mut reservation = None;
    // Called when the columns were judged, and before the rows are looked at.
    let charge = || {
        if let Some(mut reserved) = prepared.charge.reserve()? {
            reserved.opened()?;
            kept.store(reserved.entry().number, Ordering::Relaxed);
            reservation = Some(reserved);
        }
        read.store(true, Ordering::Relaxed);
        Ok(())
    };
    let store = opened.store(schema, &room, progress, charge)?;
    fit_store_recorded(store, schema, prepared.plan, prepared.budget, progress, reservation.as_mut())
}

/// What a data set has spent by a ledger, as (ε, δ) in exact decimals or fractions; nothing where no ledger is kept, or
/// none is there yet.
#[pyfunction]
#[pyo3(signature = (dataset, ledger_file=None))]
pub(crate) fn spent(py: Python<'_>, dataset: &str, ledger_file: Option<PathBuf>) -> PyResult<Option<(String, String)>> {
    let look = || -> Result<Option<(String, String)>> {
        let Some(path) = ledger(ledger_file.as_deref())?.filter(|path| path.exists()) else { return Ok(None) };
        let total = Ledger::open_existing(&path)?.read()?.total(dataset);
        Ok(Some((total.epsilon.to_string(), total.delta.to_string())))
    };
    py.detach(look).map_err(|error| raise(py, &error))
}
