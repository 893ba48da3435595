//! Arrow text as bytes.
//!
//! A reader that makes text refuses bytes that are not UTF-8, and so fails because of a value. Text and bytes stand in
//! the same buffers, behind the same offsets: they differ in one byte of the file's schema, which says the type of a
//! field. So that byte is changed on the way to the reader, for every text inside every column. Offsets, lengths and
//! keys are checked by the reader as before.

use arrow_ipc::{Field, Schema, Type};
use std::io::{self, Read, Seek, SeekFrom};

/// A byte that is to be changed: its place and what it becomes.
pub(super) type Mark = (u64, u8);

/// The bytes that make every text of a schema bytes. Places are counted from `start`, which is where the buffer that the
/// schema was read from begins.
pub(super) fn marks(schema: &Schema<'_>, start: u64) -> Vec<Mark> {
    let mut found = Vec::new();
    schema.fields().into_iter().flatten().for_each(|field| enter(&field, start, &mut found));
    found.sort_unstable();
    found
}

/// The library has checked by now that tables do not nest without end.
fn enter(field: &Field<'_>, start: u64, found: &mut Vec<Mark>) {
    let bytes = match field.type_type() {
        Type::Utf8 => Some(Type::Binary),
        Type::LargeUtf8 => Some(Type::LargeBinary),
        Type::Utf8View => Some(Type::BinaryView),
        _ => None,
    };
    if let Some(bytes) = bytes {
        // A field that has a type has it behind the beginning of its table.
        let place = field._tab.loc() + usize::from(field._tab.vtable().get(Field::VT_TYPE_TYPE));
        found.push((start + place as u64, bytes.0));
    }
    field.children().into_iter().flatten().for_each(|child| enter(&child, start, found));
}

/// Changes bytes that stand in `bytes`, whose first one has the place `at`.
pub(super) fn change(marks: &[Mark], at: u64, bytes: &mut [u8]) {
    let [first, last] = [at, at + bytes.len() as u64].map(|end| marks.partition_point(|mark| mark.0 < end));
    for (place, byte) in &marks[first..last] {
        bytes[(place - at) as usize] = *byte;
    }
}

/// A file some of whose bytes are read as others.
pub(super) struct Changed<R> {
    inner: R,
    at: u64,
    marks: Vec<Mark>,
}

impl<R: Seek> Changed<R> {
    pub(super) fn new(mut inner: R, marks: Vec<Mark>) -> io::Result<Changed<R>> {
        inner.rewind()?;
        Ok(Changed { inner, at: 0, marks })
    }
}

impl<R: Read> Read for Changed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(out)?;
        change(&self.marks, self.at, &mut out[..length]);
        self.at += length as u64;
        Ok(length)
    }
}

impl<R: Seek> Seek for Changed<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = self.inner.seek(to)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::{Changed, change};
    use std::io::{Cursor, Read, Seek, SeekFrom};

    #[test]
    fn bytes_are_changed_however_they_are_read() {
        let text: Vec<u8> = (0..40).collect();
        let marks = vec![(0, 100), (7, 107), (8, 108), (39, 139), (40, 140)];
        let mut expected = text.clone();
        change(&marks, 0, &mut expected);
        assert_eq!([0, 7, 8, 39].map(|i| expected[i]), [100, 107, 108, 139]);
        assert_eq!(expected[1..7], text[1..7]);
        for most in 1..10 {
            let mut file = Changed::new(Cursor::new(&text), marks.clone()).unwrap();
            for start in [0, 5, 8, 39] {
                file.seek(SeekFrom::Start(start)).unwrap();
                let (mut all, mut part) = (Vec::<u8>::new(), vec![0; most]);
                while let Some(length) = file.read(&mut part).ok().filter(|length| *length > 0) {
                    all.extend(&part[..length]);
                }
                assert_eq!(all, expected[start as usize..]);
            }
        }
    }
}
