//! Files that appear under their name only when they are complete.

use super::{nameless, words};
use crate::error::Result;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What becomes of a file that stands at the place of an output already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the output is refused: it may be a model that budget was spent on.
    #[default]
    Keep,
    /// The output takes its place, because somebody asked for that.
    Replace,
    /// It stays, and the output goes under a free name beside it: for what cannot be made again, because budget was spent
    /// on it.
    Avoid,
}

impl Existing {
    /// Whether it was asked for.
    pub fn replaced_if(force: bool) -> Existing {
        if force { Existing::Replace } else { Existing::Keep }
    }

    /// The same for an output that must not be lost any more.
    #[must_use]
    pub fn once_spent(self) -> Existing {
        if self == Existing::Replace { self } else { Existing::Avoid }
    }
}

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
    existing: Existing,
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
    ///
    /// # Errors
    /// [`Kind::Io`](crate::error::Kind::Io) where the file cannot be made, and where another one stands there that is
    /// to be kept.
    pub fn create(path: &Path, existing: Existing) -> Result<AtomicFile> {
        let place = path.display().to_string();
        Self::begin(path, place.clone(), existing).map_err(|fault| words::unwritable(&place, &fault))
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

    fn begin(path: &Path, place: String, existing: Existing) -> io::Result<AtomicFile> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if is_special(path) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(AtomicFile { file: Some(file), beside: None, place });
        }
        // Also a link that leads nowhere: whoever made it meant something by it.
        if existing == Existing::Keep && fs::symlink_metadata(path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // A link keeps pointing to its file, and a file that is protected from writing is not replaced.
        let older = path.canonicalize().ok().filter(|_| existing == Existing::Replace);
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
        let kept = existing != Existing::Replace;
        let rights = fs::metadata(&target).ok().filter(|_| !kept).map_or(rights, |about| about.permissions());
        let beside = Beside { name, rights, target, existing };
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
    ///
    /// # Errors
    /// Where a file that is to be kept has appeared there meanwhile, this one is given a free name beside it, which the
    /// error says: budget may have been spent on it.
    pub fn finish(mut self) -> Result<()> {
        match self.settle() {
            Ok(None) => Ok(()),
            Ok(Some(elsewhere)) => Err(words::taken(&self.place, &elsewhere.display().to_string())),
            Err(fault) => Err(words::unwritable(&self.place, &fault)),
        }
    }

    /// Gives the file its name; says under which one it stands if that is another.
    fn settle(&mut self) -> io::Result<Option<PathBuf>> {
        let Some(mut file) = self.file.take() else { return Ok(None) };
        file.flush()?;
        let Some(beside) = &mut self.beside else { return Ok(None) };
        file.set_permissions(beside.rights.clone())?;
        file.sync_all()?;
        // A program that is told to stop does so before this, or after it.
        let mut unfinished = unfinished();
        let mut elsewhere = None;
        if beside.name.is_some() || nameless::link(&file, &beside.target).is_err() {
            let name = match &beside.name {
                Some(name) => name.clone(),
                None => name_at_last(&mut file, beside, &mut unfinished)?,
            };
            match beside.existing {
                Existing::Replace => fs::rename(&name, &beside.target)?,
                Existing::Keep | Existing::Avoid => elsewhere = nameless::rename_to_a_free_name(&name, &beside.target)?,
            }
            unfinished.retain(|other| *other != name);
        }
        drop(unfinished);
        let folder = folder_of(&beside.target).to_path_buf();
        self.beside = None;
        // The name itself: some file systems cannot do this, and the file is complete without it.
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(elsewhere)
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
            let beside = Beside { name, target: target.clone(), rights, existing: Existing::Replace };
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

    /// A file that appears while another one is written under the same name is kept, and so is the other one.
    #[test]
    fn two_writers_of_one_name_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let target = place("rows.csv.gz");
        let begun = |text: &str, hidden: bool| {
            let mut file = AtomicFile::create(&target, Existing::Keep).unwrap();
            if hidden {
                let (made, name) = named(&target, &mut unfinished()).unwrap();
                (file.file, file.beside.as_mut().unwrap().name) = (Some(made), Some(name));
            }
            file.write_all(text.as_bytes()).unwrap();
            file
        };
        let (first, second, third) = (begun("first", false), begun("second", false), begun("third", true));
        first.finish().unwrap();
        let error = second.finish().unwrap_err();
        assert!(error.to_string().ends_with("rows-2.csv.gz"), "{error}");
        assert!(error.advice().is_some_and(|hint| hint.contains("`--force`")), "{error}");
        assert!(third.finish().unwrap_err().to_string().ends_with("rows-3.csv.gz"));
        let read = |name: &str| fs::read_to_string(place(name)).unwrap();
        assert_eq!([read("rows.csv.gz"), read("rows-2.csv.gz"), read("rows-3.csv.gz")], ["first", "second", "third"]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "no hidden name is left");
        assert!(AtomicFile::create(&target, Existing::Keep).is_err());
        let mut spent = AtomicFile::create(&target, Existing::Keep.once_spent()).unwrap();
        spent.write_all(b"fourth").unwrap();
        assert!(spent.finish().unwrap_err().to_string().ends_with("rows-4.csv.gz"));
        assert_eq!([read("rows.csv.gz"), read("rows-4.csv.gz")], ["first", "fourth"]);
        AtomicFile::create(&target, Existing::Replace).unwrap().finish().unwrap();
        assert_eq!(read("rows.csv.gz"), "");
    }
}
