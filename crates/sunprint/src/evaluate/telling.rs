//! Whether a classifier can tell synthetic rows from real ones.

use super::Picks;
use crate::error::Result;
use crate::math::auc::{auc, chance};
use crate::math::boost::grow;
use crate::math::stream::Stream;
use crate::schema::Schema;
use crate::source::{Progress, Table, Unit, in_order};
use serde::Serialize;

/// Rows of each table, at most.
const MOST_ROWS: usize = 10_000;
/// Numbers of each table, at most: what keeps wide tables from taking long.
const MOST_NUMBERS: usize = 4_000_000;
/// Fewer rows of each table tell nothing.
pub(super) const FEWEST_ROWS: usize = 30;
/// Keeps the choice of rows apart from other uses of the same seed.
const PURPOSE: u64 = u64::from_be_bytes(*b"telltale");

/// How well boosted trees tell synthetic rows from real ones that they have not seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Telling {
    /// Rows of each table.
    pub rows: usize,
    /// The area under the curve: how often a synthetic row gets the larger score of a pair with a real one. 0.5 is
    /// perfect: nobody can tell. 1 is the worst.
    pub auc: f64,
    /// The standard deviation that it has by chance where both tables are of one law.
    pub chance: f64,
}

/// The points of some rows and, behind them, the categories of the columns that split the table, so that labels on wrong
/// rows are seen.
struct Half {
    points: Vec<f64>,
    synthetic: Vec<bool>,
}

/// Learns from one half of the rows of both tables and asks about the other half, then the other way round; as many rows
/// of both. `None` for fewer than [`FEWEST_ROWS`] of either.
pub(super) fn telling(
    real: &Table,
    synthetic: &Table,
    schema: &Schema,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Option<Telling>> {
    let splitting = schema.stratum_columns().len();
    let width = schema.width() + splitting;
    let most = MOST_ROWS.min(MOST_NUMBERS / width.max(1)).max(FEWEST_ROWS);
    let rows = real.rows().min(synthetic.rows()).min(most) / 2 * 2;
    if rows < FEWEST_ROWS {
        return Ok(None);
    }
    let picks = [Picks::new(real), Picks::new(synthetic)];
    let chosen = [0, 1].map(|table| Stream::new(seed, PURPOSE, table).choose(picks[table as usize].rows(), rows));
    let half = |part: usize| {
        let mut half = Half { points: Vec::with_capacity(rows * width), synthetic: Vec::with_capacity(rows) };
        for (table, (picks, chosen)) in picks.iter().zip(&chosen).enumerate() {
            for &row in &chosen[part * rows / 2..(part + 1) * rows / 2] {
                half.points.extend(picks.points(&[row]));
                let categories = schema.categories_of(picks.stratum(row));
                half.points.extend(categories.iter().take(splitting).map(|&category| f64::from(category)));
                half.synthetic.push(table == 1);
            }
        }
        half
    };
    let halves = [half(0), half(1)];
    progress.start("telling rows apart", Some(2), Unit::Steps);
    let (mut next, mut sum) = (0..2_usize, 0.0);
    let done = in_order(
        || Ok(next.next()),
        |one: usize| {
            let (learnt, asked) = (&halves[one], &halves[1 - one]);
            let trees = grow(&learnt.points, width, &learnt.synthetic, seed);
            let scores = |wanted: bool| -> Vec<f64> {
                let of = asked.points.chunks(width).zip(&asked.synthetic).filter(|(_, side)| **side == wanted);
                of.map(|(point, _)| trees.score(point)).collect()
            };
            Ok(auc(&scores(true), &scores(false)).unwrap_or(0.5))
        },
        |auc| {
            progress.advance(1);
            sum += auc;
            Ok(())
        },
    );
    progress.done();
    done?;
    // The two halves are asked about once each, so their mean has half of the variance.
    Ok(Some(Telling { rows, auc: sum / 2.0, chance: chance(rows / 2, rows / 2) / 2.0_f64.sqrt() }))
}
