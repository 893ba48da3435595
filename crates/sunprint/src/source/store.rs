//! What a fit reads its rows from: codes in memory, in a spill file, or the input once more.

use super::batches::Batches;
use super::chunks::{self, Charge, Charged, Taker, Takers};
use super::keeper::{Keeper, Keeping};
use super::mark::{Mark, changed, changed_between_passes};
use super::place::Input;
use super::room::Room;
use super::spill::Spill;
use super::{Layout, Progress, Unit, go_on, threads, words};
use crate::error::{Error, Kind, Result};
use crate::schema::Schema;
use crate::tally::codes::Codes;
use crate::tally::{Fingerprint, Marker, Pass, Tally, Tallying};
use crate::wipe::Wiped;
use std::sync::{Mutex, PoisonError};

/// The sensitive table of a fit, wherever its codes are. No `Debug`, no `Serialize`.
///
/// Every pass gives the same tally, bit for bit, whether the codes are in memory, in a spill file or made again from
/// the input.
pub struct Store {
    schema: Schema,
    layout: Layout,
    rows: u64,
    /// The input, and what it looked like when it was opened; `None` for a stream and for batches.
    again: Option<(Input, Mark)>,
    keeping: Keeping,
    room: u64,
}

/// Where the codes of a table are between two passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In memory.
    Memory,
    /// In a private file without a name.
    Spilled,
    /// Nowhere: each pass reads the input again.
    ReadAgain,
}

impl Store {
    /// Reads a table. Every value is clamped to the schema's bounds; only the shape and the format of the file can be
    /// refused, and a file that changes meanwhile.
    pub fn open(input: &Input, schema: &Schema, room: &Room, progress: &dyn Progress) -> Result<Store> {
        Store::open_charged(input, schema, room, progress, || Ok(()))
    }

    /// The same with a charge for the rows. Columns, types and the shape of the first lines are judged first; then
    /// `charge` is called, once; and only if it succeeds are the rows read.
    pub fn open_charged(
        input: &Input,
        schema: &Schema,
        room: &Room,
        progress: &dyn Progress,
        charge: impl FnOnce() -> Result<()> + Send,
    ) -> Result<Store> {
        let mark = Mark::of(input)?;
        let keeper = Keeper::new(room, schema.width(), schema.strata(), mark.is_some(), u64::MAX);
        let charge: Charge = Box::new(charge);
        let read = chunks::read(input, schema, progress, &Charged::new(&keeper, charge));
        // A file that is torn while it changes is one that changed.
        if mark.as_ref().is_some_and(|mark| !mark.holds(input)) {
            return Err(changed(&input.place()));
        }
        let layout = read?;
        let (rows, keeping) = keeper.finish();
        if rows == 0 {
            return Err(words::no_rows(&input.place()));
        }
        let again = mark.map(|mark| (input.clone(), mark));
        Ok(Store { schema: schema.clone(), layout, rows, again, keeping, room: room.bytes })
    }

    /// Reads a table that comes as batches, once: what does not fit in memory goes into a spill file.
    pub fn of_batches(batches: Batches, schema: &Schema, room: &Room, progress: &dyn Progress) -> Result<Store> {
        Store::of_batches_charged(batches, schema, room, progress, || Ok(()))
    }

    /// The same with a charge for the rows, as [`Store::open_charged`].
    pub fn of_batches_charged(
        batches: Batches,
        schema: &Schema,
        room: &Room,
        progress: &dyn Progress,
        charge: impl FnOnce() -> Result<()> + Send,
    ) -> Result<Store> {
        let place = batches.place().to_string();
        let keeper = Keeper::new(room, schema.width(), schema.strata(), false, u64::MAX);
        let charge: Charge = Box::new(charge);
        let layout = batches.read(schema, progress, &Charged::new(&keeper, charge))?;
        let (rows, keeping) = keeper.finish();
        if rows == 0 {
            return Err(words::no_rows(&place));
        }
        Ok(Store { schema: schema.clone(), layout, rows, again: None, keeping, room: room.bytes })
    }

    /// The number of rows, which is public.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        self.schema.width()
    }

    /// The file's columns, for an output of the same form.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Where the codes are.
    pub fn kept(&self) -> Kept {
        match self.keeping {
            Keeping::Memory(_) => Kept::Memory,
            Keeping::Spilled(_) => Kept::Spilled,
            Keeping::ReadAgain => Kept::ReadAgain,
        }
    }

    /// Answers a pass on all cores.
    pub fn answer(&self, pass: &Pass, progress: &dyn Progress) -> Result<Tally> {
        progress.start(&format!("measuring, pass {}", pass.number), Some(self.rows), Unit::Rows);
        let tally = match &self.keeping {
            Keeping::Memory(chunks) => answer(pass, chunks, progress),
            Keeping::Spilled(spill) => answer_from_file(pass, spill, progress),
            Keeping::ReadAgain => self.answer_again(pass, progress),
        };
        progress.done();
        tally
    }

    /// Reads the input once more. It must be the file that was read first.
    fn answer_again(&self, pass: &Pass, progress: &dyn Progress) -> Result<Tally> {
        let Some((input, mark)) = &self.again else {
            return Err(Error::new(Kind::Io, "the table can be read only once").hint(SPENT));
        };
        let same = || mark.holds(input);
        let changed = || changed_between_passes(&input.place());
        if !same() {
            return Err(changed());
        }
        let answers = Answers::new(pass, progress, self.room);
        let read = chunks::read(input, &self.schema, &Quiet(progress), &answers);
        let tally = answers.finish();
        match read {
            Err(error) if error.kind() == Kind::Stopped => Err(error),
            _ if !same() => Err(changed()),
            // It was read to its end before, so it is another file in whatever disguise, unless the disk failed.
            Err(error) if error.kind() == Kind::Io => Err(error.hint(SPENT)),
            Err(_) => Err(changed()),
            Ok(layout) if layout != self.layout || tally.rows() != self.rows => Err(changed()),
            Ok(_) => Ok(tally),
        }
    }
}

