//! Text files as blocks of whole lines, and the lines of a block as rows.
//!
//! The number of rows is public, so no value may change it. In a table of one column an empty value is an empty line:
//! there every line is a row, and only the end of the file is not. In a wider table a row has at least a delimiter, so
//! an empty line is never a row, whatever the values.
//!
//! Values are bytes until they are looked at. Only the header must be UTF-8; bytes of a row that are not become the
//! letter U+FFFD, which no number has.

use super::place::{Format, Input, Squeeze, empty};
use super::quotes::{Fault, Records, scan};
use super::words;
use super::{Layout, Physical, PhysicalType, Progress, Unit};
use crate::error::{Error, Kind, Result};
use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

/// How much of a file one worker takes at a time.
const BLOCK: usize = 1 << 21;

/// A file without line ends is not read into memory as one row.
const LONGEST: usize = 1 << 28;

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
    /// What is wrong behind the block before.
    fault: Option<Error>,
}

/// Some whole rows of a file, still to be taken apart.
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    /// The number of the first line.
    pub(super) first: u64,
    /// Whether there is a quote in it: without one, every line is a row.
    pub(super) quoted: bool,
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
    progress.start(&format!("reading {place}"), length, Unit::Bytes);
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
    let (names, line) = header(&mut source, &place, format.delimiter())?;
    let physical = |name: String| Physical::new(name, PhysicalType::Plain);
    let layout = Layout { columns: names.into_iter().map(physical).collect() };
    let (columns, source, rest) = (layout.columns.len(), Box::new(source), Vec::new());
    Ok((layout, Lines { place, format, columns, source, rest, line, over: false, fault: None }))
}

/// The names in the header, which is the first line that is not empty, and the number of the line after it.
///
/// A header never goes on over a line end, not inside of quotes either: what follows are rows, and must not become
/// names.
fn header(source: &mut impl BufRead, place: &str, delimiter: u8) -> Result<(Vec<String>, u64)> {
    // A file without any line end is not read into memory as one header.
    const LONGEST: usize = 1 << 24;
    let refuse =
        |rule: &str, line: u64, hint: &str| Err(Error::new(Kind::Data, rule).at(format!("{place}:{line}")).hint(hint));
    let (mut header, mut line) = (Vec::new(), 0);
    while header.is_empty() {
        let read = source.by_ref().take(LONGEST as u64).read_until(b'\n', &mut header);
        if read.map_err(|fault| words::unreadable(place, &fault))? == 0 {
            let rule = "the file has no header";
            return Err(Error::new(Kind::Data, rule).at(place).hint("the first line must name the columns"));
        }
        line += 1;
        if line == 1 && header.starts_with(b"\xef\xbb\xbf") {
            header.drain(..3);
        }
        while header.last().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
            header.pop();
        }
    }
    let fault = scan(&header, delimiter, line).fault;
    if header.contains(&b'\r') || matches!(fault, Some((Fault::Open | Fault::Long, _))) {
        let hint = "names may not contain line ends; check the quotes, and end every line with a line feed";
        return refuse("the header spans several lines", line, hint);
    }
    if let Some((fault, line)) = fault {
        return Err(fault.on(place, line));
    }
    if header.len() >= LONGEST {
        return refuse("the header is too long", line, "check that this is a text file with lines");
    }
    let Ok(text) = std::str::from_utf8(&header) else {
        let hint = "save the file as UTF-8, and check that it is not of another format";
        return refuse("the header is not UTF-8 text", line, hint);
    };
    let mut names = Vec::new();
    Records::new(text, delimiter, line, false).for_each(|values, _| {
        names.extend(values.iter().map(ToString::to_string));
        Result::Ok(())
    })?;
    Ok((names, line + 1))
}

