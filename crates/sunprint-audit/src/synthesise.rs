//! The tool itself, as the experiments see it: codes in, synthetic rows out.

use crate::experiment::{Named, Origin, Settings};
use crate::rows::Rows;
use std::path::Path;
use sunprint::error::{Error, Kind, Result};
use sunprint::fit::Fit;
use sunprint::model::Model;
use sunprint::plan::{Mechanism, Method, Plan, Shares, Tuning, budget};
use sunprint::privacy::{Budget, Delta, Epsilon};
use sunprint::schema::{Column, ColumnKind, Dataset, Role, Schema, Unit};
use sunprint::source::{Input, Silent, Table};
use sunprint::tally::codes::Codes;

/// Makes as many synthetic rows as there are real ones, through the public protocol.
pub fn synthesise(codes: &Codes, schema: &Schema, settings: &Settings) -> Result<Rows> {
    let model = fit(codes, schema, settings)?;
    Ok(draw(&model, codes.rows(), settings.seed))
}

/// Fits codes with the settings of an experiment.
pub fn fit(codes: &Codes, schema: &Schema, settings: &Settings) -> Result<Model> {
    let mut fit = Fit::begin(schema, plan(settings)?, promise(settings)?, codes.rows() as u64)?;
    answer(&mut fit, codes)?;
    fit.finish()
}

/// The same with seeded noise, so that a test sees the same rows every time. For tests alone: such a model keeps no
/// promise.
#[cfg(feature = "seam")]
pub fn synthesise_seeded(codes: &Codes, schema: &Schema, settings: &Settings) -> Result<Rows> {
    let kernel = sunprint::privacy::Kernel::seeded(settings.seed);
    let mut fit =
        Fit::begin_with_danger_kernel(schema, plan(settings)?, promise(settings)?, codes.rows() as u64, kernel)?;
    answer(&mut fit, codes)?;
    Ok(draw(&fit.finish()?, codes.rows(), settings.seed))
}

fn answer(fit: &mut Fit, codes: &Codes) -> Result<()> {
    while let Some(pass) = fit.next_pass() {
        fit.absorb(pass.tally(codes))?;
    }
    Ok(())
}

fn promise(settings: &Settings) -> Result<Budget> {
    let epsilon: Epsilon = settings.epsilon.parse()?;
    let delta: Option<Delta> = settings.delta.as_deref().map(str::parse).transpose()?;
    budget(epsilon, delta)
}

/// Draws rows from a model.
pub fn draw(model: &Model, rows: usize, seed: u64) -> Rows {
    let draw = model.draw(rows as u64, seed);
    let values = (0..draw.blocks()).flat_map(|block| draw.block(block).units).collect();
    Rows::new(model.schema().width(), values)
}

fn plan(settings: &Settings) -> Result<Plan> {
    let method = match settings.method.as_str() {
        "default" => Method::Default,
        "paper" => Method::Paper,
        "cube" => Method::Cube,
        "gaussian" => Method::Gaussian,
        _ => return Err(Error::new(Kind::Usage, "`--method` is default, paper, cube or gaussian")),
    };
    let named = |mechanism: &Mechanism| mechanism.name() == settings.mechanism;
    let mechanism = Mechanism::ALL.into_iter().find(named);
    let mechanism = mechanism.ok_or_else(|| Error::new(Kind::Usage, "`--mechanism` is auto, pmm or psmm"))?;
    let shares = match settings.shares.as_deref() {
        None => None,
        Some(&[centre, spread, moments, measure]) => {
            Some(Shares { centre, spread, moments, measure, ..Shares::default() })
        }
        Some(_) => return Err(Error::new(Kind::Usage, "a choice of shares has four weights")),
    };
    let tuning = Tuning { rows_per_cell: settings.rows_per_cell, ..Tuning::default() };
    Ok(Plan {
        method,
        mechanism,
        dimension: settings.dimension,
        texture: settings.texture,
        public_basis: settings.basis.clone(),
        shares,
        tuning,
        ..Plan::default()
    })
}

/// A schema of `width` columns between 0 and 1.
pub fn unit_schema(width: usize) -> Schema {
    let column = |j: usize| Column::new(format!("x{j}"), ColumnKind::continuous(0.0, 1.0), Role::Feature);
    let dataset = Dataset { name: "generated".to_string(), unit: Unit::Row };
    Schema { dataset, columns: (0..width).map(column).collect(), constraints: Vec::new() }
}

/// The tables of a folder: every subfolder with a `schema.toml` and a `data.csv` or `data.parquet` that Sunprint can
/// read today; the others are named on stderr and passed over.
pub fn real_tables(folder: &Path) -> Result<Vec<Named>> {
    let unreadable = |_| Error::new(Kind::Io, "the folder cannot be read").at(folder.display().to_string());
    let mut places: Vec<_> =
        std::fs::read_dir(folder).map_err(unreadable)?.flatten().map(|entry| entry.path()).collect();
    places.sort();
    let mut tables = Vec::new();
    for place in places {
        let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let file = ["data.csv", "data.parquet"].map(|file| place.join(file)).into_iter().find(|file| file.exists());
        let Some(file) = file else { continue };
        match read(&file, &place.join("schema.toml")) {
            Ok((codes, schema)) => tables.push(Named { name, origin: Origin::Real(codes, schema) }),
            Err(error) => eprintln!("passing over {name}: {error}"),
        }
    }
    Ok(tables)
}

fn read(file: &Path, schema: &Path) -> Result<(Codes, Schema)> {
    let schema = Schema::load(schema)?;
    let table = Table::open(&Input::new(file, None), &schema, &Silent)?;
    let mut codes = Codes::with_capacity(schema.width(), table.rows());
    for chunk in table.chunks() {
        (0..chunk.rows()).for_each(|i| codes.push(chunk.row(i), chunk.stratum(i)));
    }
    Ok((codes, schema))
}
