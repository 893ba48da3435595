//! A pass and its answer.

use super::cells::{CellTally, Cells};
use super::codes::Codes;
use super::gram::Gram;
use super::grid::Grid;
use super::marginals::Marginals;
use super::moments::{ClampedSums, ClippedMoments, MomentTally};
use super::origin::{Digest, FitName, Origin};
use super::sums::{ProductTally, SumTally, Sums};
use crate::cpu::Level;
use crate::error::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

/// The version of passes and tallies on the wire. Both sides must speak the same one.
pub const VERSION: u32 = 4;

/// The most rows of one fit. Every entry of a tally is at most 2³⁰ for each row, so no sum leaves an `i64`.
pub const MOST_ROWS: u64 = 1 << 32;

/// No pass speaks of more strata: whoever sends one cannot make a worker allocate without end.
const MOST_STRATA: usize = 1 << 16;

/// What to tally: a small public description that may be sent anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// Wire version.
    pub version: u32,
    /// Which pass of the fit this is, from 1.
    pub number: u32,
    /// Which fit asks.
    pub fit: FitName,
    /// The digest of the schema by which values become codes, bounds and all.
    pub schema: Digest,
    /// Features in a row.
    pub width: usize,
    /// Strata.
    pub strata: usize,
    /// The work itself.
    pub work: Work,
}

/// The kinds of pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// Column sums and the total square.
    Sums(Sums),
    /// Sums and raw products of codes (the paper's covariance).
    Products,
    /// Clipped moments.
    Moments(ClippedMoments),
    /// Sums of clamped rows, stratum by stratum.
    Clamped(ClampedSums),
    /// Counts of the values of every column.
    Marginals(Marginals),
    /// Counts in the cells of a binary partition.
    Cells(Cells),
    /// Counts in the cells of a lattice.
    Grid(Grid),
}

/// The answer to a pass: exact integers that merge in any order.
///
/// **A tally is secret.** It is an exact statistic of private rows and must not leave the curator's machines. It has
/// no `Debug` and no `Serialize`; [`Tally::to_secret_bytes`] is for sending it between workers that may see the rows.
#[derive(PartialEq, Eq)]
pub struct Tally {
    pub(crate) origin: Origin,
    pub(crate) rows: u64,
    pub(crate) answer: Answer,
}

/// What a tally holds.
#[derive(PartialEq, Eq)]
pub(crate) enum Answer {
    Sums(SumTally),
    Products(ProductTally),
    Moments(MomentTally),
    Cells(CellTally),
}

impl Pass {
    /// The pass with this number, over rows of `width` coordinates in `strata` strata of the schema. It belongs to no fit
    /// yet, and no fit absorbs its tally.
    pub fn new(number: u32, width: usize, strata: usize, work: Work) -> Pass {
        let (fit, schema) = (FitName::default(), Digest::default());
        Pass { version: VERSION, number, fit, schema, width, strata, work }
    }

    /// The same pass as one of a fit, whose schema has this digest.
    #[must_use]
    pub fn of_fit(self, fit: FitName, schema: Digest) -> Pass {
        Pass { fit, schema, ..self }
    }

    /// The mark of the tallies that answer it. Its JSON is all that it says, in one order and in integers, so that other
    /// JSON is another pass.
    pub(crate) fn origin(&self) -> Origin {
        Origin { fit: self.fit, number: self.number, pass: Digest::of(self.to_json().as_bytes()) }
    }

    /// The tally of no rows.
    pub fn empty(&self) -> Tally {
        let answer = match &self.work {
            Work::Sums(_) => Answer::Sums(SumTally::empty(self.width)),
            Work::Products => Answer::Products(ProductTally::empty(self.width)),
            Work::Moments(spec) => Answer::Moments(MomentTally::empty(spec.width(self.width), self.strata)),
            Work::Clamped(_) => Answer::Moments(MomentTally::sums_only(self.width, self.strata)),
            Work::Marginals(marginals) => Answer::Cells(CellTally::empty(marginals.leaves(self.strata))),
            Work::Cells(cells) => Answer::Cells(CellTally::empty(cells.leaves())),
            Work::Grid(grid) => Answer::Cells(CellTally::empty(grid.leaves())),
        };
        Tally { origin: self.origin(), rows: 0, answer }
    }

