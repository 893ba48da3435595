//! Does a file fit its schema: counts for the curator's eyes.

use super::arrow_in::ArrowFile;
use super::lines::{self, Block};
use super::parquet_in::ParquetFile;
use super::place::{Format, Input};
use super::{Progress, Unit, arrays, threads, words};
use crate::door::{Door, Raw, Verdict};
use crate::error::Result;
use crate::schema::Schema;
use arrow_array::RecordBatch;
use serde::Serialize;
use std::sync::{Mutex, PoisonError};

/// How a file fits its schema. For the curator's eyes: the counts depend on private values and must not be published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// The number of rows.
    pub rows: u64,
    /// One for each column, in the order of the file.
    pub columns: Vec<ColumnReport>,
}

/// How one column fits its bounds or categories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnReport {
    /// The name.
    pub name: String,
    /// The kind, as in the schema.
    pub kind: String,
    /// Values below the lower bound, which become the lower bound.
    pub below: u64,
    /// Values above the upper bound, which become the upper bound.
    pub above: u64,
    /// Values that are not numbers or dates, which count as missing.
    pub not_a_number: u64,
    /// Missing values, which are kept where the schema allows them; else they become the middle of the bounds, or the
    /// category for what is not listed.
    pub empty: u64,
    /// Values that are no listed category, which become `other` or the first; those that are no truth value count as
    /// missing.
    pub unlisted: u64,
    /// Whether the schema allows missing values.
    pub missing_allowed: bool,
}

impl ColumnReport {
    /// Whether every value is kept as it is, up to rounding.
    pub fn is_clean(&self) -> bool {
        self.changed() == 0
    }

    /// Cells that the schema changes: clamped, unreadable, unlisted, and missing where that is not allowed.
    pub fn changed(&self) -> u64 {
        let filled = if self.missing_allowed { 0 } else { self.empty };
        self.below + self.above + self.not_a_number + filled + self.unlisted
    }
}

impl CheckReport {
    /// Whether every value is kept as it is, up to rounding.
    pub fn is_clean(&self) -> bool {
        self.columns.iter().all(ColumnReport::is_clean)
    }
}

/// Counts of verdicts for one column, in the order of [`Verdict`].
type Counts = [u64; 6];

/// Rows, and the counts of each column.
pub(super) type Judgement = (u64, Vec<Counts>);

/// What the schema changes, counted while a table is read, by several threads.
#[derive(Default)]
pub(super) struct Judged {
    total: Mutex<Total>,
}

impl Judged {
    /// Counts some rows.
    pub(super) fn add(&self, part: Judgement) {
        self.total.lock().unwrap_or_else(PoisonError::into_inner).add(part);
    }

    /// Everything that was counted.
    pub(super) fn report(self, schema: &Schema, columns: &[usize], place: &str) -> Result<CheckReport> {
        self.total.into_inner().unwrap_or_else(PoisonError::into_inner).report(schema, columns, place)
    }
}

/// Reads the whole table and counts, for each column, the values that do not fit the schema.
pub fn check(input: &Input, schema: &Schema, progress: &dyn Progress) -> Result<CheckReport> {
    let report = match input.format()? {
        Format::Parquet => check_parquet(input, schema, progress),
        Format::Arrow => check_arrow(input, schema, progress),
        text => check_text(input, text, schema, progress),
    };
    progress.done();
    report
}

fn check_text(input: &Input, format: Format, schema: &Schema, progress: &dyn Progress) -> Result<CheckReport> {
    let (whole, mut lines) = lines::open(input, format, input.header().names(schema), progress)?;
    let place = lines.place().to_string();
    let (layout, numbers) = whole.chosen(input, schema);
    let columns = layout.match_schema(schema, &place)?;
    lines.announce(progress);
    let door = Door::new(schema);
    let mut total = Total::new(columns.len());
    threads::in_order(
        || lines.next_block(Vec::new()),
        |block: Block| judge_block(&block, &place, format, whole.columns.len(), &numbers, &columns, &door),
        |part| {
            total.add(part);
            Ok(())
        },
    )?;
    total.report(schema, &columns, &place)
}

