//! Synthetic rows as Arrow batches of the layout's types.

use super::layout::{Physical, PhysicalType};
use super::text_out::Printer;
use super::writer::{Drawn, Origin, Outlet, of_category};
use crate::door::{Door, Value};
use crate::schema::Column;
use crate::schema::dates::DAY;
use arrow_array::builder::{GenericStringBuilder, StringViewBuilder};
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, ArrowTimestampType, Date32Type, Date64Type, Decimal128Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, LargeStringArray, PrimitiveArray, RecordBatch, StringArray,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{ArrowError, DataType, Field, Schema as ArrowSchema, SchemaRef, TimeUnit};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::ops::Range;
use std::sync::Arc;

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// Rows as batches.
pub(super) struct ArrowRows {
    schema: SchemaRef,
    pub(super) columns: Vec<(Outlet, PhysicalType, Printer, Option<ArrayRef>)>,
}

impl ArrowRows {
    pub(super) fn new(columns: &[(Outlet, &Physical, &Column)]) -> ArrowRows {
        let mut fields = Vec::new();
        let mut outlets = Vec::new();
        for &(outlet, physical, column) in columns {
            let mut form = match physical.physical {
                PhysicalType::Plain => PhysicalType::natural(&column.kind),
                form => form,
            };
            let texts = column.categories();
            if let PhysicalType::Dictionary { large, .. } = form
                && !fits_dictionary(form, texts.len())
            {
                form = if large { PhysicalType::LargeUtf8 } else { PhysicalType::Utf8 };
            }
            let dictionary = match form {
                PhysicalType::Dictionary { large: true, .. } => {
                    Some(Arc::new(LargeStringArray::from(texts)) as ArrayRef)
                }
                PhysicalType::Dictionary { .. } => Some(Arc::new(StringArray::from(texts)) as ArrayRef),
                _ => None,
            };
            let nullable = physical.nullable || column.may_be_missing();
            fields.push(Field::new(&physical.name, data_type(form, physical.zone.as_deref()), nullable));
            let printer = Printer::new(column, form, |text| text.as_bytes().to_vec());
            outlets.push((outlet, form, printer, dictionary));
        }
        ArrowRows { schema: Arc::new(ArrowSchema::new(fields)), columns: outlets }
    }

    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// How they are written as Parquet. Drawn real numbers hardly repeat: a dictionary of them would cost much time, and
    /// space beside. Everything else repeats. Rows come in random order, so that an index of pages would spare no reader
    /// a page; it would have to be kept in memory to the end.
    pub(super) fn properties(&self) -> WriterProperties {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        for (field, (_, form, printer, _)) in self.schema.fields().iter().zip(&self.columns) {
            let real = matches!(form, PhysicalType::Float16 | PhysicalType::Float32 | PhysicalType::Float64);
            if real && matches!(printer, Printer::Ticks(_)) {
                let path = ColumnPath::new(vec![field.name().clone()]);
                properties = properties.set_column_dictionary_enabled(path, false);
            }
        }
        properties.build()
    }

    /// A batch of rows.
    pub(super) fn batch(&self, door: &Door, columns: &Columns) -> Result<RecordBatch, ArrowError> {
        let arrays =
            self.columns.iter().zip(self.schema.fields()).map(|((outlet, form, printer, dictionary), field)| {
                let gate = door.gate(outlet.column);
                let shape = Shape { form: *form, data_type: field.data_type(), empty: gate.may_be_empty() };
                let dictionary = dictionary.as_ref();
                match outlet.origin {
                    Origin::Single(place) => {
                        let units = &columns.units[place];
                        if let (PhysicalType::Float64, Some(values)) = (form, gate.decode_reals(units)) {
                            return Ok(Arc::new(PrimitiveArray::<Float64Type>::from_iter_values(values)) as ArrayRef);
                        }
                        array(shape, printer, dictionary, || units.iter().map(|&unit| gate.decode_line(unit)))
                    }
                    Origin::Block { start, width } => {
                        let units = &columns.units[start..start + width];
                        array(shape, printer, dictionary, || {
                            let mut block = vec![0.0; width];
                            (0..columns.strata.len()).map(move |row| {
                                block.iter_mut().zip(units).for_each(|(place, units)| *place = units[row]);
                                gate.decode_block(&block)
                            })
                        })
                    }
                    Origin::Stratum { weight, radix } => {
                        let category = |&stratum: &u32| of_category(gate, stratum / weight % radix);
                        array(shape, printer, dictionary, || columns.strata.iter().map(category))
                    }
                }
            });
        RecordBatch::try_new(self.schema(), arrays.collect::<Result<_, _>>()?)
    }
}

