//! The sentences for ledgers that cannot be used. Everything in a ledger is public.

use crate::error::{Error, Kind};
use rusqlite::ErrorCode;
use std::io;

/// Why the file cannot be made or found.
pub(super) fn unusable(place: &str, fault: &io::Error) -> Error {
    let (rule, hint) = match fault.kind() {
        io::ErrorKind::NotFound => ("there is no ledger here", "a fit makes one; name another with `--ledger FILE`"),
        io::ErrorKind::IsADirectory => ("the ledger is a directory, not a file", "give the name of a file in it"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => return unwritable(place),
        io::ErrorKind::NotADirectory => ("the ledger's folder is not a folder", "name another with `--ledger FILE`"),
        _ => ("the ledger cannot be made", "check the path and the disk, or name another with `--ledger FILE`"),
    };
    Error::new(Kind::Io, rule).at(place).hint(hint)
}

fn unwritable(place: &str) -> Error {
    Error::new(Kind::Io, "the ledger may not be written")
        .at(place)
        .hint("check the rights of the file and of its folder, or name another with `--ledger FILE`")
}

/// Why SQLite would not do it.
pub(super) fn refused(place: &str, fault: &rusqlite::Error) -> Error {
    match fault.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => not_a_ledger(place),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::new(Kind::Ledger, "another program has held the ledger for too long")
                .at(place)
                .hint("look for a program that hangs, and try again")
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => unwritable(place),
        // The journal beside the file cannot be made, or the file cannot be opened.
        Some(ErrorCode::CannotOpen) => unwritable(place),
        Some(ErrorCode::DiskFull) => {
            Error::new(Kind::Io, "the disk is full, and the ledger cannot be written").at(place).hint("free some space")
        }
        Some(ErrorCode::SystemIoFailure) => {
            Error::new(Kind::Io, "the ledger cannot be read or written").at(place).hint("check the disk")
        }
        _ => damaged(place, "the ledger is damaged"),
    }
}

/// A file of another kind.
pub(super) fn not_a_ledger(place: &str) -> Error {
    Error::new(Kind::Ledger, "this is not a ledger of Sunprint").at(place).hint("name another with `--ledger FILE`")
}

/// A ledger that is not as it was written.
pub(super) fn damaged(place: &str, rule: impl Into<String>) -> Error {
    Error::new(Kind::Ledger, rule)
        .at(place)
        .hint("do not trust its totals: restore a copy, and compare it with the receipts by `sunprint ledger verify`")
}
