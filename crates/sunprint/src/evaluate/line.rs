//! Every column by itself, by counting: codes of a line, categories, directions of a circle.

use super::columns::{self, ColumnFigures};
use super::histograms::{Histogram, histogram};
use crate::error::Result;
use crate::schema::{Block, Form, HOT, Schema};
use crate::source::{Progress, Table, Unit, in_order};
use crate::tally::codes::Q;

/// Columns that are counted at a time: neighbours in memory, so that one look at a row serves them all.
pub(super) const AT_A_TIME: usize = 8;

/// The number of codes.
const CODES: usize = Q as usize + 1;

/// Directions of a circle that are told apart.
const DIRECTIONS: usize = 1 << 12;

/// What was counted of one column in one table.
pub(super) struct Seen {
    /// Rows with each code, category or direction.
    pub(super) counts: Vec<u64>,
    /// Rows with a value.
    pub(super) present: u64,
    /// All rows.
    pub(super) rows: u64,
}

impl Seen {
    /// The share of the rows without a value.
    pub(super) fn missing(&self) -> f64 {
        (self.rows - self.present) as f64 / self.rows as f64
    }

    /// Σ x over the rows with a value, and Σ x².
    fn sums(&self) -> (i128, i128) {
        let add = |(sum, square): (i128, i128), (x, &count): (usize, &u64)| {
            let (x, count) = (x as i128, i128::from(count));
            (sum + x * count, square + x * x * count)
        };
        self.counts.iter().enumerate().fold((0, 0), add)
    }

    /// The mean code in units of the width.
    pub(super) fn mean(&self) -> f64 {
        self.sums().0 as f64 / (self.present as f64 * f64::from(Q))
    }

    /// The standard deviation in units of the width: √(n Σx² − (Σx)²) / (n Q), exact up to the root.
    pub(super) fn deviation(&self) -> f64 {
        let (sum, square) = self.sums();
        ((i128::from(self.present) * square - sum * sum) as f64).sqrt() / (self.present as f64 * f64::from(Q))
    }

    /// Mean and standard deviation where code c stands for the value `at(c)`.
    pub(super) fn moments(&self, at: impl Fn(usize) -> f64) -> (f64, f64) {
        let over = |f: &dyn Fn(f64) -> f64| {
            let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
            counted.map(|(code, &count)| count as f64 * f(at(code))).sum::<f64>() / self.present as f64
        };
        let mean = over(&|x| x);
        (mean, over(&|x| (x - mean) * (x - mean)).sqrt())
    }

    /// Whether all rows have the same value, or all have none.
    pub(super) fn is_constant(&self) -> bool {
        let different = self.counts.iter().filter(|&&count| count > 0).count();
        different + usize::from(self.present < self.rows) <= 1
    }
}

/// The figures and bars of every column that is a part of a row, in the order of the schema.
pub(super) fn compare(
    real: &Table,
    synthetic: &Table,
    schema: &Schema,
    progress: &dyn Progress,
) -> Result<Vec<(ColumnFigures, Option<Histogram>)>> {
    let blocks = schema.blocks();
    let mut parts = blocks.chunks(AT_A_TIME);
    let mut found = Vec::with_capacity(blocks.len());
    progress.start("comparing columns", Some(blocks.len() as u64), Unit::Steps);
    let done = in_order(
        || Ok(parts.next()),
        |some: &[Block]| {
            let (a, b) = (count(real, some, schema), count(synthetic, some, schema));
            let sides = some.iter().zip(a.iter().zip(&b));
            let one = |(block, (a, b)): (&Block, (&Seen, &Seen))| {
                let column = &schema.columns[block.column];
                (columns::compare(column, block.form, a, b), histogram(column, block.form, &[a, b]))
            };
            Ok(sides.map(one).collect::<Vec<_>>())
        },
        |some| {
            progress.advance(some.len() as u64);
            found.extend(some);
            Ok(())
        },
    );
    progress.done();
    done.map(|()| found)
}