/// Rows, column by column.
#[derive(Default)]
pub(super) struct Columns {
    units: Vec<Vec<f64>>,
    strata: Vec<u32>,
}

impl Columns {
    /// Appends rows. A few at a time, so that a cache line of theirs serves for all of its columns.
    pub(super) fn extend(&mut self, drawn: &Drawn, rows: Range<usize>) {
        const FEW: usize = 256;
        self.units.resize_with(drawn.width, Vec::new);
        self.strata.extend_from_slice(&drawn.strata[rows.clone()]);
        if drawn.width == 0 {
            return;
        }
        for some in drawn.units[rows.start * drawn.width..rows.end * drawn.width].chunks(FEW * drawn.width) {
            for (place, column) in self.units.iter_mut().enumerate() {
                column.extend(some[place..].iter().step_by(drawn.width));
            }
        }
    }
}

/// Whether a dictionary of this type has keys for so many texts; numbers written as text have no dictionary.
fn fits_dictionary(form: PhysicalType, texts: usize) -> bool {
    let PhysicalType::Dictionary { key_bits, signed, .. } = form else { return false };
    let bits = u32::from(key_bits.min(64)).saturating_sub(u32::from(signed));
    texts > 0 && (texts as u128) <= 1u128 << bits
}

fn data_type(form: PhysicalType, zone: Option<&str>) -> DataType {
    use PhysicalType as T;
    match form {
        T::Bool => DataType::Boolean,
        T::Int8 => DataType::Int8,
        T::Int16 => DataType::Int16,
        T::Int32 => DataType::Int32,
        T::Int64 => DataType::Int64,
        T::UInt8 => DataType::UInt8,
        T::UInt16 => DataType::UInt16,
        T::UInt32 => DataType::UInt32,
        T::UInt64 => DataType::UInt64,
        T::Float16 => DataType::Float16,
        T::Float32 => DataType::Float32,
        T::Float64 => DataType::Float64,
        T::Decimal128 { precision, scale } => DataType::Decimal128(precision, scale),
        T::Plain | T::Utf8 => DataType::Utf8,
        T::LargeUtf8 => DataType::LargeUtf8,
        T::Utf8View => DataType::Utf8View,
        T::Date32 => DataType::Date32,
        T::Date64 => DataType::Date64,
        T::Timestamp { per_second } => {
            let unit = match per_second {
                1 => TimeUnit::Second,
                1_000 => TimeUnit::Millisecond,
                1_000_000 => TimeUnit::Microsecond,
                _ => TimeUnit::Nanosecond,
            };
            DataType::Timestamp(unit, zone.map(Into::into))
        }
        T::Dictionary { key_bits, signed, large } => {
            let key = match (key_bits, signed) {
                (8, true) => DataType::Int8,
                (16, true) => DataType::Int16,
                (64, true) => DataType::Int64,
                (8, false) => DataType::UInt8,
                (16, false) => DataType::UInt16,
                (32, false) => DataType::UInt32,
                (64, false) => DataType::UInt64,
                _ => DataType::Int32,
            };
            let value = if large { DataType::LargeUtf8 } else { DataType::Utf8 };
            DataType::Dictionary(Box::new(key), Box::new(value))
        }
    }
}

/// What an array is.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) form: PhysicalType,
    /// The same, as Arrow knows it.
    pub(super) data_type: &'a DataType,
    /// Whether some values may be missing.
    pub(super) empty: bool,
}

