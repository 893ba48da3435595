//! Arrow's C interface in Python's capsules: the one file of this crate with `unsafe` code.
//!
//! A capsule of the PyCapsule interface holds a struct of Arrow's C interface. Whoever consumes it moves the struct out
//! and leaves one behind whose `release` is null, so that the capsule's own destructor finds nothing to do.
//!
//! What stands in such a struct is somebody else's word. Everything that can be checked is, before a value is looked at:
//! here what is needed to take hold of the memory at all, and in `imported.rs` the rest. The interface carries no sizes
//! of buffers: that a buffer is as long as its array needs is the one thing that must be believed.

#![allow(unsafe_code)]

use crate::imported::{self, Fault};
use arrow_array::ArrayRef;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, Field, Schema, SchemaRef, UnionMode};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const STREAM: &CStr = c"arrow_array_stream";
const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";

/// Arrays with more entries than this are longer than any memory; below it nothing overflows.
const MOST: usize = 1 << 48;

/// Batches that come through the C interface.
pub(crate) struct Stream {
    stream: FFI_ArrowArrayStream,
    /// As the producer says.
    schema: SchemaRef,
}

impl Stream {
    /// The columns, with the types that the producer says. Batches have texts as bytes.
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The batches of an object with `__arrow_c_stream__`.
pub(crate) fn import_stream(object: &Bound<'_, PyAny>) -> PyResult<Result<Stream, Fault>> {
    let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a valid, aligned stream by the rules of the PyCapsule interface, and the
    // capsule is alive. The stream is moved out and an empty one left behind, so that it is released once.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let (Some(get_schema), Some(_)) = (stream.get_schema(), stream.release()) else { return Ok(Err(Fault::Reader)) };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, the callback is its own, and the schema is there to be written to.
    let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
    if code != 0 {
        return Ok(Err(Fault::Reader));
    }
    Ok(match guarded(|| Field::try_from(&schema).map_err(|_| Fault::Type)) {
        Ok(field) => match field.data_type() {
            DataType::Struct(fields) => Ok(Stream { stream, schema: Arc::new(Schema::new(fields.clone())) }),
            _ => Err(Fault::Type),
        },
        Err(fault) => Err(fault),
    })
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, Fault>;

    fn next(&mut self) -> Option<Result<RecordBatch, Fault>> {
        let Some(get_next) = self.stream.get_next() else { return Some(Err(Fault::Reader)) };
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is not released, the callback is its own, and the array is there to be written to.
        let code = unsafe { get_next(&raw mut self.stream, &raw mut array) };
        if code != 0 {
            return Some(Err(Fault::Reader));
        }
        if array.is_released() {
            return None;
        }
        let declared = DataType::Struct(self.schema.fields().clone());
        Some(taken(array, &declared, |data| imported::batch(&data, self.schema.fields())))
    }
}

/// The array of an object with `__arrow_c_array__`: a batch as an array of structs, with the columns that it says it has.
pub(crate) fn import_batch(object: &Bound<'_, PyAny>) -> PyResult<Result<(SchemaRef, RecordBatch), Fault>> {
    let (array, declared) = match pair(object)? {
        Ok(pair) => pair,
        Err(fault) => return Ok(Err(fault)),
    };
    let DataType::Struct(fields) = &declared else { return Ok(Err(Fault::NoTable)) };
    let batch = taken(array, &declared, |data| imported::batch(&data, fields));
    Ok(batch.map(|batch| (Arc::new(Schema::new(fields.clone())), batch)))
}

/// The same of a single column, with the type that it says it has.
pub(crate) fn import_array(object: &Bound<'_, PyAny>) -> PyResult<Result<(DataType, ArrayRef), Fault>> {
    Ok(pair(object)?.and_then(|(array, declared)| {
        let column = taken(array, &declared, |data| imported::column(&data))?;
        Ok((declared, column))
    }))
}

fn pair(object: &Bound<'_, PyAny>) -> PyResult<Result<(FFI_ArrowArray, DataType), Fault>> {
    let pair = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let schema = pair.get_item(0)?.cast_into::<PyCapsule>()?;
    let array = pair.get_item(1)?.cast_into::<PyCapsule>()?;
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: capsules of these names hold a valid, aligned schema and array by the rules of the PyCapsule interface, and
    // `pair` keeps both alive. Each is moved out and an empty one left behind.
    let (schema, array) =
        unsafe { (FFI_ArrowSchema::from_raw(schema.as_ptr()), FFI_ArrowArray::from_raw(array.as_ptr())) };
    if array.is_released() {
        return Ok(Err(Fault::Broken));
    }
    Ok(guarded(|| DataType::try_from(&schema).map_err(|_| Fault::Type)).map(|declared| (array, declared)))
}

/// Takes hold of an array's memory, with texts as bytes, and makes something of it.
fn taken<T>(
    array: FFI_ArrowArray,
    declared: &DataType,
    make: impl FnOnce(arrow_data::ArrayData) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let read = imported::as_bytes(declared);
    guarded(|| {
        if !sound(&array, &read) {
            return Err(Fault::Broken);
        }
        // SAFETY: the array has the buffers, children and lengths that its type needs, as far as the interface tells: that
        // its buffers are as long as these lengths say is the producer's promise. Nothing looks at a value before
        // `make` has checked the offsets and keys.
        let data = unsafe { from_ffi_and_data_type(array, read) };
        make(data.map_err(|_| Fault::Broken)?)
    })
}

/// Arrow's library panics over some structs that are no arrays.
fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Fault::Broken))
}

