//! Values to codes and back, by the public bounds of the schema. Nothing in this room fails because of a value.
//!
//! Proof: docs/proofs.md, Lemma 1.
//!
//! A number or a date is clamped to its bounds and rounded to the nearest of 65,536 codes; one that is empty or cannot
//! be read is missing: it becomes the middle of the bounds, and has a mark of its own where the schema keeps missing
//! values. A text that is not listed becomes the category that the schema says, or the first.

mod decimal;
mod gate;
mod judge;
mod lists;
mod parse;
mod print;
mod scales;
mod way_out;

use crate::schema::Schema;
pub use decimal::{AHEAD, Decimal};
pub use gate::{Gate, MIDDLE, Token};
pub use judge::Verdict;
pub use print::{Significant, Ticks, push_integer};

/// One value as it stands in a file.
///
/// No `Debug`: it is private until it comes out of a model.
#[derive(Clone, Copy)]
pub enum Raw<'a> {
    /// Nothing.
    Empty,
    /// A real number.
    Number(f64),
    /// A whole number.
    Integer(i64),
    /// False or true.
    Truth(bool),
    /// A moment in seconds since 1970-01-01, or the beginning of a day.
    Moment(i64),
    /// Text, which may spell any of the others.
    Text(&'a str),
}

/// One value on its way out: synthetic, public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Of a continuous column.
    Number(f64),
    /// Of an integer column.
    Integer(i64),
    /// Of a boolean column.
    Truth(bool),
    /// Of a categorical column.
    Category(&'a str),
    /// Of a date column: a day since 1970-01-01.
    Date(i64),
    /// Of a datetime column: seconds since 1970-01-01T00:00:00.
    Moment(i64),
    /// Missing.
    Empty,
}

/// The way in and out for every column of a schema.
pub struct Door {
    gates: Vec<Gate>,
}

impl Door {
    /// A door for a schema.
    pub fn new(schema: &Schema) -> Self {
        let mut gates: Vec<Gate> = schema.columns.iter().map(Gate::new).collect();
        // A schema whose constraints contradict one another is refused before it comes here.
        for line in schema.system().map(|system| system.lines).unwrap_or_default() {
            gates[line.column].keep_to_ticks();
        }
        Door { gates }
    }

    /// The gate of one column, by its place in the schema.
    pub fn gate(&self, column: usize) -> &Gate {
        &self.gates[column]
    }

    /// The code of a real number.
    pub fn encode_f64(&self, column: usize, value: f64) -> u16 {
        self.gates[column].encode(Raw::Number(value))
    }

    /// The code of a whole number.
    pub fn encode_i64(&self, column: usize, value: i64) -> u16 {
        self.gates[column].encode(Raw::Integer(value))
    }

    /// The code of a text.
    pub fn encode_text(&self, column: usize, value: &str) -> u16 {
        self.gates[column].encode(Raw::Text(value))
    }

    /// The category of a text.
    pub fn category(&self, column: usize, value: &str) -> u32 {
        self.gates[column].category(Raw::Text(value))
    }

    /// The value at a place of a line: 0 is the lower bound, 1 the upper.
    pub fn decode(&self, column: usize, unit: f64) -> Value<'_> {
        self.gates[column].decode(unit)
    }

    /// The value of a category of a column that splits the table.
    pub fn decode_category(&self, column: usize, category: u32) -> Value<'_> {
        self.gates[column].decode_category(category)
    }
}
