//! Tables that come as Arrow batches out of somebody else's memory, and synthetic rows as such batches.
//!
//! A frame of another library is read where it lies: its columns are encoded slice by slice, on all cores, and nothing but
//! codes is kept.

use super::arrow_out::{ArrowRows, Columns};
use super::chunks::{self, Taker, Takers, Watched, most_rows};
use super::guard::guarded;
use super::place::Input;
use super::plan::Plan;
use super::store::{Answers, Quiet};
use super::writer::{Drawn, outlets};
use super::{Layout, Progress, Unit, arrays, check, threads};
use crate::door::Door;
use crate::error::{Error, Kind, Result};
use crate::schema::Schema;
use crate::tally::{Fingerprint, Marker, Pass, Tally};
use arrow_array::RecordBatch;
use arrow_schema::{Fields, SchemaRef};
use std::ops::Range;

/// Rows that one worker takes at a time, at most.
pub(super) const SLICE: usize = 8192;

/// A table that comes batch by batch. Nothing is read until somebody wants its rows. No `Debug`.
pub struct Batches {
    place: String,
    layout: Layout,
    /// The columns that every batch must have. Their types may differ from batch to batch, for they depend on the rows in
    /// some libraries: one missing value makes whole numbers real ones.
    fields: Fields,
    /// The columns that are read, by their numbers.
    numbers: Vec<usize>,
    batches: Box<dyn Iterator<Item = Result<RecordBatch>> + Send>,
    rest: Option<RecordBatch>,
    /// Rows that were fetched to see whether there are any.
    first: Option<RecordBatch>,
    slice: usize,
}

impl Batches {
    /// Refuses columns that are not those of the schema, and types that cannot hold what it says. `place` names the table
    /// in errors; with `ignore_extra`, columns that the schema does not describe are left out.
    ///
    /// Every batch must have columns of these names in this order. Which types they have there is up to each batch: a
    /// value goes through the door as what it is, and one of a type that cannot be read as a value that cannot be read.
    pub fn new(
        fields: &Fields,
        schema: &Schema,
        place: &str,
        ignore_extra: bool,
        batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
    ) -> Result<Batches> {
        let wanted = Input::new("-", None).ignoring_extra(ignore_extra);
        let numbers = wanted.wanted(fields.iter().map(|field| field.name().as_str()), Some(schema));
        let layout = arrays::layout(fields, &numbers, Some(schema), place)?;
        layout.match_schema(schema, place)?;
        let (fields, batches) = (fields.clone(), Box::new(batches));
        let slice = most_rows(schema.width()).min(SLICE);
        Ok(Batches { place: place.to_string(), layout, fields, numbers, batches, rest: None, first: None, slice })
    }

    /// What errors call it.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The columns that are read, for an output of the same form.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Answers a pass from these rows alone: one part of a table. A part may be empty.
    pub fn answer(self, schema: &Schema, pass: &Pass, progress: &dyn Progress) -> Result<Tally> {
        answer(pass, None, progress, |quiet, answers| self.read(schema, quiet, answers)).map(|(tally, _)| tally)
    }

    /// The same with a fingerprint of the rows, for tables that are read again in every pass.
    pub fn answer_marked(
        self,
        schema: &Schema,
        pass: &Pass,
        marker: &Marker,
        progress: &dyn Progress,
    ) -> Result<(Tally, Fingerprint)> {
        answer(pass, Some(marker), progress, |quiet, answers| self.read(schema, quiet, answers))
    }

