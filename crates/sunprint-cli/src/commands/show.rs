//! `sunprint show`: what a model holds and what was promised.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use sunprint::error::Result;

use crate::args::{ShowArgs, StatementForm};
use crate::commands::load;
use crate::files;
use crate::files::to_json;
use crate::pages;
use crate::words::{Talk, thousands};
use sunprint::measure::{Measure, Side, StratumLattice};
use sunprint::model::{Frame, Model, Residual};
use sunprint::receipt::{Receipt, Statement, describe};
use sunprint::report::public;
use sunprint::schema::Schema;

/// What `show --json` prints.
#[derive(Serialize)]
struct Shown<'a> {
    receipt: &'a Receipt,
    rows: u64,
    features: usize,
    coordinates: usize,
    dimension: Option<usize>,
    spectrum: &'a [f64],
    noise_edge: f64,
    #[serde(rename = "box")]
    sides: &'a [Side],
    cells: Cells,
    residuals: &'a [Residual],
    schema: &'a Schema,
}

/// The cells of every stratum.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Cells {
    /// PMM: how often a stratum's box was halved.
    Depths(Vec<u8>),
    /// PSMM: cells along each direction, and their side.
    Lattices(Vec<(Vec<u32>, f64)>),
}

fn cells(measure: &Measure) -> Cells {
    match measure {
        Measure::Tree(tree) => Cells::Depths(tree.strata.iter().map(|stratum| stratum.depth).collect()),
        Measure::Lattice(lattice) => {
            let side = |stratum: &StratumLattice| (stratum.geometry.shape.clone(), stratum.geometry.cell);
            Cells::Lattices(lattice.lattices.iter().map(side).collect())
        }
    }
}

/// As many numbers of the spectrum as a reader wants to see below the noise.
const BELOW: usize = 3;

/// Prints a model's receipt, dimension, bounds and spectrum.
pub fn run(args: &ShowArgs, talk: Talk) -> Result<()> {
    check_outputs(args)?;
    let existing = args.force.existing();
    let model = load(&args.model)?;
    if let Some(path) = &args.receipt.receipt {
        files::write_receipt(path, model.receipt(), existing)?;
    }
    if args.page.wanted() {
        pages::write(&public(&model)?, &args.page, existing, talk)?;
    }
    let statement = || Statement::of(model.receipt(), model.schema());
    let text = match args.statement {
        Some(StatementForm::Text) => tamed(&statement().to_text()),
        Some(StatementForm::Html) => statement().to_html(),
        None if args.json.json => to_json(&shown(&model))?,
        None => tamed(&plain(&model)),
    };
    files::write_whole(Path::new(&args.output.output), &text, existing)
}

/// Tries the outputs before anything is read: all in different places, none of them the model's.
fn check_outputs(args: &ShowArgs) -> Result<()> {
    let (output, model) = (Path::new(&args.output.output), args.model.model.as_path());
    let mut wanted = vec![("--output", output)];
    wanted.extend(args.receipt.receipt.as_deref().map(|path| ("--receipt", path)));
    wanted.extend(args.page.outputs());
    files::check_apart(&wanted)?;
    let existing = args.force.existing();
    wanted.iter().try_for_each(|(option, path)| files::check_output(option, path, &[model], existing))
}

/// A model may come from anybody: nothing in it steers a terminal.
fn tamed(text: &str) -> String {
    let mut tamed = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() && letter != '\n' { tamed.extend(letter.escape_unicode()) } else { tamed.push(letter) }
    }
    tamed
}

fn shown(model: &Model) -> Shown<'_> {
    let release = model.release();
    Shown {
        receipt: model.receipt(),
        rows: model.rows(),
        features: model.schema().features().len(),
        coordinates: model.schema().width(),
        dimension: model.receipt().dimension,
        spectrum: &release.spectrum,
        residuals: &model.evidence().residuals,
        noise_edge: release.edge,
        sides: sides(model),
        cells: cells(&release.measure),
        schema: model.schema(),
    }
}

