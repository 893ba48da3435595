//! `sunprint show`: what a model holds and what was promised.

use std::fmt::Write;

use serde::Serialize;
use sunprint::error::Result;

use crate::args::ShowArgs;
use crate::files;
use crate::measure::to_json;
use crate::pending::{Column, ColumnKind, Model, Receipt, Role};

/// What `show --json` prints.
#[derive(Serialize)]
struct Shown<'a> {
    receipt: &'a Receipt,
    rows: u64,
    features: usize,
    dimension: usize,
    spectrum: &'a [f64],
}

/// Prints a model's receipt, dimension, bounds and spectrum.
pub fn run(args: &ShowArgs) -> Result<()> {
    let model = Model::load(&args.model.model)?;
    let text = if args.json.json {
        to_json(&Shown {
            receipt: model.receipt(),
            rows: model.rows(),
            features: model.schema().features().len(),
            dimension: model.dimension(),
            spectrum: model.spectrum(),
        })?
    } else {
        plain(&model)
    };
    files::print(&text)
}

fn plain(model: &Model) -> String {
    let mut text = format!("{}\n", model.receipt());
    let _ = writeln!(
        text,
        "measured in detail along {} of {} directions",
        model.dimension(),
        model.schema().features().len()
    );
    if !model.spectrum().is_empty() {
        let _ = writeln!(text, "\nspread along the released directions (1 = the whole range of a column)");
        for (i, variance) in model.spectrum().iter().enumerate() {
            let _ = writeln!(text, "  {:>3}  {:.4}", i + 1, variance.max(0.0).sqrt());
        }
    }
    let _ = writeln!(text, "\ncolumns");
    let width = model.schema().columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    for column in &model.schema().columns {
        let _ = writeln!(text, "  {:width$}  {}", column.name, describe(column));
    }
    text
}

/// A column's kind and bounds in a few words.
fn describe(column: &Column) -> String {
    let kind = match &column.kind {
        ColumnKind::Continuous { min, max } => format!("continuous, {min} to {max}"),
        ColumnKind::Integer { min, max } => format!("integer, {min} to {max}"),
        ColumnKind::Boolean => "boolean".to_owned(),
        ColumnKind::Categorical { values } => format!("categorical, {}", values.join(" | ")),
    };
    match column.role {
        Role::Feature => kind,
        Role::Label => format!("{kind} (label)"),
        Role::Stratum => format!("{kind} (stratum)"),
    }
}
