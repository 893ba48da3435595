//! CSV and TSV to codes.

use super::chunks::{Taker, Takers};
use super::fields::Fields;
use super::lines::{self, Block};
use super::place::{Format, Input};
use super::plan::Plan;
use super::{Layout, Progress, check, threads, words};
use crate::door::Door;
use crate::error::Result;
use crate::schema::Schema;

/// What one thread keeps: its taker, and the bytes of the block before.
struct Worker<'a> {
    taker: Box<dyn Taker + 'a>,
    bytes: Vec<u8>,
}

pub(super) fn read(
    input: &Input,
    format: Format,
    schema: &Schema,
    progress: &dyn Progress,
    takers: &dyn Takers,
) -> Result<Layout> {
    let (whole, mut lines) = lines::open(input, format, input.header().names(schema), progress)?;
    let place = lines.place().to_string();
    let (layout, numbers) = whole.chosen(input, schema);
    let columns = layout.match_schema(schema, &place)?;
    let has_rows = lines.judge_beginning()?;
    takers.begin(has_rows, &place)?;
    lines.announce(progress);
    let plan = Plan::new(schema, &columns);
    let door = Door::new(schema);
    let fields = Fields::new(&plan, &numbers, whole.columns.len(), &door, format.delimiter());
    let encode = |block: &Block| match fields.encode(block, &place) {
        // A value in quotes may hold line ends: the plain way knows on which line a row stands.
        Err(_) if block.quoted => {
            let refused = lines::for_each_row(block, &place, format, whole.columns.len(), |_| {});
            Err(refused.err().unwrap_or_else(|| words::damaged(&place, "text")))
        }
        codes => codes,
    };
    let judge =
        |block: &Block| check::judge_block(block, &place, format, whole.columns.len(), &numbers, &columns, &door);
    threads::share(
        |worker: &mut Worker| lines.next_block(std::mem::take(&mut worker.bytes)),
        || Worker { taker: takers.taker(), bytes: Vec::new() },
        |worker, number, block| {
            let codes = encode(&block)?;
            if let Some(judged) = takers.judged() {
                judged.add(judge(&block)?);
            }
            worker.bytes = block.bytes;
            worker.taker.take(number, codes)
        },
        |worker| worker.taker.close(),
    )?;
    Ok(layout)
}
