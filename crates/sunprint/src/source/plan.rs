//! Some columns of a file on their way to codes.

use super::arrays::{encode_numbers, for_each};
use crate::door::Door;
use crate::schema::Schema;
use crate::tally::codes::Codes;
use arrow_array::ArrayRef;
use std::ops::Range;

/// Which arrays of a batch are blocks of coordinates, and which split the table.
pub(super) struct Plan {
    features: Vec<Feature>,
    /// Array number, schema column, weight in the number of the stratum.
    strata: Vec<(usize, usize, u32)>,
    width: usize,
}

/// A column that becomes a block of coordinates.
#[derive(Clone, Copy)]
pub(super) struct Feature {
    /// The number of the array.
    pub(super) array: usize,
    /// The column, by its place in the schema.
    pub(super) column: usize,
    /// The first coordinate among those of the plan.
    pub(super) start: usize,
    /// The first coordinate among those of the schema.
    place: usize,
    /// The number of coordinates.
    pub(super) width: usize,
}

impl Plan {
    /// The plan for batches whose arrays are these columns of the schema; blocks keep the schema's order.
    pub(super) fn new(schema: &Schema, arrays: &[usize]) -> Plan {
        let mut weights = vec![0u32; schema.columns.len()];
        let mut weight = 1u32;
        for &c in schema.stratum_columns().iter().rev() {
            weights[c] = weight;
            weight *= schema.columns[c].radix() as u32;
        }
        let mut places = vec![None; schema.columns.len()];
        for (array, &column) in arrays.iter().enumerate() {
            places[column] = Some(array);
        }
        let mut plan = Plan { features: Vec::new(), strata: Vec::new(), width: 0 };
        for block in schema.blocks() {
            if let Some(array) = places[block.column] {
                let (start, place, width) = (plan.width, block.start, block.width());
                plan.features.push(Feature { array, column: block.column, start, place, width });
                plan.width += width;
            }
        }
        let splitting = arrays.iter().enumerate().filter(|&(_, &c)| schema.columns[c].splits());
        plan.strata.extend(splitting.map(|(array, &c)| (array, c, weights[c])));
        plan
    }

    /// The number of coordinates.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The columns that become blocks, in the schema's order.
    pub(super) fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The columns that split, with their places in the schema and their weights.
    pub(super) fn strata(&self) -> &[(usize, usize, u32)] {
        &self.strata
    }

    /// The codes of a batch; the strata are the share of these columns in the number of each row's stratum.
    pub(super) fn encode(&self, door: &Door, arrays: &[ArrayRef], rows: Range<usize>) -> Codes {
        let mut codes = vec![0u16; rows.len() * self.width];
        let mut strata = vec![0u32; rows.len()];
        self.encode_at(door, arrays, rows.clone(), &mut codes, self.width, |feature| feature.start);
        self.add_shares(door, arrays, rows, &mut strata);
        Codes::from_parts(self.width, codes, strata)
    }

    /// Writes the codes of a batch into rows of the whole schema's width, each block to its place there.
    pub(super) fn encode_into(
        &self,
        door: &Door,
        arrays: &[ArrayRef],
        rows: Range<usize>,
        out: &mut [u16],
        width: usize,
    ) {
        self.encode_at(door, arrays, rows, out, width, |feature| feature.place);
    }

    fn encode_at(
        &self,
        door: &Door,
        arrays: &[ArrayRef],
        rows: Range<usize>,
        out: &mut [u16],
        width: usize,
        place: impl Fn(&Feature) -> usize,
    ) {
        // A block of rows at a time, so that the rows being written to stay in the fastest cache.
        const BLOCK: usize = 128;
        for (block, out) in out.chunks_mut((BLOCK * width).max(1)).enumerate() {
            let start = rows.start + block * BLOCK;
            let end = (start + BLOCK).min(rows.end);
            for feature in &self.features {
                let (gate, place) = (door.gate(feature.column), place(feature));
                let array = arrays[feature.array].as_ref();
                if encode_numbers(gate, array, start..end, out[place..].iter_mut().step_by(width)) {
                    continue;
                }
                for_each(array, start..end, |i, raw| {
                    let at = i * width + place;
                    gate.encode_block(raw, &mut out[at..at + feature.width]);
                });
            }
        }
    }

    /// Adds the share of these columns in the number of each row's stratum.
    pub(super) fn add_shares(&self, door: &Door, arrays: &[ArrayRef], rows: Range<usize>, strata: &mut [u32]) {
        for &(array, column, weight) in &self.strata {
            let gate = door.gate(column);
            for_each(arrays[array].as_ref(), rows.clone(), |i, raw| strata[i] += weight * gate.category(raw));
        }
    }
}
