//! `sunprint check`: how the rows fit the schema, for the curator's eyes.

use std::fmt::Write;

use sunprint::error::Result;

use crate::args::CheckArgs;
use crate::files;
use crate::files::to_json;
use crate::measure::input;
use crate::progress::Bars;
use crate::words::{Talk, counted, thousands};
use sunprint::schema::{Column, ColumnKind, Scale, Schema};
use sunprint::source::{self, CheckReport, ColumnReport};

/// Counts, and prints the counts.
pub fn run(args: &CheckArgs, talk: Talk) -> Result<()> {
    let schema = Schema::load(&args.schema.schema)?;
    let table = input(&args.data, &args.header)?.ignoring_extra(args.extra.ignore_extra);
    let report = source::check(&table, &schema, &Bars::new(talk))?;
    files::print(&if args.json.json { to_json(&report)? } else { plain(&report, &schema) })?;
    talk.warn("these counts come from the private rows without noise: do not publish them");
    Ok(())
}

/// The report as text: one line for each column that has something to tell.
fn plain(report: &CheckReport, schema: &Schema) -> String {
    let mut text = format!("{}, {}\n", counted(report.rows, "row"), counted(report.columns.len() as u64, "column"));
    let width = report.columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    let mut fine = 0;
    for column in &report.columns {
        let described = schema.columns.iter().find(|described| described.name == column.name);
        let remarks = described.map(|described| remarks(column, described)).unwrap_or_default();
        if remarks.is_empty() {
            fine += 1;
        } else {
            let _ = writeln!(text, "  {:width$}  {}", column.name, remarks.join(", "));
        }
    }
    let rest = match fine {
        0 => return text,
        all if all == report.columns.len() => "every column fits",
        1 => "the other column fits",
        _ => "the other columns fit",
    };
    let _ = writeln!(text, "{rest} the schema");
    text
}

/// What is odd about a column, and what becomes of it in a fit.
fn remarks(column: &ColumnReport, described: &Column) -> Vec<String> {
    let unlisted = match &described.kind {
        ColumnKind::Categorical { other: Some(other), .. } => format!("taken as `{other}`"),
        _ => "taken as the first of `values`".to_owned(),
    };
    let missing = match &described.kind {
        _ if column.missing_allowed => "kept",
        ColumnKind::Categorical { ordered, .. } if described.splits() || !ordered => &unlisted,
        ColumnKind::Boolean { .. } if described.splits() => "taken as false",
        _ => "taken as the middle",
    };
    // What cannot be read is taken for a missing value, and that is kept or filled in.
    let taken = if column.missing_allowed { "taken as missing" } else { missing };
    let (below, above, unread) = match &described.kind {
        ColumnKind::Date { .. } => ("before `min` (moved to it)", "after `max` (moved to it)", "not a date"),
        ColumnKind::Datetime { .. } => ("before `min` (moved to it)", "after `max` (moved to it)", "not a datetime"),
        kind if kind.scale() == Scale::Cyclic => {
            ("below `min` (taken around the circle)", "above `max` (taken around the circle)", "not a number")
        }
        _ => ("below `min` (moved to it)", "above `max` (moved to it)", "not a number"),
    };
    let wrong = match described.kind {
        ColumnKind::Boolean { .. } => format!("not a truth value ({taken})"),
        _ => format!("unlisted ({unlisted})"),
    };
    let counts = [
        (column.below, below.to_owned()),
        (column.above, above.to_owned()),
        (column.not_a_number, format!("{unread} ({taken})")),
        (column.empty, format!("empty ({missing})")),
        (column.unlisted, wrong),
    ];
    counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{} {what}", thousands(*count))).collect()
}
