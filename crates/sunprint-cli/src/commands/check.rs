//! `sunprint check`: how the rows fit the schema, for the curator's eyes.

use std::fmt::Write;

use sunprint::error::Result;

use crate::args::CheckArgs;
use crate::files;
use crate::measure::{input, to_json};
use crate::progress::Bars;
use crate::words::{Talk, thousands};
use sunprint::schema::Schema;
use sunprint::source::{self, CheckReport, ColumnReport};

/// Counts, and prints the counts.
pub fn run(args: &CheckArgs, talk: Talk) -> Result<()> {
    let schema = Schema::load(&args.schema.schema)?;
    let report = source::check(&input(&args.data), &schema, &Bars::new(talk))?;
    files::print(&if args.json.json { to_json(&report)? } else { plain(&report) })?;
    talk.warn("these counts come from the private rows without noise: do not publish them");
    Ok(())
}

/// The report as text: one line for each column that has something to tell.
fn plain(report: &CheckReport) -> String {
    let mut text = format!("{} rows, {} columns\n", thousands(report.rows), report.columns.len());
    let width = report.columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    let mut fine = 0;
    for column in &report.columns {
        let remarks = remarks(column);
        if remarks.is_empty() {
            fine += 1;
        } else {
            let _ = writeln!(text, "  {:width$}  {}", column.name, remarks.join(", "));
        }
    }
    let rest = if fine == report.columns.len() { "every column fits" } else { "the other columns fit" };
    let _ = writeln!(text, "{rest} the schema");
    text
}

/// What is odd about a column, and what becomes of it in a fit.
fn remarks(column: &ColumnReport) -> Vec<String> {
    let counts = [
        (column.below, "below `min` (moved to it)"),
        (column.above, "above `max` (moved to it)"),
        (column.not_a_number, "not a number (taken as the middle of the bounds)"),
        (column.empty, "empty (taken as the middle of the bounds)"),
        (column.unlisted, "not among `values` (taken as the first)"),
    ];
    counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{} {what}", thousands(*count))).collect()
}
