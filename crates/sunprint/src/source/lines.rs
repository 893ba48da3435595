//! Text files as blocks of whole lines, and the lines of a block as rows.

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
    source: Box<dyn BufRead + Send + 'a>,
    /// The part of a line at the end of the block before.
    rest: Vec<u8>,
    line: u64,
    ends: Ends,
    over: bool,
    quoted: Option<csv::Reader<Box<dyn Read + Send + 'a>>>,
}

/// Some of the rows of a file, and the number of the line that counts as their first.
pub(super) enum Block {
    /// Whole lines without a quote in them, still to be taken apart.
    Lines(Vec<u8>, u64),
    /// Rows, taken apart. Once a quote was seen, only one who reads everything in order knows which line ends are
    /// inside of quotes.
    Rows(Vec<csv::StringRecord>, u64, Ends),
}

/// Whether lines end with one letter or with two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    One,
    Two,
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
    let (header, line) = header(&mut source, &place)?;
    let ends = if header.ends_with(b"\r\n") { Ends::Two } else { Ends::One };
    let mut names = csv::StringRecord::new();
    let read = reader(header.as_slice(), format).read_record(&mut names);
    if !read.map_err(|fault| csv_fault(&place, 1, ends, &fault))? {
        let rule = "the file has no header";
        return Err(Error::new(Kind::Data, rule).at(&place).hint("the first line must name the columns"));
    }
    let physical = |name: &str| Physical { name: name.to_string(), physical: PhysicalType::Plain, nullable: true };
    let layout = Layout { columns: names.iter().map(physical).collect() };
    Ok((
        layout,
        Lines { place, format, source: Box::new(source), rest: Vec::new(), line, ends, over: false, quoted: None },
    ))
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

fn reader<R: Read>(source: R, format: Format) -> csv::Reader<R> {
    csv::ReaderBuilder::new()
        .delimiter(format.delimiter())
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(1 << 16)
        .from_reader(source)
}

fn csv_fault(place: &str, first: u64, ends: Ends, fault: &csv::Error) -> Error {
    let line = line_of(fault.position(), first, ends);
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
            self.quoted = Some(reader(Box::new(io::Cursor::new(block).chain(rest)), self.format));
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
            && reader.read_record(&mut record).map_err(|fault| csv_fault(&self.place, self.line, self.ends, &fault))?
        {
            rows.push(record.clone());
        }
        Ok((!rows.is_empty()).then_some(Block::Rows(rows, self.line, self.ends)))
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
            let mut end_line = |start: usize, end: usize, values: &mut Vec<_>, line: u64| {
                let last = &text[start..end];
                values.push(last.strip_suffix('\r').unwrap_or(last));
                // A blank line is no row.
                if values.len() > 1 || !values[0].is_empty() {
                    even(values.len(), place, line, columns)?;
                    row(values);
                }
                values.clear();
                Result::Ok(())
            };
            for at in memchr::memchr2_iter(format.delimiter(), b'\n', text.as_bytes()) {
                if text.as_bytes()[at] == b'\n' {
                    end_line(start, at, &mut values, line)?;
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
                end_line(start, text.len(), &mut values, line)?;
            }
        }
        Block::Rows(rows, first, ends) => {
            for record in rows {
                even(record.len(), place, line_of(record.position(), *first, *ends), columns)?;
                values.clear();
                values.extend(record.iter());
                row(&values);
            }
        }
    }
    Ok(())
}

/// The line of a place in the part of the file that begins with line `first`. Where lines end with two letters, the
/// second is only counted with the line behind it.
fn line_of(position: Option<&csv::Position>, first: u64, ends: Ends) -> u64 {
    position.map_or(first, |at| first + at.line() - 1 + u64::from(ends == Ends::Two && at.byte() > 0))
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
