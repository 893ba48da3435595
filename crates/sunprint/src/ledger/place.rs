//! Where a ledger is kept, and how its file is made.

use super::words;
use crate::error::Result;
use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// `SUNPRINT_LEDGER`, or else `sunprint/ledger.sqlite` in the user's data directory.
pub(super) fn default() -> Option<PathBuf> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("SUNPRINT_LEDGER").or_else(|| {
        // A relative XDG_DATA_HOME is to be ignored, says its specification.
        let data = named("XDG_DATA_HOME").filter(|path| path.is_absolute());
        let data = data.or_else(|| named("LOCALAPPDATA").filter(|_| cfg!(windows)));
        let data = data.or_else(|| named("HOME").map(|home| home.join(".local").join("share")))?;
        Some(data.join("sunprint").join("ledger.sqlite"))
    })
}

/// Makes an empty file for the owner alone, and its folder, where there is none.
pub(super) fn make(path: &Path) -> Result<()> {
    begin(path).map_err(|fault| words::unusable(&path.display().to_string(), &fault))
}

/// Refuses a ledger that is not there.
pub(super) fn check(path: &Path) -> Result<()> {
    let about = fs::metadata(path).and_then(|about| {
        let folder = about.is_dir();
        if folder { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(()) }
    });
    about.map_err(|fault| words::unusable(&path.display().to_string(), &fault))
}

fn begin(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        private_folder().create(folder)?;
        folder.parent().into_iter().for_each(sync);
    }
    match private_file().open(path) {
        Ok(_) => sync(folder),
        Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => {}
        // Some folders that are there cannot hold files, and say that they are not there.
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Err(io::ErrorKind::PermissionDenied.into()),
        Err(fault) => return Err(fault),
    }
    Ok(())
}

/// The name itself on the disk: some file systems cannot do this.
fn sync(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

fn private_folder() -> DirBuilder {
    let mut folder = DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder
}

fn private_file() -> OpenOptions {
    let mut file = OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    file
}
