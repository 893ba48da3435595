//! Files without a name, and the leavings of writers that were killed.
//!
//! Linux can make a file that stands in no folder until it is given a name (`O_TMPFILE`, `linkat`). Whatever ends the
//! program before that, the file is gone with it. A link cannot take the place of another file, so an output that
//! replaces an older one has a hidden name for the moment between the link and the rename; so it has from the beginning
//! where the system or the file system knows no nameless files. A hidden file is locked by its writer, and the lock ends
//! with the writer: whoever finds one without a lock may remove it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The end of every hidden name.
const END: &str = ".part";

/// A file in no folder, or nothing where there is no such thing.
#[cfg(target_os = "linux")]
pub(super) fn make(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    // It gets its name by way of this folder.
    if !Path::new("/proc/self/fd").is_dir() {
        return None;
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666)).ok().map(File::from)
}

/// Gives it a name that nothing else has.
#[cfg(target_os = "linux")]
pub(super) fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd;
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn make(_: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Free names are looked for so many times.
const TRIES: u32 = 1000;

/// Moves a finished file to its target, or, where another file has appeared there, to the first free name beside it,
/// which is returned. Nothing is ever replaced.
pub(super) fn rename_to_a_free_name(from: &Path, target: &Path) -> io::Result<Option<PathBuf>> {
    let mut number = 1;
    loop {
        let to = if number == 1 { target.to_path_buf() } else { numbered(target, number) };
        match rename_new(from, &to) {
            Ok(()) => return Ok(Some(to).filter(|_| number > 1)),
            Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists && number < TRIES => number += 1,
            Err(fault) => return Err(fault),
        }
    }
}

/// `people-2.csv.gz` for `people.csv.gz`.
fn numbered(target: &Path, number: u32) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // A name may begin with a point.
    let point = name.char_indices().skip(1).find(|(_, letter)| *letter == '.').map_or(name.len(), |(at, _)| at);
    target.with_file_name(format!("{}-{number}{}", &name[..point], &name[point..]))
}

/// Gives a file a name that nothing has.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::renameat_with(rustix::fs::CWD, from, rustix::fs::CWD, to, rustix::fs::RenameFlags::NOREPLACE) {
        // Some file systems do not know this.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
        outcome => return Ok(outcome?),
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => Err(fault),
        // There are no links here. A look is the best that is left.
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// A hidden name beside the target, such as `.people.csv.4711-0.part`.
pub(super) fn hidden(target: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}-{number}{END}", std::process::id()))
}

/// Whether this is a hidden name of the target, of any process.
fn is_hidden(name: &str, target: &str) -> bool {
    let middle = name.strip_prefix('.').and_then(|rest| rest.strip_prefix(target)?.strip_prefix('.'));
    let numbers = middle.and_then(|rest| rest.strip_suffix(END)?.split_once('-'));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(process, number)| digits(process) && digits(number))
}

/// Removes what writers of this target left behind that were killed. What cannot be told apart from the file of one
/// that lives stays.
pub(super) fn sweep(target: &Path) {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Some(name), Ok(entries)) = (target.file_name(), fs::read_dir(folder)) else { return };
    let name = name.to_string_lossy();
    for entry in entries.flatten() {
        let ours = is_hidden(&entry.file_name().to_string_lossy(), &name);
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a file that was just made and locked is still in its folder: somebody may have swept before the lock.
pub(super) fn stands(file: &File) -> bool {
    #[cfg(unix)]
    return file.metadata().is_ok_and(|about| std::os::unix::fs::MetadataExt::nlink(&about) > 0);
    #[cfg(not(unix))]
    {
        let _ = file;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let name = hidden(Path::new("folder/people.csv"));
        assert_eq!(name.parent(), Some(Path::new("folder")));
        assert!(is_hidden(&name.file_name().unwrap().to_string_lossy(), "people.csv"));
        for other in [".people.csv.part", ".people.csv.1-.part", ".people.csv.1-2.part.csv", "people.csv.1-2.part", ""]
        {
            assert!(!is_hidden(other, "people.csv"), "{other}");
        }
        assert!(!is_hidden(".people.csv.1-2.part", "people"));
        for (name, second) in [("a/people.csv.gz", "a/people-2.csv.gz"), (".people", ".people-2"), ("x", "x-2")] {
            assert_eq!(numbered(Path::new(name), 2), Path::new(second));
        }
    }

    #[test]
    fn what_a_killed_writer_left_is_swept_and_what_a_living_one_holds_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let names = [".out.1-0.part", ".out.2-0.part", ".other.1-0.part", ".out.part", "out"];
        names.iter().for_each(|name| fs::write(place(name), "half").unwrap());
        let held = File::open(place(".out.2-0.part")).unwrap();
        held.lock().unwrap();
        sweep(&place("out"));
        let left = names.map(|name| place(name).exists());
        assert_eq!(left, [false, true, true, true, true]);
        drop(held);
        sweep(&place("out"));
        assert!(!place(".out.2-0.part").exists());
    }
}
