//! Files that appear under their name only when they are complete.

use super::{nameless, words};
use crate::error::Result;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file written beside its final place, with owner-only rights, that gets its name when it is finished and on the
/// disk. Dropped unfinished, it leaves nothing, and an older file under the final name stays as it was.
///
/// Until then it has no name at all where the system allows that, and a hidden one elsewhere; what a writer that was
/// killed left under a hidden name is removed by the next one of the same output.
///
/// Devices and pipes are written directly.
pub struct AtomicFile {
    file: Option<File>,
    beside: Option<Beside>,
    place: String,
}

struct Beside {
    /// The hidden name; none for a file that stands in no folder.
    name: Option<PathBuf>,
    target: PathBuf,
    rights: Permissions,
}

/// Hidden names are tried so many times.
const TRIES: u32 = 100;

/// The hidden names of files that were begun and not finished.
fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether something stands at the path that is neither a file nor a directory.
pub(super) fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

impl AtomicFile {
    /// Removes every file that was begun and not finished, then does the last thing of a program that is told to stop.
    /// No other thread begins or ends a file meanwhile.
    pub fn discard_all_then(last: impl FnOnce()) {
        let mut unfinished = unfinished();
        for temporary in unfinished.drain(..) {
            let _ = fs::remove_file(temporary);
        }
        last();
    }

    /// Begins a file for this path.
    pub fn create(path: &Path) -> Result<AtomicFile> {
        let place = path.display().to_string();
        Self::begin(path, place.clone()).map_err(|fault| words::unwritable(&place, &fault))
    }

    /// The finished file stays with owner-only rights, whatever stood there before: for what must not be published.
    #[must_use]
    pub fn for_the_owner(mut self) -> AtomicFile {
        if let (Some(file), Some(beside)) = (&self.file, &mut self.beside)
            && let Ok(about) = file.metadata()
        {
            beside.rights = about.permissions();
        }
        self
    }

    fn begin(path: &Path, place: String) -> io::Result<AtomicFile> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if is_special(path) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(AtomicFile { file: Some(file), beside: None, place });
        }
        // A link keeps pointing to its file, and a file that is protected from writing is not replaced.
        let older = path.canonicalize().ok();
        if let Some(older) = &older {
            OpenOptions::new().write(true).open(older)?;
        }
        let target = older.unwrap_or_else(|| path.to_path_buf());
        if target.file_name().is_none() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        nameless::sweep(&target);
        let (file, name) = match nameless::make(folder_of(&target)) {
            Some(file) => (file, None),
            None => named(&target, &mut unfinished()).map(|(file, name)| (file, Some(name)))?,
        };
        // Dropped from here on, it leaves nothing.
        let rights = file.metadata()?.permissions();
        let beside = Beside { name, rights: fs::metadata(&target).map_or(rights, |about| about.permissions()), target };
        let begun = AtomicFile { file: Some(file), beside: Some(beside), place };
        begun.keep_private()?;
        Ok(begun)
    }

    #[cfg(unix)]
    fn keep_private(&self) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        self.file.as_ref().map_or(Ok(()), |file| file.set_permissions(Permissions::from_mode(0o600)))
    }

    #[cfg(not(unix))]
    fn keep_private(&self) -> io::Result<()> {
        Ok(())
    }

    /// Puts the file in its place: everything is on the disk before the name is.
    pub fn finish(mut self) -> Result<()> {
        self.settle().map_err(|fault| words::unwritable(&self.place, &fault))
    }

    fn settle(&mut self) -> io::Result<()> {
        let Some(mut file) = self.file.take() else { return Ok(()) };
        file.flush()?;
        let Some(beside) = &mut self.beside else { return Ok(()) };
        file.set_permissions(beside.rights.clone())?;
        file.sync_all()?;
        // A program that is told to stop does so before this, or after it.
        let mut unfinished = unfinished();
        if beside.name.is_some() || nameless::link(&file, &beside.target).is_err() {
            let name = match &beside.name {
                Some(name) => name.clone(),
                None => name_at_last(&mut file, beside, &mut unfinished)?,
            };
            fs::rename(&name, &beside.target)?;
            unfinished.retain(|other| *other != name);
        }
        drop(unfinished);
        let folder = folder_of(&beside.target).to_path_buf();
        self.beside = None;
        // The name itself: some file systems cannot do this, and the file is complete without it.
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file with a hidden name, locked as long as its writer lives.
fn named(target: &Path, unfinished: &mut Vec<PathBuf>) -> io::Result<(File, PathBuf)> {
    let mut tries = 0;
    loop {
        tries += 1;
        let name = nameless::hidden(target);
        let file = match OpenOptions::new().read(true).write(true).create_new(true).open(&name) {
            Ok(file) => file,
            // A process of another machine with the same number.
            Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => continue,
            // Some folders that are there cannot hold files, and say that they are not there.
            Err(fault) if fault.kind() == io::ErrorKind::NotFound && folder_of(target).is_dir() => {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            Err(fault) => return Err(fault),
        };
        // Where there are no locks, nothing is swept.
        let swept = matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !nameless::stands(&file);
        if !swept || tries == TRIES {
            unfinished.push(name.clone());
            return Ok((file, name));
        }
        let _ = fs::remove_file(&name);
    }
}

/// A hidden name for a complete file that has none and cannot be linked to its target: another file stands there.
fn name_at_last(file: &mut File, beside: &mut Beside, unfinished: &mut Vec<PathBuf>) -> io::Result<PathBuf> {
    let _ = file.try_lock();
    let name = nameless::hidden(&beside.target);
    if nameless::link(file, &name).is_ok() {
        unfinished.push(name.clone());
        beside.name = Some(name.clone());
        return Ok(name);
    }
    // The system made a file without a name and will not give it one. It is worth a copy: budget was spent on it.
    let (mut copy, name) = named(&beside.target, unfinished)?;
    beside.name = Some(name.clone());
    file.seek(SeekFrom::Start(0))?;
    io::copy(file, &mut copy)?;
    copy.set_permissions(beside.rights.clone())?;
    copy.sync_all()?;
    *file = copy;
    Ok(name)
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Err(io::ErrorKind::NotConnected.into()), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), File::flush)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        self.file = None;
        if let Some(hidden) = self.beside.take().and_then(|beside| beside.name) {
            let _ = fs::remove_file(&hidden);
            unfinished().retain(|name| *name != hidden);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where no file can be made without a name, or it cannot be given one, the hidden name does as well.
    #[test]
    fn with_a_name_from_the_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        let begin = |file: File, name: Option<PathBuf>| {
            let rights = file.metadata().unwrap().permissions();
            let beside = Beside { name, target: target.clone(), rights };
            AtomicFile { file: Some(file), beside: Some(beside), place: "out".to_string() }
        };
        let (file, name) = named(&target, &mut unfinished()).unwrap();
        let mut begun = begin(file, Some(name.clone()));
        begun.write_all(b"first").unwrap();
        drop(begun);
        assert!(!name.exists() && !target.exists());

        for text in ["second", "third"] {
            let (file, name) = named(&target, &mut unfinished()).unwrap();
            let mut begun = begin(file, Some(name));
            begun.write_all(text.as_bytes()).unwrap();
            begun.finish().unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), text);
        }

        // A file that was removed cannot be linked again, as one that the system refuses to.
        let removed = folder.path().join("removed");
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&removed).unwrap();
        fs::remove_file(&removed).unwrap();
        let mut begun = begin(file, None);
        begun.write_all(b"fourth").unwrap();
        begun.finish().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "fourth");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
