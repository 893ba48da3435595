//! Parquet to codes.

use super::arrays::{self, Plan};
use super::guard::guarded;
use super::place::{Input, Opened};
use super::table::{Gathering, Table};
use super::{Layout, Progress, Unit, threads, words};
use crate::door::Door;
use crate::error::{Error, Kind, Result};
use crate::schema::Schema;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::ConvertedType;
use parquet::file::metadata::{FileMetaData, ParquetMetaData};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

const BATCH: usize = 8192;

/// What several readers can read from at once: a file that each opens for itself, or bytes in memory.
enum Bulk {
    File(PathBuf),
    Memory(Bytes),
}

/// A Parquet file with its metadata.
pub(super) struct ParquetFile {
    place: String,
    bulk: Bulk,
    metadata: ArrowReaderMetadata,
    pub(super) layout: Layout,
    pub(super) rows: u64,
}

type Batches = Box<dyn Iterator<Item = parquet::errors::Result<RecordBatch>> + Send>;

impl ParquetFile {
    pub(super) fn open(input: &Input) -> Result<ParquetFile> {
        let place = input.place();
        let bulk = match (input.open()?, input.path()) {
            (Opened::File { .. }, Some(path)) => Bulk::File(path.to_path_buf()),
            (opened, _) => {
                let mut bytes = Vec::new();
                opened.into_read().read_to_end(&mut bytes).map_err(|fault| words::unreadable(&place, &fault))?;
                Bulk::Memory(bytes.into())
            }
        };
        let options = ArrowReaderOptions::new();
        let loaded = guarded(|| match &bulk {
            Bulk::File(path) => ArrowReaderMetadata::load(&File::open(path)?, options),
            Bulk::Memory(bytes) => ArrowReaderMetadata::load(bytes, options),
        });
        let damaged = || words::damaged(&place, "Parquet");
        let metadata = loaded.and_then(std::result::Result::ok).ok_or_else(damaged)?;
        let layout = arrays::layout(metadata.schema().fields(), &place)?;
        let metadata = guarded(|| plain(&metadata)).and_then(std::result::Result::ok).ok_or_else(damaged)?;
        let rows = u64::try_from(metadata.metadata().file_metadata().num_rows())
            .map_err(|_| words::damaged(&place, "Parquet"))?;
        Ok(ParquetFile { place, bulk, metadata, layout, rows })
    }

    /// Batches of some columns of the file, in file order.
    fn columns(&self, columns: &[usize]) -> parquet::errors::Result<Batches> {
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns.iter().copied());
        let metadata = self.metadata.clone();
        Ok(match &self.bulk {
            Bulk::File(path) => Box::new(
                ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(path)?, metadata)
                    .with_projection(mask)
                    .with_batch_size(BATCH)
                    .build()?
                    .map(|batch| Ok(batch?)),
            ),
            Bulk::Memory(bytes) => Box::new(
                ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata)
                    .with_projection(mask)
                    .with_batch_size(BATCH)
                    .build()?
                    .map(|batch| Ok(batch?)),
            ),
        })
    }

    /// Calls `f` with every batch of some columns; `f` says whether to go on.
    fn for_each(&self, columns: &[usize], mut f: impl FnMut(RecordBatch) -> bool) -> Result<()> {
        // The library's own words are not shown: they might quote what they stumbled over.
        let fault = || self.fault(columns);
        let mut batches = guarded(|| self.columns(columns)).and_then(std::result::Result::ok).ok_or_else(fault)?;
        while let Some(batch) = guarded(|| batches.next()).ok_or_else(fault)? {
            if !f(batch.map_err(|_| fault())?) {
                break;
            }
        }
        Ok(())
    }

    /// All batches with all columns, one after the other.
    pub(super) fn for_each_batch(&self, f: impl FnMut(RecordBatch) -> bool) -> Result<()> {
        self.for_each(&(0..self.layout.columns.len()).collect::<Vec<_>>(), f)
    }

    /// The error for columns that cannot be read, naming the first of them that cannot be read by itself.
    fn fault(&self, columns: &[usize]) -> Error {
        if let [_, _, ..] = columns {
            let single = columns.iter().find_map(|&c| self.for_each(&[c], |_| true).err());
            return single.unwrap_or_else(|| words::damaged(&self.place, "Parquet"));
        }
        let number = columns.first().map_or(0, |c| c + 1);
        Error::new(Kind::Data, format!("column number {number} of the file cannot be read"))
            .at(&self.place)
            .hint("the file may be damaged, or compressed in a way other than snappy, gzip, lz4 or zstd")
    }
}

