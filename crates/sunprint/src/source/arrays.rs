//! The values of Arrow columns, one by one, and whole columns of plain numbers as codes.

use super::layout::{Layout, Physical, PhysicalType, per_second};
use crate::door::{Gate, Raw};
use crate::error::{Error, Kind, Result};
use crate::schema::{Schema, dates::DAY};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, GenericBinaryArray, PrimitiveArray, UnionArray};
use arrow_buffer::i256;
use arrow_schema::{DataType, Fields, TimeUnit};
use std::ops::Range;

/// The layout of some Arrow fields, by their numbers; refuses types that hold neither numbers, truth values, dates nor text.
/// A column that may have nulls is not told from one that may not: many writers decide that by whether there is one.
pub(super) fn layout(fields: &Fields, numbers: &[usize], schema: Option<&Schema>, place: &str) -> Result<Layout> {
    let columns = numbers.iter().map(|&number| {
        let field = &fields[number];
        let described = || schema.and_then(|schema| schema.columns.iter().find(|column| column.name == *field.name()));
        // A writer that found no value in a column may give it no type. That there is none must not be told: neither by
        // a refusal nor by a layout without types.
        let natural = || described().map_or(PhysicalType::Plain, |column| PhysicalType::natural(&column.kind));
        let untyped = || (*field.data_type() == DataType::Null).then(natural);
        let physical = PhysicalType::of_arrow(field.data_type()).or_else(untyped).ok_or_else(|| {
            // A name that the schema does not have is never shown.
            let column = match described() {
                Some(_) => format!("column `{}`", field.name()),
                _ => format!("column number {}", number + 1),
            };
            let rule = format!("{column} of the file has type {}, which cannot be read", word(field.data_type()));
            Error::new(Kind::Data, rule)
                .at(place)
                .hint("columns may hold numbers, booleans, dates or text; convert this one or drop it from the file")
        })?;
        let zone = match field.data_type() {
            DataType::Timestamp(_, zone) => zone.as_ref().map(ToString::to_string),
            _ => None,
        };
        Ok(Physical { zone, ..Physical::new(field.name(), physical) })
    });
    Ok(Layout { columns: columns.collect::<Result<_>>()? })
}

/// A short name of a type, without the fields inside it.
fn word(data_type: &DataType) -> String {
    let whole = data_type.to_string();
    let short = whole.split(['(', '<']).next().unwrap_or_default();
    short.trim().to_string()
}

/// A value that is neither a number, a truth value, a date nor text: the letter that stands for bytes that are no text. It
/// is no number, and no category that anybody lists.
const UNREADABLE: Raw<'static> = Raw::Text("\u{fffd}");

