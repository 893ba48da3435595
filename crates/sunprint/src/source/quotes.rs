//! Quotes in text files: where the records end, and which values they hold.
//!
//! A quote opens a quoted value only at the start of a value, and two quotes in it mean one. A value that is never
//! closed would swallow the rows behind it and change their number without a word. So a quote that is left open, text
//! behind a closing quote and a quoted value of improbable length are refused, with a line number and nothing else.

use crate::error::{Error, Kind};

/// The most bytes that a quoted value may have.
const LONGEST: usize = 1 << 20;
/// The most line ends that a quoted value may have.
const MOST_LINES: u64 = 1000;

/// Where the next byte stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    ValueStart,
    Plain,
    Quoted,
    /// Behind a quote inside of quotes: the end of the value, or the first of two quotes that mean one.
    Closing,
    /// Between the carriage return and the line feed behind a quoted value.
    Return,
}

impl Place {
    /// The place behind a byte; `None` for text behind a closing quote.
    #[inline]
    fn step(self, byte: u8, delimiter: u8) -> Option<Place> {
        Some(match (self, byte) {
            (Place::Quoted, b'"') => Place::Closing,
            (Place::Quoted, _) | (Place::ValueStart | Place::Closing, b'"') => Place::Quoted,
            (_, b'\n') => Place::ValueStart,
            (Place::Return, _) => return None,
            (_, byte) if byte == delimiter => Place::ValueStart,
            (Place::Closing, b'\r') => Place::Return,
            (Place::Closing, _) => return None,
            _ => Place::Plain,
        })
    }
}

/// What is wrong with a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The text ends inside of a quoted value.
    Open,
    /// Text follows a closing quote.
    Behind,
    /// A quoted value is too long to be one.
    Long,
}

impl Fault {
    /// The error for a fault on a line.
    pub(super) fn on(self, place: &str, line: u64) -> Error {
        let (rule, hint) = match self {
            Fault::Open => (
                "a quoted value begins on this line and is not closed",
                "close it, and write every quote inside of a value twice",
            ),
            Fault::Behind => (
                "text follows a closing quote on this line",
                "write every quote inside of a value twice, and nothing between a closing quote and the delimiter",
            ),
            Fault::Long => (
                "a quoted value begins on this line and is longer than 1000 lines or 1 MiB",
                "check that it is closed, and write every quote inside of a value twice",
            ),
        };
        Error::new(Kind::Data, rule).at(format!("{place}:{line}")).hint(hint)
    }
}

/// The whole records at the beginning of some text.
pub(super) struct Scan {
    /// Their length in bytes, the last line end included.
    pub(super) end: usize,
    /// The line behind them.
    pub(super) line: u64,
    /// What stands behind them and is no record, and its line. Open quotes are reported here also where more text
    /// may follow: whoever asks knows whether it does.
    pub(super) fault: Option<(Fault, u64)>,
}

/// Finds the records of a text that begins with a record on line `first`.
///
/// Only quotes and what stands behind them are looked at; whatever is between is skipped by searching.
pub(super) fn scan(bytes: &[u8], delimiter: u8, first: u64) -> Scan {
    let mut found = Scan { end: 0, line: first, fault: None };
    // Everything before `at` is done, outside of quotes, and `line` is the line of the next byte.
    let (mut at, mut line) = (0, first);
    loop {
        let quote = next_quote(bytes, at);
        if let Some(last) = memchr::memrchr(b'\n', &bytes[at..quote]) {
            line += line_ends(&bytes[at..quote]);
            (found.end, found.line) = (at + last + 1, line);
        }
        if quote == bytes.len() {
            return found;
        }
        // Inside of a value that is not quoted, a quote is a letter like any other.
        if quote > 0 && bytes[quote - 1] != delimiter && bytes[quote - 1] != b'\n' {
            at = quote + 1;
            continue;
        }
        let close = match closing(bytes, quote) {
            Ok(close) => close,
            Err(fault) => {
                found.fault = Some((fault, line));
                return found;
            }
        };
        line += line_ends(&bytes[quote..close]);
        at = close + 2;
        match &bytes[close + 1..] {
            [] | [b'\r'] => return found,
            [byte, ..] if *byte == delimiter => continue,
            [b'\n', ..] => {}
            [b'\r', b'\n', ..] => at += 1,
            _ => {
                found.fault = Some((Fault::Behind, line));
                return found;
            }
        }
        line += 1;
        (found.end, found.line) = (at, line);
    }
}

