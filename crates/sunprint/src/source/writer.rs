//! Synthetic rows to files of the input's form.

use super::arrow_out::ArrowRows;
use super::atomic::AtomicFile;
use super::place::{Format, Output, Squeeze};
use super::text_out::TextRows;
use super::{Layout, words};
use crate::door::{Door, Value};
use crate::error::{Error, Result};
use crate::schema::{Column, Schema};
use arrow_ipc::writer::FileWriter;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::{self, BufWriter, Stdout, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Synthetic rows: places between the bounds in [0, 1], row-major, one for each feature, and a stratum for each row.
/// Public.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The number of features.
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
    column: usize,
    origin: Origin,
}

#[derive(Clone, Copy)]
enum Origin {
    Feature(usize),
    Stratum { weight: u32, radix: u32 },
}

impl Outlet {
    fn new(schema: &Schema, column: usize) -> Outlet {
        let origin = if schema.columns[column].splits() {
            let radix = |c: usize| schema.columns[c].categories().len() as u32;
            let later = schema.stratum_columns().into_iter().filter(|&c| c > column);
            Origin::Stratum { weight: later.map(radix).product(), radix: radix(column) }
        } else {
            Origin::Feature(schema.columns[..column].iter().filter(|column| !column.splits()).count())
        };
        Outlet { column, origin }
    }

    /// The value, and its category where it has one.
    #[inline]
    pub(super) fn value<'a>(&self, door: &'a Door, units: &[f64], stratum: u32) -> (Value<'a>, usize) {
        match self.origin {
            Origin::Feature(place) => {
                let value = door.decode(self.column, units[place]);
                (value, usize::from(value == Value::Truth(true)))
            }
            Origin::Stratum { weight, radix } => {
                let category = stratum / weight % radix;
                (door.decode_category(self.column, category), category as usize)
            }
        }
    }
}

/// Where the bytes go. It remembers why a write failed, which the formats' own errors may hide.
struct Target {
    sink: Sink,
    trouble: Trouble,
}

type Trouble = Arc<Mutex<Option<io::ErrorKind>>>;

enum Sink {
    File(AtomicFile),
    Stdout(Stdout),
}

impl Target {
    fn note<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        if let Err(fault) = &outcome
            && fault.kind() != io::ErrorKind::Interrupted
        {
            *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault.kind());
        }
        outcome
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = match &mut self.sink {
            Sink::File(file) => file.write(bytes),
            Sink::Stdout(stdout) => stdout.write(bytes),
        };
        self.note(outcome)
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = match &mut self.sink {
            Sink::File(file) => file.flush(),
            Sink::Stdout(stdout) => stdout.flush(),
        };
        self.note(outcome)
    }
}

type Buffered = BufWriter<Target>;

enum Shape {
    Text(TextRows, Box<Squeezed>),
    Parquet(ArrowRows, Box<ArrowWriter<Buffered>>),
    Arrow(ArrowRows, Box<FileWriter<Buffered>>),
}

