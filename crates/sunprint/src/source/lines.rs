//! Text files as blocks of whole lines, and the lines of a block as rows.
//!
//! The number of rows is public, so no value may change it. In a table of one column an empty value is an empty line:
//! there every line is a row, and only the end of the file is not. In a wider table a row has at least a delimiter, so
//! an empty line is never a row, whatever the values.
//!
//! Values are bytes until they are looked at. Only the header must be UTF-8; bytes of a row that are not become the
//! letter U+FFFD, which no number has.

use super::header::{first_line, split};
use super::place::{Format, Input, Squeeze, empty};
use super::quotes::{Fault, Records, scan};
use super::words;
use super::{Layout, Physical, PhysicalType, Progress, Unit};
use crate::error::{Error, Kind, Result};
use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How much of a file one worker takes at a time.
const BLOCK: usize = 1 << 21;

/// A file without line ends is not read into memory as one row.
const LONGEST: usize = 1 << 28;

/// How much of a file is judged together with its header, before anything is charged for its rows.
const BEGINNING: usize = 1 << 18;

/// A text file behind its header.
pub(super) struct Lines<'a> {
    place: String,
    format: Format,
    columns: usize,
    /// Whether the names stand in the file itself.
    headed: bool,
    length: Option<u64>,
    meter: Arc<Meter>,
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
    meter: Arc<Meter>,
}

/// What was read before the reading was announced.
#[derive(Default)]
struct Meter {
    announced: AtomicBool,
    before: AtomicU64,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        if self.meter.announced.load(Ordering::Relaxed) {
            self.progress.advance(count as u64);
        } else {
            self.meter.before.fetch_add(count as u64, Ordering::Relaxed);
        }
        Ok(count)
    }
}

/// A text file of the table: its layout, and what stands behind the header; all of the file where the names of its
/// columns are given.
pub(super) fn open<'a>(
    input: &Input,
    format: Format,
    given: Option<Vec<String>>,
    progress: &'a dyn Progress,
) -> Result<(Layout, Lines<'a>)> {
    let place = input.place();
    let opened = input.open()?;
    let length = match &opened {
        super::place::Opened::File { length, .. } => Some(*length),
        super::place::Opened::Stream(_) => None,
    };
    let meter = Arc::new(Meter::default());
    let raw = Watched { inner: opened.into_read(), progress, meter: Arc::clone(&meter) };
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
    let headed = given.is_none();
    let (names, line, rest) = match given {
        Some(names) => (names, 1, skip_mark(&mut source).map_err(refuse)?),
        None => {
            let (names, line) = first_line(&mut source, &place, format.delimiter())?;
            (names, line, Vec::new())
        }
    };
    let physical = |name: String| Physical::new(name, PhysicalType::Plain);
    let layout = Layout { columns: names.into_iter().map(physical).collect() };
    let (columns, source) = (layout.columns.len(), Box::new(source));
    Ok((layout, Lines { place, format, columns, headed, length, meter, source, rest, line, over: false, fault: None }))
}

/// The first bytes, without the mark at the beginning of some UTF-8 files, which is no part of the first value.
fn skip_mark(source: &mut impl Read) -> io::Result<Vec<u8>> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let mut first = Vec::new();
    source.take(MARK.len() as u64).read_to_end(&mut first)?;
    Ok(if first == MARK { Vec::new() } else { first })
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

    /// Tells whoever watches that the rows are being read now.
    pub(super) fn announce(&self, progress: &dyn Progress) {
        progress.start(&format!("reading {}", self.place), self.length, Unit::Bytes);
        progress.advance(self.meter.before.swap(0, Ordering::Relaxed));
        self.meter.announced.store(true, Ordering::Relaxed);
    }

    /// Refuses a table whose first lines do not have the header's number of values. Says whether it has rows.
    ///
    /// This is done before anything is charged. The header comes from the disk together with the first 256 KiB anyway;
    /// of those, only the shape is judged: how many values each line has, and whether quotes are closed. Shape is not
    /// protected, and a refusal says the same here as later, so nothing is given away that a charge would have paid for.
    /// What is wrong further on is found when the rows are read, and that is charged.
    pub(super) fn judge_beginning(&mut self) -> Result<bool> {
        let whole = self.look_ahead()?;
        // The last line may go on behind what was read.
        let end = if whole { self.rest.len() } else { memchr::memrchr(b'\n', &self.rest).map_or(0, |last| last + 1) };
        let mut beginning = Lines {
            place: self.place.clone(),
            source: Box::new(io::empty()),
            rest: self.rest[..end].to_vec(),
            meter: Arc::default(),
            fault: None,
            ..*self
        };
        let mut rows = 0_u64;
        while let Some(block) = beginning.next_block(Vec::new())? {
            for_each_row(&block, &self.place, self.format, self.columns, |_| rows += 1)
                .map_err(|error| if self.headed { error } else { self.other_columns() })?;
            // So may a value in quotes.
            if !whole {
                return Ok(true);
            }
        }
        Ok(rows > 0)
    }

    /// Reads some more without handing it on; says whether the file ends there.
    fn look_ahead(&mut self) -> Result<bool> {
        let begun = self.rest.len();
        self.rest.resize(begun + BEGINNING, 0);
        let count =
            fill(&mut self.source, &mut self.rest[begun..]).map_err(|fault| words::unreadable(&self.place, &fault))?;
        self.rest.truncate(begun + count);
        Ok(count < BEGINNING)
    }

    /// For a table without a header whose columns are not known: as many as its first line has values. They are counted,
    /// and nothing of them is kept.
    pub(super) fn count_columns(&mut self) -> Result<usize> {
        let mut whole = false;
        while !whole && self.rest.len() < LONGEST && !self.rest.contains(&b'\n') {
            whole = self.look_ahead()?;
        }
        let text = String::from_utf8_lossy(&self.rest);
        let first = text.lines().find(|line| !line.is_empty()).ok_or_else(|| words::no_rows(&self.place))?;
        self.columns = split(first, self.format.delimiter(), 1).len();
        Ok(self.columns)
    }

    /// The lines of a table without a header do not have as many values as the columns that were named.
    fn other_columns(&self) -> Error {
        let rule = format!("not every line has {}, one for each column", count(self.columns, "value"));
        Error::new(Kind::Data, rule)
            .at(&self.place)
            .hint("without a header the columns are those of the schema, or of `--header FILE`, in the file's order")
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
