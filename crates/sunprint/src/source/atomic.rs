//! Files that appear under their name only when they are complete.

use super::words;
use crate::error::Result;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file written beside its final place under a hidden name, with owner-only rights, and renamed when it is finished.
/// Dropped unfinished, it leaves nothing, and an older file under the final name stays as it was.
///
/// Devices and pipes are written directly.
pub struct AtomicFile {
    file: Option<File>,
    beside: Option<Beside>,
    place: String,
}

struct Beside {
    temporary: PathBuf,
    target: PathBuf,
    rights: Permissions,
}

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
        let Some(name) = target.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let hidden = format!(".{}.{}-{number}.part", name.to_string_lossy(), std::process::id());
        let temporary = target.with_file_name(hidden);
        let mut unfinished = unfinished();
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary).map_err(|fault| {
            // Some folders that are there cannot hold files, and say that they are not there.
            let folder = temporary.parent().filter(|folder| !folder.as_os_str().is_empty());
            let lies = fault.kind() == io::ErrorKind::NotFound && folder.is_none_or(Path::is_dir);
            if lies { io::ErrorKind::PermissionDenied.into() } else { fault }
        })?;
        unfinished.push(temporary.clone());
        drop(unfinished);
        let fresh = file.metadata()?.permissions();
        let beside =
            Beside { rights: fs::metadata(&target).map_or(fresh, |about| about.permissions()), temporary, target };
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
        let Some(beside) = &self.beside else { return Ok(()) };
        file.set_permissions(beside.rights.clone())?;
        file.sync_all()?;
        drop(file);
        fs::rename(&beside.temporary, &beside.target)?;
        unfinished().retain(|name| *name != beside.temporary);
        let folder = beside.target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_path_buf();
        self.beside = None;
        // The name itself: some file systems cannot do this, and the file is complete without it.
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
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
        if let Some(beside) = self.beside.take() {
            let _ = fs::remove_file(&beside.temporary);
            unfinished().retain(|name| *name != beside.temporary);
        }
    }
}
