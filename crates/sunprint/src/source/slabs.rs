//! Wide Parquet tables to codes, slab by slab.
//!
//! A reader of many columns holds a page of each, a megabyte or more: for thousands of columns that is more than the
//! table itself. So a slab of rows is filled a few columns at a time. A page that reaches over several slabs is unpacked
//! for each of them, so slabs are as large as memory allows.

use super::chunks::{Taker, most_rows};
use super::parquet_in::Reading;
use super::plan::Plan;
use super::{threads, words};
use crate::door::Door;
use crate::error::Result;
use crate::tally::codes::Codes;
use crate::wipe::Wiped;
use std::ops::Range;

/// Tables with more columns are read this way.
pub(super) const WIDE: usize = 64;
/// Columns that are read at a time.
const COLUMNS: usize = 16;

/// Some rows of a row group.
struct Slab {
    group: usize,
    rows: Range<usize>,
}

/// Each core takes the next slab when it is done with one.
pub(super) fn by_slabs(reading: Reading) -> Result<()> {
    let Reading { file, schema, columns, progress, takers } = reading;
    let (width, door) = (schema.width(), Door::new(schema));
    let all: Vec<usize> = (0..columns.len()).collect();
    let parts: Vec<(&[usize], Plan)> = all
        .chunks(COLUMNS)
        .map(|part| (part, Plan::new(schema, &part.iter().map(|&c| columns[c]).collect::<Vec<_>>())))
        .collect();
    // At least one slab for each core, if the table is long enough.
    let share = (file.rows as usize).div_ceil(threads::cores()).max(1);
    let most = (takers.slab_bytes() / (2 * width.max(1))).max(256).min(share);
    let mut slabs = slabs(file.group_rows(), most);
    threads::share(
        |_| Ok(slabs.next()),
        || takers.taker(),
        |taker, number, slab| {
            let mut values = Wiped(vec![0_u16; slab.rows.len() * width]);
            let mut strata = Wiped(vec![0_u32; slab.rows.len()]);
            for (part, plan) in &parts {
                let mut done = 0;
                file.for_each_of(part, slab.group, slab.rows.clone(), |batch| {
                    let rows = batch.num_rows().min(strata.len() - done);
                    let out = &mut values[done * width..(done + rows) * width];
                    plan.encode_into(&door, batch.columns(), 0..rows, out, width);
                    plan.add_shares(&door, batch.columns(), 0..rows, &mut strata[done..done + rows]);
                    done += rows;
                    true
                })?;
                if done < strata.len() {
                    return Err(words::damaged(file.place(), "Parquet"));
                }
            }
            progress.advance(strata.len() as u64);
            hand_over(taker.as_mut(), number << 32, width, &values, &strata)
        },
        |taker| taker.close(),
    )
}

/// The row groups in slabs of at most so many rows.
fn slabs(group_rows: Vec<usize>, most: usize) -> impl Iterator<Item = Slab> {
    group_rows.into_iter().enumerate().flat_map(move |(group, rows)| {
        let starts = (0..rows).step_by(most);
        starts.map(move |start| Slab { group, rows: start..start.saturating_add(most).min(rows) })
    })
}

/// Gives a slab away in chunks of the usual size.
fn hand_over(taker: &mut dyn Taker, place: u64, width: usize, values: &[u16], strata: &[u32]) -> Result<()> {
    let rows = most_rows(width);
    for (place, (values, strata)) in (place..).zip(values.chunks(rows * width).zip(strata.chunks(rows))) {
        taker.take(place, Codes::from_parts(width, values.to_vec(), strata.to_vec()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::slabs;

    #[test]
    fn slabs_cover_every_row_once() {
        let found: Vec<_> = slabs(vec![5, 0, 3, 8], 4).map(|slab| (slab.group, slab.rows)).collect();
        assert_eq!(found, [(0, 0..4), (0, 4..5), (2, 0..3), (3, 0..4), (3, 4..8)]);
    }
}
