//! Text files as blocks of whole lines, and the lines of a block as rows.
//!
//! The number of rows is public, so no value may change it. In a table of one column an empty value is an empty line:
//! there every line is a row, and only the end of the file is not. In a wider table a row has at least a delimiter, so
//! an empty line is never a row, whatever the values.

use super::blank::EmptyValues;
use super::place::{Format, Input, Squeeze, empty};
use super::words;
use super::{Layout, Physical, PhysicalType, Progress};
use crate::error::{Error, Kind, Result};
use std::io::{self, BufRead, BufReader, Read};

/// How much of a file one worker takes at a time.
const BLOCK: usize = 1 << 21;

/// A text file behind its header.
pub(super) struct Lines<'a> {
    place: String,
    format: Format,
    columns: usize,
    source: Box<dyn BufRead + Send + 'a>,
    /// The part of a line at the end of the block before.
    rest: Vec<u8>,
    line: u64,
    over: bool,
    quoted: Option<csv::Reader<Box<dyn Read + Send + 'a>>>,
}

/// Some of the rows of a file, and the number of the line that counts as their first.
pub(super) enum Block {
    /// Whole lines without a quote in them, still to be taken apart.
    Lines(Vec<u8>, u64),
    /// Rows, taken apart. Once a quote was seen, only one who reads everything in order knows which line ends are
    /// inside of quotes.
    Rows(Vec<csv::StringRecord>, u64),
}

/// Counts what is read, for whoever watches.
struct Watched<'a, R> {
    inner: R,
    progress: &'a dyn Progress,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

/// A text file of the table: its layout, and what stands behind the header.
pub(super) fn open<'a>(input: &Input, format: Format, progress: &'a dyn Progress) -> Result<(Layout, Lines<'a>)> {
    let place = input.place();
    let opened = input.open()?;
    let length = match &opened {
        super::place::Opened::File { length, .. } => Some(*length),
        super::place::Opened::Stream(_) => None,
    };
    progress.start(&format!("reading {place}"), length);
    let raw = Watched { inner: opened.into_read(), progress };
    let refuse = |fault: io::Error| words::unreadable(&place, &fault);
    let source: Box<dyn Read + Send> = match format.squeeze() {
        Squeeze::None => Box::new(raw),
        Squeeze::Gzip => Box::new(flate2::read::MultiGzDecoder::new(raw)),
        Squeeze::Zstd => Box::new(zstd::Decoder::new(raw).map_err(refuse)?),
    };
    let mut source = BufReader::with_capacity(1 << 18, source);
    if source.fill_buf().map_err(refuse)?.is_empty() {
        return Err(empty(&place));
    }
    let (mut header, line) = header(&mut source, &place)?;
    while header.last().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
        header.pop();
    }
    let mut names = csv::StringRecord::new();
    let read = reader(header.as_slice(), format).read_record(&mut names);
    if !read.map_err(|fault| csv_fault(&place, 1, &fault))? {
        let rule = "the file has no header";
        return Err(Error::new(Kind::Data, rule).at(&place).hint("the first line must name the columns"));
    }
    let physical = |name: &str| Physical { name: name.to_string(), physical: PhysicalType::Plain, nullable: true };
    let layout = Layout { columns: names.iter().map(physical).collect() };
    let (columns, source, rest) = (layout.columns.len(), Box::new(source), Vec::new());
    Ok((layout, Lines { place, format, columns, source, rest, line, over: false, quoted: None }))
}

/// The bytes of the header and the line after it. A header ends at the first line end that is not inside of quotes.
fn header(source: &mut impl BufRead, place: &str) -> Result<(Vec<u8>, u64)> {
    // A file without any line end is not read into memory as one header.
    const LONGEST: usize = 1 << 24;
    let refuse = |fault: io::Error| words::unreadable(place, &fault);
    let (mut header, mut line) = (Vec::new(), 1);
    loop {
        let count = source.by_ref().take(LONGEST as u64).read_until(b'\n', &mut header).map_err(refuse)?;
        line += 1;
        if header.starts_with(b"\xef\xbb\xbf") {
            header.drain(..3);
        }
        let blank = header.iter().all(|byte| matches!(byte, b'\r' | b'\n'));
        let open = header.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
        if count == 0 || header.len() >= LONGEST || !(blank || open) {
            return Ok((header, line));
        }
    }
}

/// A row ends at a line feed and nowhere else, as in the lines without quotes; a carriage return before it is cut off
/// with the last value.
fn reader<R: Read>(source: R, format: Format) -> csv::Reader<R> {
    csv::ReaderBuilder::new()
        .terminator(csv::Terminator::Any(b'\n'))
        .delimiter(format.delimiter())
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(1 << 16)
        .from_reader(source)
}