/// The same metadata with text as bytes and without dictionaries.
///
/// A reader that makes text refuses bytes that are not UTF-8, and one that makes dictionaries refuses more values than
/// their keys can count: both would fail because of a value. The layout has the file's own types by now. It knows no
/// nested columns, so that the columns are the fields of the root.
fn plain(metadata: &ArrowReaderMetadata) -> parquet::errors::Result<ArrowReaderMetadata> {
    let about = metadata.metadata().file_metadata();
    let root = about.schema_descr().root_schema();
    let bytes = |field: &TypePtr| {
        let is_text = matches!(field.get_basic_info().converted_type(), ConvertedType::UTF8 | ConvertedType::JSON);
        if field.get_physical_type() != parquet::basic::Type::BYTE_ARRAY || !is_text {
            return Ok(TypePtr::clone(field));
        }
        let bare = Type::primitive_type_builder(field.name(), parquet::basic::Type::BYTE_ARRAY);
        Ok(TypePtr::new(bare.with_repetition(field.get_basic_info().repetition()).build()?))
    };
    let fields = root.get_fields().iter().map(bytes).collect::<parquet::errors::Result<_>>()?;
    let root = Type::group_type_builder(root.name()).with_fields(fields).build()?;
    let about = FileMetaData::new(
        about.version(),
        about.num_rows(),
        about.created_by().map(str::to_string),
        None,
        Arc::new(SchemaDescriptor::new(Arc::new(root))),
        about.column_orders().cloned(),
    );
    let groups = metadata.metadata().row_groups().to_vec();
    let about = Arc::new(ParquetMetaData::new(about, groups));
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let found = ArrowReaderMetadata::try_new(Arc::clone(&about), options.clone())?;
    // Offsets of 64 bits, so that no batch has too much text for its offsets.
    let wide = |field: &Arc<Field>| match field.data_type() {
        DataType::Binary => Arc::new(field.as_ref().clone().with_data_type(DataType::LargeBinary)),
        _ => Arc::clone(field),
    };
    let fields: Vec<Arc<Field>> = found.schema().fields().iter().map(wide).collect();
    ArrowReaderMetadata::try_new(about, options.with_schema(Arc::new(arrow_schema::Schema::new(fields))))
}

/// The codes of some rows, row-major, and their shares in the number of the stratum.
type Part = (Vec<u16>, Vec<u32>);

/// Reads the file with several readers at once, each for its own columns: that works for any number of row groups,
/// also for the one large group that many writers make.
pub(super) fn read(input: &Input, schema: &Schema, progress: &dyn Progress) -> Result<Table> {
    let file = ParquetFile::open(input)?;
    let columns = file.layout.match_schema(schema, &file.place)?;
    progress.start(&format!("reading {}", file.place), Some(file.rows), Unit::Rows);
    let door = Door::new(schema);
    let groups = groups(schema, &columns);
    let mut gathering = Gathering::new(schema.width());
    std::thread::scope(|scope| {
        let mut parts = Vec::new();
        for group in &groups {
            let (sender, receiver) = sync_channel(2);
            let arrays: Vec<usize> = group.iter().map(|&c| columns[c]).collect();
            let plan = Plan::new(schema, &arrays);
            parts.push((receiver, plan.width()));
            let (file, door) = (&file, &door);
            scope.spawn(move || feed(file, group, &plan, door, &sender));
        }
        let mut row_codes = Vec::new();
        loop {
            let mut batch: Vec<Part> = Vec::with_capacity(parts.len());
            for (receiver, _) in &parts {
                match receiver.recv() {
                    Ok(part) => batch.push(part?),
                    Err(_) => break,
                }
            }
            if batch.is_empty() {
                return Ok(());
            }
            let rows = batch[0].1.len();
            if batch.len() < parts.len() || batch.iter().any(|(_, strata)| strata.len() != rows) {
                return Err(words::damaged(&file.place, "Parquet"));
            }
            // Side by side: each part holds neighbouring features of the same rows.
            row_codes.clear();
            for row in 0..rows {
                for ((codes, _), (_, width)) in batch.iter().zip(&parts) {
                    row_codes.extend_from_slice(&codes[row * width..(row + 1) * width]);
                }
            }
            gathering.push(&row_codes, &batch[0].1);
            progress.advance(rows as u64);
        }
    })?;
    Ok(gathering.finish(file.layout))
}

/// One reader's work.
fn feed(file: &ParquetFile, group: &[usize], plan: &Plan, door: &Door, sender: &SyncSender<Result<Part>>) {
    let outcome =
        file.for_each(group, |batch| sender.send(Ok(plan.encode(door, batch.columns(), 0..batch.num_rows()))).is_ok());
    if let Err(error) = outcome {
        let _ = sender.send(Err(error));
    }
}

/// The file's columns for each reader, in file order: neighbouring features by schema order, and everything that
/// splits the table with the first reader.
fn groups(schema: &Schema, columns: &[usize]) -> Vec<Vec<usize>> {
    let (splitting, mut features): (Vec<usize>, Vec<usize>) =
        (0..columns.len()).partition(|&c| schema.columns[columns[c]].splits());
    features.sort_by_key(|&c| columns[c]);
    let readers = threads::cores().clamp(1, 16).min(features.len());
    let mut groups: Vec<Vec<usize>> =
        features.chunks(features.len().div_ceil(readers)).map(<[usize]>::to_vec).collect();
    groups[0].extend(splitting);
    for group in &mut groups {
        group.sort_unstable();
    }
    groups
}
