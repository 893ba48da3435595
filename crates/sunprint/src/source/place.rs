//! Where a table comes from and goes to, and in which format.

use super::atomic::{AtomicFile, Existing, is_special};
use super::header::Header;
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
    header: Header,
}

impl Input {
    /// A file, or standard input for `-`; the format by the name unless it is given.
    pub fn new(path: impl Into<PathBuf>, format: Option<Format>) -> Input {
        let path = path.into();
        Input {
            path: (path != Path::new("-")).then_some(path),
            format,
            ignores_extra: false,
            header: Header::default(),
        }
    }

    /// Says where the names of the columns come from, for a text table whose first line does not hold them.
    #[must_use]
    pub fn with_header(mut self, header: Header) -> Input {
        self.header = header;
        self
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
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

    /// The name of the file without what says its format; `None` for standard input.
    pub(super) fn stem(&self) -> Option<String> {
        let path = self.path()?;
        let name = path.file_name()?.to_string_lossy();
        let longest = Format::ALL.map(|format| format!(".{}", format.word()));
        let ending =
            longest.iter().filter(|ending| name.to_ascii_lowercase().ends_with(*ending)).map(String::len).max();
        let stem = ending.map(|length| name[..name.len() - length].to_string());
        stem.or_else(|| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
            .filter(|stem| !stem.is_empty())
    }

    /// What errors call it.
    pub fn place(&self) -> String {
        self.path.as_ref().map_or_else(|| "standard input".to_string(), |path| path.display().to_string())
    }

    /// The format, given or by the name. Refuses to do without a header where the format has one of its own.
    pub fn format(&self) -> Result<Format> {
        let named = || self.path().and_then(Format::of_path);
        let format = self.format.or_else(named).ok_or_else(|| no_format(&self.place()))?;
        if self.header != Header::FirstLine && matches!(format, Format::Parquet | Format::Arrow) {
            let rule = format!("`--no-header` and `--header` are for text tables, and this is {}", format.word());
            return Err(Error::new(Kind::Usage, rule)
                .at(self.place())
                .hint("leave it out: the file names its columns"));
        }
        Ok(format)
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
    existing: Existing,
}

impl Output {
    /// A file, or standard output for `-`; the format by the name unless it is given. A file that is there already is
    /// kept, and the output refused, unless [`Output::over`] says otherwise.
    pub fn new(path: impl Into<PathBuf>, format: Option<Format>) -> Output {
        let path = path.into();
        // By its other name it may be a file, and one that the shell has just made.
        let is_stdout = path == Path::new("-") || path == Path::new("/dev/stdout");
        Output { path: (!is_stdout).then_some(path), format, existing: Existing::Keep }
    }

    /// Says what becomes of a file that is there already.
    #[must_use]
    pub fn over(mut self, existing: Existing) -> Output {
        self.existing = existing;
        self
    }

    pub(super) fn existing(&self) -> Existing {
        self.existing
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

    /// Whether it would be written over this input.
    pub fn is(&self, input: &Input) -> bool {
        matches!((&self.path, input.path()), (Some(path), Some(source)) if same_file(source, path))
    }

    /// Refuses, before any work is done, an output that cannot be written, or that would replace the input or another
    /// file that is to be kept.
    pub fn check(&self, input: Option<&Input>) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        if input.is_some_and(|input| self.is(input)) {
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
        AtomicFile::create(path, self.existing).map(drop)
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
