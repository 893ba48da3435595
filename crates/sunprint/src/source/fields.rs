//! The rows of a text block to codes, in one go over its bytes.
//!
//! A value ends at the next delimiter or line end, or at the quote that closes it. Numbers in plain digits are read where
//! they stand; everything else is taken as text, found first and looked at then.

use super::lines::{Block, uneven};
use super::plan::Plan;
use crate::door::{AHEAD, Decimal, Door, Gate, Raw, Token};
use crate::error::{Error, Result};
use crate::tally::codes::Codes;
use std::borrow::Cow;

/// What becomes of the values of one column.
enum Step<'a> {
    /// Nothing: the schema does not describe it.
    Skip,
    /// A number on a line, at its place in the row of codes, with or without an absence behind it.
    Number { place: usize, gate: &'a Gate },
    /// A block of codes for a text.
    Block { place: usize, gate: &'a Gate },
    /// A share in the number of the stratum.
    Share { weight: u32, gate: &'a Gate },
}

/// The way of a line's values to codes.
pub(super) struct Fields<'a> {
    steps: Vec<Step<'a>>,
    width: usize,
    delimiter: u8,
}

/// What texts that were seen become: columns of categories say the same few words over and over.
///
/// A text of up to seven bytes is a number together with its length, and has one place where it can stand.
struct Memory<T> {
    seen: Vec<(u64, T)>,
}

impl<T: Copy + Default> Memory<T> {
    const SIZE_BITS: u32 = 6;

    /// A memory if the column is worth one.
    fn new(worth: bool) -> Memory<T> {
        Memory { seen: if worth { vec![(0, T::default()); 1 << Self::SIZE_BITS] } else { Vec::new() } }
    }

    fn recall(&mut self, text: &[u8], code: impl FnOnce(&[u8]) -> T) -> T {
        if text.len() > 7 {
            return code(text);
        }
        let mut key = [0; 8];
        key[..text.len()].copy_from_slice(text);
        key[7] = text.len() as u8 + 1;
        let key = u64::from_le_bytes(key);
        // The highest bits of a product depend on all bytes.
        let place = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::SIZE_BITS);
        let seen = &mut self.seen[place as usize];
        if seen.0 != key {
            *seen = (key, code(text));
        }
        seen.1
    }
}

/// How a value ends.
#[derive(PartialEq, Eq)]
enum End {
    Value,
    Line,
}

impl<'a> Fields<'a> {
    /// For lines of `columns` values, of which those with these numbers are the plan's arrays.
    pub(super) fn new(plan: &Plan, numbers: &[usize], columns: usize, door: &'a Door, delimiter: u8) -> Fields<'a> {
        let mut steps: Vec<Step> = (0..columns).map(|_| Step::Skip).collect();
        for feature in plan.features() {
            let (place, gate) = (feature.start, door.gate(feature.column));
            let number = gate.is_number();
            steps[numbers[feature.array]] =
                if number { Step::Number { place, gate } } else { Step::Block { place, gate } };
        }
        for &(array, column, weight) in plan.strata() {
            steps[numbers[array]] = Step::Share { weight, gate: door.gate(column) };
        }
        Fields { steps, width: plan.width(), delimiter }
    }

    /// The codes of a block whose quotes are in order. Refuses rows with another number of values than the header has
    /// names.
    pub(super) fn encode(&self, block: &Block, place: &str) -> Result<Codes> {
        let bytes = &block.bytes[..];
        // Room for all rows of the block if they are as long as the first; a row has a byte for each of its values.
        let length = (memchr::memchr(b'\n', bytes).unwrap_or(bytes.len()) + 1).max(self.steps.len());
        let rows = bytes.len() / length + 1;
        let (mut values, mut strata) = (Vec::with_capacity(rows * self.width), Vec::with_capacity(rows));
        let blocks = self.steps.iter().map(|step| Memory::new(matches!(step, Step::Block { .. })));
        let mut blocks: Vec<Memory<Token>> = blocks.collect();
        let shares = self.steps.iter().map(|step| Memory::new(matches!(step, Step::Share { .. })));
        let mut shares: Vec<Memory<u32>> = shares.collect();
        let mut row = vec![0; self.width];
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            if self.steps.len() > 1
                && let Some(blank) = blank(&bytes[at..])
            {
                at += blank;
                continue;
            }
            let mut stratum = 0;
            let last = self.steps.len() - 1;
            for (number, step) in self.steps.iter().enumerate() {
                if let Step::Number { place, gate } = step
                    && let Some((code, length)) = self.number(&bytes[at..], block.quoted, gate, number == last)
                {
                    row[*place] = code;
                    if gate.may_be_empty() {
                        row[*place + 1] = 0;
                    }
                    at += length;
                    continue;
                }
                let (text, length, end) = self.value(&bytes[at..], block.quoted);
                let text = &text[..];
                at += length;
                if (end == End::Line) != (number == last) {
                    return Err(self.uneven(block, start, place));
                }
                match step {
                    Step::Skip => {}
                    Step::Number { place, gate } => {
                        gate.spread(token(gate, text), &mut row[*place..*place + gate.width()]);
                    }
                    Step::Block { place, gate } => {
                        let token = blocks[number].recall(text, |text| token(gate, text));
                        gate.spread(token, &mut row[*place..*place + gate.width()]);
                    }
                    Step::Share { weight, gate } => {
                        stratum += weight * shares[number].recall(text, |text| category(gate, text))
                    }
                }
            }
            values.extend_from_slice(&row);
            strata.push(stratum);
        }
        values.shrink_to_fit();
        strata.shrink_to_fit();
        Ok(Codes::from_parts(self.width, values, strata))
    }

