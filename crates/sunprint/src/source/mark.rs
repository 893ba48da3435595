//! How a file that is read several times is known to be the same.

use super::place::Input;
use super::words;
use crate::error::{Error, Kind, Result};
use std::fs;
use std::time::SystemTime;

/// What a file looked like from outside: if none of it changes, neither did the rows.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Mark {
    length: u64,
    /// To the nanosecond, as far as the file system keeps it.
    modified: Option<SystemTime>,
    /// Device and number: another file under the same name is another file.
    identity: Option<(u64, u64)>,
}

impl Mark {
    /// The mark of a file as it is now; `None` for a stream, which cannot be read twice.
    pub(super) fn of(input: &Input) -> Result<Option<Mark>> {
        let Some(path) = input.path() else { return Ok(None) };
        let about = fs::metadata(path).map_err(|fault| words::unreadable(&input.place(), &fault))?;
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            Some((about.dev(), about.ino()))
        };
        #[cfg(not(unix))]
        let identity = None;
        let mark = Mark { length: about.len(), modified: about.modified().ok(), identity };
        Ok(about.is_file().then_some(mark))
    }

    /// Whether the file still looks the same.
    pub(super) fn holds(&self, input: &Input) -> bool {
        matches!(Mark::of(input), Ok(Some(now)) if now == *self)
    }
}

/// The file is not the one that was opened. Before the first pass nothing is spent.
pub(super) fn changed(place: &str) -> Error {
    Error::new(Kind::Data, "the file changed while it was being read")
        .at(place)
        .hint("nothing was measured yet: run it again when nobody writes to the file")
}

/// The same between two passes.
pub(super) fn changed_between_passes(place: &str) -> Error {
    Error::new(Kind::Data, "the file changed while it was being read").at(place).hint(
        "noise may have been drawn already: the whole epsilon counts as spent; run it again on a file that nobody \
         writes to, with budget that is left",
    )
}