/// Whether an array has what its type needs: numbers of buffers and children, lengths that are none below 0, and, where a
/// buffer's length is read out of another buffer, that buffer. Panics over missing pointers, which the caller expects.
fn sound(array: &FFI_ArrowArray, data_type: &DataType) -> bool {
    use DataType as T;
    let Some(end) = array.len().checked_add(array.offset()).filter(|end| *end <= MOST) else { return false };
    let parts = |buffers: usize, children: &[&DataType]| {
        let counts = (array.num_buffers(), array.num_children()) == (buffers, children.len());
        counts && children.iter().zip(0..).all(|(child, i)| sound(array.child(i), child))
    };
    match data_type {
        T::Null => true,
        T::Binary | T::Utf8 => array.num_buffers() == 3 && ends_well(array, end, false),
        T::LargeBinary | T::LargeUtf8 => array.num_buffers() == 3 && ends_well(array, end, true),
        T::BinaryView | T::Utf8View => views_well(array),
        T::Dictionary(_, values) => {
            array.num_buffers() == 2 && array.dictionary().is_some_and(|dictionary| sound(dictionary, values))
        }
        T::List(inside) | T::LargeList(inside) | T::Map(inside, _) => parts(2, &[inside.data_type()]),
        T::ListView(inside) | T::LargeListView(inside) => parts(3, &[inside.data_type()]),
        T::FixedSizeList(inside, _) => parts(1, &[inside.data_type()]),
        T::Struct(inside) => parts(1, &inside.iter().map(|field| field.data_type()).collect::<Vec<_>>()),
        T::RunEndEncoded(ends, values) => parts(0, &[ends.data_type(), values.data_type()]),
        T::Union(inside, mode) => {
            let inside: Vec<&DataType> = inside.iter().map(|(_, field)| field.data_type()).collect();
            parts(if *mode == UnionMode::Dense { 2 } else { 1 }, &inside)
        }
        _ => parts(2, &[]),
    }
}

/// Whether the last offset of texts can be the length of their bytes.
fn ends_well(array: &FFI_ArrowArray, end: usize, large: bool) -> bool {
    let ends = array.buffer(1);
    if end == 0 {
        return true;
    }
    if ends.is_null() || !ends.addr().is_multiple_of(if large { 8 } else { 4 }) {
        return false;
    }
    // SAFETY: the pointer is neither null nor out of line, and by the C interface there are `end` + 1 offsets behind it.
    unsafe { if large { *ends.cast::<i64>().add(end) >= 0 } else { *ends.cast::<i32>().add(end) >= 0 } }
}

/// Whether the buffers of views have lengths. There are a mask, the views, the buffers and their lengths.
fn views_well(array: &FFI_ArrowArray) -> bool {
    let Some(count) = array.num_buffers().checked_sub(3).filter(|count| *count <= MOST) else { return false };
    if count == 0 {
        return true;
    }
    let lengths = array.buffer(count + 2).cast::<i64>();
    if lengths.is_null() || !lengths.is_aligned() {
        return false;
    }
    // SAFETY: the pointer is neither null nor out of line, and by the C interface there is a length for every buffer.
    let lengths = unsafe { std::slice::from_raw_parts(lengths, count) };
    lengths.iter().all(|length| *length >= 0)
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
