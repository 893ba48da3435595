//! Synthetic values as text, without quotes for columns of text and with them for CSV.

use super::layout::{Physical, PhysicalType};
use super::writer::Outlet;
use crate::door::{Door, Significant, Ticks, Value, push_integer};
use crate::schema::dates::{DAY, Pattern};
use crate::schema::{Column, ColumnKind, Scale};

/// How the values of one column are written.
pub(super) enum Printer {
    Ticks(Ticks),
    /// Numbers on a log scale.
    Significant(Significant),
    /// Whole numbers between two bounds.
    Whole(i64, i64),
    /// The text of each category.
    Texts(Vec<Vec<u8>>),
    /// Days and moments.
    Dates(Pattern),
}

impl Printer {
    /// The printer of a column; `dress` is applied to every text.
    pub(super) fn new(column: &Column, physical: PhysicalType, dress: impl Fn(&str) -> Vec<u8>) -> Printer {
        use PhysicalType as T;
        let whole =
            matches!(physical, T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64);
        let real = matches!(physical, T::Float16 | T::Float32 | T::Float64);
        match &column.kind {
            &ColumnKind::Continuous { min, max, .. } if whole => Printer::Whole(min.ceil() as i64, max.floor() as i64),
            &ColumnKind::Continuous { min, max, decimals: Some(decimals), .. } => {
                Printer::Ticks(Ticks::fixed(min, max, decimals))
            }
            &ColumnKind::Continuous { min, max, scale: Scale::Log, .. } => {
                Printer::Significant(Significant::new(min, max))
            }
            &ColumnKind::Continuous { min, max, .. } => Printer::Ticks(Ticks::new(min, max)),
            &ColumnKind::Integer { min, max, .. } => Printer::Whole(min, max),
            ColumnKind::Date { format, .. } => Printer::Dates(pattern(format.as_deref(), false)),
            ColumnKind::Datetime { format, .. } => Printer::Dates(pattern(format.as_deref(), true)),
            ColumnKind::Boolean { values: None } if whole => Printer::Texts(vec![b"0".to_vec(), b"1".to_vec()]),
            ColumnKind::Boolean { values: None } if real => Printer::Texts(vec![b"0.0".to_vec(), b"1.0".to_vec()]),
            _ => Printer::Texts(column.categories().into_iter().map(dress).collect()),
        }
    }

    /// Appends one value; `category` is its category where it has one.
    #[inline]
    pub(super) fn push(&self, out: &mut Vec<u8>, value: Value, category: usize) {
        match (self, value) {
            (_, Value::Empty) => {}
            (Printer::Ticks(ticks), Value::Number(x)) => ticks.push(out, x),
            (Printer::Whole(..), Value::Integer(x)) => push_integer(out, x),
            // Bounds without a whole number between them keep the nearest.
            (Printer::Whole(min, max), Value::Number(x)) => push_integer(out, (x.round() as i64).min(*max).max(*min)),
            (Printer::Texts(texts), Value::Truth(truth)) => out.extend_from_slice(&texts[usize::from(truth)]),
            (Printer::Texts(texts), _) => out.extend_from_slice(&texts[category]),
            (Printer::Significant(digits), Value::Number(x)) => digits.push(out, x),
            (Printer::Dates(pattern), Value::Date(day)) => pattern.push(out, day * DAY),
            (Printer::Dates(pattern), Value::Moment(moment)) => pattern.push(out, moment),
            (_, Value::Date(x) | Value::Moment(x)) => push_integer(out, x),
            (Printer::Dates(_), Value::Number(x)) => {
                out.extend_from_slice(format!("{x:?}").as_bytes());
            }
            (_, Value::Truth(truth)) => push_integer(out, i64::from(truth)),
            (_, Value::Integer(x)) => push_integer(out, x),
            (_, Value::Category(text)) => out.extend_from_slice(text.as_bytes()),
        }
    }
}

fn pattern(format: Option<&str>, moments: bool) -> Pattern {
    let own = format.and_then(|format| Pattern::new(format, moments).ok());
    own.unwrap_or_else(|| Pattern::iso(moments))
}

/// A text as one value of a CSV line: in quotes where it needs them.
pub(super) fn quoted(text: &str, delimiter: u8) -> Vec<u8> {
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    if text.is_empty() || text.bytes().any(special) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\"")).into_bytes()
    } else {
        text.as_bytes().to_vec()
    }
}

/// Rows as lines.
pub(super) struct TextRows {
    delimiter: u8,
    columns: Vec<(Outlet, Printer)>,
}

impl TextRows {
    pub(super) fn new(columns: &[(Outlet, &Physical, &Column)], delimiter: u8) -> TextRows {
        let one = |&(outlet, physical, column): &(Outlet, &Physical, &Column)| {
            (outlet, Printer::new(column, physical.physical, |text| quoted(text, delimiter)))
        };
        TextRows { delimiter, columns: columns.iter().map(one).collect() }
    }

    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Appends the header.
    pub(super) fn header(&self, out: &mut Vec<u8>, names: impl Iterator<Item = impl AsRef<str>>) {
        for (i, name) in names.enumerate() {
            if i > 0 {
                out.push(self.delimiter);
            }
            out.extend_from_slice(&quoted(name.as_ref(), self.delimiter));
        }
        out.push(b'\n');
    }

    /// Appends one row.
    pub(super) fn row(&self, out: &mut Vec<u8>, door: &Door, units: &[f64], stratum: u32) {
        for (i, (outlet, printer)) in self.columns.iter().enumerate() {
            if i > 0 {
                out.push(self.delimiter);
            }
            let (value, category) = outlet.value(door, units, stratum);
            // A line with nothing on it would be no row to some readers.
            if value == Value::Empty && self.columns.len() == 1 {
                out.extend_from_slice(b"\"\"");
            }
            printer.push(out, value, category);
        }
        out.push(b'\n');
    }
}