impl Lines<'_> {
    /// The next rows. What is wrong with the quotes is said behind the rows before it, so that the first fault of a
    /// file is the one reported.
    ///
    /// The block is written over `bytes`, so that a thread can use the same memory again.
    pub(super) fn next_block(&mut self, mut bytes: Vec<u8>) -> Result<Option<Block>> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        if self.over {
            return Ok(None);
        }
        let begun = self.rest.len();
        if begun > LONGEST {
            let rule = "a line is longer than 256 MiB";
            let hint = "check that the file is a text table, and that its lines end with a line feed";
            return Err(Error::new(Kind::Data, rule).at(format!("{}:{}", self.place, self.line)).hint(hint));
        }
        // A line longer than a block grows the block.
        let wanted = BLOCK.max(begun);
        // What is there already is written over: memory that is used again is not cleared again.
        bytes.resize(begun + wanted, 0);
        bytes[..begun].copy_from_slice(&self.rest);
        self.rest.clear();
        let count =
            fill(&mut self.source, &mut bytes[begun..]).map_err(|fault| words::unreadable(&self.place, &fault))?;
        bytes.truncate(begun + count);
        let first = self.line;
        self.over = count < wanted;
        let quoted = memchr::memchr(b'"', &bytes).is_some();
        let (end, fault) = if quoted {
            let found = scan(&bytes, self.format.delimiter(), first);
            self.line = found.line;
            (found.end, found.fault.filter(|(fault, _)| self.over || *fault != Fault::Open))
        } else {
            let end = memchr::memrchr(b'\n', &bytes).map_or(0, |last| last + 1);
            self.line += memchr::memchr_iter(b'\n', &bytes[..end]).count() as u64;
            (end, None)
        };
        if let Some((fault, line)) = fault {
            self.over = true;
            self.fault = Some(fault.on(&self.place, line));
            bytes.truncate(end);
        } else if !self.over {
            self.rest.extend_from_slice(&bytes[end..]);
            bytes.truncate(end);
        } else if self.columns == 1 && end < bytes.len() {
            self.fault = Some(no_last_line_end(&self.place, self.line));
            bytes.truncate(end);
        }
        Ok(Some(Block { bytes, first, quoted }))
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }
}

/// Reads until the buffer is full or the source at its end.
fn fill(source: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < bytes.len() {
        match source.read(&mut bytes[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(count)
}

/// Calls `row` with the values of every row of a block. Refuses rows with another number of values than the header has
/// names.
pub(super) fn for_each_row(
    block: &Block,
    place: &str,
    format: Format,
    columns: usize,
    mut row: impl FnMut(&[&str]),
) -> Result<()> {
    let text = match std::str::from_utf8(&block.bytes) {
        Ok(text) => Cow::Borrowed(text),
        // Delimiters, quotes and line ends are never a part of what is replaced.
        Err(_) => String::from_utf8_lossy(&block.bytes),
    };
    if block.quoted {
        // An empty line is an empty value in a table of one column, and nothing in a wider one.
        let records = Records::new(&text, format.delimiter(), block.first, columns > 1);
        return records.for_each(|values, line| {
            if values.len() != columns {
                return Err(uneven(values.len(), place, line, columns));
            }
            row(values);
            Ok(())
        });
    }
    let mut values = Vec::with_capacity(columns);
    let mut end_row = |values: &mut Vec<&str>, line: u64| {
        if let Some(last) = values.last_mut() {
            *last = last.strip_suffix('\r').unwrap_or(last);
        }
        // The same as above: without quotes, an empty value that is alone is an empty line.
        if columns > 1 && *values == [""] {
            return Ok(());
        }
        if values.len() != columns {
            return Err(uneven(values.len(), place, line, columns));
        }
        row(values);
        Ok(())
    };
    let (mut line, mut start) = (block.first, 0);
    for at in memchr::memchr2_iter(format.delimiter(), b'\n', text.as_bytes()) {
        values.push(&text[start..at]);
        if text.as_bytes()[at] == b'\n' {
            end_row(&mut values, line)?;
            values.clear();
            line += 1;
        }
        start = at + 1;
    }
    if start < text.len() || !values.is_empty() {
        values.push(&text[start..]);
        end_row(&mut values, line)?;
    }
    Ok(())
}

/// In a table of one column an empty value at the end of the file leaves no trace unless every line is ended.
fn no_last_line_end(place: &str, line: u64) -> Error {
    Error::new(Kind::Data, "the last line of a table with one column has no line end")
        .at(format!("{place}:{line}"))
        .hint("end every line with a line feed, also the last: an empty value is an empty line in such a table")
}

/// The error for a line with another number of values than the header has names.
pub(super) fn uneven(found: usize, place: &str, line: u64, columns: usize) -> Error {
    let (found, named) = (count(found, "value"), count(columns, "column"));
    Error::new(Kind::Data, format!("this line has {found} and the header names {named}"))
        .at(format!("{place}:{line}"))
        .hint("every line needs one value for each column; put values that contain the delimiter in quotes")
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
