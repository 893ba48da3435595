//! For engines that read a table again in every pass: everything that can be refused before the first, and tallies with a
//! fingerprint of their rows.

use crate::errors::{contained, returned};
use crate::options::Options;
use crate::protocol::{Pass, Tally};
use crate::schema::Schema;
use crate::tables::{Handed, Opened};
use crate::watch;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use sunprint::error::{Error, Kind};
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
    let key: &[u8; KEY_BYTES] = key.try_into().map_err(|_| PyTypeError::new_err("a key has 32 bytes"))?;
    let handed = Handed::of(part, None, false)?;
    let described = &what.get().inner;
    let marker = Marker::new(key, described.pass.width);
    let (tally, mark) = watch::run(py, None, |watch| match handed.open(&described.schema, false)? {
        Opened::Batches(batches) => batches.answer_marked(&described.schema, &described.pass, &marker, watch),
        Opened::File(_) => Err(Error::new(Kind::Usage, "fingerprints are taken of batches, and not of files")),
    })?;
    Ok((Tally { of: Arc::clone(described), inner: tally }, PyBytes::new(py, &mark.to_secret_bytes())))
}
