//! Rows as cells of codes in Arrow, for engines that keep codes between passes on machines that may see the rows.
//!
//! A cell is a row: its codes, two bytes each, and where the schema has strata, four bytes with the number of its stratum;
//! bytes in the order of the machine.

use super::batches::{Batches, SLICE};
use super::chunks::{Shelf, Taker, Takers, most_rows};
use super::guard::guarded;
use super::store::Answers;
use super::{Progress, Unit, go_on, threads};
use crate::error::{Error, Kind, Result};
use crate::schema::Schema;
use crate::tally::codes::Codes;
use crate::tally::{Fingerprint, Marker, Pass, Tally};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, GenericBinaryArray, OffsetSizeTrait};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::DataType;

impl Batches {
    /// All rows as cells, in order. **Secret**: codes are private rows in another spelling, and nobody overwrites an array
    /// of Arrow when it is dropped.
    pub fn secret_cells(self, schema: &Schema, progress: &dyn Progress) -> Result<Vec<BinaryArray>> {
        let shelf = Shelf::default();
        self.read(schema, progress, &shelf)?;
        Ok(shelf.into_chunks().into_iter().map(|codes| cells_of(codes, schema.strata())).collect())
    }
}

/// The tally of rows that come as cells, with their fingerprint: the same as of the rows themselves.
pub fn answer_cells(
    mut cells: impl Iterator<Item = Result<ArrayRef>> + Send,
    pass: &Pass,
    marker: &Marker,
    progress: &dyn Progress,
) -> Result<(Tally, Fingerprint)> {
    progress.start(&format!("measuring, pass {}", pass.number), None, Unit::Rows);
    let answers = Answers::new(pass, progress, 0).marked(Some(marker));
    let rows = most_rows(pass.width).min(SLICE);
    let answered = threads::share(
        |_| {
            go_on(progress)?;
            guarded(|| cells.next()).ok_or_else(damaged)?.transpose()
        },
        || answers.taker(),
        |taker: &mut Box<dyn Taker + '_>, place, cells: ArrayRef| {
            (0..cells.len()).step_by(rows).try_for_each(|first| {
                let some = cells.slice(first, rows.min(cells.len() - first));
                taker.take(place, codes_of(&some, pass).ok_or_else(damaged)?)
            })
        },
        |taker| taker.close(),
    );
    progress.done();
    answered.map(|()| answers.finish_marked())
}

fn damaged() -> Error {
    Error::new(Kind::Protocol, "what was kept of the rows does not have their form")
        .hint("every part must be kept as it was made, by the same version and for the same schema")
}

fn cell_bytes(width: usize, strata: usize) -> usize {
    2 * width + if strata > 1 { 4 } else { 0 }
}

fn cells_of(codes: Codes, strata: usize) -> BinaryArray {
    let (rows, width) = (codes.rows(), codes.width());
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(cell_bytes(width, strata), rows));
    let bytes = if strata > 1 {
        let mut bytes = Vec::with_capacity(rows * cell_bytes(width, strata));
        for i in 0..rows {
            bytes.extend(codes.row(i).iter().flat_map(|code| code.to_ne_bytes()));
            bytes.extend(codes.stratum(i).to_ne_bytes());
        }
        Buffer::from_vec(bytes)
    } else {
        Buffer::from_vec(codes.into_parts().0)
    };
    BinaryArray::new(offsets, bytes, None)
}

/// The rows of some cells; nothing if they do not have the form that the pass needs.
fn codes_of(cells: &ArrayRef, pass: &Pass) -> Option<Codes> {
    match cells.data_type() {
        DataType::Binary => codes_within(cells.as_binary::<i32>(), pass),
        DataType::LargeBinary => codes_within(cells.as_binary::<i64>(), pass),
        _ => None,
    }
}

fn codes_within<O: OffsetSizeTrait>(cells: &GenericBinaryArray<O>, pass: &Pass) -> Option<Codes> {
    let length = cell_bytes(pass.width, pass.strata);
    let offsets = cells.value_offsets();
    let even = offsets.windows(2).all(|pair| pair[1].as_usize() - pair[0].as_usize() == length);
    if cells.null_count() > 0 || !even {
        return None;
    }
    let bytes = &cells.value_data()[offsets.first()?.as_usize()..offsets.last()?.as_usize()];
    let code = |pair: &[u8]| u16::from_ne_bytes([pair[0], pair[1]]);
    if pass.strata <= 1 {
        let values = bytes.chunks_exact(2).map(code).collect();
        return Some(Codes::from_parts(pass.width, values, vec![0; cells.len()]));
    }
    let mut values = Vec::with_capacity(cells.len() * pass.width);
    let mut strata = Vec::with_capacity(cells.len());
    for cell in bytes.chunks_exact(length) {
        let (codes, stratum) = cell.split_at(2 * pass.width);
        values.extend(codes.chunks_exact(2).map(code));
        strata.push(u32::from_ne_bytes(stratum.try_into().ok()?));
    }
    let known = strata.iter().all(|&stratum| (stratum as usize) < pass.strata);
    known.then(|| Codes::from_parts(pass.width, values, strata))
}
