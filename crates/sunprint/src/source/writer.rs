//! Synthetic rows to files of the input's form.

use super::arrow_out::ArrowRows;
use super::pieces::{Failed, Form, Joint, Making, Piece, Shape};
use super::place::{Format, Output};
use super::squeeze::{Press, press};
use super::target::{Target, Trouble};
use super::text_out::TextRows;
use super::{Layout, Physical, threads};
use crate::door::{Door, Gate, Value};
use crate::error::Result;
use crate::schema::{Block, Column, Form as BlockForm, Schema};
use arrow_ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;
use std::ops::Range;

/// Synthetic rows: places in [0, 1], row-major, one for each coordinate, and a stratum for each row. Public.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// The number of coordinates.
    pub width: usize,
    /// `width` places for each row.
    pub units: Vec<f64>,
    /// The stratum of each row.
    pub strata: Vec<u32>,
}

impl Drawn {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.strata.len()
    }

    /// One row's places.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.units[row * self.width..(row + 1) * self.width]
    }
}

/// Where a column of the file takes its values from.
#[derive(Clone, Copy)]
pub(super) struct Outlet {
    pub(super) column: usize,
    pub(super) origin: Origin,
}

#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// The column is this coordinate.
    Single(usize),
    /// The column is some coordinates from `start` on.
    Block { start: usize, width: usize },
    /// The category is stratum / weight mod radix.
    Stratum { weight: u32, radix: u32 },
}

impl Outlet {
    fn new(schema: &Schema, blocks: &[Block], column: usize) -> Outlet {
        let origin = match blocks.iter().find(|block| block.column == column) {
            Some(block) if block.form == BlockForm::Line && !block.absence => Origin::Single(block.start),
            Some(block) => Origin::Block { start: block.start, width: block.width() },
            None => {
                let radix = |c: usize| schema.columns[c].radix() as u32;
                let later = schema.stratum_columns().into_iter().filter(|&c| c > column);
                Origin::Stratum { weight: later.map(radix).product(), radix: radix(column) }
            }
        };
        Outlet { column, origin }
    }

    /// The value of one row, and its category where it has one.
    #[inline]
    pub(super) fn value<'a>(&self, door: &'a Door, units: &[f64], stratum: u32) -> (Value<'a>, usize) {
        match self.origin {
            Origin::Single(place) => door.gate(self.column).decode_line(units[place]),
            Origin::Block { start, width } => door.gate(self.column).decode_block(&units[start..start + width]),
            Origin::Stratum { weight, radix } => of_category(door.gate(self.column), stratum / weight % radix),
        }
    }
}