fn csv_fault(place: &str, first: u64, fault: &csv::Error) -> Error {
    let line = line_of(fault.position(), first);
    match fault.kind() {
        csv::ErrorKind::Io(fault) => words::unreadable(place, fault),
        csv::ErrorKind::Utf8 { .. } => not_utf8(place, line),
        _ => Error::new(Kind::Data, "this line cannot be read").at(format!("{place}:{line}")).hint("check the quotes"),
    }
}

impl Lines<'_> {
    /// The next rows.
    pub(super) fn next_block(&mut self) -> Result<Option<Block>> {
        if self.quoted.is_some() {
            return self.next_rows();
        }
        if self.over {
            return Ok(None);
        }
        let mut block = std::mem::take(&mut self.rest);
        // A line longer than a block grows the block.
        let wanted = (BLOCK as u64).max(block.len() as u64);
        let count = self
            .source
            .by_ref()
            .take(wanted)
            .read_to_end(&mut block)
            .map_err(|fault| words::unreadable(&self.place, &fault))?;
        let first = self.line;
        if block.contains(&b'"') {
            let rest = std::mem::replace(&mut self.source, Box::new(io::empty()));
            let whole = io::Cursor::new(block).chain(rest);
            let whole: Box<dyn Read + Send> =
                if self.columns == 1 { Box::new(EmptyValues::new(whole)) } else { Box::new(whole) };
            self.quoted = Some(reader(whole, self.format));
            return self.next_rows();
        }
        if (count as u64) < wanted {
            self.over = true;
            return Ok((!block.is_empty()).then_some(Block::Lines(block, first)));
        }
        let end = block.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.rest = block.split_off(end);
        self.line += block.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(Some(Block::Lines(block, first)))
    }

    fn next_rows(&mut self) -> Result<Option<Block>> {
        const ROWS: usize = 2048;
        let Some(reader) = &mut self.quoted else { return Ok(None) };
        let mut rows = Vec::with_capacity(ROWS);
        let mut record = csv::StringRecord::new();
        while rows.len() < ROWS
            && reader.read_record(&mut record).map_err(|fault| csv_fault(&self.place, self.line, &fault))?
        {
            rows.push(record.clone());
        }
        Ok((!rows.is_empty()).then_some(Block::Rows(rows, self.line)))
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }
}

/// Calls `row` with the values of every row of a block. Refuses rows with another number of values than the header has
/// names.
pub(super) fn for_each_row(
    block: Block,
    place: &str,
    format: Format,
    columns: usize,
    mut row: impl FnMut(&[&str]),
) -> Result<()> {
    let mut values = Vec::with_capacity(columns);
    let mut end_row = |values: &mut Vec<&str>, line: u64| {
        if let Some(last) = values.last_mut() {
            *last = last.strip_suffix('\r').unwrap_or(last);
        }
        // An empty line is an empty value in a table of one column, and nothing in a wider one.
        if columns > 1 && *values == [""] {
            return Ok(());
        }
        even(values.len(), place, line, columns)?;
        row(values);
        Ok(())
    };
    match &block {
        Block::Lines(bytes, first) => {
            let text = match std::str::from_utf8(bytes) {
                Ok(text) => text,
                // The lines before are looked at first, so that the first fault of the file is the one reported.
                Err(fault) => std::str::from_utf8(&bytes[..fault.valid_up_to()]).unwrap_or_default(),
            };
            let whole = text.len() == bytes.len();
            let mut line = *first;
            let mut start = 0;
            for at in memchr::memchr2_iter(format.delimiter(), b'\n', text.as_bytes()) {
                if text.as_bytes()[at] == b'\n' {
                    values.push(&text[start..at]);
                    end_row(&mut values, line)?;
                    values.clear();
                    line += 1;
                } else {
                    values.push(&text[start..at]);
                }
                start = at + 1;
            }
            if !whole {
                return Err(not_utf8(place, line));
            }
            if start < text.len() || !values.is_empty() {
                values.push(&text[start..]);
                end_row(&mut values, line)?;
            }
        }
        Block::Rows(rows, first) => {
            for record in rows {
                values.clear();
                values.extend(record.iter());
                end_row(&mut values, line_of(record.position(), *first))?;
            }
        }
    }
    Ok(())
}

/// The line of a place in the part of the file that begins with line `first`.
fn line_of(position: Option<&csv::Position>, first: u64) -> u64 {
    position.map_or(first, |at| first + at.line() - 1)
}

fn not_utf8(place: &str, line: u64) -> Error {
    Error::new(Kind::Data, "this line is not UTF-8 text")
        .at(format!("{place}:{line}"))
        .hint("save the file as UTF-8, and check that it is not of another format")
}

fn even(found: usize, place: &str, line: u64, columns: usize) -> Result<()> {
    if found == columns {
        return Ok(());
    }
    let (found, named) = (count(found, "value"), count(columns, "column"));
    Err(Error::new(Kind::Data, format!("this line has {found} and the header names {named}"))
        .at(format!("{place}:{line}"))
        .hint("every line needs one value for each column; put values that contain the delimiter in quotes"))
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
