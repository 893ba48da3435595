//! Columns become coordinates: every column that does not split the table is a block of one or more of them.
//!
//! A row has one code between 0 and Q = 65535 for each coordinate. Within one block any two rows differ by at most Q in
//! Euclidean norm, whatever the kind of the column, so that no column weighs more than a number between its bounds.

use super::{Column, ColumnKind, Scale, Schema};

/// The code of "here" in a one-hot block or an absence: Q/√2 rounded down, so that two different categories are at
/// distance √2 · HOT ≤ Q, as the two bounds of a number are.
pub const HOT: u16 = 46340;

/// How the values of a column become coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One coordinate: the place between the bounds (linear or log), of an ordered category, a truth value, a date.
    Line,
    /// Two coordinates: (1 + cos)/2 and (1 + sin)/2 of the angle.
    Circle,
    /// One coordinate for each category, [`HOT`] where it is and 0 elsewhere. A missing value, where there may be one,
    /// is one more category, the last.
    OneHot,
}

/// The coordinates of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The column, by its place in the schema.
    pub column: usize,
    /// The first coordinate.
    pub start: usize,
    /// How values become coordinates.
    pub form: Form,
    /// The number of coordinates, without the absence.
    pub len: usize,
    /// Whether there is one more coordinate behind: [`HOT`] where the value is missing, 0 elsewhere. A line or circle
    /// with a missing value has its own coordinates in the middle. Never for one-hot blocks.
    pub absence: bool,
}

impl Block {
    /// The coordinate behind the last.
    pub fn end(&self) -> usize {
        self.start + self.len + usize::from(self.absence)
    }

    /// The number of coordinates, with the absence.
    pub fn width(&self) -> usize {
        self.end() - self.start
    }
}

impl Column {
    /// How the column's values become coordinates, and how many there are without the absence.
    pub fn form(&self) -> (Form, usize) {
        match &self.kind {
            ColumnKind::Categorical { ordered: false, .. } => (Form::OneHot, self.radix()),
            kind if kind.scale() == Scale::Cyclic => (Form::Circle, 2),
            _ => (Form::Line, 1),
        }
    }

    /// The block that begins at this coordinate.
    fn block(&self, column: usize, start: usize) -> Block {
        let (form, len) = self.form();
        Block { column, start, form, len, absence: self.may_be_missing() && form != Form::OneHot }
    }
}

/// The blocks of some columns, in their order.
pub(super) fn of(columns: &[Column]) -> Vec<Block> {
    let mut start = 0;
    let mut blocks = Vec::new();
    for (number, column) in columns.iter().enumerate().filter(|(_, column)| !column.splits()) {
        let block = column.block(number, start);
        start = block.end();
        blocks.push(block);
    }
    blocks
}

impl Schema {
    /// The blocks of coordinates, one for each of [`Schema::features`], in schema order and without gaps.
    pub fn blocks(&self) -> Vec<Block> {
        of(&self.columns)
    }

    /// Whether a column has two values and no more, on one coordinate.
    pub fn indicates(&self, block: &Block) -> bool {
        block.form == Form::Line && block.width() == 1 && self.columns[block.column].kind.values() == Some(2)
    }

    /// The number of coordinates of a row, d.
    pub fn width(&self) -> usize {
        self.blocks().last().map_or(0, Block::end)
    }
}