enum Squeezed {
    Plain(Buffered),
    Gzip(GzEncoder<Buffered>),
    Zstd(zstd::Encoder<'static, Buffered>),
}

impl Squeezed {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Squeezed::Plain(sink) => sink.write_all(bytes),
            Squeezed::Gzip(sink) => sink.write_all(bytes),
            Squeezed::Zstd(sink) => sink.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<Buffered> {
        match self {
            Squeezed::Plain(sink) => Ok(sink),
            Squeezed::Gzip(sink) => sink.finish(),
            Squeezed::Zstd(sink) => sink.finish(),
        }
    }
}

/// Writes synthetic rows with the names, order and types of the input. A file appears under its name only when it is
/// finished; a writer dropped before leaves nothing.
pub struct TableWriter {
    shape: Shape,
    door: Door,
    width: usize,
    place: String,
    trouble: Trouble,
}

/// Rows that are turned into one batch or one piece of text.
const BATCH: usize = 8192;

impl TableWriter {
    /// Begins an output.
    pub fn create(output: &Output, format: Format, schema: &Schema, layout: &Layout) -> Result<TableWriter> {
        let place = output.place();
        let columns = layout.match_schema(schema, &place)?;
        let sink = match output.path() {
            Some(path) => Sink::File(AtomicFile::create(path)?),
            None => Sink::Stdout(io::stdout()),
        };
        let trouble = Trouble::default();
        let target = BufWriter::with_capacity(1 << 18, Target { sink, trouble: Arc::clone(&trouble) });
        let outlets: Vec<(Outlet, &super::Physical, &Column)> = layout
            .columns
            .iter()
            .zip(&columns)
            .map(|(physical, &c)| (Outlet::new(schema, c), physical, &schema.columns[c]))
            .collect();
        let failed = || refuse(&place, &trouble);
        let shape = match format {
            Format::Parquet => {
                let rows = ArrowRows::new(&outlets);
                // Groups of this size keep little in memory and can be read in parallel.
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_max_row_group_row_count(Some(1 << 17))
                    .build();
                let writer = ArrowWriter::try_new(target, rows.schema(), Some(properties)).map_err(|_| failed())?;
                Shape::Parquet(rows, Box::new(writer))
            }
            Format::Arrow => {
                let rows = ArrowRows::new(&outlets);
                let writer = FileWriter::try_new(target, &rows.schema()).map_err(|_| failed())?;
                Shape::Arrow(rows, Box::new(writer))
            }
            text => {
                let rows = TextRows::new(&outlets, text.delimiter());
                let mut sink = match text.squeeze() {
                    Squeeze::None => Squeezed::Plain(target),
                    Squeeze::Gzip => Squeezed::Gzip(GzEncoder::new(target, flate2::Compression::default())),
                    Squeeze::Zstd => Squeezed::Zstd(zstd::Encoder::new(target, 3).map_err(|_| failed())?),
                };
                let mut header = Vec::new();
                rows.header(&mut header, layout.columns.iter().map(|column| &column.name));
                sink.write_all(&header).map_err(|_| failed())?;
                Shape::Text(rows, Box::new(sink))
            }
        };
        Ok(TableWriter { shape, door: Door::new(schema), width: schema.width(), place, trouble })
    }

    /// Appends rows.
    ///
    /// # Panics
    /// If the rows have another number of features than the schema.
    pub fn write(&mut self, drawn: &Drawn) -> Result<()> {
        assert_eq!(drawn.width, self.width, "writer: rows of the schema's width");
        assert_eq!(drawn.units.len(), drawn.rows() * drawn.width, "writer: one place for each feature of each row");
        let mut text = Vec::new();
        for start in (0..drawn.rows()).step_by(BATCH) {
            let rows = start..(start + BATCH).min(drawn.rows());
            let written = match &mut self.shape {
                Shape::Text(lines, sink) => {
                    text.clear();
                    for row in rows {
                        lines.row(&mut text, &self.door, drawn.row(row), drawn.strata[row]);
                    }
                    sink.write_all(&text).is_ok()
                }
                Shape::Parquet(batches, writer) => {
                    batches.batch(&self.door, drawn, rows).is_ok_and(|batch| writer.write(&batch).is_ok())
                }
                Shape::Arrow(batches, writer) => {
                    batches.batch(&self.door, drawn, rows).is_ok_and(|batch| writer.write(&batch).is_ok())
                }
            };
            if !written {
                return Err(refuse(&self.place, &self.trouble));
            }
        }
        Ok(())
    }

    /// Completes the output and puts it in its place.
    pub fn finish(self) -> Result<()> {
        let failed = || refuse(&self.place, &self.trouble);
        let buffered = match self.shape {
            Shape::Text(_, sink) => sink.finish().map_err(|_| failed())?,
            Shape::Parquet(_, writer) => writer.into_inner().map_err(|_| failed())?,
            Shape::Arrow(_, writer) => writer.into_inner().map_err(|_| failed())?,
        };
        let mut target = buffered.into_inner().map_err(|_| failed())?;
        target.flush().map_err(|_| failed())?;
        match target.sink {
            Sink::File(file) => file.finish(),
            Sink::Stdout(_) => Ok(()),
        }
    }
}

fn refuse(place: &str, trouble: &Trouble) -> Error {
    let kind = trouble.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(io::ErrorKind::Other);
    words::unwritable(place, &kind.into())
}
