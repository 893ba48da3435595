//! How much memory the codes of a table may take.

use super::spill::Spill;
use super::store::Kept;
use super::words;
use crate::error::{Error, Kind, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How much memory the codes may take, and where they go when they do not fit.
#[derive(Clone, Debug)]
pub struct Room {
    /// The most bytes of codes in memory.
    pub bytes: u64,
    /// The folder for a private file of the codes that do not fit; `TMPDIR`, `/var/tmp` or the system's
    /// folder for temporary files if `None`.
    pub spill_dir: Option<PathBuf>,
    /// What to do with codes that do not fit: [`Kept::Spilled`], [`Kept::ReadAgain`], or `None` for whichever is
    /// faster.
    pub beyond: Option<Kept>,
}

impl Default for Room {
    /// Half of the machine's memory.
    fn default() -> Room {
        Room::of(memory() / 2)
    }
}

impl Room {
    /// Room for so many bytes of codes in memory.
    pub fn of(bytes: u64) -> Room {
        Room { bytes, spill_dir: None, beyond: None }
    }

    /// Room for everything in memory.
    pub fn unlimited() -> Room {
        Room::of(u64::MAX)
    }

    /// Refuses, before any row is read, a spill folder that was named and cannot be written to.
    pub fn check(&self) -> Result<()> {
        let Some(folder) = &self.spill_dir else { return Ok(()) };
        Spill::create(folder, 1, false, u64::MAX).map(drop).map_err(|fault| no_spill(folder, &fault))
    }

    /// The folder of the spill file.
    pub(super) fn folder(&self) -> PathBuf {
        // The plain folder for temporary files is often in memory itself; this one never is.
        let on_disk = Path::new("/var/tmp");
        let unasked = || {
            if std::env::var_os("TMPDIR").is_none() && on_disk.is_dir() { on_disk.into() } else { std::env::temp_dir() }
        };
        self.spill_dir.clone().unwrap_or_else(unasked)
    }
}

/// Why there can be no spill file.
pub(super) fn no_spill(folder: &Path, fault: &io::Error) -> Error {
    let place = folder.display().to_string();
    let error = match fault.kind() {
        io::ErrorKind::NotADirectory => Error::new(Kind::Io, "this is not a folder"),
        io::ErrorKind::NotFound => Error::new(Kind::Io, "the folder does not exist"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Error::new(Kind::Io, "the folder may not be written to")
        }
        _ => return words::unwritable(&place, fault).hint(ADVICE),
    };
    error.at(place).hint(ADVICE)
}

const ADVICE: &str = "name a folder with room for the spill file with `--spill-dir`, or allow more with `--memory`";

/// The memory of the machine, or what its control group leaves of it; 4 GiB where neither is known.
pub(super) fn memory() -> u64 {
    let installed = fs::read_to_string("/proc/meminfo").ok().and_then(|text| mem_total(&text));
    let read = |path: &Path| fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let group = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    // The limit of a group binds the groups inside it, and a container sees its own group as the root.
    let limits = limit_files(&group).into_iter().filter_map(|path| read(&path));
    installed.into_iter().chain(limits).filter(|&bytes| bytes > 0).min().unwrap_or(4 << 30)
}

/// `MemTotal` in bytes.
fn mem_total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Where the limits of a process's control groups stand, by what `/proc/self/cgroup` says.
fn limit_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            list if list.split(',').any(|name| name == "memory") => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => continue,
        };
        let inside = Path::new(path.trim_start_matches('/'));
        files.extend(inside.ancestors().map(|part| Path::new(root).join(part).join(file)));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::{Room, limit_files, mem_total};
    use std::path::Path;

    #[test]
    fn half_of_the_memory_that_there_is() {
        assert_eq!(mem_total("MemFree: 1 kB\nMemTotal:       2048 kB\n"), Some(2048 * 1024));
        assert_eq!(mem_total("nothing"), None);
        assert!(Room::default().bytes > 0);
    }

    #[test]
    fn a_limit_of_any_group_around_counts() {
        let files = limit_files("0::/user/shell\n4:cpu,memory:/box\n5:cpu:/x\n");
        let expected = [
            "/sys/fs/cgroup/user/shell/memory.max",
            "/sys/fs/cgroup/user/memory.max",
            "/sys/fs/cgroup/memory.max",
            "/sys/fs/cgroup/memory/box/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        ];
        assert_eq!(files, expected.map(Path::new));
    }
}
