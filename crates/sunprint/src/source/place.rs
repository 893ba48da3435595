//! Where a table comes from and goes to, and in which format.

use super::atomic::{AtomicFile, is_special};
use super::words;
use crate::error::{Error, Kind, Result};
use crate::schema::Schema;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Values between commas.
    Csv,
    /// Values between tabs.
    Tsv,
    /// CSV, compressed with gzip.
    CsvGz,
    /// TSV, compressed with gzip.
    TsvGz,
    /// CSV, compressed with Zstandard.
    CsvZst,
    /// TSV, compressed with Zstandard.
    TsvZst,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC: written in the file form, read in the file and the stream form.
    Arrow,
}

/// How a text format is compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Squeeze {
    None,
    Gzip,
    Zstd,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 8] = [
        Format::Csv,
        Format::Tsv,
        Format::CsvGz,
        Format::TsvGz,
        Format::CsvZst,
        Format::TsvZst,
        Format::Parquet,
        Format::Arrow,
    ];

    /// The word for it, which is also its file extension.
    pub fn word(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::CsvGz => "csv.gz",
            Format::TsvGz => "tsv.gz",
            Format::CsvZst => "csv.zst",
            Format::TsvZst => "tsv.zst",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
        }
    }

    /// The format that a file's name says, if it says one.
    pub fn of_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let ends = |extension: &str| name.ends_with(&format!(".{extension}"));
        let other_names =
            [("tab", Format::Tsv), ("pq", Format::Parquet), ("feather", Format::Arrow), ("arrows", Format::Arrow)];
        let named = Format::ALL.into_iter().find(|format| ends(format.word()));
        named.or_else(|| other_names.into_iter().find(|(extension, _)| ends(extension)).map(|(_, format)| format))
    }

    /// The byte between values, for text formats.
    pub(super) fn delimiter(self) -> u8 {
        match self {
            Format::Tsv | Format::TsvGz | Format::TsvZst => b'\t',
            _ => b',',
        }
    }

    pub(super) fn squeeze(self) -> Squeeze {
        match self {
            Format::CsvGz | Format::TsvGz => Squeeze::Gzip,
            Format::CsvZst | Format::TsvZst => Squeeze::Zstd,
            _ => Squeeze::None,
        }
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(word: &str) -> Result<Format> {
        Format::ALL.into_iter().find(|format| format.word() == word).ok_or_else(|| {
            Error::new(Kind::Usage, format!("unknown format `{word}`")).hint(format!("the formats are {}", all_words()))
        })
    }
}

fn all_words() -> String {
    Format::ALL.map(Format::word).join(", ")
}

fn no_format(place: &str) -> Error {
    Error::new(Kind::Usage, "the format is not known from the name")
        .at(place)
        .hint(format!("say it with `--format`: one of {}", all_words()))
}

/// Where a table comes from.
#[derive(Clone, Debug)]
pub struct Input {
    path: Option<PathBuf>,
    format: Option<Format>,
    ignores_extra: bool,
}

impl Input {
    /// A file, or standard input for `-`; the format by the name unless it is given.
    pub fn new(path: impl Into<PathBuf>, format: Option<Format>) -> Input {
        let path = path.into();
        Input { path: (path != Path::new("-")).then_some(path), format, ignores_extra: false }
    }

    /// Says whether columns that the schema does not describe are left out, and not read, instead of refused.
    #[must_use]
    pub fn ignoring_extra(mut self, ignores_extra: bool) -> Input {
        self.ignores_extra = ignores_extra;
        self
    }

    /// Which of a file's columns are read, by their numbers from 0.
    pub(super) fn wanted<'a>(&self, names: impl Iterator<Item = &'a str>, schema: Option<&Schema>) -> Vec<usize> {
        let named = |name: &str| match schema {
            // Spaces around a name do not count.
            Some(schema) if self.ignores_extra => {
                schema.columns.iter().any(|column| column.name == name || column.name == name.trim())
            }
            _ => true,
        };
        names.enumerate().filter(|(_, name)| named(name)).map(|(number, _)| number).collect()
    }

    /// The file; `None` for standard input.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// What errors call it.
    pub fn place(&self) -> String {
        self.path.as_ref().map_or_else(|| "standard input".to_string(), |path| path.display().to_string())
    }

    /// The format, given or by the name.
    pub fn format(&self) -> Result<Format> {
        self.format.or_else(|| self.path().and_then(Format::of_path)).ok_or_else(|| no_format(&self.place()))
    }

    /// Refuses, before a byte is read, what opening would refuse. A pipe is left alone: it can be opened once.
    pub fn check(&self) -> Result<()> {
        match &self.path {
            Some(path) if !is_special(path) => self.open().map(drop),
            _ => Ok(()),
        }
    }

    /// Opens it, refusing a directory and a file without a byte.
    pub(super) fn open(&self) -> Result<Opened> {
        let place = self.place();
        let Some(path) = &self.path else { return Ok(Opened::Stream(Box::new(io::stdin()))) };
        let read = |fault: io::Error| words::unreadable(&place, &fault);
        let about = fs::metadata(path).map_err(read)?;
        if about.is_dir() {
            return Err(read(io::ErrorKind::IsADirectory.into()));
        }
        let file = File::open(path).map_err(read)?;
        if !about.is_file() {
            return Ok(Opened::Stream(Box::new(file)));
        }
        if about.len() == 0 {
            return Err(empty(&place));
        }
        Ok(Opened::File { file, length: about.len() })
    }
}

pub(super) fn empty(place: &str) -> Error {
    Error::new(Kind::Data, "the file is empty").at(place).hint("give a file with a header and at least one row")
}

/// An open input.
pub(super) enum Opened {
    File { file: File, length: u64 },
    Stream(Box<dyn Read + Send>),
}

impl Opened {
    /// As a stream of bytes.
    pub(super) fn into_read(self) -> Box<dyn Read + Send> {
        match self {
            Opened::File { file, .. } => Box::new(BufReader::with_capacity(1 << 18, file)),
            Opened::Stream(stream) => stream,
        }
    }
}

/// Where a synthetic table goes.
#[derive(Clone, Debug)]
pub struct Output {
    path: Option<PathBuf>,
    format: Option<Format>,
}

impl Output {
    /// A file, or standard output for `-`; the format by the name unless it is given.
    pub fn new(path: impl Into<PathBuf>, format: Option<Format>) -> Output {
        let path = path.into();
        Output { path: (path != Path::new("-")).then_some(path), format }
    }

    /// The file; `None` for standard output.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// What errors call it.
    pub fn place(&self) -> String {
        self.path.as_ref().map_or_else(|| "standard output".to_string(), |path| path.display().to_string())
    }

    /// The format, given or by the name.
    pub fn format(&self) -> Result<Format> {
        self.format.or_else(|| self.path().and_then(Format::of_path)).ok_or_else(|| no_format(&self.place()))
    }

    /// Refuses, before any work is done, an output that cannot be written or that would replace the input.
    pub fn check(&self, input: Option<&Input>) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        if let Some(source) = input.and_then(Input::path)
            && same_file(source, path)
        {
            return Err(Error::new(Kind::Usage, "the output is the input file")
                .at(self.place())
                .hint("write to another file; the table itself is never replaced"));
        }
        if path.is_dir() {
            return Err(words::unwritable(&self.place(), &io::ErrorKind::IsADirectory.into()));
        }
        if is_special(path) {
            return Ok(());
        }
        // The file that will be written beside, made and dropped again.
        AtomicFile::create(path).map(drop)
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (fs::metadata(one), fs::metadata(other)) {
        use std::os::unix::fs::MetadataExt;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