/// Calls `f` with the number in the range and the value, for every row of it. Whatever the type is: a value of one that
/// cannot be read is a value that cannot be read.
#[inline]
pub(super) fn for_each(array: &dyn Array, rows: Range<usize>, mut f: impl FnMut(usize, Raw)) {
    match array.data_type() {
        DataType::Float64 => numbers::<Float64Type>(array.as_primitive(), rows, f, Raw::Number),
        DataType::Float32 => numbers::<Float32Type>(array.as_primitive(), rows, f, |x| Raw::Number(f64::from(x))),
        DataType::Float16 => numbers::<Float16Type>(array.as_primitive(), rows, f, |x| Raw::Number(x.to_f64())),
        DataType::Int8 => numbers::<Int8Type>(array.as_primitive(), rows, f, |x| Raw::Integer(i64::from(x))),
        DataType::Int16 => numbers::<Int16Type>(array.as_primitive(), rows, f, |x| Raw::Integer(i64::from(x))),
        DataType::Int32 => numbers::<Int32Type>(array.as_primitive(), rows, f, |x| Raw::Integer(i64::from(x))),
        DataType::Int64 => numbers::<Int64Type>(array.as_primitive(), rows, f, Raw::Integer),
        DataType::UInt8 => numbers::<UInt8Type>(array.as_primitive(), rows, f, |x| Raw::Integer(i64::from(x))),
        DataType::UInt16 => numbers::<UInt16Type>(array.as_primitive(), rows, f, |x| Raw::Integer(i64::from(x))),
        DataType::UInt32 => numbers::<UInt32Type>(array.as_primitive(), rows, f, |x| Raw::Integer(i64::from(x))),
        // Beyond 2^63 a number is above every integer bound anyway.
        DataType::UInt64 => numbers::<UInt64Type>(array.as_primitive(), rows, f, |x| {
            i64::try_from(x).map_or(Raw::Number(x as f64), Raw::Integer)
        }),
        &DataType::Decimal32(_, scale) => {
            numbers::<Decimal32Type>(array.as_primitive(), rows, f, |x| Raw::Number(f64::from(x) / unit(scale)));
        }
        &DataType::Decimal64(_, scale) => {
            numbers::<Decimal64Type>(array.as_primitive(), rows, f, |x| Raw::Number(x as f64 / unit(scale)));
        }
        &DataType::Decimal256(_, scale) => {
            numbers::<Decimal256Type>(array.as_primitive(), rows, f, |x| Raw::Number(wide(x) / unit(scale)))
        }
        &DataType::Decimal128(_, scale) => {
            let unit = unit(scale);
            numbers::<Decimal128Type>(array.as_primitive(), rows, f, |x| match i64::try_from(x) {
                Ok(whole) if scale == 0 => Raw::Integer(whole),
                _ => Raw::Number(x as f64 / unit),
            });
        }
        DataType::Date32 => {
            numbers::<Date32Type>(array.as_primitive(), rows, f, |day| Raw::Moment(i64::from(day) * DAY));
        }
        DataType::Date64 => numbers::<Date64Type>(array.as_primitive(), rows, f, |x| moment(x, 1_000)),
        DataType::Timestamp(unit, _) => {
            let steps = per_second(*unit);
            let raw = |x| moment(x, steps);
            match unit {
                TimeUnit::Second => numbers::<TimestampSecondType>(array.as_primitive(), rows, f, raw),
                TimeUnit::Millisecond => numbers::<TimestampMillisecondType>(array.as_primitive(), rows, f, raw),
                TimeUnit::Microsecond => numbers::<TimestampMicrosecondType>(array.as_primitive(), rows, f, raw),
                TimeUnit::Nanosecond => numbers::<TimestampNanosecondType>(array.as_primitive(), rows, f, raw),
            }
        }
        DataType::Boolean => {
            let array = array.as_boolean();
            rows.enumerate().for_each(|(i, row)| {
                f(i, if array.is_null(row) { Raw::Empty } else { Raw::Truth(array.value(row)) });
            });
        }
        // Texts are read as bytes: a frame of another library may hold what is not UTF-8, whatever its type says.
        DataType::Utf8 => {
            let array = GenericBinaryArray::<i32>::from(array.as_string::<i32>().clone());
            texts(rows, f, |row| (!array.is_null(row)).then(|| array.value(row)));
        }
        DataType::LargeUtf8 => {
            let array = GenericBinaryArray::<i64>::from(array.as_string::<i64>().clone());
            texts(rows, f, |row| (!array.is_null(row)).then(|| array.value(row)));
        }
        DataType::Utf8View => {
            let array = array.as_string_view().clone().to_binary_view();
            texts(rows, f, |row| (!array.is_null(row)).then(|| array.value(row)));
        }
        DataType::Binary => {
            let array = array.as_binary::<i32>();
            texts(rows, f, |row| (!array.is_null(row)).then(|| array.value(row)));
        }
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            texts(rows, f, |row| (!array.is_null(row)).then(|| array.value(row)));
        }
        DataType::BinaryView => {
            let array = array.as_binary_view();
            texts(rows, f, |row| (!array.is_null(row)).then(|| array.value(row)));
        }
        DataType::Dictionary(..) => {
            let part = array.slice(rows.start, rows.len());
            let part = part.as_any_dictionary();
            let values: &dyn Array = part.values().as_ref();
            // A dictionary without entries has only nulls, and no keys to be normalised.
            let keys = if values.is_empty() { vec![0; part.len()] } else { part.normalized_keys() };
            keys.iter().enumerate().for_each(|(i, &key)| {
                if part.is_null(i) {
                    f(i, Raw::Empty);
                } else if values.is_empty() {
                    f(i, UNREADABLE);
                } else {
                    let f: &mut dyn FnMut(usize, Raw) = &mut |_, raw| f(i, raw);
                    for_each(values, key..key + 1, f);
                }
            });
        }
        DataType::Union(..) => mixed(array.as_union(), rows, &mut f),
        // A column without a type has no values.
        DataType::Null => rows.enumerate().for_each(|(i, _)| f(i, Raw::Empty)),
        // Refused with the layout, before any row is read, in the first batch of a table; later ones are what they are.
        _ => rows.enumerate().for_each(|(i, row)| f(i, if array.is_null(row) { Raw::Empty } else { UNREADABLE })),
    }
}