pub(super) fn array<'a, I: Iterator<Item = (Value<'a>, usize)>>(
    shape: Shape,
    printer: &Printer,
    dictionary: Option<&ArrayRef>,
    values: impl Fn() -> I,
) -> Result<ArrayRef, ArrowError> {
    use PhysicalType as T;
    let empty = shape.empty;
    let moment = |value: Value| i128::from(seconds(value));
    Ok(match shape.form {
        T::Bool => Arc::new(values().map(|(value, _)| present(value).map(truth)).collect::<BooleanArray>()),
        T::Int8 => wholes::<Int8Type, _>(values(), empty, |x| x.clamp(i8::MIN.into(), i8::MAX.into()) as i8),
        T::Int16 => wholes::<Int16Type, _>(values(), empty, |x| x.clamp(i16::MIN.into(), i16::MAX.into()) as i16),
        T::Int32 => wholes::<Int32Type, _>(values(), empty, |x| x.clamp(i32::MIN.into(), i32::MAX.into()) as i32),
        T::Int64 => wholes::<Int64Type, _>(values(), empty, |x| x),
        T::UInt8 => wholes::<UInt8Type, _>(values(), empty, |x| x.clamp(0, u8::MAX.into()) as u8),
        T::UInt16 => wholes::<UInt16Type, _>(values(), empty, |x| x.clamp(0, u16::MAX.into()) as u16),
        T::UInt32 => wholes::<UInt32Type, _>(values(), empty, |x| x.clamp(0, u32::MAX.into()) as u32),
        T::UInt64 => wholes::<UInt64Type, _>(values(), empty, |x| x.max(0) as u64),
        T::Float16 => Arc::new(primitive::<Float16Type, _>(values(), empty, |value| Half::from_f64(real(value)))),
        T::Float32 => Arc::new(primitive::<Float32Type, _>(values(), empty, |value| real(value) as f32)),
        T::Float64 => Arc::new(primitive::<Float64Type, _>(values(), empty, real)),
        T::Decimal128 { precision, scale } => {
            let unit = 10f64.powi(i32::from(scale));
            // Precision is at most 38, and 10^38 fits.
            let most = 10i128.pow(u32::from(precision.min(38))) - 1;
            let ticks = |value: Value| ((real(value) * unit).round() as i128).clamp(-most, most);
            let array = primitive::<Decimal128Type, _>(values(), empty, ticks);
            Arc::new(array.with_precision_and_scale(precision, scale)?)
        }
        T::Plain | T::Utf8 => {
            let mut texts = GenericStringBuilder::<i32>::new();
            print(printer, values(), |text| texts.append_option(text));
            Arc::new(texts.finish())
        }
        T::LargeUtf8 => {
            let mut texts = GenericStringBuilder::<i64>::new();
            print(printer, values(), |text| texts.append_option(text));
            Arc::new(texts.finish())
        }
        T::Utf8View => {
            let mut texts = StringViewBuilder::new();
            print(printer, values(), |text| texts.append_option(text));
            Arc::new(texts.finish())
        }
        T::Date32 => Arc::new(primitive::<Date32Type, _>(values(), empty, |value| {
            seconds(value).div_euclid(DAY).clamp(i32::MIN.into(), i32::MAX.into()) as i32
        })),
        T::Date64 => {
            Arc::new(primitive::<Date64Type, _>(values(), empty, |value| seconds(value).div_euclid(DAY) * DAY * 1_000))
        }
        T::Timestamp { per_second } => {
            let steps =
                |value: Value| (moment(value) * i128::from(per_second)).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            match shape.data_type {
                DataType::Timestamp(TimeUnit::Second, zone) => {
                    moments::<TimestampSecondType, _>(values(), empty, steps, zone)
                }
                DataType::Timestamp(TimeUnit::Millisecond, zone) => {
                    moments::<TimestampMillisecondType, _>(values(), empty, steps, zone)
                }
                DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                    moments::<TimestampMicrosecondType, _>(values(), empty, steps, zone)
                }
                DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
                    moments::<TimestampNanosecondType, _>(values(), empty, steps, zone)
                }
                _ => return Err(ArrowError::SchemaError("moments of another type".to_string())),
            }
        }
        T::Dictionary { key_bits, signed, .. } => {
            let texts = dictionary.ok_or_else(|| ArrowError::SchemaError("dictionary without texts".to_string()))?;
            match (key_bits, signed) {
                (8, true) => keys::<Int8Type, _>(values(), empty, texts)?,
                (16, true) => keys::<Int16Type, _>(values(), empty, texts)?,
                (64, true) => keys::<Int64Type, _>(values(), empty, texts)?,
                (8, false) => keys::<UInt8Type, _>(values(), empty, texts)?,
                (16, false) => keys::<UInt16Type, _>(values(), empty, texts)?,
                (32, false) => keys::<UInt32Type, _>(values(), empty, texts)?,
                (64, false) => keys::<UInt64Type, _>(values(), empty, texts)?,
                _ => keys::<Int32Type, _>(values(), empty, texts)?,
            }
        }
    })
}

