//! Arrow's C interface in Python's capsules: the one file of this crate with `unsafe` code.
//!
//! A capsule of the PyCapsule interface holds a struct of Arrow's C interface. Whoever consumes it moves the struct out
//! and leaves one behind whose `release` is null, so that the capsule's own destructor finds nothing to do.

#![allow(unsafe_code)]

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{ArrayRef, RecordBatchReader, make_array};
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::CStr;

const STREAM: &CStr = c"arrow_array_stream";
const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";

/// The batches of an object with `__arrow_c_stream__`.
pub(crate) fn import_stream(
    object: &Bound<'_, PyAny>,
) -> PyResult<std::result::Result<RecordBatchStreamReader, ArrowError>> {
    let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a valid, aligned stream by the rules of the PyCapsule interface, and the
    // capsule is alive. The stream is moved out and an empty one left behind, so that it is released once.
    Ok(unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) })
}

/// The array of an object with `__arrow_c_array__`: a column, or a batch as an array of structs.
pub(crate) fn import_array(object: &Bound<'_, PyAny>) -> PyResult<std::result::Result<ArrayRef, ArrowError>> {
    let pair = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let schema = pair.get_item(0)?.cast_into::<PyCapsule>()?;
    let array = pair.get_item(1)?.cast_into::<PyCapsule>()?;
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: capsules of these names hold a valid, aligned schema and array by the rules of the PyCapsule interface, and
    // `pair` keeps both alive. Each is moved out and an empty one left behind. That the schema describes the array is
    // the producer's promise: the two came from one call.
    Ok(unsafe {
        let schema = FFI_ArrowSchema::from_raw(schema.as_ptr());
        from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), &schema)
    }
    .map(make_array))
}

/// A capsule with batches for another library.
pub(crate) fn export_stream<'py>(
    py: Python<'py>,
    batches: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    // The capsule holds the stream itself, whose own destructor releases it if nobody has moved it out.
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(batches), STREAM)
}

/// A capsule with the columns' names and types.
pub(crate) fn export_schema<'py>(py: Python<'py>, schema: &arrow_schema::Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let exported = FFI_ArrowSchema::try_from(schema);
    let unable = |_| pyo3::exceptions::PyTypeError::new_err("these columns cannot be handed over as Arrow");
    PyCapsule::new_with_value(py, exported.map_err(unable)?, SCHEMA)
}
