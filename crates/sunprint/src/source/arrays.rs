//! The values of Arrow columns, one by one, and whole batches of them as codes.

use super::layout::{Layout, Physical, PhysicalType};
use crate::door::{Door, Gate, Raw};
use crate::error::{Error, Kind, Result};
use crate::schema::Schema;
use crate::tally::codes::Codes;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::{DataType, Fields};
use std::ops::Range;

/// The layout of some Arrow fields, by their numbers; refuses types that hold neither numbers, truth values nor text.
/// A column that may have nulls is not told from one that may not: many writers decide that by whether there is one.
pub(super) fn layout(fields: &Fields, numbers: &[usize], schema: Option<&Schema>, place: &str) -> Result<Layout> {
    let columns = numbers.iter().map(|&number| {
        let field = &fields[number];
        let physical = PhysicalType::of_arrow(field.data_type()).ok_or_else(|| {
            // A name that the schema does not have is never shown.
            let known = |schema: &Schema| schema.columns.iter().any(|column| column.name == *field.name());
            let column = match schema {
                Some(schema) if known(schema) => format!("column `{}`", field.name()),
                _ => format!("column number {}", number + 1),
            };
            let rule = format!("{column} of the file has type {}, which cannot be read", word(field.data_type()));
            Error::new(Kind::Data, rule)
                .at(place)
                .hint("columns may hold numbers, booleans or text; convert this one or drop it from the file")
        })?;
        Ok(Physical { name: field.name().clone(), physical, nullable: true })
    });
    Ok(Layout { columns: columns.collect::<Result<_>>()? })
}

/// A short name of a type, without the fields inside it.
fn word(data_type: &DataType) -> String {
    let whole = data_type.to_string();
    let short = whole.split(['(', '<']).next().unwrap_or_default();
    short.trim().to_string()
}

/// Calls `f` with the number in the range and the value, for every row of it.
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
        &DataType::Decimal128(_, scale) => {
            let unit = 10f64.powi(i32::from(scale));
            numbers::<Decimal128Type>(array.as_primitive(), rows, f, |x| match i64::try_from(x) {
                Ok(whole) if scale == 0 => Raw::Integer(whole),
                _ => Raw::Number(x as f64 / unit),
            });
        }
        DataType::Boolean => {
            let array = array.as_boolean();
            rows.enumerate().for_each(|(i, row)| {
                f(i, if array.is_null(row) { Raw::Empty } else { Raw::Truth(array.value(row)) });
            });
        }
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            rows.enumerate().for_each(|(i, row)| f(i, text(array.is_null(row), || array.value(row))));
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            rows.enumerate().for_each(|(i, row)| f(i, text(array.is_null(row), || array.value(row))));
        }
        DataType::Utf8View => {
            let array = array.as_string_view();
            rows.enumerate().for_each(|(i, row)| f(i, text(array.is_null(row), || array.value(row))));
        }
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            rows.enumerate().for_each(|(i, row)| {
                if array.is_null(row) {
                    f(i, Raw::Empty);
                } else {
                    // What is not UTF-8 becomes the letter U+FFFD, which no number has.
                    f(i, Raw::Text(&String::from_utf8_lossy(array.value(row))));
                }
            });
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
                } else {
                    let f: &mut dyn FnMut(usize, Raw) = &mut |_, raw| f(i, raw);
                    for_each(values, key..key + 1, f);
                }
            });
        }
        // Refused with the layout, before any row is read.
        _ => rows.enumerate().for_each(|(i, _)| f(i, Raw::Empty)),
    }
}

#[inline]
fn text<'a>(null: bool, value: impl FnOnce() -> &'a str) -> Raw<'a> {
    if null { Raw::Empty } else { Raw::Text(value()) }
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