fn present(value: Value) -> Option<Value> {
    (value != Value::Empty).then_some(value)
}

/// Numbers of one type; with nulls where values may be missing.
fn primitive<'a, T: ArrowPrimitiveType, I: Iterator<Item = (Value<'a>, usize)>>(
    values: I,
    empty: bool,
    native: impl Fn(Value) -> T::Native,
) -> PrimitiveArray<T> {
    if empty {
        values.map(|(value, _)| present(value).map(&native)).collect()
    } else {
        PrimitiveArray::from_iter_values(values.map(|(value, _)| native(value)))
    }
}

fn wholes<'a, T: ArrowPrimitiveType, I: Iterator<Item = (Value<'a>, usize)>>(
    values: I,
    empty: bool,
    narrow: impl Fn(i64) -> T::Native,
) -> ArrayRef {
    Arc::new(primitive::<T, _>(values, empty, |value| narrow(whole(value))))
}

fn moments<'a, T: ArrowTimestampType, I: Iterator<Item = (Value<'a>, usize)>>(
    values: I,
    empty: bool,
    steps: impl Fn(Value) -> i64,
    zone: &Option<Arc<str>>,
) -> ArrayRef {
    Arc::new(primitive::<T, _>(values, empty, steps).with_timezone_opt(zone.clone()))
}

fn keys<'a, T: ArrowDictionaryKeyType, I: Iterator<Item = (Value<'a>, usize)>>(
    values: I,
    empty: bool,
    texts: &ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    let key = |category| T::Native::from_usize(category).unwrap_or_default();
    let keys: PrimitiveArray<T> = if empty {
        values.map(|(value, category)| present(value).map(|_| key(category))).collect()
    } else {
        PrimitiveArray::from_iter_values(values.map(|(_, category)| key(category)))
    };
    Ok(Arc::new(DictionaryArray::<T>::try_new(keys, Arc::clone(texts))?))
}

fn print<'a>(
    printer: &Printer,
    values: impl Iterator<Item = (Value<'a>, usize)>,
    mut append: impl FnMut(Option<&str>),
) {
    let mut text = Vec::new();
    for (value, category) in values {
        text.clear();
        printer.push(&mut text, value, category);
        append(present(value).map(|_| String::from_utf8_lossy(&text)).as_deref());
    }
}

/// The moment of a date, or the beginning of a day.
fn seconds(value: Value) -> i64 {
    match value {
        Value::Date(day) => day.saturating_mul(DAY),
        other => whole(other),
    }
}

fn real(value: Value) -> f64 {
    match value {
        Value::Number(x) => x,
        Value::Integer(x) => x as f64,
        Value::Truth(truth) => f64::from(u8::from(truth)),
        Value::Category(text) => text.parse().unwrap_or_default(),
        Value::Date(x) | Value::Moment(x) => x as f64,
        Value::Empty => f64::NAN,
    }
}

fn whole(value: Value) -> i64 {
    match value {
        Value::Number(x) => x.round() as i64,
        Value::Integer(x) => x,
        Value::Truth(truth) => i64::from(truth),
        Value::Category(text) => text.parse().unwrap_or_default(),
        Value::Date(x) | Value::Moment(x) => x,
        Value::Empty => 0,
    }
}

fn truth(value: Value) -> bool {
    match value {
        Value::Truth(truth) => truth,
        Value::Category(text) => text.eq_ignore_ascii_case("true"),
        number => real(number) >= 0.5,
    }
}