/// The rows of a block of text, and what becomes of their cells: of the columns `numbers` of `width`, which are the
/// schema's `columns`.
pub(super) fn judge_block(
    block: &Block,
    place: &str,
    format: Format,
    width: usize,
    numbers: &[usize],
    columns: &[usize],
    door: &Door,
) -> Result<Judgement> {
    let (mut rows, mut counts) = (0, vec![Counts::default(); columns.len()]);
    lines::for_each_row(block, place, format, width, |values| {
        rows += 1;
        for ((&number, &column), count) in numbers.iter().zip(columns).zip(&mut counts) {
            count[door.gate(column).judge(Raw::Text(values[number])) as usize] += 1;
        }
    })?;
    Ok((rows, counts))
}

/// The rows of a batch, and what becomes of their cells.
pub(super) fn judge(batch: &RecordBatch, columns: &[usize], door: &Door) -> Judgement {
    let rows = batch.num_rows();
    let one = |(array, &column): (&arrow_array::ArrayRef, &usize)| {
        let (gate, mut count) = (door.gate(column), Counts::default());
        arrays::for_each(array.as_ref(), 0..rows, |_, raw| count[gate.judge(raw) as usize] += 1);
        count
    };
    (rows as u64, batch.columns().iter().zip(columns).map(one).collect())
}

fn check_arrow(input: &Input, schema: &Schema, progress: &dyn Progress) -> Result<CheckReport> {
    let mut file = ArrowFile::open(input, Some(schema))?;
    let place = file.place.clone();
    let columns = file.layout.match_schema(schema, &place)?;
    let door = Door::new(schema);
    progress.start(&format!("checking {place}"), None, Unit::Rows);
    let mut total = Total::new(columns.len());
    threads::in_order(
        || file.next_rows(),
        |batch| Ok(judge(&batch, &columns, &door)),
        |part| {
            progress.advance(part.0);
            total.add(part);
            Ok(())
        },
    )?;
    total.report(schema, &columns, &place)
}

fn check_parquet(input: &Input, schema: &Schema, progress: &dyn Progress) -> Result<CheckReport> {
    let file = ParquetFile::open(input, Some(schema))?;
    let place = input.place();
    let columns = file.layout.match_schema(schema, &place)?;
    let door = Door::new(schema);
    progress.start(&format!("checking {place}"), Some(columns.len() as u64), Unit::Steps);
    let mut total = Total::default();
    total.add(judge_parquet(&file, &columns, &door, |columns| progress.advance(columns))?);
    total.report(schema, &columns, &place)
}

/// One column after the other: all at once would hold a page of each.
pub(super) fn judge_parquet(
    file: &ParquetFile,
    columns: &[usize],
    door: &Door,
    mut advance: impl FnMut(u64),
) -> Result<Judgement> {
    let (mut rows, mut counts) = (0, Vec::with_capacity(columns.len()));
    let mut numbers = 0..columns.len();
    threads::in_order(
        || Ok(numbers.next()),
        |number| {
            let mut one = Total::new(1);
            file.for_each_of_column(number, |batch| {
                one.add(judge(&batch, &columns[number..=number], door));
                true
            })?;
            Ok(one)
        },
        |one| {
            advance(1);
            rows = one.rows;
            counts.extend(one.counts);
            Ok(())
        },
    )?;
    Ok((rows, counts))
}

#[derive(Default)]
struct Total {
    rows: u64,
    counts: Vec<Counts>,
}

impl Total {
    fn new(columns: usize) -> Self {
        Total { rows: 0, counts: vec![Counts::default(); columns] }
    }

    fn add(&mut self, (rows, counts): Judgement) {
        self.rows += rows;
        if self.counts.len() < counts.len() {
            self.counts.resize(counts.len(), Counts::default());
        }
        for (total, part) in self.counts.iter_mut().zip(counts) {
            total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
        }
    }

    fn report(self, schema: &Schema, columns: &[usize], place: &str) -> Result<CheckReport> {
        if self.rows == 0 {
            return Err(words::no_rows(place));
        }
        let one = |(counts, &column): (Counts, &usize)| ColumnReport {
            name: schema.columns[column].name.clone(),
            kind: schema.columns[column].kind.word().to_string(),
            below: counts[Verdict::Below as usize],
            above: counts[Verdict::Above as usize],
            not_a_number: counts[Verdict::NotANumber as usize],
            empty: counts[Verdict::Empty as usize],
            unlisted: counts[Verdict::Unlisted as usize],
            missing_allowed: schema.columns[column].may_be_missing(),
        };
        Ok(CheckReport { rows: self.rows, columns: self.counts.into_iter().zip(columns).map(one).collect() })
    }
}
