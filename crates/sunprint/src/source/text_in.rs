//! CSV and TSV to codes.

use super::arrays::Plan;
use super::lines::{self, Block};
use super::place::{Format, Input};
use super::table::{Gathering, Table};
use super::{Progress, threads};
use crate::door::{Door, Raw};
use crate::error::Result;
use crate::schema::Schema;

pub(super) fn read(input: &Input, format: Format, schema: &Schema, progress: &dyn Progress) -> Result<Table> {
    let (layout, mut lines) = lines::open(input, format, progress)?;
    let columns = layout.match_schema(schema, lines.place())?;
    let plan = Plan::new(schema, &columns);
    let door = Door::new(schema);
    let place = lines.place().to_string();
    let mut gathering = Gathering::new(plan.width());
    let encode = |block: Block| {
        let (mut codes, mut strata) = (Vec::new(), Vec::new());
        // Room for all rows of the block if they are as long as the first.
        let length = memchr::memchr(b'\n', &block.bytes).unwrap_or(block.bytes.len()) + 1;
        let rows = block.bytes.len() / length + 1;
        strata.reserve(rows);
        codes.reserve(rows * plan.width());
        lines::for_each_row(&block, &place, format, columns.len(), |values| {
            for &(number, column) in plan.features() {
                codes.push(door.gate(column).encode(Raw::Text(values[number])));
            }
            let share = |&(number, column, weight): &(usize, usize, u32)| {
                weight * door.gate(column).category(Raw::Text(values[number]))
            };
            strata.push(plan.strata().iter().map(share).sum());
        })?;
        Ok((codes, strata))
    };
    threads::in_order(
        || lines.next_block(),
        encode,
        |(codes, strata): (Vec<u16>, Vec<u32>)| {
            gathering.push(&codes, &strata);
            Ok(())
        },
    )?;
    Ok(gathering.finish(layout))
}
