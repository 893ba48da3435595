//! Pieces made by any number of workers beside the plain writer: one row after the other, one stream, one thread.

use super::super::arrow_out::{Shape as ArrayShape, array};
use super::super::{Existing, Physical, PhysicalType};
use super::*;
use arrow_array::RecordBatch;
use std::io::{Read, Write};
use std::path::Path;

/// A column of every type that a file can have.
fn everything() -> (Schema, Layout) {
    use PhysicalType as T;
    let number = "kind = \"continuous\"\nmin = -1.5\nmax = 100";
    let tiny = "kind = \"continuous\"\nmin = 0\nmax = 1e-9";
    let whole = "kind = \"integer\"\nmin = -10\nmax = 120";
    let truth = "kind = \"boolean\"";
    let yes = "kind = \"boolean\"\nvalues = [\"no\", \"yes\"]";
    let label = "kind = \"categorical\"\nvalues = [\"f\", \"m, or \\\"other\\\"\", \"\"]\nrole = \"stratum\"";
    let gap = "kind = \"integer\"\nmin = -10\nmax = 120\nmissing = \"allow\"";
    let price = "kind = \"continuous\"\nmin = 0\nmax = 999.99\ndecimals = 2\nmissing = \"allow\"";
    let skewed = "kind = \"continuous\"\nmin = 0.001\nmax = 1e7\nscale = \"log\"";
    let hour = "kind = \"integer\"\nmin = 0\nmax = 23\nscale = \"cyclic\"\nmissing = \"allow\"";
    let angle = "kind = \"continuous\"\nmin = -180\nmax = 180\nscale = \"cyclic\"";
    let size = "kind = \"categorical\"\nvalues = [\"s\", \"m\", \"l\"]\nordered = true\nmissing = \"allow\"";
    let hot = "kind = \"categorical\"\nvalues = [\"red\", \"a, b\", \"blue\"]\nmissing = \"allow\"";
    let cold = "kind = \"categorical\"\nvalues = [\"red\", \"\", \"blue\"]";
    let ill = "kind = \"boolean\"\nmissing = \"allow\"";
    let day = "kind = \"date\"\nmin = \"1920-02-29\"\nmax = 2020-12-31\nmissing = \"allow\"";
    let moment =
        "kind = \"datetime\"\nmin = \"1969-01-01\"\nmax = 2020-12-31T23:59:59\nformat = \"%d.%m.%Y, %H:%M:%S\"";
    let key = |key_bits, signed, large| T::Dictionary { key_bits, signed, large };
    let columns = [
        (number, T::Plain),
        (number, T::Float16),
        (number, T::Float32),
        (number, T::Float64),
        (tiny, T::Float64),
        (tiny, T::Plain),
        (number, T::Decimal128 { precision: 9, scale: 3 }),
        (number, T::Int32),
        (number, T::Utf8),
        (whole, T::Plain),
        (whole, T::Int8),
        (whole, T::Int16),
        (whole, T::Int64),
        (whole, T::UInt8),
        (whole, T::UInt16),
        (whole, T::UInt32),
        (whole, T::UInt64),
        (whole, T::LargeUtf8),
        (truth, T::Plain),
        (truth, T::Bool),
        (truth, T::Float64),
        (truth, T::Int64),
        (yes, T::Plain),
        (yes, T::Utf8View),
        (yes, key(8, true, false)),
        (label, T::Plain),
        (label, T::LargeUtf8),
        (label, key(32, false, true)),
        (label, key(16, true, false)),
        (gap, T::Plain),
        (gap, T::Int16),
        (gap, T::Decimal128 { precision: 20, scale: 2 }),
        (price, T::Plain),
        (price, T::Float32),
        (skewed, T::Plain),
        (skewed, T::Utf8),
        (hour, T::Plain),
        (hour, T::UInt8),
        (angle, T::Float64),
        (size, T::Plain),
        (size, key(8, true, false)),
        (hot, T::Plain),
        (hot, T::LargeUtf8),
        (hot, key(16, false, true)),
        (cold, T::Utf8View),
        (ill, T::Bool),
        (day, T::Plain),
        (day, T::Date32),
        (day, T::Date64),
        (day, T::Timestamp { per_second: 1 }),
        (moment, T::Plain),
        (moment, T::Timestamp { per_second: 1_000 }),
        (moment, T::Timestamp { per_second: 1_000_000_000 }),
        (moment, T::Utf8),
        (moment, T::Date32),
    ];
    let text = |(number, (kind, _)): (usize, &(&str, T))| format!("[[column]]\nname = \"c{number}\"\n{kind}\n");
    let schema: String = columns.iter().enumerate().map(text).collect();
    let physical = |(number, (_, physical)): (usize, &(&str, T))| Physical {
        nullable: number % 3 > 0,
        zone: (number % 2 > 0 && matches!(physical, T::Timestamp { .. })).then(|| "Europe/Paris".to_string()),
        ..Physical::new(format!("c{number}"), *physical)
    };
    // In the file's own order.
    let layout = Layout { columns: columns.iter().enumerate().rev().map(physical).collect() };
    (Schema::parse(&schema, "all.toml").unwrap(), layout)
}

