//! Columns that do not speak Arrow: plain buffers and lists of text, both ways.
//!
//! A column is a tuple of Python objects: a word for what it is, its data, and what else belongs to it. The shell makes
//! and takes these tuples; see `python/sunprint/_plain.py`.

use crate::capsules::import_array;
use crate::errors::returned;
use crate::{cells, tables};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, DictionaryArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer, ToByteSlice};
use arrow_schema::{DataType, TimeUnit};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyTuple};
use std::sync::Arc;

/// A column of the shell as an Arrow array, with the type that is said of it. A column of Python objects has none: what is
/// in it must not decide what is drawn.
pub(crate) fn import(column: &Bound<'_, PyTuple>) -> PyResult<(DataType, ArrayRef)> {
    let (kind, data, extra): (String, Bound<'_, PyAny>, Bound<'_, PyAny>) = column.extract()?;
    let unknown = || PyTypeError::new_err("a column of an unknown kind");
    let array: ArrayRef = match kind.as_str() {
        "f4" => numbers::<Float32Type>(&data, &extra)?,
        "f8" => numbers::<Float64Type>(&data, &extra)?,
        "i1" => numbers::<Int8Type>(&data, &extra)?,
        "i2" => numbers::<Int16Type>(&data, &extra)?,
        "i4" => numbers::<Int32Type>(&data, &extra)?,
        "i8" => numbers::<Int64Type>(&data, &extra)?,
        "u1" => numbers::<UInt8Type>(&data, &extra)?,
        "u2" => numbers::<UInt16Type>(&data, &extra)?,
        "u4" => numbers::<UInt32Type>(&data, &extra)?,
        "u8" => numbers::<UInt64Type>(&data, &extra)?,
        "b1" => {
            let truths = values::<u8>(&data)?;
            let nulls = mask(&extra)?;
            Arc::new(BooleanArray::new(truths.iter().map(|&truth| truth != 0).collect::<BooleanBuffer>(), nulls))
        }
        "time" => moments(&data, &extra)?,
        "text" => return Ok((DataType::LargeUtf8, cells::import(data.cast()?)?)),
        "objects" => return Ok((DataType::Null, cells::import(data.cast()?)?)),
        "dictionary" => return dictionary(&data, &extra),
        "arrow" => {
            let found = import_array(&data)?;
            return returned(column.py(), found.map_err(tables::fault));
        }
        "frame" => return returned(column.py(), tables::only_column(&data)),
        _ => return Err(unknown()),
    };
    Ok((array.data_type().clone(), array))
}

fn values<T: Element>(data: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    PyBuffer::<T>::get(data)?.to_vec(data.py())
}

/// Where a byte is not 0, a value is missing.
fn mask(extra: &Bound<'_, PyAny>) -> PyResult<Option<NullBuffer>> {
    if extra.is_none() {
        return Ok(None);
    }
    let missing = values::<u8>(extra)?;
    Ok(Some(NullBuffer::new(missing.iter().map(|&missing| missing == 0).collect())))
}

fn numbers<T: ArrowPrimitiveType>(data: &Bound<'_, PyAny>, extra: &Bound<'_, PyAny>) -> PyResult<ArrayRef>
where
    T::Native: Element,
{
    let values = ScalarBuffer::from(values::<T::Native>(data)?);
    let array = PrimitiveArray::<T>::try_new(values, mask(extra)?);
    Ok(Arc::new(array.map_err(|_| PyTypeError::new_err("a column and its mask differ in length"))?))
}

/// Steps since 1970 with their unit and time zone; numpy's not-a-time is the least of all numbers.
fn moments(data: &Bound<'_, PyAny>, extra: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    fn made<T: arrow_array::types::ArrowTimestampType>(steps: Vec<i64>, zone: Option<String>) -> ArrayRef {
        let nulls = NullBuffer::new(steps.iter().map(|&step| step != i64::MIN).collect());
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        Arc::new(PrimitiveArray::<T>::new(steps.into(), nulls).with_timezone_opt(zone))
    }
    let (unit, zone): (String, Option<String>) = extra.extract()?;
    let steps = values::<i64>(data)?;
    Ok(match unit.as_str() {
        "s" => made::<TimestampSecondType>(steps, zone),
        "ms" => made::<TimestampMillisecondType>(steps, zone),
        "us" => made::<TimestampMicrosecondType>(steps, zone),
        _ => made::<TimestampNanosecondType>(steps, zone),
    })
}

/// 32-bit codes, and a list of what they stand for. A code that stands for nothing is missing.
fn dictionary(data: &Bound<'_, PyAny>, extra: &Bound<'_, PyAny>) -> PyResult<(DataType, ArrayRef)> {
    let codes = values::<i32>(data)?;
    let categories = cells::import(extra.cast()?)?;
    let stands = |code: i32| usize::try_from(code).is_ok_and(|code| code < categories.len());
    let nulls = NullBuffer::new(codes.iter().map(|&code| stands(code)).collect());
    let keys = PrimitiveArray::<Int32Type>::new(codes.into(), Some(nulls));
    let array = DictionaryArray::try_new(keys, categories);
    let array = array.map_err(|_| PyTypeError::new_err("a code stands for no category"))?;
    // Whether every category is text depends on the rows, and what is drawn must not.
    let declared = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::LargeUtf8));
    Ok((declared, Arc::new(array)))
}