/// The box; empty where the cube itself is measured.
fn sides(model: &Model) -> &[Side] {
    match &model.release().frame {
        Frame::Basis { sides, .. } => sides,
        Frame::Columns { .. } => &[],
    }
}

fn plain(model: &Model) -> String {
    let mut text = model.receipt().to_string();
    spectrum(&mut text, model);
    measure(&mut text, model);
    residuals(&mut text, model);
    let _ = writeln!(text, "\nColumns and their public bounds");
    let width = model.schema().columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    for column in &model.schema().columns {
        let _ = writeln!(text, "  {:width$}  {}", column.name, describe(column, usize::MAX));
    }
    text
}

/// How far drawn rows are from what was released.
fn residuals(text: &mut String, model: &Model) {
    let residuals = &model.evidence().residuals;
    if residuals.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nDrawn rows beside what was released, in deviations of its noise");
    let _ = writeln!(text, "                typical   largest   numbers");
    for Residual { stage, numbers, typical, worst } in residuals {
        let _ = writeln!(text, "  {stage:<12}  {typical:>9.2} {worst:>9.2} {:>9}", thousands(*numbers as u64));
    }
}

/// The released variances against the noise edge, and the box along the directions that were measured.
fn spectrum(text: &mut String, model: &Model) {
    let release = model.release();
    let (spectrum, sides) = (&release.spectrum, sides(model));
    if spectrum.is_empty() {
        return;
    }
    let above = spectrum.iter().filter(|variance| **variance > release.edge).count();
    let _ = writeln!(text, "\nDirections, in units of the columns' ranges");
    let _ = writeln!(text, "         variance   box");
    let listed = (above.max(sides.len()) + BELOW).min(spectrum.len());
    for (i, variance) in spectrum[..listed].iter().enumerate() {
        let side = sides.get(i).map(|side| format!("   {:.3} to {:.3}", side.low, side.low + side.width));
        let noise = if release.edge > 0.0 && *variance <= release.edge { "   (cannot be told from noise)" } else { "" };
        let _ = writeln!(text, "  {:>4}  {variance:>9.4}{}{noise}", i + 1, side.unwrap_or_default());
    }
    if listed < spectrum.len() {
        let _ = writeln!(text, "   ...  {} more", spectrum.len() - listed);
    }
    if release.edge > 0.0 {
        let _ = writeln!(text, "  noise reaches {:.4}", release.edge);
    }
}

/// How fine the cells are.
fn measure(text: &mut String, model: &Model) {
    let measure = &model.release().measure;
    let held: usize = (0..measure.strata()).map(|stratum| measure.leaves(stratum).len()).sum();
    let _ = writeln!(text, "\nMeasure");
    let cells: u64 = match measure {
        Measure::Tree(tree) => {
            let depths = || tree.strata.iter().map(|stratum| stratum.depth);
            let (least, most) = (depths().min().unwrap_or(0), depths().max().unwrap_or(0));
            let depth = if least == most { most.to_string() } else { format!("{least} to {most}") };
            let _ = writeln!(text, "  depth             {depth} (each level halves the cells)");
            depths().map(|depth| 1_u64 << depth.min(40)).sum()
        }
        Measure::Lattice(lattice) => {
            let sides = || lattice.lattices.iter().map(|stratum| stratum.geometry.cell);
            let (least, most) = (sides().fold(f64::INFINITY, f64::min), sides().fold(0.0, f64::max));
            let side = if least == most { format!("{most:.4}") } else { format!("{least:.4} to {most:.4}") };
            let _ = writeln!(text, "  side of a cell    {side}");
            lattice.lattices.iter().map(|stratum| stratum.geometry.size() as u64).sum()
        }
    };
    let _ = writeln!(text, "  cells             {}, of which {} hold rows", thousands(cells), thousands(held as u64));
}
