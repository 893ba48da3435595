//! Whether a model made the rows that are called synthetic, or perhaps those that are called real.

use crate::error::Result;
use crate::evaluate::gaps;
use crate::model::Model;
use crate::source::{BatchMaker, Batches, Progress, Table};

/// Rows drawn from the model to compare with, at most.
const MOST_ROWS: usize = 50_000;
/// Numbers of those, at most.
const MOST_NUMBERS: usize = 10_000_000;
/// The probability that rows of the model are taken for others.
const FALSE_ALARM: f64 = 1e-6;
/// Which rows are drawn: others than a curator's first choice of a seed would give.
const SEED: u64 = u64::from_be_bytes(*b"whomade?");

/// A sentence if the model did not make the synthetic table, and, where it could have made the real one, that they may be
/// swapped. Rows are drawn from the model, and every column of both tables is compared with theirs.
///
/// For rows of one law the largest gap between the distribution functions of m and n rows is above t with probability
/// 2e · exp(−2 t² mn/(m + n)) at most, whatever the law (Dvoretzky, Kiefer and Wolfowitz, with a constant that is right
/// for two tables); with as many columns as there are, all of them together give a false alarm once in a million times.
/// A model that draws its rows more evenly than by chance only lowers that.
pub fn provenance(model: &Model, real: &Table, synthetic: &Table, progress: &dyn Progress) -> Result<Option<String>> {
    let schema = model.schema();
    let rows = synthetic.rows().min(MOST_ROWS).min(MOST_NUMBERS / schema.width().max(1)).max(1);
    let made = made(model, rows as u64, progress)?;
    let strangers = |table: &Table| {
        let found = gaps(table, &made, schema);
        let limit = limit(table.rows(), rows, found.len());
        found.into_iter().filter(|(_, gap)| *gap > limit).map(|(name, _)| name).collect::<Vec<String>>()
    };
    let columns = match &strangers(synthetic)[..] {
        [] => return Ok(None),
        [one] => format!("{one} is"),
        [one, two] => format!("{one} and {two} are"),
        [one, more @ ..] => format!("{one} and {} other columns are", more.len()),
    };
    // A good model draws rows like the real ones, so this may mean either of two things.
    let swapped = match strangers(real).is_empty() {
        true => {
            ", while the first table could be the model's: perhaps the tables are swapped, for the real one comes first"
        }
        false => "",
    };
    Ok(Some(format!(
        "The model did not make the synthetic table as it is: {columns} not distributed as in the rows that it \
         draws{swapped}."
    )))
}

/// Rows of the model as they are read from the file that they are written to.
fn made(model: &Model, rows: u64, progress: &dyn Progress) -> Result<Table> {
    let (schema, layout) = (model.schema(), model.layout());
    let (maker, draw) = (BatchMaker::new(schema, &layout)?, model.draw(rows, SEED));
    let batches: Vec<_> = (0..draw.blocks())
        .map(|block| maker.batch(block..block + 1, |number, drawn| draw.fill(number, drawn)))
        .collect();
    let batches = Batches::new(maker.schema().fields(), schema, "the model", false, batches.into_iter())?;
    Table::of_batches(batches, schema, progress)
}

/// The largest gap that rows of one law have.
fn limit(m: usize, n: usize, columns: usize) -> f64 {
    let (m, n) = (m as f64, n as f64);
    let each = FALSE_ALARM / columns.max(1) as f64;
    (libm::log(2.0 * std::f64::consts::E / each) * (m + n) / (2.0 * m * n)).sqrt()
}
