//! Which ledger is meant.

use std::path::{Path, PathBuf};

use sunprint::error::{Error, Kind, Result};
use sunprint::ledger::Ledger;

use crate::args::LedgerArg;
use sunprint::source::{Input, Output};

/// The word for no ledger at all.
pub const NONE: &str = "none";

/// The ledger of a fit; nothing for `none`, also in SUNPRINT_LEDGER, and the receipt says so.
pub fn for_a_fit(arg: &LedgerArg) -> Result<Option<PathBuf>> {
    match arg.ledger.clone().or_else(Ledger::default_place) {
        Some(path) if path == Path::new(NONE) => Ok(None),
        Some(path) if path.as_os_str().is_empty() => {
            Err(Error::new(Kind::Usage, "`--ledger` is empty").hint("name a file, or `none`"))
        }
        Some(path) => Ok(Some(path)),
        None => Err(Error::new(Kind::Usage, "there is no data directory to keep the ledger in")
            .hint("name a file with `--ledger FILE` or SUNPRINT_LEDGER, or keep no ledger with `--ledger none`")),
    }
}

/// The ledger of a command that is about one.
pub fn named(arg: &LedgerArg) -> Result<PathBuf> {
    for_a_fit(arg)?.ok_or_else(|| {
        Error::new(Kind::Usage, "the ledger is `none`, which holds nothing").hint("name one with `--ledger FILE`")
    })
}

/// Refuses an output that would replace the ledger, also one that is not there yet.
pub fn keep_apart(output: &Path, ledger: &Path) -> Result<()> {
    if output == ledger || Output::new(output, None).is(&Input::new(ledger, None)) {
        return Err(Error::new(Kind::Usage, "the output is the ledger")
            .at(output.display().to_string())
            .hint("write to another file; a ledger is never replaced"));
    }
    Ok(())
}
