//! A ledger as text, and back.

use super::book::Book;
use super::event::{Event, Head};
use crate::error::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

const NAME: &str = "sunprint-ledger";
const VERSION: u32 = 1;

/// The most bytes of an export: 100,000 fits take fewer.
pub const MOST_BYTES: usize = 1 << 28;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Export {
    format: String,
    version: u32,
    head: Head,
    events: Vec<Event>,
}

/// The whole ledger as indented JSON.
pub(super) fn write(book: &Book) -> Result<String> {
    let head = book.head().map_or_else(Head::empty, |(count, hash)| Head { count, hash: hash.to_string() });
    let export = Export { format: NAME.to_string(), version: VERSION, head, events: book.events().to_vec() };
    serde_json::to_string_pretty(&export)
        .map(|text| text + "\n")
        .map_err(|_| Error::new(Kind::Io, "the ledger cannot be written as JSON"))
}

/// The events of an export, checked as a chain and for what they say.
pub(super) fn read(text: &[u8], place: &str) -> Result<Vec<Event>> {
    let refused = |rule: &str, hint: &str| Err(Error::new(Kind::Ledger, rule).at(place).hint(hint));
    let hint = "give a file that `sunprint ledger export` wrote";
    if text.len() > MOST_BYTES {
        return refused("the file is too large for a ledger", hint);
    }
    /// Enough to tell a newer format from something else.
    #[derive(Deserialize)]
    struct Opening {
        format: String,
        version: u32,
    }
    match serde_json::from_slice::<Opening>(text) {
        Ok(opening) if opening.format == NAME && opening.version > VERSION => {
            return refused("the exported ledger is of a newer format", "use a newer version of Sunprint");
        }
        Ok(opening) if opening.format == NAME && opening.version == VERSION => {}
        _ => return refused("this is not an exported ledger", hint),
    }
    let Ok(export) = serde_json::from_slice::<Export>(text) else {
        return refused("the exported ledger is damaged", hint);
    };
    match Book::of(export.events, &export.head) {
        Ok(book) => Ok(book.events().to_vec()),
        Err(fault) => refused(&fault, "nothing was imported: find a copy that was not changed"),
    }
}