    /// The next few rows.
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let refused = |rule: &str| Error::new(Kind::Data, rule).at(&self.place);
        loop {
            if let Some(batch) = self.rest.take().filter(|batch| batch.num_rows() > 0) {
                let taken = batch.num_rows().min(self.slice);
                self.rest = Some(batch.slice(taken, batch.num_rows() - taken));
                return Ok(Some(batch.slice(0, taken)));
            }
            let unread = || refused("a batch of the table cannot be read").hint("hand over the table in another form");
            let Some(batch) = guarded(|| self.batches.next()).ok_or_else(unread)?.transpose()? else {
                return Ok(None);
            };
            let schema = batch.schema();
            let names = schema.fields().iter().map(|field| field.name());
            if !names.eq(self.fields.iter().map(|field| field.name())) {
                return Err(refused("a batch has other columns than the first")
                    .hint("every batch of a table must have the same columns, in the same order"));
            }
            self.rest = Some(batch.project(&self.numbers).map_err(|_| unread())?);
        }
    }

    /// Reads everything once, on all cores.
    pub(super) fn read(mut self, schema: &Schema, progress: &dyn Progress, takers: &dyn Takers) -> Result<Layout> {
        let takers = Watched { takers, progress };
        let layout = self.layout.clone();
        let columns = layout.match_schema(schema, &self.place)?;
        let plan = Plan::new(schema, &columns);
        let door = Door::new(schema);
        // Whether there is a row is public.
        self.first = self.next_rows()?;
        takers.begin(self.first.is_some(), &self.place)?;
        progress.start(&format!("reading {}", self.place), None, Unit::Rows);
        let read = threads::share(
            |_| self.next_rows(),
            || takers.taker(),
            |taker: &mut Box<dyn Taker + '_>, place, batch: RecordBatch| {
                taker.take(place, plan.encode(&door, batch.columns(), 0..batch.num_rows()))?;
                if let Some(judged) = takers.judged() {
                    judged.add(check::judge(&batch, &columns, &door));
                }
                progress.advance(batch.num_rows() as u64);
                Ok(())
            },
            |taker| taker.close(),
        );
        progress.done();
        read.map(|()| layout)
    }
}

impl Input {
    /// Answers a pass from the rows of this file alone: one part of a table.
    pub fn answer(&self, schema: &Schema, pass: &Pass, progress: &dyn Progress) -> Result<Tally> {
        answer(pass, None, progress, |quiet, answers| chunks::read(self, schema, quiet, answers))
            .map(|(tally, _)| tally)
    }
}

/// The tally of everything that `read` hands over. Rows are counted where they are tallied, and not where they are read.
fn answer(
    pass: &Pass,
    marker: Option<&Marker>,
    progress: &dyn Progress,
    read: impl FnOnce(&dyn Progress, &dyn Takers) -> Result<Layout>,
) -> Result<(Tally, Fingerprint)> {
    progress.start(&format!("measuring, pass {}", pass.number), None, Unit::Rows);
    let answers = Answers::new(pass, progress, 0).marked(marker);
    let outcome = read(&Quiet(progress), &answers);
    progress.done();
    outcome.map(|_| answers.finish_marked())
}

/// Values of one batch, about: 8 MB of numbers.
const BATCH_VALUES: usize = 1 << 20;

/// Makes Arrow batches of drawn rows, with the names, the order and the types of a layout.
pub struct BatchMaker {
    door: Door,
    rows: ArrowRows,
    width: usize,
}

impl BatchMaker {
    /// For the rows of a schema. Refuses a layout of other columns.
    pub fn new(schema: &Schema, layout: &Layout) -> Result<BatchMaker> {
        let rows = ArrowRows::new(&outlets(schema, layout, "the synthetic rows")?);
        Ok(BatchMaker { door: Door::new(schema), rows, width: schema.width() })
    }

    /// The columns of every batch.
    pub fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }

    /// How many blocks of rows a batch should have.
    pub fn blocks_of(&self, block_rows: usize) -> u64 {
        (BATCH_VALUES / self.width.max(1) / block_rows.max(1)).max(1) as u64
    }

    /// The batch of some blocks; `draw` makes the block of a number.
    ///
    /// # Panics
    /// If the rows have another number of coordinates than the schema.
    pub fn batch(&self, blocks: Range<u64>, draw: impl Fn(u64, &mut Drawn)) -> Result<RecordBatch> {
        let (mut drawn, mut columns) = (Drawn::default(), Columns::default());
        for block in blocks {
            draw(block, &mut drawn);
            assert_eq!(drawn.width, self.width, "batches: rows of the schema's width");
            columns.extend(&drawn, 0..drawn.rows());
        }
        let unmade = |_| Error::new(Kind::Model, "the model's layout does not fit its schema");
        self.rows.batch(&self.door, &columns).map_err(unmade)
    }
}
