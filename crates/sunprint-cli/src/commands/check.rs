//! `sunprint check`: how the rows fit the schema, for the curator's eyes.

use std::fmt::Write;

use sunprint::error::Result;

use crate::args::CheckArgs;
use crate::files;
use crate::measure::{input, to_json};
use crate::progress::Bars;
use crate::words::{Talk, counted, thousands};
use sunprint::schema::Schema;
use sunprint::source::{self, CheckReport, ColumnReport};

/// Counts, and prints the counts.
pub fn run(args: &CheckArgs, talk: Talk) -> Result<()> {
    let schema = Schema::load(&args.schema.schema)?;
    let table = input(&args.data).ignoring_extra(args.extra.ignore_extra);
    let report = source::check(&table, &schema, &Bars::new(talk))?;
    files::print(&if args.json.json { to_json(&report)? } else { plain(&report) })?;
    talk.warn("these counts come from the private rows without noise: do not publish them");
    Ok(())
}

/// The report as text: one line for each column that has something to tell.
fn plain(report: &CheckReport) -> String {
    let mut text = format!("{}, {}\n", counted(report.rows, "row"), counted(report.columns.len() as u64, "column"));
    let width = report.columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    let mut fine = 0;
    for column in &report.columns {
        if column.is_clean() {
            fine += 1;
        } else {
            let _ = writeln!(text, "  {:width$}  {}", column.name, remarks(column).join(", "));
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
fn remarks(column: &ColumnReport) -> Vec<String> {
    let numeric = column.kind != "categorical" && column.kind != "boolean";
    let empty = if numeric { "empty (taken as the middle)" } else { "empty" };
    let unlisted =
        if column.kind == "boolean" { "not a truth value" } else { "unlisted (taken as the first of `values`)" };
    let counts = [
        (column.below, "below `min` (moved to it)"),
        (column.above, "above `max` (moved to it)"),
        (column.not_a_number, "not a number (taken as the middle)"),
        (column.empty, empty),
        (column.unlisted, unlisted),
    ];
    counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{} {what}", thousands(*count))).collect()
}
