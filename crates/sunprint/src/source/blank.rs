//! Empty lines of a table with one column, made visible to a reader that skips them.

use std::io::{self, Read};

/// Writes `""` on every empty line outside of quotes: the same value, but a row that nobody overlooks.
pub(super) struct EmptyValues<R> {
    inner: R,
    place: Place,
    ready: Vec<u8>,
    given: usize,
}

/// Where the next letter stands, by the rules of the CSV reader: a quote opens only at the start of a value.
enum Place {
    LineStart,
    Plain,
    Quoted,
    /// Behind a quote inside of quotes: the end of the value, or the first of two quotes that mean one.
    Closing,
}

impl<R: Read> EmptyValues<R> {
    pub(super) fn new(inner: R) -> Self {
        EmptyValues { inner, place: Place::LineStart, ready: Vec::new(), given: 0 }
    }

    fn take(&mut self, letter: u8) {
        self.place = match (&self.place, letter) {
            (Place::LineStart, b'\n') => {
                self.ready.extend_from_slice(b"\"\"");
                Place::LineStart
            }
            (Place::Plain | Place::Closing, b'\n') => Place::LineStart,
            (Place::LineStart | Place::Closing, b'"') => Place::Quoted,
            (Place::Quoted, b'"') => Place::Closing,
            (Place::Quoted, _) => Place::Quoted,
            _ => Place::Plain,
        };
        self.ready.push(letter);
    }
}

impl<R: Read> Read for EmptyValues<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready.len() {
            let mut letters = [0; 1 << 14];
            let count = self.inner.read(&mut letters)?;
            self.ready.clear();
            self.given = 0;
            letters[..count].iter().for_each(|&letter| self.take(letter));
        }
        let count = out.len().min(self.ready.len() - self.given);
        out[..count].copy_from_slice(&self.ready[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::EmptyValues;
    use crate::schema::Schema;
    use crate::source::{Input, Silent, Table, check};
    use std::io::Read;

    #[test]
    fn only_empty_lines_outside_of_quotes_are_filled() {
        let cases = [
            ("\n\n1\n\n", "\"\"\n\"\"\n1\n\"\"\n"),
            ("\"a\n\nb\"\n\n", "\"a\n\nb\"\n\"\"\n"),
            ("\"a\"\"\n\n\"\n\n", "\"a\"\"\n\n\"\n\"\"\n"),
            ("a\"\n\nb\"\n", "a\"\n\"\"\nb\"\n"),
            ("\"\"\n\n", "\"\"\n\"\"\n"),
        ];
        for (given, expected) in cases {
            let mut filled = String::new();
            EmptyValues::new(given.as_bytes()).read_to_string(&mut filled).unwrap();
            assert_eq!(filled, expected, "{given:?}");
        }
    }

    /// Rows and empty values of a table with the one column `a`.
    fn rows(text: &str) -> (u64, u64) {
        let schema = "[[column]]\nname = \"a\"\nkind = \"integer\"\nmin = 0\nmax = 9\n";
        let schema = Schema::parse(schema, "schema").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.csv");
        std::fs::write(&path, text).unwrap();
        let input = Input::new(&path, None);
        let report = check(&input, &schema, &Silent).unwrap();
        assert_eq!(Table::open(&input, &schema, &Silent).unwrap().rows() as u64, report.rows, "{text:?}");
        (report.rows, report.columns[0].empty)
    }

    #[test]
    fn the_number_of_rows_does_not_depend_on_a_value() {
        for end in ["\n", "\r\n"] {
            // The third value in every way in which it can be said, also as nothing; the last row ends the file or not.
            for value in ["3", "", "\"\"", "\"3\"", "\"3\n\n3\"", "x\"\"", "3\r3", " "] {
                for last in ["4", "\"4\""] {
                    let lines = ["a", "1", "", value, "", last];
                    let empty = 2 + u64::from(["", "\"\"", " "].contains(&value));
                    assert_eq!(rows(&lines.join(end)), (5, empty), "{value:?} {last:?}");
                    assert_eq!(rows(&(lines.join(end) + end)), (5, empty), "{value:?} {last:?}");
                    assert_eq!(rows(&(lines.join(end) + end + end)), (6, empty + 1), "{value:?} {last:?}");
                }
            }
        }
    }
}
