//! For engines that read a table in every pass: everything that can be refused before the first, tallies with a fingerprint
//! of their rows, and cells of codes for those that keep them in between.

use crate::errors::{contained, returned};
use crate::options::Options;
use crate::protocol::{Described, Pass, Tally};
use crate::rows::Rows;
use crate::schema::Schema;
use crate::tables::{Handed, Opened, first_columns};
use crate::watch;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use sunprint::error::{Error, Kind};
use sunprint::source::answer_cells;
use sunprint::tally::{KEY_BYTES, Marker};

/// Checks the parameters of a fit, and the columns of a table of which no row is read. Spends nothing.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    schema: &Bound<'_, Schema>,
    options: &str,
    like: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let schema = &schema.get().inner;
    let options = returned(py, Options::read(options))?;
    let handed = Handed::of(like, None, options.ignore_extra)?;
    contained(py, || options.prepare(schema).and_then(|_| handed.open(schema, options.ignore_extra)).map(|_| ()))
}

/// Tallies one part of a table; gives the fingerprint of its rows too. Both are secret.
#[pyfunction]
pub(crate) fn tally_marked<'py>(
    py: Python<'py>,
    what: &Bound<'py, Pass>,
    part: &Bound<'py, PyAny>,
    key: &[u8],
) -> PyResult<(Tally, Bound<'py, PyBytes>)> {
    let handed = Handed::of(part, None, false)?;
    let described = &what.get().inner;
    let marker = marker(key, described)?;
    let (tally, mark) = watch::run(py, None, |watch| match handed.open(&described.schema, false)? {
        Opened::Batches(batches) => batches.answer_marked(&described.schema, &described.pass, &marker, watch),
        Opened::File(_) => Err(no_files()),
    })?;
    Ok((Tally { of: Arc::clone(described), inner: tally }, PyBytes::new(py, &mark.to_secret_bytes())))
}

/// Some rows as cells of codes, in one column. Secret, like the rows.
#[pyfunction]
pub(crate) fn secret_cells(py: Python<'_>, schema: &Bound<'_, Schema>, part: &Bound<'_, PyAny>) -> PyResult<Rows> {
    let handed = Handed::of(part, None, false)?;
    let schema = &schema.get().inner;
    let cells = watch::run(py, None, |watch| match handed.open(schema, false)? {
        Opened::Batches(batches) => batches.secret_cells(schema, watch),
        Opened::File(_) => Err(no_files()),
    })?;
    let columns = Arc::new(arrow_schema::Schema::new(vec![Field::new("codes", DataType::Binary, true)]));
    let batch = |cells| RecordBatch::try_new(Arc::clone(&columns), vec![Arc::new(cells)]);
    let batches = cells.into_iter().map(batch).collect::<std::result::Result<_, _>>();
    let uneven = |_| PyTypeError::new_err("the columns of a batch differ in length");
    Ok(Rows::new(Arc::clone(&columns), batches.map_err(uneven)?))
}

/// The same as `tally_marked`, of cells.
#[pyfunction]
pub(crate) fn tally_cells<'py>(
    py: Python<'py>,
    what: &Bound<'py, Pass>,
    cells: &Bound<'py, PyAny>,
    key: &[u8],
) -> PyResult<(Tally, Bound<'py, PyBytes>)> {
    let described = &what.get().inner;
    let marker = marker(key, described)?;
    let arrays = returned(py, first_columns(cells))?;
    let (tally, mark) = watch::run(py, None, |watch| answer_cells(arrays, &described.pass, &marker, watch))?;
    Ok((Tally { of: Arc::clone(described), inner: tally }, PyBytes::new(py, &mark.to_secret_bytes())))
}

fn marker(key: &[u8], described: &Described) -> PyResult<Marker> {
    let key: &[u8; KEY_BYTES] = key.try_into().map_err(|_| PyTypeError::new_err("a key has 32 bytes"))?;
    Ok(Marker::new(key, described.pass.width))
}

fn no_files() -> Error {
    Error::new(Kind::Usage, "engines hand over batches, and not files")
}
