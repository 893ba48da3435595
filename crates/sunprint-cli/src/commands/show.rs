//! `sunprint show`: what a model holds and what was promised.

use std::fmt::Write;

use serde::Serialize;
use sunprint::error::Result;

use crate::args::ShowArgs;
use crate::commands::load;
use crate::files;
use crate::measure::to_json;
use sunprint::model::Model;
use sunprint::receipt::Receipt;
use sunprint::schema::{Column, ColumnKind, Role};

/// What `show --json` prints.
#[derive(Serialize)]
struct Shown<'a> {
    receipt: &'a Receipt,
    rows: u64,
    features: usize,
    dimension: Option<usize>,
    spectrum: &'a [f64],
    noise_edge: f64,
}

/// Prints a model's receipt, dimension, bounds and spectrum.
pub fn run(args: &ShowArgs) -> Result<()> {
    let model = load(&args.model)?;
    let text = if args.json.json {
        to_json(&Shown {
            receipt: model.receipt(),
            rows: model.rows(),
            features: model.schema().width(),
            dimension: model.receipt().dimension,
            spectrum: &model.release().spectrum,
            noise_edge: model.release().edge,
        })?
    } else {
        plain(&model)
    };
    files::print(&text)
}

fn plain(model: &Model) -> String {
    let mut text = model.receipt().to_string();
    let release = model.release();
    // What lies at or below the edge cannot be told from noise.
    let found: Vec<f64> = release.spectrum.iter().copied().filter(|variance| *variance > release.edge).collect();
    if !found.is_empty() {
        let _ =
            writeln!(text, "\nspread along the directions that stand out from the noise (1 is a column's whole range)");
        for (i, variance) in found.iter().enumerate() {
            let _ = writeln!(text, "  {:>3}  {:.4}", i + 1, variance.sqrt());
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
        ColumnKind::Boolean { .. } => "boolean".to_owned(),
        ColumnKind::Categorical { values } => format!("categorical, {}", values.join(" | ")),
    };
    match column.role {
        Role::Feature => kind,
        Role::Label => format!("{kind} (label)"),
        Role::Stratum => format!("{kind} (stratum)"),
    }
}