/// Someone who hears nothing and may still end the work.
pub(super) struct Quiet<'a>(pub(super) &'a dyn Progress);

impl Progress for Quiet<'_> {
    fn start(&self, _: &str, _: Option<u64>, _: Unit) {}
    fn advance(&self, _: u64) {}
    fn done(&self) {}
    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}

const SPENT: &str = "noise may have been drawn already: the whole epsilon counts as spent; check the disk";

/// Answers a pass from chunks in memory, on all cores.
pub(super) fn answer(pass: &Pass, chunks: &[Codes], progress: &dyn Progress) -> Result<Tally> {
    let answers = Answers::new(pass, progress, 0);
    let mut chunks = chunks.iter();
    threads::share(
        |_| go_on(progress).map(|()| chunks.next()),
        || answers.one(),
        |one, _, codes| {
            one.add(codes);
            Ok(())
        },
        |one| Box::new(one).close(),
    )?;
    Ok(answers.finish())
}

/// Answers a pass from a spill file, on all cores; each has one buffer.
fn answer_from_file(pass: &Pass, spill: &Spill, progress: &dyn Progress) -> Result<Tally> {
    let answers = Answers::new(pass, progress, 0);
    let mut parts = spill.parts().into_iter();
    let lost = |_| Error::new(Kind::Io, "the spill file cannot be read back").hint(SPENT);
    threads::share(
        |_| go_on(progress).map(|()| parts.next()),
        || (answers.one(), Codes::with_capacity(pass.width, 0), Wiped(Vec::new())),
        |(one, codes, bytes), _, part| {
            let over = std::mem::replace(codes, Codes::with_capacity(pass.width, 0));
            *codes = spill.read(part, over, bytes).map_err(lost)?;
            one.add(codes);
            Ok(())
        },
        |(one, ..)| Box::new(one).close(),
    )?;
    Ok(answers.finish())
}

/// Tallies every row it is given: one growing tally for each thread, merged at the end.
pub(super) struct Answers<'a> {
    pass: &'a Pass,
    progress: &'a dyn Progress,
    whole: Mutex<Tally>,
    /// Who takes fingerprints of the rows, if somebody does.
    marker: Option<&'a Marker>,
    mark: Mutex<Fingerprint>,
    /// How many bytes the codes may take.
    room: u64,
}

impl<'a> Answers<'a> {
    pub(super) fn new(pass: &'a Pass, progress: &'a dyn Progress, room: u64) -> Self {
        let (whole, mark) = (Mutex::new(pass.empty()), Mutex::new(Fingerprint::default()));
        Answers { pass, progress, whole, marker: None, mark, room }
    }

    /// The same with fingerprints.
    pub(super) fn marked(self, marker: Option<&'a Marker>) -> Self {
        Answers { marker, ..self }
    }

    fn one(&self) -> One<'_> {
        One { answers: self, tallying: self.pass.begin(), mark: Fingerprint::default() }
    }

    pub(super) fn finish(self) -> Tally {
        self.finish_marked().0
    }

    /// The tally, and the fingerprint of its rows: that of none where nobody takes any.
    pub(super) fn finish_marked(self) -> (Tally, Fingerprint) {
        let mark = self.mark.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.whole.into_inner().unwrap_or_else(PoisonError::into_inner), mark)
    }
}

impl Takers for Answers<'_> {
    fn taker(&self) -> Box<dyn Taker + '_> {
        Box::new(self.one())
    }

    fn slab_bytes(&self) -> usize {
        chunks::slab_bytes(self.room)
    }
}

/// The tally of one thread.
struct One<'a> {
    answers: &'a Answers<'a>,
    tallying: Tallying<'a>,
    mark: Fingerprint,
}

impl One<'_> {
    fn add(&mut self, codes: &Codes) {
        self.tallying.add(codes);
        if let Some(marker) = self.answers.marker {
            self.mark.merge(marker.mark(codes));
        }
        self.answers.progress.advance(codes.rows() as u64);
    }
}

impl Taker for One<'_> {
    fn take(&mut self, _: u64, codes: Codes) -> Result<()> {
        self.add(&codes);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        let tally = self.tallying.finish();
        self.answers.mark.lock().unwrap_or_else(PoisonError::into_inner).merge(self.mark);
        self.answers.whole.lock().unwrap_or_else(PoisonError::into_inner).merge(tally)
    }
}