/// Rows with the ends of every range, and places outside of it.
fn rows(width: usize, from: usize, count: usize) -> Drawn {
    let unit = |i: usize| (i.wrapping_mul(7919) % 65_551) as f64 / 65_535.0 - 0.0001;
    Drawn {
        width,
        units: (from * width..(from + count) * width).map(unit).collect(),
        strata: (from..from + count).map(|row| (row % 81) as u32).collect(),
    }
}

/// The writer as it was before it had pieces.
fn plainly(path: &Path, format: Format, schema: &Schema, layout: &Layout, drawn: &Drawn) {
    let columns = layout.match_schema(schema, "test").unwrap();
    let outlets: Vec<(Outlet, &Physical, &Column)> = layout
        .columns
        .iter()
        .zip(&columns)
        .map(|(physical, &c)| (Outlet::new(schema, &schema.blocks(), c), physical, &schema.columns[c]))
        .collect();
    let door = Door::new(schema);
    let file = std::fs::File::create(path).unwrap();
    let batches = || {
        let rows = ArrowRows::new(&outlets);
        let batch = |start: usize| {
            let (schema, gaps) = (rows.schema(), schema);
            let arrays =
                rows.columns.iter().zip(schema.fields()).map(|((outlet, form, printer, dictionary), field)| {
                    let empty = gaps.columns[outlet.column].may_be_missing();
                    let shape = ArrayShape { form: *form, data_type: field.data_type(), empty };
                    let values = || {
                        let some = start..(start + 1024).min(drawn.rows());
                        some.map(|row| outlet.value(&door, drawn.row(row), drawn.strata[row]))
                    };
                    array(shape, printer, dictionary.as_ref(), values).unwrap()
                });
            RecordBatch::try_new(rows.schema(), arrays.collect()).unwrap()
        };
        (rows.schema(), (0..drawn.rows()).step_by(1024).map(batch).collect::<Vec<_>>())
    };
    match format {
        Format::Parquet => {
            let (schema, batches) = batches();
            let mut writer = ArrowWriter::try_new(file, schema, None).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.close().unwrap();
        }
        Format::Arrow => {
            let (schema, batches) = batches();
            let mut writer = FileWriter::try_new(file, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        text => {
            let lines = TextRows::new(&outlets, text.delimiter());
            let mut out = Vec::new();
            lines.header(&mut out, layout.columns.iter().map(|column| &column.name));
            (0..drawn.rows()).for_each(|row| lines.row(&mut out, &door, drawn.row(row), drawn.strata[row]));
            let mut file = file;
            file.write_all(&out).unwrap();
        }
    }
}

/// What a reader finds in a file: its text, or its rows one by one.
fn found(path: &Path, format: Format, squeezed: bool) -> (Vec<u8>, Vec<RecordBatch>) {
    let file = std::fs::File::open(path).unwrap();
    let one_by_one = |batches: Vec<RecordBatch>| {
        let rows = batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| batch.slice(row, 1)));
        rows.collect::<Vec<_>>()
    };
    match format {
        Format::Parquet => {
            let builder = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            (Vec::new(), one_by_one(builder.build().unwrap().map(std::result::Result::unwrap).collect()))
        }
        Format::Arrow => {
            let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
            (Vec::new(), one_by_one(reader.map(std::result::Result::unwrap).collect()))
        }
        Format::CsvGz | Format::TsvGz if squeezed => {
            let mut text = Vec::new();
            flate2::read::GzDecoder::new(file).read_to_end(&mut text).unwrap();
            (text, Vec::new())
        }
        Format::CsvZst | Format::TsvZst if squeezed => (zstd::decode_all(file).unwrap(), Vec::new()),
        _ => (std::fs::read(path).unwrap(), Vec::new()),
    }
}