/// Some arrays, one after the other, as a column for the shell.
pub(crate) fn export<'py>(py: Python<'py>, arrays: &[ArrayRef], data_type: &DataType) -> PyResult<Bound<'py, PyTuple>> {
    let plain = |kind: &str, data: Vec<u8>, extra: Bound<'py, PyAny>| {
        (kind, PyByteArray::new(py, &data), extra).into_pyobject(py)
    };
    let masked = |kind: &str, data: Vec<u8>| plain(kind, data, missing(py, arrays)?);
    match data_type {
        DataType::Float16 => masked("f2", bytes::<Float16Type>(arrays)),
        DataType::Float32 => masked("f4", bytes::<Float32Type>(arrays)),
        DataType::Float64 => masked("f8", bytes::<Float64Type>(arrays)),
        DataType::Int8 => masked("i1", bytes::<Int8Type>(arrays)),
        DataType::Int16 => masked("i2", bytes::<Int16Type>(arrays)),
        DataType::Int32 => masked("i4", bytes::<Int32Type>(arrays)),
        DataType::Int64 => masked("i8", bytes::<Int64Type>(arrays)),
        DataType::UInt8 => masked("u1", bytes::<UInt8Type>(arrays)),
        DataType::UInt16 => masked("u2", bytes::<UInt16Type>(arrays)),
        DataType::UInt32 => masked("u4", bytes::<UInt32Type>(arrays)),
        DataType::UInt64 => masked("u8", bytes::<UInt64Type>(arrays)),
        DataType::Boolean => {
            let truths = arrays.iter().flat_map(|array| array.as_boolean().values().iter().map(u8::from));
            masked("b1", truths.collect())
        }
        DataType::Date32 => masked("date", bytes::<Date32Type>(arrays)),
        DataType::Date64 => {
            let none = py.None().into_bound(py);
            timed(py, arrays, "ms", &none, bytes::<Date64Type>(arrays))
        }
        DataType::Timestamp(unit, zone) => {
            let zone = zone.as_deref().into_pyobject(py)?.into_any();
            match unit {
                TimeUnit::Second => timed(py, arrays, "s", &zone, bytes::<TimestampSecondType>(arrays)),
                TimeUnit::Millisecond => timed(py, arrays, "ms", &zone, bytes::<TimestampMillisecondType>(arrays)),
                TimeUnit::Microsecond => timed(py, arrays, "us", &zone, bytes::<TimestampMicrosecondType>(arrays)),
                TimeUnit::Nanosecond => timed(py, arrays, "ns", &zone, bytes::<TimestampNanosecondType>(arrays)),
            }
        }
        _ => {
            let mut texts: Vec<Option<String>> = Vec::new();
            arrays.iter().for_each(|array| all_texts(array.as_ref(), &mut texts));
            ("text", texts, py.None()).into_pyobject(py)
        }
    }
}

fn timed<'py>(
    py: Python<'py>,
    arrays: &[ArrayRef],
    unit: &str,
    zone: &Bound<'py, PyAny>,
    data: Vec<u8>,
) -> PyResult<Bound<'py, PyTuple>> {
    ("time", PyByteArray::new(py, &data), (unit, zone, missing(py, arrays)?)).into_pyobject(py)
}

fn bytes<T: ArrowPrimitiveType>(arrays: &[ArrayRef]) -> Vec<u8> {
    let mut out = Vec::with_capacity(arrays.iter().map(|array| array.len() * size_of::<T::Native>()).sum());
    arrays.iter().for_each(|array| out.extend_from_slice(array.as_primitive::<T>().values().to_byte_slice()));
    out
}

/// A byte for each row, 1 where a value is missing; `None` where none is.
fn missing<'py>(py: Python<'py>, arrays: &[ArrayRef]) -> PyResult<Bound<'py, PyAny>> {
    if arrays.iter().all(|array| array.null_count() == 0) {
        return Ok(py.None().into_bound(py));
    }
    let missing = arrays.iter().flat_map(|array| (0..array.len()).map(|row| u8::from(array.is_null(row))));
    Ok(PyByteArray::new(py, &missing.collect::<Vec<_>>()).into_any())
}

fn all_texts(array: &dyn Array, out: &mut Vec<Option<String>>) {
    let owned = |text: Option<&str>| text.map(str::to_string);
    match array.data_type() {
        DataType::Utf8 => out.extend(array.as_string::<i32>().iter().map(owned)),
        DataType::LargeUtf8 => out.extend(array.as_string::<i64>().iter().map(owned)),
        DataType::Utf8View => out.extend(array.as_string_view().iter().map(owned)),
        DataType::Dictionary(..) => {
            let mut texts = Vec::new();
            let coded = array.as_any_dictionary();
            all_texts(coded.values().as_ref(), &mut texts);
            // A dictionary without entries has only nulls, and no keys to be normalised.
            let keys = if texts.is_empty() { vec![0; coded.len()] } else { coded.normalized_keys() };
            let text = |(row, key): (usize, usize)| {
                if coded.is_null(row) { None } else { texts.get(key).cloned().flatten() }
            };
            out.extend(keys.into_iter().enumerate().map(text));
        }
        _ => out.extend((0..array.len()).map(|_| None)),
    }
}
