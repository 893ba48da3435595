//! The first reading of a table: where its codes are kept.

use super::chunks::{Taker, Takers, in_file_order, slab_bytes};
use super::room::{Room, no_spill};
use super::spill::Spill;
use super::store::Kept;
use crate::error::Result;
use crate::tally::codes::Codes;
use crate::wipe::Wiped;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many times the table will be read again, about: the passes of a fit.
const PASSES: u32 = 3;

/// Takes the chunks of the first reading: in memory as long as they fit.
pub(super) struct Keeper<'a> {
    room: &'a Room,
    width: usize,
    split: bool,
    /// A stream is gone when it was read once.
    rereadable: bool,
    /// The disk is full when the spill file has this length, in tests.
    most: u64,
    begun: Instant,
    rows: AtomicU64,
    state: Mutex<State>,
}

enum State {
    Memory {
        chunks: Vec<(u64, Codes)>,
        bytes: u64,
    },
    Spilling(Arc<Spill>),
    /// Nothing is kept: the rows are only counted.
    Counting,
}

/// Where the codes are.
pub(super) enum Keeping {
    Memory(Vec<Codes>),
    Spilled(Spill),
    ReadAgain,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(room: &'a Room, width: usize, strata: usize, rereadable: bool, most: u64) -> Keeper<'a> {
        let state = Mutex::new(State::Memory { chunks: Vec::new(), bytes: 0 });
        let (begun, rows) = (Instant::now(), AtomicU64::new(0));
        Keeper { room, width, split: strata > 1, rereadable, most, begun, rows, state }
    }

    /// The number of rows, and where they are.
    pub(super) fn finish(self) -> (u64, Keeping) {
        let keeping = match self.state.into_inner().unwrap_or_else(PoisonError::into_inner) {
            State::Memory { chunks, .. } => Keeping::Memory(in_file_order(chunks)),
            // All takers are gone, and the keeper holds the last handle.
            State::Spilling(spill) => Arc::into_inner(spill).map_or(Keeping::ReadAgain, Keeping::Spilled),
            State::Counting => Keeping::ReadAgain,
        };
        (self.rows.into_inner(), keeping)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, place: u64, codes: Codes, buffer: &mut Vec<u8>) -> Result<()> {
        self.rows.fetch_add(codes.rows() as u64, Ordering::Relaxed);
        let mut state = self.state();
        let spill = match &mut *state {
            State::Counting => return Ok(()),
            State::Spilling(spill) => Arc::clone(spill),
            State::Memory { chunks, bytes } => {
                *bytes = bytes.saturating_add(size(&codes));
                chunks.push((place, codes));
                if *bytes > self.room.bytes {
                    let chunks = std::mem::take(chunks);
                    *state = self.beyond(chunks, buffer)?;
                }
                return Ok(());
            }
        };
        // Threads write side by side.
        drop(state);
        let written = spill.write(&codes, buffer);
        drop(spill);
        if let Err(fault) = written {
            self.give_up(&fault)?;
            *self.state() = State::Counting;
        }
        Ok(())
    }

    /// The codes do not fit in memory: into a spill file with them, or away, whichever will be faster.
    fn beyond(&self, chunks: Vec<(u64, Codes)>, buffer: &mut Vec<u8>) -> Result<State> {
        let read = self.begun.elapsed();
        if self.rereadable && self.room.beyond == Some(Kept::ReadAgain) {
            return Ok(State::Counting);
        }
        let begun = Instant::now();
        let spilled = Spill::create(&self.room.folder(), self.width, self.split, self.most).and_then(|spill| {
            chunks.into_iter().try_for_each(|(_, codes)| spill.write(&codes, buffer))?;
            Ok(spill)
        });
        match spilled {
            Ok(_) if self.rereadable && self.room.beyond.is_none() && again_is_faster(read, begun.elapsed()) => {
                Ok(State::Counting)
            }
            Ok(spill) => Ok(State::Spilling(Arc::new(spill))),
            Err(fault) => {
                self.give_up(&fault)?;
                Ok(State::Counting)
            }
        }
    }

    /// Without a spill file, a file is read again and a stream is refused.
    fn give_up(&self, fault: &io::Error) -> Result<()> {
        if self.rereadable { Ok(()) } else { Err(no_spill(&self.room.folder(), fault)) }
    }
}

/// Whether reading the table again in every pass takes less time than a spill file: `read` and `written` are what
/// reading and writing the same codes took. A spill file is written once and read in every pass, which is taken to be
/// no faster than writing it.
fn again_is_faster(read: Duration, written: Duration) -> bool {
    read * PASSES < written * (PASSES + 1)
}

/// The bytes of a chunk in memory.
fn size(codes: &Codes) -> u64 {
    let (values, strata) = codes.parts();
    (size_of_val(values) + size_of_val(strata)) as u64
}

impl Takers for Keeper<'_> {
    fn taker(&self) -> Box<dyn Taker + '_> {
        Box::new(One { keeper: self, buffer: Wiped(Vec::new()) })
    }

    fn slab_bytes(&self) -> usize {
        slab_bytes(self.room.bytes)
    }
}

/// The taker of one thread, with memory to work in.
struct One<'a> {
    keeper: &'a Keeper<'a>,
    buffer: Wiped<u8>,
}

impl Taker for One<'_> {
    fn take(&mut self, place: u64, codes: Codes) -> Result<()> {
        self.keeper.take(place, codes, &mut self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::{Keeper, Keeping, again_is_faster};
    use crate::source::chunks::Takers;
    use crate::source::room::Room;
    use crate::tally::codes::Codes;
    use std::time::Duration;

    fn chunk(first: u16) -> Codes {
        let mut codes = Codes::with_capacity(2, 10);
        (0..10).for_each(|i| codes.push(&[first + i, i], 0));
        codes
    }

    #[test]
    fn whichever_is_faster() {
        let ms = Duration::from_millis;
        assert!(!again_is_faster(ms(100), ms(50)));
        assert!(!again_is_faster(ms(4), ms(3)));
        assert!(again_is_faster(ms(100), ms(100)));
    }

    /// A disk that fills up at once, and one that fills up later: files are read again, streams are refused.
    #[test]
    fn a_full_disk() {
        let folder = tempfile::tempdir().unwrap();
        let room = Room { bytes: 100, spill_dir: Some(folder.path().into()), beyond: Some(super::Kept::Spilled) };
        for most in [0, 70, 130, 170] {
            for rereadable in [true, false] {
                let keeper = Keeper::new(&room, 2, 1, rereadable, most);
                let mut taker = keeper.taker();
                let outcome = (0..8).try_for_each(|i| taker.take(u64::from(i), chunk(100 * i)));
                drop(taker);
                if rereadable {
                    outcome.unwrap();
                    let (rows, keeping) = keeper.finish();
                    assert!(rows == 80 && matches!(keeping, Keeping::ReadAgain), "{most}");
                } else {
                    let error = outcome.unwrap_err();
                    let expected = format!("{}: the disk is full", folder.path().display());
                    assert_eq!(error.to_string(), expected);
                    assert!(error.advice().unwrap().contains("--spill-dir"));
                }
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }
}