pub(super) fn count(table: &Table, blocks: &[Block], schema: &Schema) -> Vec<Seen> {
    let empty = |block: &Block| {
        let places = match block.form {
            Form::Line => CODES,
            Form::Circle => DIRECTIONS,
            Form::OneHot => block.len,
        };
        Seen { counts: vec![0; places], present: 0, rows: table.rows() as u64 }
    };
    let mut seen: Vec<Seen> = blocks.iter().map(empty).collect();
    for codes in table.chunks() {
        for row in 0..codes.rows() {
            let row = codes.row(row);
            for (block, seen) in blocks.iter().zip(&mut seen) {
                let codes = &row[block.start..block.end()];
                if block.absence && codes[block.len] > HOT / 2 {
                    continue;
                }
                let place = match block.form {
                    Form::Line => usize::from(codes[0]),
                    Form::Circle => direction(codes),
                    Form::OneHot => codes.iter().position(|&code| code == HOT).unwrap_or(0),
                };
                seen.counts[place] += 1;
                seen.present += 1;
            }
        }
    }
    for (block, seen) in blocks.iter().zip(&mut seen) {
        // The last category of a column that may be missing is the missing value.
        if block.form == Form::OneHot && schema.columns[block.column].may_be_missing() {
            seen.present -= seen.counts.pop().unwrap_or(0);
        }
    }
    seen
}

/// The direction of a point of the circle, in parts of a turn.
fn direction(codes: &[u16]) -> usize {
    let off = |code: u16| f64::from(code) - f64::from(Q) / 2.0;
    let turns = libm::atan2(off(codes[1]), off(codes[0])) / std::f64::consts::TAU;
    ((turns - turns.floor()) * DIRECTIONS as f64) as usize % DIRECTIONS
}

/// Σ_c |F(c) − G(c)| · (the width of step c) for the distribution functions of two tables of counts.
///
/// On the line W1 is the area between the distribution functions (the monotone plan is optimal). Both are steps at
/// codes. With A and B the running counts, |F − G| = |A n − B m| / (m n), where A n and B m are below 2⁶⁶. For equal
/// steps the sum is exact up to the last division.
pub(super) fn w1(a: &Seen, b: &Seen) -> f64 {
    let mut area = 0_u128;
    gaps(a, b, |_, gap| area += gap.unsigned_abs());
    // At the largest code both functions are 1, which adds nothing.
    area as f64 / (a.present as f64 * b.present as f64 * f64::from(Q))
}

/// The same with steps of different widths: code c stands for the value `at(c)`.
pub(super) fn w1_between(a: &Seen, b: &Seen, at: impl Fn(usize) -> f64) -> f64 {
    let (mut area, last) = (0.0, a.counts.len() - 1);
    gaps(a, b, |code, gap| {
        if code < last && gap != 0 {
            area += gap.unsigned_abs() as f64 * (at(code + 1) - at(code));
        }
    });
    area / (a.present as f64 * b.present as f64)
}

/// The same around a circle, in turns. Whoever moves around a circle chooses which way: the area between F and G − α is
/// least for the median of F − G.
pub(super) fn w1_around(a: &Seen, b: &Seen) -> f64 {
    let mut all = Vec::with_capacity(a.counts.len());
    gaps(a, b, |_, gap| all.push(gap));
    all.sort_unstable();
    let median = all[all.len() / 2];
    let area: u128 = all.iter().map(|gap| gap.abs_diff(median)).sum();
    area as f64 / (a.present as f64 * b.present as f64 * all.len() as f64)
}

fn gaps(a: &Seen, b: &Seen, mut f: impl FnMut(usize, i128)) {
    let (m, n) = (i128::from(a.present), i128::from(b.present));
    let mut below = 0_i128;
    for (code, (&a, &b)) in a.counts.iter().zip(&b.counts).enumerate() {
        below += i128::from(a) * n - i128::from(b) * m;
        f(code, below);
    }
}
