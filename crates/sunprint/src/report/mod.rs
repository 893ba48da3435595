//! One page that shows how good a synthetic table is, and one that shows what was released.
//!
//! [`compare`] looks at the private rows: its page is for the curator's eyes. [`public()`] looks at a model and nothing
//! else, so its page costs nothing and may go out with the release. Both are data ([`page::Page`]); [`html()`] draws
//! them, and [`to_json`] writes every number down.

mod correlations;
mod curator;
mod drawn;
mod headline;
pub mod html;
pub mod page;
mod plane;
mod predicted;
mod privacy;
mod provenance;
mod public;
mod round;
mod strata;
mod validity;

use crate::error::{Error, Kind, Result};
use page::Page;

pub use curator::{Tables, compare};
pub use html::html;
pub use provenance::provenance;
pub use public::public;

/// A page as JSON: everything that is drawn, as it is drawn. Numbers that are only looked at have four or five digits.
pub fn to_json(page: &Page) -> Result<String> {
    let text = serde_json::to_string(page);
    text.map(|text| text + "\n").map_err(|_| Error::new(Kind::Io, "the report cannot be written as JSON"))
}
