//! The names of a text table's columns: in its first line, in the schema, or in a file of their own.

use super::place::Format;
use super::quotes::{Fault, Records, scan};
use super::words;
use crate::error::{Error, Kind, Result};
use crate::schema::Schema;
use crate::schema::dates::read_iso;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;

/// Where the names of a text table's columns come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// From its first line.
    #[default]
    FirstLine,
    /// From nowhere: the columns are those of the schema, in its order.
    Absent,
    /// From somewhere else: the table has these columns, and no line for their names.
    Names(Vec<String>),
}

/// No header is longer: a file without any line end is not read into memory as one.
const LONGEST: usize = 1 << 24;

/// As many names may look like values without making the line look like a row.
const A_FEW: usize = 3;

/// Nor may more than one name in so many.
const ONE_IN: usize = 4;

impl Header {
    /// The names in a public file: on one line, between the table's delimiters, or one on each line.
    ///
    /// # Errors
    /// [`Kind::Io`] where the file cannot be read, and [`Kind::Data`] where it holds no names.
    pub fn read(path: &Path, format: Format) -> Result<Header> {
        let place = path.display().to_string();
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(LONGEST as u64).read_to_end(&mut bytes));
        read.map_err(|fault| words::unreadable(&place, &fault))?;
        let refuse = |rule: &str| {
            let hint = "write the names on one line, as a header would have them, or one on each line";
            Err(Error::new(Kind::Data, rule).at(&place).hint(hint))
        };
        let Ok(text) = std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)) else {
            return refuse("the names of the columns are not UTF-8 text");
        };
        let mut names = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            if let Some((fault, line)) = scan(line.as_bytes(), format.delimiter(), number).fault {
                return Err(fault.on(&place, line));
            }
            names.extend(split(line, format.delimiter(), number));
        }
        if names.is_empty() {
            return refuse("the file names no column");
        }
        Ok(Header::Names(names))
    }

    /// The names that do not stand in the table, if this is where they do not.
    pub(super) fn names(&self, schema: &Schema) -> Option<Vec<String>> {
        match self {
            Header::FirstLine => None,
            Header::Absent => Some(schema.columns.iter().map(|column| column.name.clone()).collect()),
            Header::Names(names) => Some(names.clone()),
        }
    }
}

/// The values of one line without line ends; none for an empty line.
pub(super) fn split(line: &str, delimiter: u8, number: u64) -> Vec<String> {
    let mut values = Vec::new();
    let split = Records::new(line, delimiter, number, true).for_each(|found, _| {
        values.extend(found.iter().map(ToString::to_string));
        std::result::Result::<(), std::convert::Infallible>::Ok(())
    });
    let Ok(()) = split;
    values
}

/// The names in the header, which is the first line that is not empty, and the number of the line after it.
///
/// A header never goes on over a line end, not inside of quotes either: what follows are rows, and must not become
/// names.
pub(super) fn first_line(source: &mut impl BufRead, place: &str, delimiter: u8) -> Result<(Vec<String>, u64)> {
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
    Ok((split(text, delimiter, line), line + 1))
}

/// Refuses names that look like the values of a row, without showing one: a table without a header begins with the first
/// person's values, and those must not become public as names. What looks like a name cannot be told from one.
pub(super) fn check_names<'a>(names: impl Iterator<Item = &'a str>, place: &str) -> Result<()> {
    let (mut seen, mut all, mut odd) = (HashSet::new(), 0, 0);
    for name in names {
        all += 1;
        odd += usize::from(!seen.insert(name.trim()) || looks_like_a_value(name.trim()));
    }
    if odd <= A_FEW && odd * ONE_IN <= all {
        return Ok(());
    }
    let rule = format!(
        "the first line does not look like a header: too many of its {all} names are numbers, dates, empty or there twice"
    );
    Err(Error::new(Kind::Data, rule).at(place).hint(
        "say `--no-header` if it is a row, or give the names with `--header FILE`; otherwise name these columns in the \
         file",
    ))
}

/// Whether a trimmed name is rather a value: empty, a number, a date, or a word for yes, no or nothing.
fn looks_like_a_value(name: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "na", "n/a", "null", "none", "nan"];
    // A date in whatever order: three parts or more, two of them digits.
    let parts: Vec<&str> = name.split(['-', '/', '.', ' ', ':', 'T']).collect();
    let digits = parts.iter().filter(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    !name.chars().any(char::is_alphabetic)
        || name.replace(',', ".").parse::<f64>().is_ok()
        || read_iso(name).is_some()
        || (parts.len() >= 3 && digits.count() >= 2)
        || WORDS.contains(&name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> bool {
        let refused = check_names(split(line, b',', 1).iter().map(String::as_str), "t.csv").err();
        // Nothing of the line is shown but how many names it has.
        assert!(refused.iter().all(|error| !error.to_string().contains("41") && error.advice().is_some()));
        refused.is_some()
    }

    #[test]
    fn rows_are_told_from_headers() {
        for row in [
            "41,170.5,no",
            "Ada,41,3.5,no",
            "Ada,Lovelace,1815-12-10,F,London,3",
            "41",
            "Ada,10.12.1815",
            "Ada,3-Mar-2020 10:15",
            "\"41\",\"yes\",\"Ada\"",
            "a,b,,,,,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w",
            "a,a,a,a,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q",
        ] {
            assert!(refused(row), "{row}");
        }
        for header in [
            "age",
            "age,height,smokes",
            "country,a,b,c,d,e,f,g,2019,2020,2021,h",
            ",a,b,c,d",
            "p00,p01,p02,r00c00",
            "größe,年齢,x1,x2",
            "a,b,c,c",
        ] {
            assert!(!refused(header), "{header}");
        }
    }

    #[test]
    fn names_come_on_one_line_or_on_many() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names");
        let read = |text: &str, format: Format| {
            std::fs::write(&path, text).unwrap();
            Header::read(&path, format)
        };
        let names = |names: [&str; 3]| Ok::<_, Error>(Header::Names(names.map(str::to_string).to_vec()));
        let expected = names(["age", "a, b", "smokes"]).unwrap();
        for text in ["age,\"a, b\",smokes", "age,\"a, b\",smokes\r\n", "\u{feff}age\n\"a, b\"\n\nsmokes\n"] {
            assert_eq!(read(text, Format::Csv).unwrap(), expected, "{text}");
        }
        assert_eq!(read("age\ta, b\tsmokes\n", Format::TsvGz).unwrap(), expected);
        for text in ["", "\n\n", "age,\"height\n"] {
            assert!(read(text, Format::Csv).is_err(), "{text}");
        }
        assert!(Header::read(&folder.path().join("nowhere"), Format::Csv).is_err());
    }
}
