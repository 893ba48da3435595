//! A private file of codes, for tables that do not fit in memory.
//!
//! The file has no name and rights for its owner alone: nobody else can open it, and it is gone with the process,
//! however that ends. Where the system cannot make a nameless file, an empty one has a name for the moment between
//! creating and unlinking it.

use crate::tally::codes::Codes;
use crate::wipe::wipe;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A private file of codes, written and read by several threads at once.
pub(super) struct Spill {
    file: File,
    width: usize,
    /// Whether rows have strata other than 0.
    split: bool,
    /// The file may not grow beyond this: a disk that is full, in tests.
    most: u64,
    end: AtomicU64,
    parts: Mutex<Vec<Part>>,
}

/// Where one chunk stands.
#[derive(Clone, Copy)]
pub(super) struct Part {
    offset: u64,
    rows: usize,
}

impl Spill {
    /// A new file in a folder.
    pub(super) fn create(folder: &Path, width: usize, split: bool, most: u64) -> io::Result<Spill> {
        let file = tempfile::tempfile_in(folder)?;
        for_the_owner(&file)?;
        let (end, parts) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        Ok(Spill { file, width, split, most, end, parts })
    }

    /// Appends a chunk; `bytes` is memory to work in.
    pub(super) fn write(&self, codes: &Codes, bytes: &mut Vec<u8>) -> io::Result<()> {
        let (values, strata) = codes.parts();
        bytes.clear();
        bytes.resize(self.length(codes.rows()), 0);
        let (first, second) = bytes.split_at_mut(2 * values.len());
        first.chunks_exact_mut(2).zip(values).for_each(|(out, code)| out.copy_from_slice(&code.to_le_bytes()));
        second.chunks_exact_mut(4).zip(strata).for_each(|(out, share)| out.copy_from_slice(&share.to_le_bytes()));
        let offset = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if offset + bytes.len() as u64 > self.most {
            return Err(io::ErrorKind::StorageFull.into());
        }
        write_at(&self.file, bytes, offset)?;
        let part = Part { offset, rows: codes.rows() };
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).push(part);
        Ok(())
    }

    /// The chunks, in the order of the file.
    pub(super) fn parts(&self) -> Vec<Part> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        parts.sort_by_key(|part| part.offset);
        parts
    }

    /// Reads a chunk back over the memory of another one; `bytes` is memory to work in.
    pub(super) fn read(&self, part: Part, over: Codes, bytes: &mut Vec<u8>) -> io::Result<Codes> {
        bytes.resize(self.length(part.rows), 0);
        read_at(&self.file, bytes, part.offset)?;
        let (mut values, mut strata) = over.into_parts();
        let (first, second) = bytes.split_at(2 * part.rows * self.width);
        // What is longer than the new chunk would stay behind its end.
        values.get_mut(first.len() / 2..).into_iter().for_each(wipe);
        strata.get_mut(part.rows..).into_iter().for_each(wipe);
        values.clear();
        values.extend(first.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
        strata.clear();
        strata.extend(second.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])));
        strata.resize(part.rows, 0);
        Ok(Codes::from_parts(self.width, values, strata))
    }

    fn length(&self, rows: usize) -> usize {
        rows * (2 * self.width + if self.split { 4 } else { 0 })
    }
}

/// A nameless file is created with the usual rights; they are taken back before anything is in it.
fn for_the_owner(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn write_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
