//! Arrow IPC to codes, in the file and in the stream form.

use super::arrays;
use super::arrow_bounds::{Bounded, file_fits};
use super::chunks::{Taker, Takers, most_rows};
use super::guard::guarded;
use super::place::{Input, Opened};
use super::plan::Plan;
use super::{Layout, Progress, Unit, threads, words};
use crate::door::Door;
use crate::error::{Error, Kind, Result};
use crate::schema::Schema;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::ArrowError;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

/// Rows that one worker takes at a time, at most.
const SLICE: usize = 8192;

/// An open Arrow file or stream.
pub(super) struct ArrowFile {
    pub(super) place: String,
    pub(super) layout: Layout,
    /// The columns that are read, by their numbers in the file.
    numbers: Vec<usize>,
    batches: Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>,
    batch: Option<RecordBatch>,
    /// Rows that were fetched to see whether there are any.
    first: Option<RecordBatch>,
    /// The number of batches, where several readers can each read their own.
    shareable: usize,
    /// Rows that one worker takes at a time.
    slice: usize,
}

impl ArrowFile {
    pub(super) fn open(input: &Input, schema: Option<&Schema>) -> Result<ArrowFile> {
        let place = input.place();
        let unreadable = |fault: std::io::Error| words::unreadable(&place, &fault);
        // The file form begins with these letters, the stream form never does.
        let mut first = [0u8; 6];
        let mut shareable = 0;
        let opened = match input.open()? {
            Opened::File { mut file, .. } => {
                let is_file = file.read_exact(&mut first).is_ok() && first == *b"ARROW1";
                file.rewind().map_err(unreadable)?;
                let file = BufReader::with_capacity(1 << 18, file);
                if is_file { begin_file(file, Some(&mut shareable)) } else { begin_stream(file) }
            }
            Opened::Stream(mut stream) => {
                let mut begun = Vec::new();
                stream.by_ref().take(6).read_to_end(&mut begun).map_err(unreadable)?;
                if begun == b"ARROW1" {
                    stream.read_to_end(&mut begun).map_err(unreadable)?;
                    begin_file(Cursor::new(begun), None)
                } else {
                    begin_stream(BufReader::new(Cursor::new(begun).chain(stream)))
                }
            }
        };
        let (fields, batches) = opened.ok_or_else(|| words::damaged(&place, "Arrow IPC"))?;
        let numbers = input.wanted(fields.iter().map(|field| field.name().as_str()), schema);
        let layout = arrays::layout(&fields, &numbers, schema, &place)?;
        let slice = most_rows(schema.map_or(1, Schema::width)).min(SLICE);
        Ok(ArrowFile { place, layout, numbers, batches, batch: None, first: None, shareable, slice })
    }

    /// Whether there is a row, which is public. Arrow says so only in its batches: the first that has one is fetched, and
    /// waits until the rows are wanted.
    fn has_rows(&mut self) -> Result<bool> {
        self.first = self.next_rows()?;
        Ok(self.first.is_some())
    }

    /// The next few rows.
    pub(super) fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        loop {
            if let Some(batch) = self.batch.take().filter(|batch| batch.num_rows() > 0) {
                let taken = batch.num_rows().min(self.slice);
                self.batch = Some(batch.slice(taken, batch.num_rows() - taken));
                return Ok(Some(batch.slice(0, taken)));
            }
            match guarded(|| self.batches.next()) {
                Some(None) => return Ok(None),
                Some(Some(Ok(batch))) => {
                    self.batch =
                        Some(batch.project(&self.numbers).map_err(|fault| fault_of(&self.place, Some(fault)))?);
                }
                Some(Some(Err(fault))) => return Err(fault_of(&self.place, Some(fault))),
                None => return Err(fault_of(&self.place, None)),
            }
        }
    }
}

