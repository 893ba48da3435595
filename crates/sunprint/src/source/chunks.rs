//! Rows on their way to whoever wants them: chunks of codes, handed over on the thread that made them.
//!
//! Every reader works on several threads and gives each finished chunk away where it stands, so that no thread has to
//! copy what the others made. Chunks come in any order and with any number of rows; each has a number that grows with
//! its place in the file.

use super::check::Judged;
use super::place::{Format, Input};
use super::{Layout, Progress, arrow_in, go_on, parquet_in, text_in, words};
use crate::error::Result;
use crate::schema::Schema;
use crate::tally::codes::Codes;
use std::sync::{Mutex, PoisonError};

/// Whoever wants the rows of a file.
pub(super) trait Takers: Sync {
    /// Called once, when everything was judged that can be judged without the rows, and before they are read. Whether
    /// the table has rows at all is public, and known by then.
    fn begin(&self, has_rows: bool, place: &str) -> Result<()> {
        let _ = (has_rows, place);
        Ok(())
    }
    /// The taker of one thread.
    fn taker(&self) -> Box<dyn Taker + '_>;
    /// The most bytes of codes that one thread should gather before it hands them over.
    fn slab_bytes(&self) -> usize {
        LARGEST_SLAB
    }
    /// Where to count what the schema changes, if somebody wants to know. Never on the way to a fit.
    fn judged(&self) -> Option<&Judged> {
        None
    }
}

/// Slabs are never larger, nor smaller, whatever the room.
const LARGEST_SLAB: usize = 256 << 20;
const SMALLEST_SLAB: usize = 16 << 20;

/// The size of a slab where codes may take so many bytes in all.
pub(super) fn slab_bytes(room: u64) -> usize {
    usize::try_from(room / 8).unwrap_or(LARGEST_SLAB).clamp(SMALLEST_SLAB, LARGEST_SLAB)
}

/// Takes the chunks that one thread makes.
pub(super) trait Taker {
    /// Takes a chunk; `place` grows with the rows' place in the file.
    fn take(&mut self, place: u64, codes: Codes) -> Result<()>;
    /// The thread has no more chunks.
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Reads a whole file once, on all cores. Gives its layout: the columns that the schema describes.
pub(super) fn read(input: &Input, schema: &Schema, progress: &dyn Progress, takers: &dyn Takers) -> Result<Layout> {
    let takers = &Watched { takers, progress };
    let layout = match input.format()? {
        Format::Parquet => parquet_in::read(input, schema, progress, takers),
        Format::Arrow => arrow_in::read(input, schema, progress, takers),
        text => text_in::read(input, text, schema, progress, takers),
    };
    progress.done();
    layout
}

/// Takers that take nothing more once the work is to end.
pub(super) struct Watched<'a> {
    pub(super) takers: &'a dyn Takers,
    pub(super) progress: &'a dyn Progress,
}

struct WatchedOne<'a> {
    taker: Box<dyn Taker + 'a>,
    progress: &'a dyn Progress,
}

impl Takers for Watched<'_> {
    fn begin(&self, has_rows: bool, place: &str) -> Result<()> {
        self.takers.begin(has_rows, place)
    }

    fn taker(&self) -> Box<dyn Taker + '_> {
        Box::new(WatchedOne { taker: self.takers.taker(), progress: self.progress })
    }

    fn slab_bytes(&self) -> usize {
        self.takers.slab_bytes()
    }

    fn judged(&self) -> Option<&Judged> {
        self.takers.judged()
    }
}

impl Taker for WatchedOne<'_> {
    fn take(&mut self, place: u64, codes: Codes) -> Result<()> {
        go_on(self.progress)?;
        self.taker.take(place, codes)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.taker.close()
    }
}

/// What is to be done between the header and the rows.
pub(super) type Charge<'a> = Box<dyn FnOnce() -> Result<()> + Send + 'a>;

/// Takers that charge before they take anything.
pub(super) struct Charged<'a> {
    takers: &'a dyn Takers,
    charge: Mutex<Option<Charge<'a>>>,
}

impl<'a> Charged<'a> {
    pub(super) fn new(takers: &'a dyn Takers, charge: Charge<'a>) -> Self {
        Charged { takers, charge: Mutex::new(Some(charge)) }
    }
}

impl Takers for Charged<'_> {
    fn begin(&self, has_rows: bool, place: &str) -> Result<()> {
        if !has_rows {
            return Err(words::no_rows(place));
        }
        let charge = self.charge.lock().unwrap_or_else(PoisonError::into_inner).take();
        charge.map_or(Ok(()), |charge| charge())?;
        self.takers.begin(has_rows, place)
    }

    fn taker(&self) -> Box<dyn Taker + '_> {
        assert!(
            self.charge.lock().unwrap_or_else(PoisonError::into_inner).is_none(),
            "chunks: rows are taken before they are charged"
        );
        self.takers.taker()
    }

    fn slab_bytes(&self) -> usize {
        self.takers.slab_bytes()
    }
}

/// The rows of one chunk at most: two megabytes of codes, small enough to share among cores, large enough to amortise
/// a tally.
pub(super) fn most_rows(width: usize) -> usize {
    ((1 << 20) / width.max(1)).clamp(256, 16384)
}

/// Keeps every chunk in memory.
#[derive(Default)]
pub(super) struct Shelf {
    chunks: Mutex<Vec<(u64, Codes)>>,
    judged: Option<Judged>,
}

impl Shelf {
    /// A shelf that also counts what the schema changes.
    pub(super) fn judging() -> Shelf {
        Shelf { judged: Some(Judged::default()), ..Shelf::default() }
    }

    /// What was counted.
    pub(super) fn take_judged(&mut self) -> Option<Judged> {
        self.judged.take()
    }

    /// The chunks in file order.
    pub(super) fn into_chunks(self) -> Vec<Codes> {
        in_file_order(self.chunks.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Chunks in file order, without the empty ones.
pub(super) fn in_file_order(mut chunks: Vec<(u64, Codes)>) -> Vec<Codes> {
    chunks.sort_by_key(|(place, _)| *place);
    chunks.into_iter().map(|(_, codes)| codes).filter(|codes| codes.rows() > 0).collect()
}

impl Takers for Shelf {
    fn taker(&self) -> Box<dyn Taker + '_> {
        Box::new(self)
    }

    fn judged(&self) -> Option<&Judged> {
        self.judged.as_ref()
    }
}

impl Taker for &Shelf {
    fn take(&mut self, place: u64, codes: Codes) -> Result<()> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner).push((place, codes));
        Ok(())
    }
}
