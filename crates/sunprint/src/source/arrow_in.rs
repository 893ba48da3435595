//! Arrow IPC to codes, in the file and in the stream form.

use super::arrays;
use super::arrow_bounds::{Bounded, file_fits};
use super::arrow_bytes::{Changed, Mark};
use super::chunks::{Taker, Takers, most_rows};
use super::guard::guarded;
use super::place::{Input, Opened};
use super::plan::Plan;
use super::{Layout, Progress, Unit, check, threads, words};
use crate::door::Door;
use crate::error::{Error, Result};
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
    /// What makes texts bytes, for these readers.
    marks: Vec<Mark>,
    /// Rows that one worker takes at a time.
    slice: usize,
}

impl ArrowFile {
    pub(super) fn open(input: &Input, schema: Option<&Schema>) -> Result<ArrowFile> {
        let place = input.place();
        let unreadable = |fault: std::io::Error| words::unreadable(&place, &fault);
        // The file form begins with these letters, the stream form never does.
        let mut first = [0u8; 6];
        let opened = match input.open()? {
            Opened::File { mut file, .. } => {
                let is_file = file.read_exact(&mut first).is_ok() && first == *b"ARROW1";
                file.rewind().map_err(unreadable)?;
                let file = BufReader::with_capacity(1 << 18, file);
                if is_file { begin_file(file) } else { begin_stream(file) }
            }
            Opened::Stream(mut stream) => {
                let mut begun = Vec::new();
                stream.by_ref().take(6).read_to_end(&mut begun).map_err(unreadable)?;
                if begun == b"ARROW1" {
                    stream.read_to_end(&mut begun).map_err(unreadable)?;
                    begin_file(Cursor::new(begun)).map(|begun| Begun { shareable: 0, ..begun })
                } else {
                    begin_stream(BufReader::new(Cursor::new(begun).chain(stream)))
                }
            }
        };
        let begun = opened.ok_or_else(|| words::damaged(&place, "Arrow IPC"))?;
        let Begun { fields, batches, shareable, marks } = begun;
        let numbers = input.wanted(fields.iter().map(|field| field.name().as_str()), schema);
        let layout = arrays::layout(&fields, &numbers, schema, &place)?;
        let slice = most_rows(schema.map_or(1, Schema::width)).min(SLICE);
        Ok(ArrowFile { place, layout, numbers, batches, batch: None, first: None, shareable, marks, slice })
    }

    fn damaged(&self) -> Error {
        words::damaged(&self.place, "Arrow IPC")
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
                    self.batch = Some(batch.project(&self.numbers).map_err(|_| self.damaged())?);
                }
                // The library's own words are not shown: they might quote what they stumbled over.
                Some(Some(Err(_))) | None => return Err(self.damaged()),
            }
        }
    }
}

/// What was learnt before the first batch.
struct Begun {
    fields: arrow_schema::Fields,
    batches: Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>,
    shareable: usize,
    marks: Vec<Mark>,
}

fn begin_file(mut source: impl Read + Seek + Send + 'static) -> Option<Begun> {
    let footer = guarded(|| file_fits(&mut source))?.ok()??;
    let source = Changed::new(source, footer.marks.clone()).ok()?;
    let reader = guarded(|| FileReader::try_new(source, None))?.ok()?;
    let shareable = reader.num_batches();
    Some(Begun { fields: footer.fields, batches: Box::new(reader), shareable, marks: footer.marks })
}

fn begin_stream(source: impl Read + Send + 'static) -> Option<Begun> {
    let reader = guarded(|| StreamReader::try_new(Bounded::new(source), None))?.ok()?;
    let fields = reader.get_ref().fields()?.clone();
    Some(Begun { fields, batches: Box::new(reader), shareable: 0, marks: Vec::new() })
}

pub(super) fn read(input: &Input, schema: &Schema, progress: &dyn Progress, takers: &dyn Takers) -> Result<Layout> {
    let mut file = ArrowFile::open(input, Some(schema))?;
    let layout = file.layout.clone();
    let columns = layout.match_schema(schema, &file.place)?;
    let plan = Plan::new(schema, &columns);
    let door = Door::new(schema);
    let has_rows = file.has_rows()?;
    takers.begin(has_rows, &file.place)?;
    progress.start(&format!("reading {}", file.place), None, Unit::Rows);
    let encode = |taker: &mut Box<dyn Taker + '_>, place: u64, batch: &RecordBatch| {
        taker.take(place, plan.encode(&door, batch.columns(), 0..batch.num_rows()))?;
        if let Some(judged) = takers.judged() {
            judged.add(check::judge(batch, &columns, &door));
        }
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
    let (numbers, marks, place, slice) = (&file.numbers, &file.marks, &file.place, file.slice);
    let begin = || -> std::result::Result<_, ArrowError> {
        let file = Changed::new(BufReader::with_capacity(1 << 18, File::open(path)?), marks.clone())?;
        FileReader::try_new(file, Some(numbers.clone()))
    };
    let next = |reader: &mut FileReader<Changed<BufReader<File>>>, index: usize| {
        reader.set_index(index)?;
        reader.next().transpose()
    };
    let damaged = || words::damaged(place, "Arrow IPC");
    let mut batches = 0..file.shareable;
    threads::share(
        |_| Ok(batches.next()),
        || (takers.taker(), None),
        |(taker, reader), number, index| {
            if reader.is_none() {
                *reader = Some(guarded(begin).ok_or_else(damaged)?.map_err(|_| damaged())?);
            }
            let Some(reader) = reader else { return Err(damaged()) };
            let read = guarded(|| next(reader, index)).ok_or_else(damaged)?;
            let batch = read.map_err(|_| damaged())?.ok_or_else(damaged)?;
            for (part, first) in (0..batch.num_rows()).step_by(slice).enumerate() {
                let rows = batch.slice(first, slice.min(batch.num_rows() - first));
                encode(taker, (number << 32) + part as u64, &rows)?;
            }
            Ok(())
        },
        |(taker, _)| taker.close(),
    )
}