#[test]
fn any_number_of_workers_writes_the_same_bytes_and_the_plain_writers_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (schema, layout) = everything();
    let width = schema.width();
    const BLOCK: usize = 64;
    for count in [0, 1, 63, 256, 2_000] {
        let whole = rows(width, 0, count);
        for format in Format::ALL {
            let path = folder.path().join("out");
            let write = |write: &dyn Fn(&mut TableWriter)| {
                let output = Output::new(&path, Some(format)).over(Existing::Replace);
                let mut writer = TableWriter::create(&output, format, &schema, &layout).unwrap();
                writer.form.piece_rows = 256;
                write(&mut writer);
                writer.finish().unwrap();
                std::fs::read(&path).unwrap()
            };
            let bytes = write(&|writer| writer.write(&whole).unwrap());
            let reference = folder.path().join("reference");
            plainly(&reference, format, &schema, &layout, &whole);
            let same = found(&path, format, true) == found(&reference, format, false);
            assert!(same, "{count} rows as {}", format.word());
            for workers in [1, 2, 3, 8] {
                let blocks = count.div_ceil(BLOCK) as u64;
                let again = write(&|writer| {
                    let draw = |block: u64, drawn: &mut Drawn| {
                        let first = block as usize * BLOCK;
                        *drawn = rows(width, first, BLOCK.min(count - first));
                    };
                    writer.write_blocks_on(workers, blocks, BLOCK, draw).unwrap();
                });
                assert!(again == bytes, "{count} rows as {} with {workers} workers", format.word());
            }
            let by_parts = write(&|writer| {
                for first in (0..count).step_by(100) {
                    writer.write(&rows(width, first, 100.min(count - first))).unwrap();
                }
            });
            assert!(by_parts == bytes, "{count} rows as {} in parts", format.word());
        }
    }
}

/// Nobody takes the pieces any more: the workers stop, and the first error is told.
#[cfg(target_os = "linux")]
#[test]
fn workers_stop_when_the_output_fails() {
    let (schema, layout) = everything();
    for format in Format::ALL {
        let output = Output::new("/dev/full", Some(format));
        let mut writer = TableWriter::create(&output, format, &schema, &layout).unwrap();
        writer.form.piece_rows = 1024;
        let drawn_blocks = std::sync::atomic::AtomicU64::new(0);
        let failed = writer.write_blocks_on(2, u64::MAX, 1024, |_, drawn| {
            drawn_blocks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            *drawn = rows(schema.width(), 0, 1024);
        });
        assert_eq!(failed.unwrap_err().to_string(), "/dev/full: the disk is full", "{}", format.word());
        assert!(drawn_blocks.into_inner() < 1_000, "a few pieces are in the making, no more");
    }
}