/// Values each of which has a type of its own.
fn mixed(array: &UnionArray, rows: Range<usize>, f: &mut dyn FnMut(usize, Raw)) {
    for (i, row) in rows.enumerate() {
        let (values, at) = (array.child(array.type_id(row)), array.value_offset(row));
        let f: &mut dyn FnMut(usize, Raw) = &mut |_, raw| f(i, raw);
        for_each(values.as_ref(), at..at + 1, f);
    }
}

/// The real number nearest to a whole one, about.
fn wide(x: i256) -> f64 {
    let (low, high) = x.to_parts();
    x.to_i128().map_or_else(|| high as f64 * 2f64.powi(128) + low as f64, |x| x as f64)
}

fn unit(scale: i8) -> f64 {
    10f64.powi(i32::from(scale))
}

/// The second that a moment lies in.
fn moment(x: i64, per_second: i64) -> Raw<'static> {
    Raw::Moment(x.div_euclid(per_second))
}

/// What is not UTF-8 becomes the letter U+FFFD, which no number has.
#[inline]
fn texts<'a>(rows: Range<usize>, mut f: impl FnMut(usize, Raw), bytes: impl Fn(usize) -> Option<&'a [u8]>) {
    for (i, row) in rows.enumerate() {
        match bytes(row) {
            None => f(i, Raw::Empty),
            Some(bytes) => f(i, Raw::Text(&String::from_utf8_lossy(bytes))),
        }
    }
}

#[inline]
fn numbers<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    rows: Range<usize>,
    mut f: impl FnMut(usize, Raw),
    raw: impl Fn(T::Native) -> Raw<'static>,
) {
    let values = &array.values()[rows.clone()];
    if array.null_count() == 0 {
        values.iter().enumerate().for_each(|(i, &value)| f(i, raw(value)));
    } else {
        values.iter().enumerate().for_each(|(i, &value)| {
            f(i, if array.is_null(rows.start + i) { Raw::Empty } else { raw(value) });
        });
    }
}

/// Encodes a column of plain numbers without nulls in a tight loop; false if it is none, or more than one coordinate.
pub(super) fn encode_numbers<'c>(
    gate: &Gate,
    array: &dyn Array,
    rows: Range<usize>,
    codes: impl Iterator<Item = &'c mut u16>,
) -> bool {
    fn values<T: ArrowPrimitiveType>(array: &dyn Array, rows: Range<usize>) -> impl Iterator<Item = T::Native> {
        array.as_primitive::<T>().values()[rows].iter().copied()
    }
    if array.null_count() > 0 || !gate.is_single() {
        return false;
    }
    match array.data_type() {
        DataType::Float64 => gate.encode_reals(values::<Float64Type>(array, rows), codes),
        DataType::Float32 => gate.encode_reals(values::<Float32Type>(array, rows).map(f64::from), codes),
        DataType::Int8 => gate.encode_wholes(values::<Int8Type>(array, rows).map(i64::from), codes),
        DataType::Int16 => gate.encode_wholes(values::<Int16Type>(array, rows).map(i64::from), codes),
        DataType::Int32 => gate.encode_wholes(values::<Int32Type>(array, rows).map(i64::from), codes),
        DataType::Int64 => gate.encode_wholes(values::<Int64Type>(array, rows), codes),
        DataType::UInt8 => gate.encode_wholes(values::<UInt8Type>(array, rows).map(i64::from), codes),
        DataType::UInt16 => gate.encode_wholes(values::<UInt16Type>(array, rows).map(i64::from), codes),
        DataType::UInt32 => gate.encode_wholes(values::<UInt32Type>(array, rows).map(i64::from), codes),
        _ => return false,
    }
    true
}
