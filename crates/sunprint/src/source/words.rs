//! The sentences for files that cannot be read or written. None of them can hold a value of the table.

use crate::error::{Error, Kind};
use std::io;

/// Why a file cannot be read.
pub(super) fn unreadable(place: &str, fault: &io::Error) -> Error {
    let (rule, hint) = match fault.kind() {
        io::ErrorKind::NotFound => ("the file does not exist", "check the path"),
        io::ErrorKind::PermissionDenied => {
            ("the file may not be read", "check the rights of the file and of its folder")
        }
        io::ErrorKind::IsADirectory => ("this is a directory, not a file", "give the path of one data file in it"),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            ("the compressed data is damaged", "check the file, and that its format is the one its name says")
        }
        // zstd reports damage as `Other`; a disk that fails is rare beside it.
        _ => ("the file cannot be read to its end", "check the disk, and that its format is the one its name says"),
    };
    Error::new(Kind::Io, rule).at(place).hint(hint)
}

/// Why a file cannot be written.
pub(super) fn unwritable(place: &str, fault: &io::Error) -> Error {
    let (rule, hint) = match fault.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ("the disk is full", "free some space, or write to another folder")
        }
        io::ErrorKind::AlreadyExists => {
            ("there is a file already", "write to another file, or replace it with `--force`")
        }
        io::ErrorKind::NotFound => ("the folder does not exist", "create it first, or write to another folder"),
        io::ErrorKind::NotADirectory => ("its folder is not a folder", "write to another folder"),
        io::ErrorKind::IsADirectory => ("the output is a directory, not a file", "give the name of a file in it"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ("the output may not be written", "check the rights of the file and of its folder")
        }
        io::ErrorKind::BrokenPipe => ("the reader of the output went away", "nothing is lost: write it again"),
        _ => ("the output cannot be written", "check the path and the disk"),
    };
    let closed = fault.kind() == io::ErrorKind::BrokenPipe;
    Error::new(Kind::Io, rule).at(place).hint(hint).with_closed_pipe(closed)
}

/// A file appeared under an output's name while the output was made.
pub(super) fn taken(place: &str, elsewhere: &str) -> Error {
    Error::new(Kind::Io, format!("another file appeared here meanwhile, so that the output is in {elsewhere}"))
        .at(place)
        .hint("nothing is lost: move one of the two; only `--force` replaces a file")
}

/// A file that is not what its format says.
pub(super) fn damaged(place: &str, format: &str) -> Error {
    Error::new(Kind::Data, format!("this is not a readable {format} file"))
        .at(place)
        .hint("the file may be damaged or cut short, or of another format: name it with `--format`")
}

/// A table without rows.
pub(super) fn no_rows(place: &str) -> Error {
    Error::new(Kind::Data, "the table has no rows").at(place).hint("give a file with at least one row below its header")
}
