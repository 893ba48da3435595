//! Arrays of other libraries, checked before a value is looked at.
//!
//! Offsets, lengths and keys that point outside of their buffers would be read there, which ends the process at best. An
//! array with such is no array of Arrow, whatever its values are, and is refused. Texts are taken as bytes, which stand
//! in the same buffers, for a text that is not UTF-8 is a value like any other.

use arrow_array::{Array, ArrayRef, LargeBinaryArray, RecordBatch, RecordBatchOptions, make_array};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};
use std::sync::Arc;

/// Why nothing came of an object that says that it speaks Arrow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// A type that Arrow's library does not know.
    Type,
    /// The producer's own reader failed.
    Reader,
    /// An array that contradicts itself.
    Broken,
    /// No table with columns.
    NoTable,
}

/// The type that an array is read with: text as bytes, and missing values anywhere.
pub(crate) fn as_bytes(declared: &DataType) -> DataType {
    match declared {
        DataType::Utf8 => DataType::Binary,
        DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::Utf8View => DataType::BinaryView,
        DataType::Dictionary(keys, values) => DataType::Dictionary(keys.clone(), Box::new(as_bytes(values))),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|field| read(field)).collect()),
        other => other.clone(),
    }
}

fn read(field: &Field) -> FieldRef {
    Arc::new(Field::new(field.name(), as_bytes(field.data_type()), true))
}

/// Whether values of a type stand by themselves. Others cannot be read, and so nobody looks into them.
fn is_flat(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null | DataType::Boolean | DataType::FixedSizeBinary(_) => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        DataType::Dictionary(_, values) => is_flat(values) && !matches!(**values, DataType::Dictionary(..)),
        other => other.is_primitive(),
    }
}

/// Whether everything that a value may be read by lies inside of its buffers. Where a value is missing, anything may stand.
fn is_whole(data: &ArrayData) -> bool {
    let checked = data.validate().is_ok();
    match data.data_type() {
        DataType::BinaryView => checked && views_are_whole(data),
        DataType::Dictionary(..) => checked && data.validate_values().is_ok() && data.child_data().iter().all(is_whole),
        _ => checked && data.validate_values().is_ok(),
    }
}

/// A view has four bytes for a length; then a short text itself, or four of its letters, the number of its buffer and its
/// place there.
fn views_are_whole(data: &ArrayData) -> bool {
    let Some((views, buffers)) = data.buffers().split_first() else { return false };
    let views = views.typed_data::<u128>().get(data.offset()..).and_then(|views| views.get(..data.len()));
    let Some(views) = views else { return false };
    let four = |view: u128, place: u32| (view >> (32 * place)) as u32 as usize;
    let lies_inside = |view: u128| {
        let (length, buffer, place) = (four(view, 0), four(view, 2), four(view, 3));
        length <= 12 || buffers.get(buffer).is_some_and(|buffer| place + length <= buffer.len())
    };
    views.iter().enumerate().all(|(row, &view)| data.is_null(row) || lies_inside(view))
}

/// A column that was checked. Where its type cannot be read, every value that is there is one that cannot be read.
pub(crate) fn column(data: &ArrayData) -> Result<ArrayRef, Fault> {
    if is_flat(data.data_type()) {
        return if is_whole(data) { Ok(make_array(data.clone())) } else { Err(Fault::Broken) };
    }
    let missing = |row| data.nulls().is_some_and(|nulls| nulls.is_null(row));
    Ok(Arc::new((0..data.len()).map(|row| (!missing(row)).then_some(b"\xff")).collect::<LargeBinaryArray>()))
}

/// A batch that came as an array of structs. A struct that is missing would be a row without columns.
pub(crate) fn batch(data: &ArrayData, declared: &Fields) -> Result<RecordBatch, Fault> {
    if data.null_count() > 0 {
        return Err(Fault::NoTable);
    }
    let (first, rows) = (data.offset(), data.len());
    let columns = data.child_data().iter().map(|child| {
        let whole = first.checked_add(rows).is_some_and(|end| end <= child.len());
        if whole { column(&child.slice(first, rows)) } else { Err(Fault::Broken) }
    });
    let columns = columns.collect::<Result<Vec<_>, Fault>>()?;
    let field = |(field, array): (&FieldRef, &ArrayRef)| Field::new(field.name(), array.data_type().clone(), true);
    let schema = Schema::new(declared.iter().zip(&columns).map(field).collect::<Vec<_>>());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &options).map_err(|_| Fault::Broken)
}