    /// Tallies some rows. Cannot fail: the shape of `codes` was checked at the door.
    ///
    /// # Panics
    /// If `codes` has another width than the pass: a mistake of the program, not of a row.
    pub fn tally(&self, codes: &Codes) -> Tally {
        let mut tallying = self.begin();
        tallying.add(codes);
        tallying.finish()
    }

    /// Begins a tally that grows batch by batch.
    pub fn begin(&self) -> Tallying<'_> {
        self.begin_at(Level::best())
    }

    /// The same with the instructions of a level.
    pub(super) fn begin_at(&self, level: Level) -> Tallying<'_> {
        let gram = match &self.work {
            Work::Products => Some(Gram::new(2 * self.width, level)),
            Work::Moments(spec) => Some(Gram::new(spec.width(self.width), level)),
            Work::Sums(_) | Work::Clamped(_) | Work::Marginals(_) | Work::Cells(_) | Work::Grid(_) => None,
        };
        Tallying { pass: self, tally: self.empty(), gram, level }
    }

    /// Reads a pass from its JSON, refusing another version.
    pub fn from_json(text: &str) -> Result<Pass> {
        let pass: Pass =
            serde_json::from_str(text).map_err(|_| Error::new(Kind::Protocol, "this is not a pass of Sunprint"))?;
        if pass.version != VERSION {
            return Err(other_version(pass.version));
        }
        if !pass.fits_together() {
            return Err(Error::new(Kind::Protocol, "the pass contradicts itself")
                .hint("hand on what `next_pass` gave, unchanged"));
        }
        Ok(pass)
    }

    /// Lengths agree and indices are in range: what tallying relies on.
    fn fits_together(&self) -> bool {
        let work = match &self.work {
            Work::Sums(spec) => spec.counted.len() == self.width,
            Work::Products => true,
            Work::Moments(spec) => {
                let plane = |vectors: &Vec<Vec<i32>>| {
                    !vectors.is_empty() && vectors.len() <= self.width && vectors.iter().all(|v| v.len() == self.width)
                };
                spec.centre.len() == self.width && spec.plane.as_ref().is_none_or(plane)
            }
            Work::Clamped(spec) => spec.centre.len() == self.width,
            Work::Marginals(marginals) => marginals.fit(self.width, self.strata),
            Work::Cells(cells) => cells.fit(self.width, self.strata),
            Work::Grid(grid) => grid.fit(self.width, self.strata),
        };
        self.width > 0 && (1..=MOST_STRATA).contains(&self.strata) && work
    }

    /// The pass as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn other_version(version: u32) -> Error {
    let rule = format!("the pass has version {version}, this Sunprint speaks version {VERSION}");
    Error::new(Kind::Protocol, rule).hint("run the same version of Sunprint on every worker")
}

/// A tally of a pass that grows batch by batch: what one thread keeps while it works through its rows.
pub struct Tallying<'a> {
    pass: &'a Pass,
    tally: Tally,
    /// The products so far, in the order in which they are computed.
    gram: Option<Gram>,
    level: Level,
}

