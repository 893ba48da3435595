//! For engines that read a table in every pass: everything that can be refused before the first, tallies with a fingerprint
//! of their rows, and cells of sealed codes for those that keep them in between.

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
use sunprint::source::{Purpose, SEAL_BYTES, Seal, answer_cells};
use sunprint::tally::{Fingerprint, KEY_BYTES, Marker};

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

/// Some rows as cells of sealed codes, in one column; about `bytes` bytes each.
#[pyfunction]
pub(crate) fn sealed_cells(
    py: Python<'_>,
    schema: &Bound<'_, Schema>,
    part: &Bound<'_, PyAny>,
    seal: &[u8],
    bytes: usize,
) -> PyResult<Rows> {
    let handed = Handed::of(part, None, false)?;
    let seal = sealer(seal, Purpose::Rows)?;
    let schema = &schema.get().inner;
    let cells = watch::run(py, None, |watch| match handed.open(schema, false)? {
        Opened::Batches(batches) => batches.sealed_cells(schema, &seal, bytes, watch),
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
    seal: &[u8],
) -> PyResult<(Tally, Bound<'py, PyBytes>)> {
    let described = &what.get().inner;
    let (marker, seal) = (marker(key, described)?, sealer(seal, Purpose::Rows)?);
    let arrays = returned(py, first_columns(cells))?;
    let (tally, mark) = watch::run(py, None, |watch| answer_cells(arrays, &described.pass, &seal, &marker, watch))?;
    Ok((Tally { of: Arc::clone(described), inner: tally }, PyBytes::new(py, &mark.to_secret_bytes())))
}

/// A tally with the fingerprint of its rows, sealed for the way to other machines of the fit.
#[pyfunction]
pub(crate) fn seal_tally<'py>(
    py: Python<'py>,
    tally: &Bound<'py, Tally>,
    mark: &[u8],
    seal: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let seal = sealer(seal, Purpose::Tallies)?;
    let mark: [u8; Fingerprint::BYTES] =
        mark.try_into().map_err(|_| PyTypeError::new_err("a fingerprint has 16 bytes"))?;
    let sealed = contained(py, || seal.seal(&[&mark[..], &tally.get().inner.to_secret_bytes()].concat()))?;
    Ok(PyBytes::new(py, &sealed))
}

/// Opens it again.
#[pyfunction]
pub(crate) fn open_tally<'py>(
    py: Python<'py>,
    what: &Bound<'py, Pass>,
    sealed: &[u8],
    seal: &[u8],
) -> PyResult<(Tally, Bound<'py, PyBytes>)> {
    let seal = sealer(seal, Purpose::Tallies)?;
    let described = &what.get().inner;
    let (tally, mark) = contained(py, || {
        let text = seal.open(sealed).ok_or_else(unopened)?;
        let (mark, tally) = text.split_first_chunk::<{ Fingerprint::BYTES }>().ok_or_else(unopened)?;
        Ok((sunprint::tally::Tally::from_secret_bytes(tally, &described.pass)?, *mark))
    })?;
    Ok((Tally { of: Arc::clone(described), inner: tally }, PyBytes::new(py, &mark)))
}

fn unopened() -> Error {
    Error::new(Kind::Protocol, "a tally does not open with the key of this fit")
        .hint("it was changed on its way, or is of another fit: the machines in between are not to be trusted")
}

fn sealer(key: &[u8], purpose: Purpose) -> PyResult<Seal> {
    let key: &[u8; SEAL_BYTES] = key.try_into().map_err(|_| PyTypeError::new_err("a key has 32 bytes"))?;
    Ok(Seal::new(key, purpose))
}

fn marker(key: &[u8], described: &Described) -> PyResult<Marker> {
    let key: &[u8; KEY_BYTES] = key.try_into().map_err(|_| PyTypeError::new_err("a key has 32 bytes"))?;
    Ok(Marker::new(key, described.pass.width))
}

fn no_files() -> Error {
    Error::new(Kind::Usage, "engines hand over batches, and not files")
}