/// Why a batch cannot be read. The library's own words are not shown: they might quote what they stumbled over.
fn fault_of(place: &str, fault: Option<ArrowError>) -> Error {
    if fault.is_some_and(|fault| fault.to_string().to_ascii_lowercase().contains("utf8")) {
        return Error::new(Kind::Data, "a text column is not UTF-8 text")
            .at(place)
            .hint("write the file again with UTF-8 text");
    }
    words::damaged(place, "Arrow IPC")
}

type Begun = (arrow_schema::Fields, Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>);

fn begin_file(mut source: impl Read + Seek + Send + 'static, count: Option<&mut usize>) -> Option<Begun> {
    guarded(|| file_fits(&mut source))?.ok().filter(|fits| *fits)?;
    source.rewind().ok()?;
    let reader = guarded(|| FileReader::try_new(source, None))?.ok()?;
    if let Some(count) = count {
        *count = reader.num_batches();
    }
    Some((reader.schema().fields().clone(), Box::new(reader)))
}

fn begin_stream(source: impl Read + Send + 'static) -> Option<Begun> {
    let reader = guarded(|| StreamReader::try_new(Bounded::new(source), None))?.ok()?;
    Some((reader.schema().fields().clone(), Box::new(reader)))
}

pub(super) fn read(input: &Input, schema: &Schema, progress: &dyn Progress, takers: &dyn Takers) -> Result<Layout> {
    let mut file = ArrowFile::open(input, Some(schema))?;
    let layout = file.layout.clone();
    let plan = Plan::new(schema, &layout.match_schema(schema, &file.place)?);
    let door = Door::new(schema);
    let has_rows = file.has_rows()?;
    takers.begin(has_rows, &file.place)?;
    progress.start(&format!("reading {}", file.place), None, Unit::Rows);
    let encode = |taker: &mut Box<dyn Taker + '_>, place: u64, batch: &RecordBatch| {
        taker.take(place, plan.encode(&door, batch.columns(), 0..batch.num_rows()))?;
        progress.advance(batch.num_rows() as u64);
        Ok(())
    };
    match input.path() {
        Some(path) if file.shareable >= threads::cores() => by_batches(&file, path, takers, encode)?,
        _ => threads::share(
            |_| file.next_rows(),
            || takers.taker(),
            |taker, place, batch| encode(taker, place, &batch),
            |taker| taker.close(),
        )?,
    }
    Ok(layout)
}

/// Each core reads the file for itself and takes the next batch when it is done with one.
fn by_batches(
    file: &ArrowFile,
    path: &Path,
    takers: &dyn Takers,
    encode: impl Fn(&mut Box<dyn Taker + '_>, u64, &RecordBatch) -> Result<()> + Sync,
) -> Result<()> {
    let (numbers, place, slice) = (&file.numbers, &file.place, file.slice);
    let begin = || -> std::result::Result<_, ArrowError> {
        FileReader::try_new(BufReader::with_capacity(1 << 18, File::open(path)?), Some(numbers.clone()))
    };
    let next = |reader: &mut FileReader<BufReader<File>>, index: usize| {
        reader.set_index(index)?;
        reader.next().transpose()
    };
    let damaged = |fault: Option<ArrowError>| fault_of(place, fault);
    let mut batches = 0..file.shareable;
    threads::share(
        |_| Ok(batches.next()),
        || (takers.taker(), None),
        |(taker, reader), number, index| {
            if reader.is_none() {
                *reader = Some(guarded(begin).ok_or_else(|| damaged(None))?.map_err(|fault| damaged(Some(fault)))?);
            }
            let Some(reader) = reader else { return Err(damaged(None)) };
            let read = guarded(|| next(reader, index)).ok_or_else(|| damaged(None))?;
            let batch = read.map_err(|fault| damaged(Some(fault)))?.ok_or_else(|| damaged(None))?;
            for (part, first) in (0..batch.num_rows()).step_by(slice).enumerate() {
                let rows = batch.slice(first, slice.min(batch.num_rows() - first));
                encode(taker, (number << 32) + part as u64, &rows)?;
            }
            Ok(())
        },
        |(taker, _)| taker.close(),
    )
}