/// Encodes a column of plain numbers without nulls in a tight loop; false if it is none.
fn encode_numbers<'c>(
    gate: &Gate,
    array: &dyn Array,
    rows: Range<usize>,
    codes: impl Iterator<Item = &'c mut u16>,
) -> bool {
    fn values<T: ArrowPrimitiveType>(array: &dyn Array, rows: Range<usize>) -> impl Iterator<Item = T::Native> {
        array.as_primitive::<T>().values()[rows].iter().copied()
    }
    if array.null_count() > 0 {
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

/// Some columns of a file on their way to codes: which arrays of a batch are features, and which split the table.
pub(super) struct Plan {
    /// Array number, schema column.
    features: Vec<(usize, usize)>,
    /// Array number, schema column, weight in the number of the stratum.
    strata: Vec<(usize, usize, u32)>,
    /// For each column of the schema, the features before it.
    places: Vec<usize>,
}

impl Plan {
    /// The plan for batches whose arrays are these columns of the schema; features keep the schema's order.
    pub(super) fn new(schema: &Schema, arrays: &[usize]) -> Plan {
        let mut weights = vec![0u32; schema.columns.len()];
        let mut weight = 1u32;
        for &c in schema.stratum_columns().iter().rev() {
            weights[c] = weight;
            weight *= schema.columns[c].categories().len() as u32;
        }
        let before = |features: &mut usize, column: &crate::schema::Column| {
            let place = *features;
            *features += usize::from(!column.splits());
            Some(place)
        };
        let places = schema.columns.iter().scan(0, before).collect();
        let mut plan = Plan { features: Vec::new(), strata: Vec::new(), places };
        for (array, &c) in arrays.iter().enumerate() {
            if schema.columns[c].splits() {
                plan.strata.push((array, c, weights[c]));
            } else {
                plan.features.push((array, c));
            }
        }
        plan.features.sort_by_key(|&(_, column)| column);
        plan
    }

    pub(super) fn width(&self) -> usize {
        self.features.len()
    }

    /// The features with their places in the schema.
    pub(super) fn features(&self) -> &[(usize, usize)] {
        &self.features
    }

    /// The columns that split, with their places in the schema and their weights.
    pub(super) fn strata(&self) -> &[(usize, usize, u32)] {
        &self.strata
    }

    /// The codes of a batch; the strata are the share of these columns in the number of each row's stratum.
    pub(super) fn encode(&self, door: &Door, arrays: &[ArrayRef], rows: Range<usize>) -> Codes {
        let width = self.width();
        let mut codes = vec![0u16; rows.len() * width];
        let mut strata = vec![0u32; rows.len()];
        self.encode_at(door, arrays, rows.clone(), &mut codes, width, |place, _| place);
        self.add_shares(door, arrays, rows, &mut strata);
        Codes::from_parts(width, codes, strata)
    }

    /// Writes the codes of a batch into rows of the whole schema's width, each feature to its place there.
    pub(super) fn encode_into(
        &self,
        door: &Door,
        arrays: &[ArrayRef],
        rows: Range<usize>,
        out: &mut [u16],
        width: usize,
    ) {
        self.encode_at(door, arrays, rows, out, width, |_, column| self.places[column]);
    }

    fn encode_at(
        &self,
        door: &Door,
        arrays: &[ArrayRef],
        rows: Range<usize>,
        out: &mut [u16],
        width: usize,
        place: impl Fn(usize, usize) -> usize,
    ) {
        // A block of rows at a time, so that the rows being written to stay in the fastest cache.
        const BLOCK: usize = 128;
        for (block, out) in out.chunks_mut((BLOCK * width).max(1)).enumerate() {
            let start = rows.start + block * BLOCK;
            let end = (start + BLOCK).min(rows.end);
            for (number, &(array, column)) in self.features.iter().enumerate() {
                let (gate, place) = (door.gate(column), place(number, column));
                let array = arrays[array].as_ref();
                if !encode_numbers(gate, array, start..end, out[place..].iter_mut().step_by(width)) {
                    for_each(array, start..end, |i, raw| out[i * width + place] = gate.encode(raw));
                }
            }
        }
    }

    /// Adds the share of these columns in the number of each row's stratum.
    pub(super) fn add_shares(&self, door: &Door, arrays: &[ArrayRef], rows: Range<usize>, strata: &mut [u32]) {
        for &(array, column, weight) in &self.strata {
            let gate = door.gate(column);
            for_each(arrays[array].as_ref(), rows.clone(), |i, raw| strata[i] += weight * gate.category(raw));
        }
    }
}
