//! One table by itself, column by column.

use super::columns::{own, shares};
use super::histograms::{Histogram, histogram};
use super::line::{self, AT_A_TIME, Seen};
use crate::error::Result;
use crate::schema::{Block, Column, ColumnKind, Form, Scale, Schema};
use crate::source::{Table, in_order};
use crate::tally::codes::Q;

/// The quantiles that are taken, and their names.
pub(crate) const QUANTILES: [(f64, &str); 5] =
    [(0.05, "5 %"), (0.25, "25 %"), (0.5, "median"), (0.75, "75 %"), (0.95, "95 %")];

/// One column of one table. As private as the table is.
pub(crate) struct Alone {
    /// Names of numbers, and the numbers in the column's own unit or as shares: `mean`, `standard deviation`, quantiles
    /// and `missing`; for everything that is listed the share of each category of the rows that have one.
    ///
    /// How many there are depends on the schema alone. Where no row has a value, numbers are the middle of the bounds.
    pub(crate) figures: Vec<(String, f64)>,
    /// The bars; none for categories.
    pub(crate) histogram: Option<Histogram>,
}

/// Every column of a table, in the order of the schema, those that split it too.
pub(crate) fn alone(table: &Table, schema: &Schema) -> Result<Vec<Alone>> {
    let blocks = schema.blocks();
    let mut parts = blocks.chunks(AT_A_TIME);
    let mut of_blocks = Vec::with_capacity(blocks.len());
    in_order(
        || Ok(parts.next()),
        |some: &[Block]| {
            let seen = line::count(table, some, schema);
            let one = |(block, seen): (&Block, &Seen)| feature(&schema.columns[block.column], block.form, seen);
            Ok(some.iter().zip(&seen).map(one).collect::<Vec<_>>())
        },
        |some| {
            of_blocks.extend(some);
            Ok(())
        },
    )?;
    let mut counts = vec![0_u64; schema.strata()];
    for codes in table.chunks() {
        (0..codes.rows()).for_each(|row| counts[codes.stratum(row) as usize] += 1);
    }
    let splitting = schema.stratum_columns();
    let mut features = of_blocks.into_iter();
    let columns = schema.columns.iter().enumerate().filter_map(|(number, column)| {
        match splitting.iter().position(|&c| c == number) {
            Some(place) => Some(label(schema, column, place, &counts)),
            None => features.next(),
        }
    });
    Ok(columns.collect())
}

fn feature(column: &Column, form: Form, seen: &Seen) -> Alone {
    let mut figures = Vec::new();
    if column.kind.is_listed() {
        let shares = if seen.present > 0 { shares(column, form, seen) } else { vec![0.0; column.categories().len()] };
        figures.extend(column.categories().into_iter().map(str::to_owned).zip(shares));
    } else if form == Form::Line {
        figures = numbers(column, seen);
    }
    if column.may_be_missing() {
        figures.push(("missing".to_owned(), seen.missing()));
    }
    Alone { figures, histogram: histogram(column, form, &[seen]).filter(|_| !column.kind.is_listed()) }
}

fn numbers(column: &Column, seen: &Seen) -> Vec<(String, f64)> {
    let own = own(column);
    let at = |code: usize| own(code as f64 / f64::from(Q));
    let (mean, deviation) = match column.kind.scale() {
        _ if seen.present == 0 => (at(usize::from(Q) / 2), 0.0),
        Scale::Log => seen.moments(at),
        _ => (own(seen.mean()), seen.deviation() * (own(1.0) - own(0.0))),
    };
    let mut figures = vec![("mean".to_owned(), mean), ("standard deviation".to_owned(), deviation)];
    // A code may be a little off the whole number that it stands for.
    let whole = !matches!(column.kind, ColumnKind::Continuous { .. });
    for (part, name) in QUANTILES {
        let value = at(quantile(seen, part));
        figures.push((name.to_owned(), if whole { value.round() } else { value }));
    }
    figures
}

/// The least code with at least this part of the rows at or below it.
fn quantile(seen: &Seen, part: f64) -> usize {
    if seen.present == 0 {
        return usize::from(Q) / 2;
    }
    let (mut below, enough) = (0, part * seen.present as f64);
    seen.counts
        .iter()
        .position(|&count| {
            below += count;
            count > 0 && below as f64 >= enough
        })
        .unwrap_or(0)
}

fn label(schema: &Schema, column: &Column, place: usize, counts: &[u64]) -> Alone {
    let mut rows = vec![0_u64; column.radix()];
    for (stratum, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        rows[schema.categories_of(stratum as u32)[place] as usize] += count;
    }
    let all: u64 = rows.iter().sum();
    let missing = if column.may_be_missing() { rows.pop().unwrap_or(0) } else { 0 };
    let share = |count: u64, of: u64| count as f64 / of.max(1) as f64;
    let listed = column.categories().into_iter().map(str::to_owned);
    let mut figures: Vec<(String, f64)> = listed.zip(rows.iter().map(|&count| share(count, all - missing))).collect();
    if column.may_be_missing() {
        figures.push(("missing".to_owned(), share(missing, all)));
    }
    Alone { figures, histogram: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::codes::Codes;

    #[test]
    fn figures_are_those_of_the_rows() {
        let schema = Schema::parse(
            "[[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 65535\nmissing = \"allow\"\n\
             [[column]]\nname = \"smokes\"\nkind = \"boolean\"\nrole = \"label\"\nmissing = \"allow\"\n\
             [[column]]\nname = \"size\"\nkind = \"categorical\"\nordered = true\nvalues = [\"s\", \"m\", \"l\"]\n",
            "s",
        )
        .unwrap();
        let mut codes = Codes::with_capacity(3, 0);
        for i in 1..=100_u16 {
            codes.push(&[i, 0, if i <= 25 { 0 } else { Q }], u32::from(i % 4 == 0));
        }
        for _ in 0..25 {
            codes.push(&[32_768, crate::schema::HOT, Q], 2);
        }
        let found = alone(&Table::of_codes(vec![codes], &schema).unwrap(), &schema).unwrap();
        let figures = |column: usize| -> Vec<(&str, f64)> {
            found[column].figures.iter().map(|(name, x)| (name.as_str(), (x * 1e6).round() / 1e6)).collect()
        };
        let expected = [
            ("mean", 50.5),
            ("standard deviation", 28.866_07),
            ("5 %", 5.0),
            ("25 %", 25.0),
            ("median", 50.0),
            ("75 %", 75.0),
            ("95 %", 95.0),
            ("missing", 0.2),
        ];
        assert_eq!(figures(0), expected);
        assert_eq!(figures(1), [("false", 0.75), ("true", 0.25), ("missing", 0.2)]);
        assert_eq!(figures(2), [("s", 0.2), ("m", 0.0), ("l", 0.8)]);
        assert!(found[0].histogram.is_some() && found[1].histogram.is_none() && found[2].histogram.is_none());
    }
}