    /// The code of a number in plain digits and the length up to the next value, if nothing stands in the way.
    #[inline]
    fn number(&self, bytes: &[u8], quoted: bool, gate: &Gate, last: bool) -> Option<(u16, usize)> {
        let opened = usize::from(quoted && bytes.first() == Some(&b'"'));
        let ahead = bytes[opened..].first_chunk::<AHEAD>()?;
        let (decimal, mut length) = Decimal::read(ahead)?;
        if opened == 1 {
            // What follows the closing quote is looked at below: a second quote is no end.
            if ahead[length] != b'"' {
                return None;
            }
            length += 1;
        }
        let end = match (ahead[length], last) {
            (byte, false) if byte == self.delimiter => 1,
            (b'\n', true) => 1,
            (b'\r', true) if ahead[length + 1] == b'\n' => 2,
            _ => return None,
        };
        Some((gate.encode_decimal(decimal)?, opened + length + end))
    }

    /// A value without its quotes, the length up to the next one, and how it ends.
    fn value<'b>(&self, bytes: &'b [u8], quoted: bool) -> (Cow<'b, [u8]>, usize, End) {
        if !quoted || bytes.first() != Some(&b'"') {
            let (text, length, end) = self.text(bytes);
            return (Cow::Borrowed(text), length, end);
        }
        let (mut at, mut doubled) = (1, false);
        let close = loop {
            let Some(next) = memchr::memchr(b'"', &bytes[at..]).map(|next| at + next) else { break bytes.len() };
            if bytes.get(next + 1) != Some(&b'"') {
                break next;
            }
            (at, doubled) = (next + 2, true);
        };
        let text = &bytes[1..close];
        let text = if doubled { Cow::Owned(undouble(text)) } else { Cow::Borrowed(text) };
        match bytes.get(close + 1) {
            Some(byte) if *byte == self.delimiter => (text, close + 2, End::Value),
            Some(b'\r') => (text, close + 3, End::Line),
            _ => (text, close + 2, End::Line),
        }
    }

    /// A value as text, the length up to the next one, and how it ends. The carriage return of a line end is not a
    /// part of the value.
    fn text<'b>(&self, bytes: &'b [u8]) -> (&'b [u8], usize, End) {
        let end = memchr::memchr2(self.delimiter, b'\n', bytes).unwrap_or(bytes.len());
        let text = &bytes[..end];
        if bytes.get(end) == Some(&self.delimiter) {
            return (text, end + 1, End::Value);
        }
        (text.strip_suffix(b"\r").unwrap_or(text), end + 1, End::Line)
    }

    /// The error for the line that begins at `start`.
    fn uneven(&self, block: &Block, start: usize, place: &str) -> Error {
        let before = memchr::memchr_iter(b'\n', &block.bytes[..start]).count() as u64;
        let rest = &block.bytes[start..];
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        let found = memchr::memchr_iter(self.delimiter, line).count() + 1;
        uneven(found, place, block.first + before, self.steps.len())
    }
}

/// The text with every two quotes as one.
fn undouble(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        out.push(byte);
        if byte == b'"' {
            bytes.next();
        }
    }
    out
}

/// The length of an empty line, if the bytes begin with one.
fn blank(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'\n', ..] | [b'\r'] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        _ => None,
    }
}

fn token(gate: &Gate, text: &[u8]) -> Token {
    gate.token(Raw::Text(&String::from_utf8_lossy(text)))
}

fn category(gate: &Gate, text: &[u8]) -> u32 {
    gate.category(Raw::Text(&String::from_utf8_lossy(text)))
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
