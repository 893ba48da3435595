//! The order and the physical types of a file's columns, so that the output has the same.

use super::place::Input;
use crate::error::{Error, Kind, Result};
use crate::schema::{Column, ColumnKind, Schema};
use arrow_schema::{DataType, TimeUnit};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The columns of a file in their order, with their physical types. Public, like the header it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// One for each column of the file.
    pub columns: Vec<Physical>,
}

/// One column of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Physical {
    /// The name in the header.
    pub name: String,
    /// The type in the file.
    #[serde(rename = "type")]
    pub physical: PhysicalType,
    /// Whether the output's own schema allows nulls. Always true for a table that is read: whether the file's schema
    /// says so may depend on its rows. Older models may say false.
    pub nullable: bool,
    /// The time zone of moments that are kept in UTC, where the file's schema names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

impl Physical {
    /// A column of this type without a time zone.
    pub fn new(name: impl Into<String>, physical: PhysicalType) -> Physical {
        Physical { name: name.into(), physical, nullable: true, zone: None }
    }
}

/// A type of a column in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PhysicalType {
    /// A column of a text file, which has no types of its own.
    Plain,
    /// Boolean.
    Bool,
    /// Signed, 8 bits.
    Int8,
    /// Signed, 16 bits.
    Int16,
    /// Signed, 32 bits.
    Int32,
    /// Signed, 64 bits.
    Int64,
    /// Unsigned, 8 bits.
    UInt8,
    /// Unsigned, 16 bits.
    UInt16,
    /// Unsigned, 32 bits.
    UInt32,
    /// Unsigned, 64 bits.
    UInt64,
    /// Floating point, 16 bits.
    Float16,
    /// Floating point, 32 bits.
    Float32,
    /// Floating point, 64 bits.
    Float64,
    /// Decimal, 128 bits.
    Decimal128 {
        /// The number of digits.
        precision: u8,
        /// The number of digits behind the point.
        scale: i8,
    },
    /// Text.
    Utf8,
    /// Text with 64-bit offsets.
    LargeUtf8,
    /// Text as views.
    Utf8View,
    /// Text behind a dictionary.
    Dictionary {
        /// The bits of a key: 8, 16, 32 or 64.
        key_bits: u8,
        /// Whether keys are signed.
        signed: bool,
        /// Whether the texts have 64-bit offsets.
        large: bool,
    },
    /// Days, 32 bits.
    Date32,
    /// Days as milliseconds, 64 bits.
    Date64,
    /// Moments, 64 bits.
    Timestamp {
        /// Steps in a second: 1, 10³, 10⁶ or 10⁹.
        per_second: i64,
    },
}

impl Layout {
    /// The layout of a table that comes from no file: the schema's columns in their order.
    pub fn of_schema(schema: &Schema) -> Layout {
        let plain = |column: &Column| Physical::new(&column.name, PhysicalType::Plain);
        Layout { columns: schema.columns.iter().map(plain).collect() }
    }

    /// The columns that are read, and their numbers in the file from 0.
    pub(super) fn chosen(&self, input: &Input, schema: &Schema) -> (Layout, Vec<usize>) {
        let numbers = input.wanted(self.columns.iter().map(|column| column.name.as_str()), Some(schema));
        (Layout { columns: numbers.iter().map(|&number| self.columns[number].clone()).collect() }, numbers)
    }

    /// Which column of the schema each column of the file is. Refuses a file that has other columns than the schema.
    ///
    /// A name that the schema does not have is never shown: in a file without a header it is a value.
    pub fn match_schema(&self, schema: &Schema, place: &str) -> Result<Vec<usize>> {
        let refuse = |rule: String, hint: &str| Err(Error::new(Kind::Data, rule).at(place).hint(hint));
        let known: HashMap<&str, usize> = schema.columns.iter().zip(0..).map(|(c, i)| (c.name.as_str(), i)).collect();
        // Spaces around a name are kept for the output and do not count here.
        let find = |name: &str| known.get(name).or_else(|| known.get(name.trim())).copied();
        // A file without a header begins with a row of values, and those must not be shown as names.
        if !self.columns.iter().any(|column| find(&column.name).is_some()) {
            let one = self.columns.len() == 1 && schema.columns.len() > 1;
            let hint = if one {
                "the file must begin with a header that has a comma between two names, or a tab with `--format tsv`"
            } else {
                "the file must begin with a header, and the schema must use the same names; \
                 `sunprint fit --no-header` takes one without"
            };
            return refuse("the first line names no column of the schema".to_string(), hint);
        }
        let mut places = Vec::with_capacity(self.columns.len());
        let mut seen = vec![false; schema.columns.len()];
        for (number, column) in self.columns.iter().enumerate() {
            match find(&column.name) {
                Some(c) if seen[c] => {
                    let hint = "give every column its own name";
                    return refuse(format!("column `{}` appears twice in the file", schema.columns[c].name), hint);
                }
                Some(c) => {
                    seen[c] = true;
                    places.push(c);
                }
                None if column.name.trim().is_empty() => {
                    let hint = "name it and describe it in the schema, or drop it from the file";
                    return refuse(format!("column number {} of the file has no name", number + 1), hint);
                }
                None => {
                    let hint =
                        "describe it in the schema, or drop it from the file: the output has the input's columns";
                    return refuse(format!("column number {} of the file is not in the schema", number + 1), hint);
                }
            }
        }
        if let Some(c) = seen.iter().position(|seen| !seen) {
            let hint = "add it to the file, or drop it from the schema";
            return refuse(format!("column `{}` of the schema is missing", schema.columns[c].name), hint);
        }
        for (column, &c) in self.columns.iter().zip(&places) {
            column.accept(&schema.columns[c], place)?;
        }
        Ok(places)
    }
}

