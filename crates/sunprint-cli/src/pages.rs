//! Pages to files.

use sunprint::error::Result;
use sunprint::report::page::{Origin, Page};
use sunprint::report::{html, to_json};
use sunprint::source::Existing;

use crate::args::PageArgs;
use crate::files;
use crate::words::Talk;

/// Writes a page where it is wanted: for its owner alone if it comes from private rows, and with a warning then.
pub fn write(page: &Page, args: &PageArgs, existing: Existing, talk: Talk) -> Result<()> {
    let write = match page.origin {
        Origin::Released => files::write_whole,
        Origin::Curator => files::write_private,
    };
    if let Some(path) = &args.report {
        write(path, &html(page)?, existing)?;
    }
    if let Some(path) = &args.report_json {
        write(path, &to_json(page)?, existing)?;
    }
    for (_, path) in args.outputs().into_iter().filter(|(_, path)| !files::is_stream(path)) {
        match page.origin {
            Origin::Released => talk.say(format_args!("wrote {}, which may be published", path.display())),
            Origin::Curator => talk.warn(format_args!(
                "{} shows private rows without noise: it is for the curator's eyes, do not publish it",
                path.display()
            )),
        }
    }
    Ok(())
}