impl Tallying<'_> {
    /// Adds some rows.
    ///
    /// # Panics
    /// If `codes` has another width than the pass: a mistake of the program, not of a row.
    pub fn add(&mut self, codes: &Codes) {
        assert_eq!(codes.width(), self.pass.width, "tally: rows as wide as the pass");
        self.tally.rows += codes.rows() as u64;
        match (&mut self.tally.answer, &self.pass.work, &mut self.gram) {
            (Answer::Sums(sums), Work::Sums(spec), _) => sums.add(codes, spec, self.level),
            (Answer::Products(products), _, Some(gram)) => products.add(codes, gram, self.level),
            (Answer::Moments(moments), Work::Moments(spec), Some(gram)) => moments.add(codes, spec, gram, self.level),
            (Answer::Moments(sums), Work::Clamped(spec), _) => sums.add_clamped(codes, spec, self.level),
            (Answer::Cells(counts), Work::Marginals(marginals), _) => {
                marginals.add(codes, self.pass.strata, &mut counts.leaves, self.level);
            }
            (Answer::Cells(counts), Work::Cells(cells), _) => counts.add(codes, cells, self.level),
            (Answer::Cells(counts), Work::Grid(grid), _) => grid.add(codes, &mut counts.leaves, self.level),
            _ => {}
        }
    }

    /// The tally of all rows that were added.
    pub fn finish(mut self) -> Tally {
        match (&mut self.tally.answer, self.gram.take()) {
            (Answer::Products(products), Some(gram)) => products.take(gram),
            (Answer::Moments(moments), Some(gram)) => gram.add_to(&mut moments.products),
            _ => {}
        }
        self.tally
    }
}

impl Tally {
    /// The rows that were tallied.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds another part's tally of the same pass. The order of merging does not matter: all entries are integers.
    ///
    /// **Each row must be tallied exactly once.** A part that is merged twice in place of another of the same size
    /// cannot be told from the numbers, and its rows would be protected half as well: whoever retries a part must
    /// drop the first answer.
    pub fn merge(&mut self, other: Tally) -> Result<()> {
        if let Some(apart) = self.origin.apart(&other.origin) {
            return Err(apart.refused(
                "two tallies of different fits cannot be merged",
                "two tallies of different passes cannot be merged",
            ));
        }
        // Entries are bounded by the rows they sum, so this also keeps the additions below from overflowing.
        if self.rows.saturating_add(other.rows) > MOST_ROWS {
            return Err(Error::new(Kind::Protocol, format!("the tallies count more than {MOST_ROWS} rows together"))
                .hint("tally every part of the table exactly once"));
        }
        self.rows += other.rows;
        match (&mut self.answer, other.answer) {
            (Answer::Sums(a), Answer::Sums(b)) => a.merge(b),
            (Answer::Products(a), Answer::Products(b)) => a.merge(b),
            (Answer::Moments(a), Answer::Moments(b)) => a.merge(b),
            (Answer::Cells(a), Answer::Cells(b)) => a.merge(b),
            _ => {}
        }
        Ok(())
    }

    /// Kind and lengths: those of the pass that it answers.
    pub(super) fn shape(&self) -> (u8, [usize; 3]) {
        match &self.answer {
            Answer::Sums(t) => (0, [t.sums.len(), 0, 0]),
            Answer::Products(t) => (1, [t.sums.len(), t.products.len(), 0]),
            Answer::Moments(t) => (2, [t.products.len(), t.stratum_sums.len(), t.stratum_rows.len()]),
            Answer::Cells(t) => (3, [t.leaves.len(), 0, 0]),
        }
    }

    /// What the tally holds, in the clear. For tests of sensitivities and for audits only.
    #[cfg(any(test, feature = "seam"))]
    pub fn open_danger(&self) -> Opened<'_> {
        match &self.answer {
            Answer::Sums(t) => Opened::Sums(t),
            Answer::Products(t) => Opened::Products(t),
            Answer::Moments(t) => Opened::Moments(t),
            Answer::Cells(t) => Opened::Cells(t),
        }
    }
}

/// A tally in the clear: see [`Tally::open_danger`].
#[cfg(any(test, feature = "seam"))]
pub enum Opened<'a> {
    /// Sums and the total square.
    Sums(&'a SumTally),
    /// Sums and raw products.
    Products(&'a ProductTally),
    /// Clipped moments.
    Moments(&'a MomentTally),
    /// Cell counts.
    Cells(&'a CellTally),
}
