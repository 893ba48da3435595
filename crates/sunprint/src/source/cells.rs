//! Rows as cells of sealed codes in Arrow, for engines that keep codes between passes.
//!
//! A cell is some rows, sealed ([`Seal`]): their codes row by row, two bytes each, and where the schema has strata, the
//! numbers of their strata behind, four bytes each; little-endian. Its length says how many rows there are.

use super::batches::{Batches, SLICE};
use super::chunks::{Shelf, Taker, Takers, most_rows};
use super::guard::guarded;
use super::seal::{Opening, Seal, sealed_bytes};
use super::store::Answers;
use super::{Progress, Unit, go_on, threads};
use crate::error::{Error, Kind, Result};
use crate::schema::Schema;
use crate::tally::codes::Codes;
use crate::tally::{Fingerprint, Marker, Pass, Tally};
use crate::wipe::Wiped;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, GenericBinaryArray, OffsetSizeTrait};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::DataType;

impl Batches {
    /// All rows as cells, in order, in about `bytes` bytes each, and at least one row.
    pub fn sealed_cells(
        self,
        schema: &Schema,
        seal: &Seal,
        bytes: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<BinaryArray>> {
        let shelf = Shelf::default();
        self.read(schema, progress, &shelf)?;
        // Chunk by chunk, so that codes are overwritten as soon as they are sealed.
        shelf.into_chunks().into_iter().map(|codes| cells_of(&codes, schema.strata(), seal, bytes)).collect()
    }
}

/// The tally of rows that come as cells, with their fingerprint: the same as of the rows themselves.
pub fn answer_cells(
    mut cells: impl Iterator<Item = Result<ArrayRef>> + Send,
    pass: &Pass,
    seal: &Seal,
    marker: &Marker,
    progress: &dyn Progress,
) -> Result<(Tally, Fingerprint)> {
    progress.start(&format!("measuring, pass {}", pass.number), None, Unit::Rows);
    let answers = Answers::new(pass, progress, 0).marked(Some(marker));
    let answered = threads::share(
        |_| {
            go_on(progress)?;
            guarded(|| cells.next()).ok_or_else(damaged)?.transpose()
        },
        || (answers.taker(), Opener::new(seal, pass)),
        |(taker, opener): &mut (Box<dyn Taker + '_>, Opener<'_>), place, cells: ArrayRef| match cells.data_type() {
            DataType::Binary => opener.open(cells.as_binary::<i32>(), |codes| taker.take(place, codes)),
            DataType::LargeBinary => opener.open(cells.as_binary::<i64>(), |codes| taker.take(place, codes)),
            _ => Err(damaged()),
        },
        |(taker, _)| taker.close(),
    );
    progress.done();
    answered.map(|()| answers.finish_marked())
}

fn damaged() -> Error {
    Error::new(Kind::Protocol, "what was kept of the rows does not have their form")
        .hint("every part must be kept as it was made, by the same version and for the same schema")
}

fn row_bytes(width: usize, strata: usize) -> usize {
    2 * width + if strata > 1 { 4 } else { 0 }
}

fn cells_of(codes: &Codes, strata: usize, seal: &Seal, bytes: usize) -> Result<BinaryArray> {
    let (rows, width) = (codes.rows(), codes.width());
    let row = row_bytes(width, strata);
    let most = (bytes / row.max(1)).max(1);
    let lengths = || (0..rows).step_by(most).map(|first| sealed_bytes(row * most.min(rows - first)));
    let mut sealed = Vec::with_capacity(lengths().sum());
    let mut sealing = seal.begin()?;
    let mut text = Wiped(Vec::with_capacity(row * most.min(rows)));
    let (values, numbers) = codes.parts();
    for first in (0..rows).step_by(most) {
        let last = rows.min(first + most);
        text.clear();
        text.extend(values[first * width..last * width].iter().flat_map(|code| code.to_le_bytes()));
        if strata > 1 {
            text.extend(numbers[first..last].iter().flat_map(|stratum| stratum.to_le_bytes()));
        }
        sealing.seal(&text, &mut sealed);
    }
    Ok(BinaryArray::new(OffsetBuffer::from_lengths(lengths()), Buffer::from_vec(sealed), None))
}

/// Opens cells, and gathers their rows into chunks that are worth a tally.
struct Opener<'a> {
    opening: Opening<'a>,
    text: Wiped<u8>,
    width: usize,
    strata: usize,
    most_rows: usize,
}

impl<'a> Opener<'a> {
    fn new(seal: &'a Seal, pass: &Pass) -> Opener<'a> {
        let (width, strata, most_rows) = (pass.width, pass.strata, most_rows(pass.width).min(SLICE));
        Opener { opening: seal.opening(), text: Wiped(Vec::new()), width, strata, most_rows }
    }

    fn open<O: OffsetSizeTrait>(
        &mut self,
        cells: &GenericBinaryArray<O>,
        mut take: impl FnMut(Codes) -> Result<()>,
    ) -> Result<()> {
        let mut take = |codes: Codes| if codes.rows() == 0 { Ok(()) } else { take(codes) };
        let mut codes = Codes::with_capacity(self.width, 0);
        for cell in cells {
            let rows = cell.and_then(|cell| self.rows_of(cell)).ok_or_else(damaged)?;
            // Room for a whole chunk at once: a vector that grows leaves behind what it held.
            if codes.rows() == 0 || codes.rows() + rows > self.most_rows {
                let next = Codes::with_capacity(self.width, rows.max(self.most_rows));
                take(std::mem::replace(&mut codes, next))?;
            }
            let (values, strata) = self.text.split_at(2 * self.width * rows);
            let values = values.as_chunks().0.iter().map(|&pair| u16::from_le_bytes(pair));
            codes.extend(rows, values, strata_of(strata));
        }
        take(codes)
    }

    /// Opens a cell, and says how many rows are in it; nothing if it does not have the form that the pass needs.
    fn rows_of(&mut self, cell: &[u8]) -> Option<usize> {
        self.text.clear();
        self.opening.open(cell, &mut self.text)?;
        let row = row_bytes(self.width, self.strata);
        let rows = self.text.len().checked_div(row).filter(|rows| rows * row == self.text.len())?;
        let known = |stratum| (stratum as usize) < self.strata;
        strata_of(&self.text[2 * self.width * rows..]).all(known).then_some(rows)
    }
}

fn strata_of(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|&four| u32::from_le_bytes(four))
}
