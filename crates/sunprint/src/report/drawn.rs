//! Rows drawn from a model, as a table.

use crate::door::{Door, Gate, Raw, Value};
use crate::error::Result;
use crate::model::Model;
use crate::schema::dates::DAY;
use crate::schema::{Form, HOT};
use crate::source::{Table, in_order};
use crate::tally::codes::Codes;

/// So many rows drawn by a seed, as they would be read from the file that they were written to: every value leaves
/// through the door and comes back. Public, like the model.
pub(super) fn table(model: &Model, rows: u64, seed: u64) -> Result<Table> {
    let (schema, draw) = (model.schema(), model.draw(rows, seed));
    let (blocks, door, width) = (schema.blocks(), Door::new(schema), schema.width());
    let (mut numbers, mut chunks) = (0..draw.blocks(), Vec::new());
    let encoded = |number: u64| {
        let drawn = draw.block(number);
        let mut codes = vec![0; drawn.rows() * width];
        for (row, out) in codes.chunks_exact_mut(width).enumerate() {
            let units = drawn.row(row);
            for block in &blocks {
                let places = block.start..block.end();
                back(door.gate(block.column), block.form, &units[places.clone()], &mut out[places]);
            }
        }
        Ok(Codes::from_parts(width, codes, drawn.strata))
    };
    in_order(
        || Ok(numbers.next()),
        encoded,
        |codes| {
            chunks.push(codes);
            Ok(())
        },
    )?;
    Table::of_codes(chunks, schema)
}

/// Out through a gate and in again.
fn back(gate: &Gate, form: Form, units: &[f64], out: &mut [u16]) {
    let (value, category) = gate.decode_block(units);
    if form == Form::OneHot {
        // The number of a category says more than its text.
        out.fill(0);
        out[category] = HOT;
        return;
    }
    let raw = match value {
        Value::Number(x) => Raw::Number(x),
        Value::Integer(x) => Raw::Integer(x),
        Value::Truth(x) => Raw::Truth(x),
        Value::Category(text) => Raw::Text(text),
        Value::Date(day) => Raw::Moment(day.saturating_mul(DAY)),
        Value::Moment(moment) => Raw::Moment(moment),
        Value::Empty => Raw::Empty,
    };
    gate.encode_block(raw, out);
}
