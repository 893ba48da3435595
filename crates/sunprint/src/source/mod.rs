//! Files and streams to codes, and synthetic rows back to files: CSV, TSV, Parquet and Arrow IPC.
//!
//! This room may refuse a file for its shape and format, never for a value, and its errors never show one: a place is
//! a file, a line number, the number of a column or a name from the schema.

mod arrays;
mod arrow_bounds;
mod arrow_bytes;
mod arrow_in;
mod arrow_needs;
mod arrow_out;
mod atomic;
mod batches;
mod cells;
mod check;
mod chunks;
mod fields;
mod guard;
mod header;
mod keeper;
mod layout;
mod lines;
mod mark;
mod nameless;
mod parquet_in;
mod pieces;
mod place;
mod plan;
mod quotes;
mod room;
mod seal;
mod skeleton;
mod slabs;
mod spill;
mod squeeze;
mod store;
mod table;
mod target;
mod text_in;
mod text_out;
mod threads;
mod words;
mod writer;

pub use atomic::{AtomicFile, Existing};
pub use batches::{BatchMaker, Batches};
pub use cells::answer_cells;
pub use check::{CheckReport, ColumnReport, check};
pub use guard::panic_is_caught;
pub use header::Header;
pub use layout::{Layout, Physical, PhysicalType};
pub use place::{Format, Input, Output};
pub use room::Room;
pub use seal::{Opening, Purpose, SEAL_BYTES, Seal, Sealing};
pub use skeleton::{skeleton, skeleton_from_public_data};
pub use store::{Kept, Store};
pub use table::Table;
pub(crate) use threads::in_order;
pub use writer::{Drawn, TableWriter};

use crate::error::{Error, Kind, Result};

/// What a job is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Rows of a table.
    Rows,
    /// Bytes of a file.
    Bytes,
    /// Parts of the work that mean nothing to a reader.
    Steps,
}

/// Someone who watches a long job.
pub trait Progress: Sync {
    /// A job begins; `total` is its length in `unit`, where it is known.
    fn start(&self, what: &str, total: Option<u64>, unit: Unit);
    /// The job is `by` further on.
    fn advance(&self, by: u64);
    /// The job is over.
    fn done(&self);
    /// Something worth knowing before a long job begins.
    fn note(&self, _: &str) {}
    /// Whether the job should end early, with an error of [`Kind::Stopped`]. Asked between chunks of rows.
    fn stopped(&self) -> bool {
        false
    }
}

/// Ends a job whose watcher wants it to end.
pub(crate) fn go_on(progress: &dyn Progress) -> Result<()> {
    if progress.stopped() { Err(Error::new(Kind::Stopped, "the work was stopped")) } else { Ok(()) }
}

/// Nobody watches.
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _: &str, _: Option<u64>, _: Unit) {}
    fn advance(&self, _: u64) {}
    fn done(&self) {}
}
