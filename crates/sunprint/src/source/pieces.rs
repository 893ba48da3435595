//! An output in pieces: each is made by one worker from its rows alone, and they are written in order. So the bytes
//! of an output are the same for any number of workers.

use super::arrow_out::{ArrowRows, Columns};
use super::place::Squeeze;
use super::squeeze::{Press, Pressed, press};
use super::target::Buffered;
use super::text_out::TextRows;
use super::writer::Drawn;
use crate::door::Door;
use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::file::writer::SerializedFileWriter;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How rows become pieces; shared by all workers.
pub(super) struct Form {
    door: Door,
    shape: Shape,
    /// The rows of a piece. They are many enough for good compression and quick reading, and few enough that some
    /// pieces for every core need little memory: about 2 MB of text, 8 MB of an Arrow batch, and for Parquet, whose
    /// readers want large row groups, 64 MB at most.
    pub(super) piece_rows: usize,
    /// The longest text of a piece so far: memory for the next.
    longest: AtomicUsize,
}

pub(super) enum Shape {
    Text(TextRows, Squeeze),
    Parquet(ArrowRows, ArrowRowGroupWriterFactory),
    Arrow(ArrowRows),
}

/// A piece that still takes rows.
pub(super) struct Making {
    pub(super) rows: usize,
    content: Content,
}

enum Content {
    Text(Vec<u8>),
    Parquet(Vec<ArrowColumnWriter>),
    Arrow(Columns),
}

/// A finished piece.
pub(super) enum Piece {
    Text(Pressed),
    Parquet(Vec<ArrowColumnChunk>),
    Arrow(RecordBatch),
}

/// A piece could not be made or not be written; the output knows why.
pub(super) struct Failed;

impl<E: std::error::Error> From<E> for Failed {
    fn from(_: E) -> Failed {
        Failed
    }
}

/// Rows are cut into pieces of a multiple of this number.
const STEP: usize = 1024;

impl Form {
    pub(super) fn new(door: Door, shape: Shape) -> Form {
        let (values, most, columns) = match &shape {
            Shape::Text(rows, _) => (1 << 18, usize::MAX, rows.columns()),
            Shape::Arrow(rows) => (1 << 20, usize::MAX, rows.schema().fields().len()),
            Shape::Parquet(rows, _) => (1 << 23, 1 << 16, rows.schema().fields().len()),
        };
        let piece_rows = ((values / columns.max(1)).min(most) / STEP * STEP).max(STEP);
        Form { door, shape, piece_rows, longest: AtomicUsize::new(0) }
    }

    /// Begins the piece of this number.
    pub(super) fn begin(&self, number: usize) -> Result<Making, Failed> {
        let content = match &self.shape {
            Shape::Text(..) => Content::Text(Vec::with_capacity(self.longest.load(Ordering::Relaxed))),
            Shape::Parquet(_, factory) => Content::Parquet(factory.create_column_writers(number)?),
            Shape::Arrow(_) => Content::Arrow(Columns::default()),
        };
        Ok(Making { rows: 0, content })
    }

    /// Appends rows to a piece.
    pub(super) fn add(&self, making: &mut Making, drawn: &Drawn, rows: Range<usize>) -> Result<(), Failed> {
        making.rows += rows.len();
        match (&self.shape, &mut making.content) {
            (Shape::Text(lines, _), Content::Text(text)) => {
                for row in rows {
                    lines.row(text, &self.door, drawn.row(row), drawn.strata[row]);
                }
            }
            (Shape::Parquet(batches, _), Content::Parquet(writers)) => {
                let mut columns = Columns::default();
                columns.extend(drawn, rows);
                let batch = batches.batch(&self.door, &columns)?;
                let mut writers = writers.iter_mut();
                for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                    // The columns are flat: each has one leaf.
                    for (leaf, writer) in compute_leaves(field, column)?.iter().zip(&mut writers) {
                        writer.write(leaf)?;
                    }
                }
            }
            (Shape::Arrow(_), Content::Arrow(columns)) => columns.extend(drawn, rows),
            _ => return Err(Failed),
        }
        Ok(())
    }

    /// Completes a piece.
    pub(super) fn finish(&self, making: Making) -> Result<Piece, Failed> {
        Ok(match (&self.shape, making.content) {
            (Shape::Text(_, squeeze), Content::Text(text)) => {
                self.longest.fetch_max(text.len() + text.len() / 64, Ordering::Relaxed);
                Piece::Text(press(text, *squeeze)?)
            }
            (Shape::Parquet(..), Content::Parquet(writers)) => {
                Piece::Parquet(writers.into_iter().map(ArrowColumnWriter::close).collect::<Result<_, _>>()?)
            }
            (Shape::Arrow(batches), Content::Arrow(columns)) => Piece::Arrow(batches.batch(&self.door, &columns)?),
            _ => return Err(Failed),
        })
    }
}

/// The output that the pieces are written to, one after the other.
pub(super) enum Joint {
    Text(Press<Buffered>),
    Parquet(Box<SerializedFileWriter<Buffered>>),
    Arrow(Box<FileWriter<Buffered>>),
}

impl Joint {
    pub(super) fn append(&mut self, piece: Piece) -> Result<(), Failed> {
        match (self, piece) {
            (Joint::Text(press), Piece::Text(text)) => press.append(&text)?,
            (Joint::Parquet(file), Piece::Parquet(chunks)) => {
                let mut group = file.next_row_group()?;
                for chunk in chunks {
                    chunk.append_to_row_group(&mut group)?;
                }
                group.close()?;
            }
            (Joint::Arrow(file), Piece::Arrow(batch)) => file.write(&batch)?,
            _ => return Err(Failed),
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Buffered, Failed> {
        Ok(match self {
            Joint::Text(press) => press.finish()?,
            Joint::Parquet(file) => file.into_inner()?,
            Joint::Arrow(file) => file.into_inner()?,
        })
    }
}