/// Where each column of a layout takes its values from; refuses a layout of other columns.
pub(super) fn outlets<'a>(
    schema: &'a Schema,
    layout: &'a Layout,
    place: &str,
) -> Result<Vec<(Outlet, &'a Physical, &'a Column)>> {
    let columns = layout.match_schema(schema, place)?;
    let blocks = schema.blocks();
    let outlet =
        |(physical, &c): (&'a Physical, &usize)| (Outlet::new(schema, &blocks, c), physical, &schema.columns[c]);
    Ok(layout.columns.iter().zip(&columns).map(outlet).collect())
}

#[inline]
pub(super) fn of_category(gate: &Gate, category: u32) -> (Value<'_>, usize) {
    (gate.decode_category(category), category as usize)
}

/// Writes synthetic rows with the names, order and types of the input. A file appears under its name only when it is
/// finished; a writer dropped before leaves nothing.
///
/// The bytes depend on the rows and the format, not on the number of cores; the pages of Parquet also on the sizes of
/// the parts in which rows are handed over.
pub struct TableWriter {
    form: Form,
    joint: Joint,
    /// The piece that takes the next row, and its number.
    making: Option<Making>,
    number: usize,
    width: usize,
    trouble: Trouble,
}

impl TableWriter {
    /// Begins an output.
    pub fn create(output: &Output, format: Format, schema: &Schema, layout: &Layout) -> Result<TableWriter> {
        let outlets = outlets(schema, layout, &output.place())?;
        let (target, trouble) = Target::begin(output)?;
        let begin = || -> std::result::Result<(Shape, Joint), Failed> {
            Ok(match format {
                Format::Parquet => {
                    let rows = ArrowRows::new(&outlets);
                    let writer = ArrowWriter::try_new(target, rows.schema(), Some(rows.properties()))?;
                    let (file, factory) = writer.into_serialized_writer()?;
                    (Shape::Parquet(rows, factory), Joint::Parquet(Box::new(file)))
                }
                Format::Arrow => {
                    let rows = ArrowRows::new(&outlets);
                    let file = FileWriter::try_new(target, &rows.schema())?;
                    (Shape::Arrow(rows), Joint::Arrow(Box::new(file)))
                }
                text => {
                    let rows = TextRows::new(&outlets, text.delimiter());
                    let mut header = Vec::new();
                    rows.header(&mut header, layout.columns.iter().map(|column| &column.name));
                    let mut joint = Press::begin(target, text.squeeze())?;
                    joint.append(&press(header, text.squeeze())?)?;
                    (Shape::Text(rows, text.squeeze()), Joint::Text(joint))
                }
            })
        };
        let (shape, joint) = begin().map_err(|Failed| trouble.error())?;
        let form = Form::new(Door::new(schema), shape);
        Ok(TableWriter { form, joint, making: None, number: 0, width: schema.width(), trouble })
    }

    /// Appends rows.
    ///
    /// # Panics
    /// If the rows have another number of coordinates than the schema.
    pub fn write(&mut self, drawn: &Drawn) -> Result<()> {
        assert_eq!(drawn.width, self.width, "writer: rows of the schema's width");
        assert_eq!(drawn.units.len(), drawn.rows() * drawn.width, "writer: one place for each coordinate of each row");
        self.append(drawn).map_err(|Failed| self.trouble.error())
    }

    fn append(&mut self, drawn: &Drawn) -> std::result::Result<(), Failed> {
        let most = self.form.piece_rows;
        let mut row = 0;
        while row < drawn.rows() {
            let mut making = match self.making.take() {
                Some(making) => making,
                None => self.form.begin(self.number)?,
            };
            // Little at a time stays in the processor's cache.
            let next = drawn.rows().min(row + (most - making.rows).min(1024));
            self.form.add(&mut making, drawn, row..next)?;
            row = next;
            self.making = Some(making);
            if self.making.as_ref().is_some_and(|making| making.rows == most) {
                self.close_piece()?;
            }
        }
        Ok(())
    }

    fn close_piece(&mut self) -> std::result::Result<(), Failed> {
        if let Some(making) = self.making.take() {
            self.number += 1;
            self.joint.append(self.form.finish(making)?)?;
        }
        Ok(())
    }

    /// Appends rows that come in numbered blocks of `block_rows` (the last may be shorter). `draw` makes the block of a
    /// number; it is called, and the rows are formatted, compressed and encoded, on all cores. The memory does not grow
    /// with the number of rows. Rows that were written before end their piece, so write all rows in one way.
    ///
    /// # Panics
    /// As [`TableWriter::write`].
    pub fn write_blocks(
        &mut self,
        blocks: u64,
        block_rows: usize,
        draw: impl Fn(u64, &mut Drawn) + Sync,
    ) -> Result<()> {
        self.write_blocks_on(threads::cores(), blocks, block_rows, draw)
    }

    /// The same, on so many cores.
    fn write_blocks_on(
        &mut self,
        workers: usize,
        blocks: u64,
        block_rows: usize,
        draw: impl Fn(u64, &mut Drawn) + Sync,
    ) -> Result<()> {
        self.close_piece().map_err(|Failed| self.trouble.error())?;
        let (form, width, trouble) = (&self.form, self.width, &self.trouble);
        let (joint, number) = (&mut self.joint, &mut self.number);
        let step = (form.piece_rows / block_rows.max(1)).max(1) as u64;
        let mut pieces = (*number..).zip((0..blocks.div_ceil(step)).map(|piece| {
            let first = piece * step;
            first..(first + step).min(blocks)
        }));
        let make = |number: usize, blocks: Range<u64>| -> std::result::Result<Piece, Failed> {
            let mut drawn = Drawn::default();
            let mut making = form.begin(number)?;
            for block in blocks {
                draw(block, &mut drawn);
                assert_eq!(drawn.width, width, "writer: rows of the schema's width");
                form.add(&mut making, &drawn, 0..drawn.rows())?;
            }
            form.finish(making)
        };
        threads::in_order_on(
            workers,
            || Ok(pieces.next()),
            |(number, blocks)| make(number, blocks).map_err(|Failed| trouble.error()),
            |piece| {
                *number += 1;
                joint.append(piece).map_err(|Failed| trouble.error())
            },
        )
    }

    /// Completes the output and puts it in its place.
    pub fn finish(mut self) -> Result<()> {
        self.close_piece().map_err(|Failed| self.trouble.error())?;
        let buffered = self.joint.finish().map_err(|Failed| self.trouble.error())?;
        Target::finish(buffered, &self.trouble)
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
