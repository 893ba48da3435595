//! PMM against PSMM: the same rows in the same directions, at the same ε, measured by both.
//!
//! The directions are given as public knowledge, so that the measure is seen alone; a small part of the budget still
//! goes to the box, as in any fit with a public basis. The error is W1 between all real and all synthetic rows in the
//! coordinates of those directions.

use crate::experiment::{Named, Origin, Settings};
use crate::generate::{Generated, Recipe, generated};
use crate::matching::near_w1;
use crate::measure::Estimate;
use crate::rows::Rows;
use crate::synthesise::{synthesise, unit_schema};
use serde::Serialize;
use sunprint::error::Result;
use sunprint::math::eigen;
use sunprint::schema::Schema;
use sunprint::tally::codes::Codes;

/// Rounds of improvement for the plans behind an error.
const ROUNDS: usize = 3;
/// Columns of the generated tables.
const WIDTH: usize = 20;

/// Both errors at one dimension, n and ε.
#[derive(Clone, Debug, Serialize)]
pub struct Duel {
    /// The table.
    pub table: String,
    /// d′.
    pub dimension: usize,
    /// n.
    pub rows: usize,
    /// ε.
    pub epsilon: String,
    /// PMM's error.
    pub pmm: Estimate,
    /// PSMM's error.
    pub psmm: Estimate,
}

impl Duel {
    /// PSMM's error over PMM's: below 1, PSMM is better.
    pub fn ratio(&self) -> f64 {
        self.psmm.mean / self.pmm.mean
    }
}

/// The generated mixture of a dimension, in its true directions; a fresh one in each run.
pub fn on_mixture(rows: usize, dimension: usize, settings: &Settings, runs: usize) -> Result<Duel> {
    let run = |settings: &Settings| {
        let Generated { codes, basis } = generated(&Recipe::new(rows, WIDTH, dimension, settings.seed));
        errors(&codes, &unit_schema(WIDTH), &basis, settings)
    };
    duel("mixture", (dimension, rows), settings, runs, run)
}

/// A real table, in the directions in which it varies most; nothing for a table of fewer columns.
pub fn on_table(table: &Named, dimension: usize, settings: &Settings, runs: usize) -> Result<Option<Duel>> {
    let Origin::Real(codes, schema) = &table.origin else { return Ok(None) };
    if dimension > schema.width() {
        return Ok(None);
    }
    let basis = leading(&Rows::from_codes(codes), dimension);
    let run = |settings: &Settings| errors(codes, schema, &basis, settings);
    duel(&table.name, (dimension, codes.rows()), settings, runs, run).map(Some)
}

fn duel(
    table: &str,
    (dimension, rows): (usize, usize),
    settings: &Settings,
    runs: usize,
    run: impl Fn(&Settings) -> Result<[f64; 2]>,
) -> Result<Duel> {
    let mut found = [Vec::new(), Vec::new()];
    for number in 0..runs as u64 {
        let errors = run(&Settings { seed: settings.seed + number, ..settings.clone() })?;
        found.iter_mut().zip(errors).for_each(|(list, error)| list.push(error));
    }
    let [pmm, psmm] = found.map(|errors| Estimate::of(&errors));
    Ok(Duel { table: table.to_string(), dimension, rows, epsilon: settings.epsilon.clone(), pmm, psmm })
}

/// PMM's and PSMM's error on a table in given directions.
fn errors(codes: &Codes, schema: &Schema, basis: &[Vec<f64>], settings: &Settings) -> Result<[f64; 2]> {
    let real = Rows::from_codes(codes).coordinates(basis);
    let error = |mechanism: &str| -> Result<f64> {
        let (mechanism, basis) = (mechanism.to_string(), Some(basis.to_vec()));
        let settings = Settings { mechanism, basis, texture: false, ..settings.clone() };
        let synthetic =
            synthesise(codes, schema, &settings)?.coordinates(settings.basis.as_deref().unwrap_or_default());
        Ok(near_w1(&real, &synthetic, ROUNDS, settings.seed))
    };
    Ok([error("pmm")?, error("psmm")?])
}

/// The directions of largest variance, exactly: nobody publishes this.
fn leading(rows: &Rows, dimension: usize) -> Vec<Vec<f64>> {
    let (d, n) = (rows.width(), rows.count() as f64);
    let mean: Vec<f64> = (0..d).map(|j| (0..rows.count()).map(|i| rows.row(i)[j]).sum::<f64>() / n).collect();
    let mut covariance = vec![0.0; d * d];
    for i in 0..rows.count() {
        let row: Vec<f64> = rows.row(i).iter().zip(&mean).map(|(x, m)| x - m).collect();
        for (a, x) in row.iter().enumerate() {
            covariance[a * d..(a + 1) * d].iter_mut().zip(&row).for_each(|(c, y)| *c += x * y / n);
        }
    }
    eigen::symmetric(&covariance, d).vectors[..dimension].to_vec()
}
