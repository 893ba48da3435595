//! Parquet to codes.

use super::arrays;
use super::chunks::{Takers, most_rows};
use super::guard::guarded;
use super::place::{Input, Opened};
use super::plan::Plan;
use super::slabs::{WIDE, by_slabs};
use super::{Layout, Progress, Unit, check, threads, words};
use crate::door::Door;
use crate::error::{Error, Kind, Result};
use crate::schema::Schema;
use crate::tally::codes::Codes;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::basic::ConvertedType;
use parquet::file::metadata::{FileMetaData, ParquetMetaData};
use parquet::file::reader::ChunkReader;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

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
    /// The columns that are read, by their numbers in the file.
    numbers: Vec<usize>,
    pub(super) rows: u64,
    /// The coordinates that a column becomes, on average.
    spread: usize,
}

/// Which batches.
struct Spec {
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    rows: usize,
    group: Option<usize>,
    selection: Option<RowSelection>,
}

/// Which rows.
enum Part {
    Whole,
    Group(usize),
    Rows(usize, Range<usize>),
}

type Batches = Box<dyn Iterator<Item = parquet::errors::Result<RecordBatch>> + Send>;

impl ParquetFile {
    pub(super) fn open(input: &Input, schema: Option<&Schema>) -> Result<ParquetFile> {
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
        let fields = metadata.schema().fields();
        let numbers = input.wanted(fields.iter().map(|field| field.name().as_str()), schema);
        let layout = arrays::layout(fields, &numbers, schema, &place)?;
        let spread = schema.map_or(1, |schema| schema.width().div_ceil(schema.columns.len().max(1)));
        let metadata = guarded(|| plain(&metadata)).and_then(std::result::Result::ok).ok_or_else(damaged)?;
        let rows = u64::try_from(metadata.metadata().file_metadata().num_rows())
            .map_err(|_| words::damaged(&place, "Parquet"))?;
        Ok(ParquetFile { place, bulk, metadata, layout, numbers, rows, spread })
    }

    /// Batches of some columns of the file, in file order.
    fn batches(&self, columns: &[usize], part: Part) -> parquet::errors::Result<Batches> {
        fn begin<T: ChunkReader + 'static>(source: T, spec: Spec) -> parquet::errors::Result<Batches> {
            let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, spec.metadata)
                .with_projection(spec.mask)
                .with_batch_size(spec.rows);
            if let Some(group) = spec.group {
                builder = builder.with_row_groups(vec![group]);
            }
            if let Some(selection) = spec.selection {
                builder = builder.with_row_selection(selection);
            }
            Ok(Box::new(builder.build()?.map(|batch| Ok(batch?))))
        }
        let roots = columns.iter().map(|&column| self.numbers[column]);
        let (group, selection) = match part {
            Part::Whole => (None, None),
            Part::Group(group) => (Some(group), None),
            Part::Rows(group, rows) => {
                let selected = [RowSelector::skip(rows.start), RowSelector::select(rows.len())];
                (Some(group), Some(selected.to_vec().into()))
            }
        };
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), roots);
        let rows = most_rows(columns.len() * self.spread.max(1)).min(8192);
        let spec = Spec { metadata: self.metadata.clone(), mask, rows, group, selection };
        match &self.bulk {
            Bulk::File(path) => begin(File::open(path)?, spec),
            Bulk::Memory(bytes) => begin(bytes.clone(), spec),
        }
    }

    /// Calls `f` with every batch of some columns; `f` says whether to go on.
    fn for_each(&self, columns: &[usize], part: Part, mut f: impl FnMut(RecordBatch) -> bool) -> Result<()> {
        // The library's own words are not shown: they might quote what they stumbled over.
        let fault = || self.fault(columns);
        let begun = guarded(|| self.batches(columns, part));
        let mut batches = begun.and_then(std::result::Result::ok).ok_or_else(fault)?;
        while let Some(batch) = guarded(|| batches.next()).ok_or_else(fault)? {
            if !f(batch.map_err(|_| fault())?) {
                break;
            }
        }
        Ok(())
    }

    /// All batches with all columns, one after the other.
    pub(super) fn for_each_batch(&self, f: impl FnMut(RecordBatch) -> bool) -> Result<()> {
        self.for_each(&self.all(), Part::Whole, f)
    }

    /// Calls `f` with every batch of one column.
    pub(super) fn for_each_of_column(&self, column: usize, f: impl FnMut(RecordBatch) -> bool) -> Result<()> {
        self.for_each(&[column], Part::Whole, f)
    }

    /// Calls `f` with every batch of some columns and some rows of a row group.
    pub(super) fn for_each_of(
        &self,
        columns: &[usize],
        group: usize,
        rows: Range<usize>,
        f: impl FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        self.for_each(columns, Part::Rows(group, rows), f)
    }

    /// The rows of each row group; a group that claims less than none has none.
    pub(super) fn group_rows(&self) -> Vec<usize> {
        let groups = self.metadata.metadata().row_groups();
        groups.iter().map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).collect()
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// The numbers of all columns of the layout.
    fn all(&self) -> Vec<usize> {
        (0..self.layout.columns.len()).collect()
    }

    /// The error for columns that cannot be read, naming the first of them that cannot be read by itself.
    fn fault(&self, columns: &[usize]) -> Error {
        if let [_, _, ..] = columns {
            let single = columns.iter().find_map(|&c| self.for_each(&[c], Part::Whole, |_| true).err());
            return single.unwrap_or_else(|| words::damaged(&self.place, "Parquet"));
        }
        let number = columns.first().map_or(0, |&c| self.numbers[c] + 1);
        Error::new(Kind::Data, format!("column number {number} of the file cannot be read"))
            .at(&self.place)
            .hint("the file may be damaged, or compressed in a way other than snappy, gzip, lz4 or zstd")
    }
}

