//! Small tables, schemas and fits for the tests of the whole.
#![allow(dead_code)]

use sunprint::error::Result;
use sunprint::fit::Fit;
use sunprint::math::stream::Stream;
use sunprint::model::Model;
use sunprint::plan::{Method, Plan, budget};
use sunprint::privacy::{Budget, Kernel};
use sunprint::schema::{Column, ColumnKind, Dataset, Role, Schema, Unit};
use sunprint::tally::codes::{Codes, Q};

/// A schema of `width` columns between 0 and 1, and a label of `strata` categories if there are more than one.
pub fn schema(width: usize, strata: usize) -> Schema {
    let feature = |j: usize| Column::new(format!("x{j}"), ColumnKind::continuous(0.0, 1.0), Role::Feature);
    let mut columns: Vec<Column> = (0..width).map(feature).collect();
    if strata > 1 {
        let values = (0..strata).map(|s| format!("c{s}"));
        let kind = ColumnKind::categorical(values);
        columns.push(Column::new("label", kind, Role::Label));
    }
    Schema { dataset: Dataset { name: "test".to_string(), unit: Unit::Row }, columns, constraints: Vec::new() }
}

/// Rows of codes with their strata.
pub fn table(width: usize, rows: &[(Vec<u16>, u32)]) -> Codes {
    let mut codes = Codes::with_capacity(width, rows.len());
    rows.iter().for_each(|(row, stratum)| codes.push(row, *stratum));
    codes
}

/// Rows that need not be spread evenly: corners, extremes and anything between, by a fixed seed.
pub fn random_rows(width: usize, strata: u32, count: usize, seed: u64) -> Vec<(Vec<u16>, u32)> {
    let mut stream = Stream::new(seed, 77, 0);
    (0..count)
        .map(|_| {
            let style = stream.below(4);
            let row = (0..width).map(|_| match style {
                0 => [0, Q][stream.below(2) as usize],
                1 => [0, 1, Q / 2, Q / 2 + 1, Q - 1, Q][stream.below(6) as usize],
                _ => stream.below(u64::from(Q) + 1) as u16,
            });
            (row.collect(), stream.below(strata.into()) as u32)
        })
        .collect()
}

/// A cloud in a plane: x = ½ + Σ a_l v_l, with `dimension` independent normals of the given deviation.
pub fn plane(rows: usize, width: usize, dimension: usize, deviation: f64, seed: u64) -> (Codes, Vec<Vec<f64>>) {
    let mut stream = Stream::new(seed, 78, 0);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    while basis.len() < dimension {
        let mut v: Vec<f64> = (0..width).map(|_| stream.normal()).collect();
        for u in &basis {
            let along: f64 = u.iter().zip(&v).map(|(a, b)| a * b).sum();
            v.iter_mut().zip(u).for_each(|(a, b)| *a -= along * b);
        }
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        basis.push(v.iter().map(|x| x / length).collect());
    }
    let mut codes = Codes::with_capacity(width, rows);
    for _ in 0..rows {
        let mut x = vec![0.5; width];
        for v in &basis {
            let a = deviation * stream.normal();
            x.iter_mut().zip(v).for_each(|(x, v)| *x += a * v);
        }
        let row: Vec<u16> = x.iter().map(|x| (x * f64::from(Q)).round() as u16).collect();
        codes.push(&row, 0);
    }
    (codes, basis)
}

/// ε alone, or with δ.
pub fn promise(epsilon: &str, delta: Option<&str>) -> Budget {
    budget(epsilon.parse().unwrap(), delta.map(|delta| delta.parse().unwrap())).unwrap()
}

/// A plan of a method.
pub fn plan(method: Method) -> Plan {
    Plan { method, ..Plan::default() }
}

/// Runs a whole fit with a kernel of the test's choice.
pub fn fit(codes: &Codes, schema: &Schema, plan: Plan, budget: Budget, kernel: Kernel) -> Result<Model> {
    let mut fit = Fit::begin_with_danger_kernel(schema, plan, budget, codes.rows() as u64, kernel)?;
    while let Some(pass) = fit.next_pass() {
        fit.absorb(pass.tally(codes))?;
    }
    fit.finish()
}

/// All drawn rows: units row by row, and strata.
pub fn drawn(model: &Model, rows: u64, seed: u64) -> (Vec<f64>, Vec<u32>) {
    let draw = model.draw(rows, seed);
    let (mut units, mut strata) = (Vec::new(), Vec::new());
    for block in 0..draw.blocks() {
        let block = draw.block(block);
        units.extend(block.units);
        strata.extend(block.strata);
    }
    (units, strata)
}