/// The next quote from a place on, or the end.
fn next_quote(bytes: &[u8], from: usize) -> usize {
    memchr::memchr(b'"', &bytes[from..]).map_or(bytes.len(), |next| from + next)
}

fn line_ends(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// The quote that closes the one at `opened`. Two quotes mean one and close nothing.
fn closing(bytes: &[u8], opened: usize) -> Result<usize, Fault> {
    let (mut inside, mut lines) = (opened + 1, 0);
    loop {
        let quote = next_quote(bytes, inside);
        lines += line_ends(&bytes[inside..quote]);
        if quote - 1 - opened > LONGEST || lines > MOST_LINES {
            return Err(Fault::Long);
        }
        if quote == bytes.len() {
            return Err(Fault::Open);
        }
        if bytes.get(quote + 1) != Some(&b'"') {
            return Ok(quote);
        }
        if quote + 1 - opened > LONGEST {
            return Err(Fault::Long);
        }
        inside = quote + 2;
    }
}

/// The values of some records, without their quotes.
pub(super) struct Records {
    text: String,
    /// Where each value ends in the text.
    ends: Vec<usize>,
    /// For each record, the number of values up to its end, and its first line.
    records: Vec<(usize, u64)>,
}

impl Records {
    /// Takes records apart that a scan found no fault in. Lines without a single byte are left out where `skip_blank`
    /// says so.
    pub(super) fn new(text: &str, delimiter: u8, first: u64, skip_blank: bool) -> Records {
        let bytes = text.as_bytes();
        let mut out = Vec::with_capacity(bytes.len());
        let (mut ends, mut records) = (Vec::new(), Vec::new());
        let (mut place, mut line) = (Place::ValueStart, first);
        let (mut start, mut start_line) = (0, first);
        let mut end_record = |out: &mut Vec<u8>, ends: &mut Vec<usize>, raw: &[u8], place: Place, line: u64| {
            if skip_blank && (raw.is_empty() || raw == b"\r") {
                out.truncate(ends.last().copied().unwrap_or(0));
                return;
            }
            // The carriage return of the line end, which is not a part of the value.
            if place == Place::Plain && out.last() == Some(&b'\r') {
                out.pop();
            }
            ends.push(out.len());
            records.push((ends.len(), line));
        };
        for (at, &byte) in bytes.iter().enumerate() {
            let next = place.step(byte, delimiter).unwrap_or(Place::Plain);
            match (place, next) {
                (_, Place::ValueStart) if byte == b'\n' => {
                    end_record(&mut out, &mut ends, &bytes[start..at], place, start_line);
                    (start, start_line) = (at + 1, line + 1);
                }
                (_, Place::ValueStart) => ends.push(out.len()),
                // The quotes around a value and the return behind it.
                (Place::ValueStart, Place::Quoted) | (_, Place::Closing | Place::Return) => {}
                // The second of two quotes stands here for both.
                _ => out.push(byte),
            }
            line += u64::from(byte == b'\n');
            place = next;
        }
        if start < bytes.len() {
            end_record(&mut out, &mut ends, &bytes[start..], place, start_line);
        }
        // Taking quotes and returns out of UTF-8 leaves UTF-8.
        Records { text: String::from_utf8_lossy(&out).into_owned(), ends, records }
    }

    /// The values of every record and its first line.
    pub(super) fn for_each<E>(&self, mut f: impl FnMut(&[&str], u64) -> Result<(), E>) -> Result<(), E> {
        let (mut value, mut start) = (0, 0);
        let mut values = Vec::new();
        for &(until, line) in &self.records {
            values.clear();
            for &end in &self.ends[value..until] {
                values.push(&self.text[start..end]);
                start = end;
            }
            value = until;
            f(&values, line)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, LONGEST, MOST_LINES, Place, Records, Scan, scan};
    use proptest::prelude::*;

    /// The scan byte by byte, as the places read.
    fn plain_scan(bytes: &[u8], delimiter: u8, first: u64) -> Scan {
        let (mut place, mut line) = (Place::ValueStart, first);
        let (mut opened, mut opened_line) = (0, first);
        let mut found = Scan { end: 0, line: first, fault: None };
        for (at, &byte) in bytes.iter().enumerate() {
            let Some(next) = place.step(byte, delimiter) else {
                found.fault = Some((Fault::Behind, line));
                return found;
            };
            if place == Place::ValueStart && next == Place::Quoted {
                (opened, opened_line) = (at, line);
            }
            line += u64::from(byte == b'\n');
            if next == Place::Quoted && (at - opened > LONGEST || line - opened_line > MOST_LINES) {
                found.fault = Some((Fault::Long, opened_line));
                return found;
            }
            if byte == b'\n' && next == Place::ValueStart {
                (found.end, found.line) = (at + 1, line);
            }
            place = next;
        }
        if place == Place::Quoted {
            found.fault = Some((Fault::Open, opened_line));
        }
        found
    }

    proptest! {
        /// Searching finds what going byte by byte finds.
        #[test]
        fn searching_is_as_good_as_reading(soup in prop::collection::vec(prop::sample::select(b"ab,,\n\n\r\"\"\"\"".to_vec()), 0..60),
                                           fill in 0_usize..6) {
            let mut bytes = soup.clone();
            if fill == 0 {
                bytes.extend(std::iter::repeat_n(b'\n', MOST_LINES as usize));
                bytes.extend(&soup);
            } else if fill == 1 {
                bytes.extend(std::iter::repeat_n(b'x', LONGEST - 20));
                bytes.extend(&soup);
            }
            let (one, other) = (scan(&bytes, b',', 3), plain_scan(&bytes, b',', 3));
            prop_assert_eq!((one.end, one.line, one.fault), (other.end, other.line, other.fault));
        }
    }

    type Expected<'a> = &'a [(&'a [&'a str], u64)];

    fn values(text: &str) -> Vec<(Vec<String>, u64)> {
        let mut all = Vec::new();
        let records = Records::new(text, b',', 1, true);
        let outcome: Result<(), ()> = records.for_each(|values, line| {
            all.push((values.iter().map(ToString::to_string).collect(), line));
            Ok(())
        });
        outcome.unwrap();
        all
    }

    #[test]
    fn values_and_lines() {
        let cases: [(&str, Expected); 9] = [
            ("1,2\n3,4", &[(&["1", "2"], 1), (&["3", "4"], 2)]),
            ("\"1\",\"2\"\r\n\"3\",4\r\n", &[(&["1", "2"], 1), (&["3", "4"], 2)]),
            ("\"a,\n\"\"b\"\"\",2\n,\n", &[(&["a,\n\"b\"", "2"], 1), (&["", ""], 3)]),
            ("\n\r\n\"\"\n\n1,2\n", &[(&[""], 3), (&["1", "2"], 5)]),
            ("a\"b\"\"c, \"d\"\n", &[(&["a\"b\"\"c", " \"d\""], 1)]),
            ("\"x\r\"\n\"x\"\r", &[(&["x\r"], 1), (&["x"], 2)]),
            ("\"\u{feff}\"\n\u{feff}\n", &[(&["\u{feff}"], 1), (&["\u{feff}"], 2)]),
            ("1,\"\"", &[(&["1", ""], 1)]),
            ("1,\r\n", &[(&["1", ""], 1)]),
        ];
        for (text, expected) in cases {
            let expected: Vec<(Vec<String>, u64)> = expected
                .iter()
                .map(|(values, line)| (values.iter().map(ToString::to_string).collect(), *line))
                .collect();
            assert_eq!(values(text), expected, "{text:?}");
            assert_eq!(scan(text.as_bytes(), b',', 1).fault, None, "{text:?}");
        }
    }

    #[test]
    fn faults_and_the_records_before_them() {
        let fill = "1,2\n".repeat(MOST_LINES as usize);
        let cases = [
            ("1,2\n3,\"4\n5,6\n".to_string(), 4, Fault::Open, 2),
            ("1,2\n3,\"4\"x\n5,6\n".to_string(), 4, Fault::Behind, 2),
            ("1,2\n3,\"4\" \n5,6\n".to_string(), 4, Fault::Behind, 2),
            ("1,2\n3,\"4\"\r5,6\n".to_string(), 4, Fault::Behind, 2),
            ("1,2\n3,\"4\n5,\"6\"\n".to_string(), 4, Fault::Behind, 3),
            (format!("1,2\n3,\"4\n{fill}5,6\"\n"), 4, Fault::Long, 2),
            (format!("1,2\n3,\"{}\"\n", "4".repeat((1 << 20) + 1)), 4, Fault::Long, 2),
            ("\"".to_string(), 0, Fault::Open, 1),
            ("1,\"\"\"".to_string(), 0, Fault::Open, 1),
        ];
        for (text, end, fault, line) in cases {
            let found = scan(text.as_bytes(), b',', 1);
            assert_eq!((found.end, found.fault), (end, Some((fault, line))), "{:?}", &text[..text.len().min(40)]);
        }
        assert_eq!(scan(format!("\"{fill}\",1\n").as_bytes(), b',', 1).fault, None);
    }
}