/// The same metadata with text as bytes and without dictionaries.
///
/// A reader that makes text refuses bytes that are not UTF-8, and one that makes dictionaries refuses more values than
/// their keys can count: both would fail because of a value. The layout has the file's own types by now. Nested columns
/// are never read, so that the columns are the fields of the root.
fn plain(metadata: &ArrowReaderMetadata) -> parquet::errors::Result<ArrowReaderMetadata> {
    let about = metadata.metadata().file_metadata();
    let root = about.schema_descr().root_schema();
    let bytes = |field: &TypePtr| {
        let is_text = matches!(field.get_basic_info().converted_type(), ConvertedType::UTF8 | ConvertedType::JSON);
        if !field.is_primitive() || field.get_physical_type() != parquet::basic::Type::BYTE_ARRAY || !is_text {
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
    // Offsets of 64 bits, so that no batch has too much text for its offsets. Dates that Parquet has no type of its own
    // for are numbers without the file's own schema.
    let wide = |(field, own): (&Arc<Field>, &Arc<Field>)| match (field.data_type(), own.data_type()) {
        (DataType::Binary, _) => Arc::new(field.as_ref().clone().with_data_type(DataType::LargeBinary)),
        (DataType::Int64, time @ (DataType::Date64 | DataType::Timestamp(..))) => {
            Arc::new(field.as_ref().clone().with_data_type(time.clone()))
        }
        _ => Arc::clone(field),
    };
    let fields: Vec<Arc<Field>> = found.schema().fields().iter().zip(metadata.schema().fields()).map(wide).collect();
    ArrowReaderMetadata::try_new(about, options.with_schema(Arc::new(arrow_schema::Schema::new(fields))))
}

/// Reads the file on all cores: whole row groups where there are enough of them, else each core its own columns.
pub(super) fn read(input: &Input, schema: &Schema, progress: &dyn Progress, takers: &dyn Takers) -> Result<Layout> {
    let file = ParquetFile::open(input, Some(schema))?;
    let columns = file.layout.match_schema(schema, &file.place)?;
    // The number of rows is public, and stands in the footer.
    takers.begin(file.rows > 0, &file.place)?;
    progress.start(&format!("reading {}", file.place), Some(file.rows), Unit::Rows);
    let reading = Reading { file: &file, schema, columns: &columns, progress, takers };
    if columns.len() > WIDE {
        by_slabs(reading)?;
    } else if file.metadata.metadata().num_row_groups() < threads::cores() {
        by_columns(reading)?;
    } else {
        by_groups(reading)?;
    }
    if let Some(judged) = takers.judged() {
        judged.add(check::judge_parquet(&file, &columns, &Door::new(schema), |_| ())?);
    }
    Ok(file.layout)
}

/// A file on its way to codes, whichever way it takes.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) file: &'a ParquetFile,
    pub(super) schema: &'a Schema,
    /// The schema's column for each of the file's.
    pub(super) columns: &'a [usize],
    pub(super) progress: &'a dyn Progress,
    pub(super) takers: &'a dyn Takers,
}

/// Each core takes the next row group when it is done with one.
fn by_groups(reading: Reading) -> Result<()> {
    let Reading { file, schema, columns, progress, takers } = reading;
    let (plan, door, all) = (Plan::new(schema, columns), Door::new(schema), file.all());
    let mut groups = 0..file.metadata.metadata().num_row_groups();
    threads::share(
        |_| Ok(groups.next()),
        || takers.taker(),
        |taker, number, group| {
            let (mut place, mut taken) = (number << 32, Ok(()));
            file.for_each(&all, Part::Group(group), |batch| {
                let rows = batch.num_rows();
                taken = taker.take(place, plan.encode(&door, batch.columns(), 0..rows));
                place += 1;
                progress.advance(rows as u64);
                taken.is_ok()
            })?;
            taken
        },
        |taker| taker.close(),
    )
}

/// Several readers at once, each for its own columns: that works for any number of row groups, also for the one large
/// group that many writers make.
fn by_columns(reading: Reading) -> Result<()> {
    let Reading { file, schema, columns, progress, takers } = reading;
    let door = Door::new(schema);
    let groups = groups(schema, columns);
    let mut taker = takers.taker();
    std::thread::scope(|scope| {
        let mut parts = Vec::new();
        for group in &groups {
            let (sender, receiver) = sync_channel(2);
            let arrays: Vec<usize> = group.iter().map(|&c| columns[c]).collect();
            let plan = Plan::new(schema, &arrays);
            parts.push(receiver);
            let door = &door;
            scope.spawn(move || feed(file, group, &plan, door, &sender));
        }
        for place in 0.. {
            let mut batch: Vec<Codes> = Vec::with_capacity(parts.len());
            for receiver in &parts {
                match receiver.recv() {
                    Ok(part) => batch.push(part?),
                    Err(_) => break,
                }
            }
            let Some(rows) = batch.first().map(Codes::rows) else {
                // All readers must be at their end.
                let over = parts.iter().all(|receiver| receiver.recv().is_err());
                return if over { Ok(()) } else { Err(words::damaged(&file.place, "Parquet")) };
            };
            if batch.len() < parts.len() || batch.iter().any(|part| part.rows() != rows) {
                return Err(words::damaged(&file.place, "Parquet"));
            }
            // Side by side: each part holds neighbouring features of the same rows, the first also their strata.
            let mut codes = Codes::with_capacity(schema.width(), rows);
            for row in 0..rows {
                codes.push_parts(batch.iter().map(|part| part.row(row)), batch[0].stratum(row));
            }
            taker.take(place, codes)?;
            progress.advance(rows as u64);
        }
        Ok(())
    })?;
    taker.close()
}

/// One reader's work.
fn feed(file: &ParquetFile, group: &[usize], plan: &Plan, door: &Door, sender: &SyncSender<Result<Codes>>) {
    let outcome = file.for_each(group, Part::Whole, |batch| {
        sender.send(Ok(plan.encode(door, batch.columns(), 0..batch.num_rows()))).is_ok()
    });
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