impl Physical {
    /// Refuses categories that the physical type cannot hold, and dates where it holds something else.
    fn accept(&self, column: &Column, place: &str) -> Result<()> {
        use PhysicalType as T;
        let times = matches!(column.kind, ColumnKind::Date { .. } | ColumnKind::Datetime { .. });
        let text = matches!(self.physical, T::Plain | T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Dictionary { .. });
        let dates = matches!(self.physical, T::Date32 | T::Date64 | T::Timestamp { .. });
        if !text && times != dates {
            let hint = if dates {
                "describe it with `kind = \"date\"` or `kind = \"datetime\"`"
            } else {
                "dates come as a date type or as text; convert the column, or describe it with another kind"
            };
            let (name, word, kind) = (&column.name, self.physical.word(), column.kind.word());
            let rule = format!("column `{name}` holds {word} and the schema says `{kind}`");
            return Err(Error::new(Kind::Data, rule).at(place).hint(hint));
        }
        let ColumnKind::Categorical { values, .. } = &column.kind else { return Ok(()) };
        let holds = |value: &String| match self.physical {
            T::Plain | T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Dictionary { .. } => true,
            T::Bool => ["false", "true"].contains(&value.to_ascii_lowercase().as_str()),
            T::Float16 | T::Float32 | T::Float64 | T::Decimal128 { .. } => value.parse::<f64>().is_ok(),
            T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => value.parse::<u64>().is_ok(),
            T::Int8 | T::Int16 | T::Int32 | T::Int64 => value.parse::<i64>().is_ok(),
            T::Date32 | T::Date64 | T::Timestamp { .. } => false,
        };
        match values.iter().find(|value| !holds(value)) {
            None => Ok(()),
            Some(value) => Err(Error::new(
                Kind::Data,
                format!(
                    "column `{}` holds {} and cannot hold the category `{value}`",
                    column.name,
                    self.physical.word()
                ),
            )
            .at(place)
            .hint("list the categories as they stand in the file, or turn the column into text")),
        }
    }
}

impl PhysicalType {
    fn word(self) -> &'static str {
        use PhysicalType as T;
        match self {
            T::Bool => "booleans",
            T::Plain | T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Dictionary { .. } => "text",
            T::Float16 | T::Float32 | T::Float64 | T::Decimal128 { .. } => "numbers",
            T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => "unsigned whole numbers",
            T::Int8 | T::Int16 | T::Int32 | T::Int64 => "whole numbers",
            T::Date32 | T::Date64 => "dates",
            T::Timestamp { .. } => "moments",
        }
    }

    /// The type that a column of a file without types takes in one that has them.
    pub(super) fn natural(kind: &ColumnKind) -> PhysicalType {
        match kind {
            ColumnKind::Continuous { .. } => PhysicalType::Float64,
            ColumnKind::Integer { .. } => PhysicalType::Int64,
            ColumnKind::Boolean { values: None } => PhysicalType::Bool,
            ColumnKind::Boolean { values: Some(_) } | ColumnKind::Categorical { .. } => PhysicalType::Utf8,
            ColumnKind::Date { .. } => PhysicalType::Date32,
            ColumnKind::Datetime { .. } => PhysicalType::Timestamp { per_second: 1_000_000 },
        }
    }

    /// The type of an Arrow column; `None` for the types that hold neither numbers, truth values, dates nor text.
    pub(super) fn of_arrow(data_type: &DataType) -> Option<PhysicalType> {
        use PhysicalType as T;
        Some(match data_type {
            DataType::Boolean => T::Bool,
            DataType::Int8 => T::Int8,
            DataType::Int16 => T::Int16,
            DataType::Int32 => T::Int32,
            DataType::Int64 => T::Int64,
            DataType::UInt8 => T::UInt8,
            DataType::UInt16 => T::UInt16,
            DataType::UInt32 => T::UInt32,
            DataType::UInt64 => T::UInt64,
            DataType::Float16 => T::Float16,
            DataType::Float32 => T::Float32,
            DataType::Float64 => T::Float64,
            &DataType::Decimal128(precision, scale) => T::Decimal128 { precision, scale },
            DataType::Utf8 => T::Utf8,
            DataType::LargeUtf8 => T::LargeUtf8,
            DataType::Utf8View => T::Utf8View,
            DataType::Date32 => T::Date32,
            DataType::Date64 => T::Date64,
            DataType::Timestamp(unit, _) => T::Timestamp { per_second: per_second(*unit) },
            DataType::Dictionary(key, value) => {
                let (key_bits, signed) = match key.as_ref() {
                    DataType::Int8 => (8, true),
                    DataType::Int16 => (16, true),
                    DataType::Int32 => (32, true),
                    DataType::Int64 => (64, true),
                    DataType::UInt8 => (8, false),
                    DataType::UInt16 => (16, false),
                    DataType::UInt32 => (32, false),
                    DataType::UInt64 => (64, false),
                    _ => return None,
                };
                match T::of_arrow(value)? {
                    T::Utf8 | T::Utf8View => T::Dictionary { key_bits, signed, large: false },
                    T::LargeUtf8 => T::Dictionary { key_bits, signed, large: true },
                    T::Dictionary { .. } => return None,
                    number => number,
                }
            }
            _ => return None,
        })
    }
}

/// Steps in a second.
pub(super) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}
