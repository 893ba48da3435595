//! Whole fits: everything that a model shows, through the public protocol.

use super::tables::{Neighbours, Purse};
use super::{Claim, Run, Side, Trial};
use crate::synthesise::unit_schema;
use sunprint::fit::Fit;
use sunprint::model::{Frame, Model};
use sunprint::plan::{Mechanism, Method, Plan, Shares};
use sunprint::privacy::Kernel;
use sunprint::schema::{Column, ColumnKind, Role, Schema};

/// Runs of a whole fit.
const RUNS: u64 = 3_000;
/// Runs of a whole fit whose values are settled, which takes longer.
const FEWER_RUNS: u64 = 60;

/// Each method on its own worst neighbours, at ε = 2: texture is post-processing and left out where it can be, which
/// saves time.
pub fn all() -> Vec<Trial> {
    let mut trials = Vec::new();
    for method in [Method::Default, Method::Paper, Method::Cube] {
        for delta in [None, Some("0.001")] {
            for plan in [plan(method), lattice(method)] {
                trials.push(trial(Neighbours::opposite_corners(), plan, "2", delta, "2"));
            }
        }
    }
    trials.push(trial(Neighbours::all_equal(), plan(Method::Default), "2", None, "2"));
    for method in [Method::Default, Method::Cube] {
        trials.push(trial(Neighbours::one_row_strata(), plan(method), "2", None, "2"));
        trials.push(trial(Neighbours::one_row_strata(), lattice(method), "2", None, "2"));
    }
    for delta in [None, Some("0.001")] {
        trials.push(few_rows(Neighbours::one_row_strata(), "2", delta, "2"));
    }
    trials.push(few_rows(Neighbours::within_a_stratum(), "2", None, "2"));
    trials.push(with_marginals(Neighbours::opposite_corners(), "2", "2"));
    trials.push(with_marginals(Neighbours::one_row_strata(), "2", "2"));
    trials
}

/// The default method with few rows: the contrasts of strata and no directions, whatever the ε.
pub fn few_rows(pair: Neighbours, claimed: &'static str, delta: Option<&'static str>, given: &'static str) -> Trial {
    let shares = Shares { centre: 3600, spread: 600, contrasts: 4800, measure: 1000, ..Shares::default() };
    let trial = trial(pair, Plan { shares: Some(shares), ..Plan::default() }, claimed, delta, given);
    Trial { name: format!("{}, contrasts", trial.name), runs: RUNS / 3, ..trial }
}

/// The default method with marginals, which five rows would not have on their own.
pub fn with_marginals(pair: Neighbours, claimed: &'static str, given: &'static str) -> Trial {
    let shares =
        Shares { centre: 1000, spread: 500, moments: 1500, marginals: 5000, measure: 2000, ..Shares::default() };
    let plan = Plan { texture: true, shares: Some(shares), ..lattice(Method::Default) };
    let trial = trial(pair, plan, claimed, None, given);
    Trial { name: format!("{}, marginals", trial.name), runs: FEWER_RUNS, ..trial }
}

/// A method with the tree.
pub fn plan(method: Method) -> Plan {
    // The paper's own rule would take a lattice from three dimensions on.
    let dimension = (method == Method::Paper).then_some(2);
    Plan { method, mechanism: Mechanism::Pmm, dimension, texture: false, ..Plan::default() }
}

/// A method with the lattice. Five rows would get a single cell, which tells nothing: the cells are given.
pub fn lattice(method: Method) -> Plan {
    Plan { mechanism: Mechanism::Psmm, cell: Some(0.4), ..plan(method) }
}

/// A whole fit that claims `claimed` and is given `given`.
pub fn trial(
    pair: Neighbours,
    plan: Plan,
    claimed: &'static str,
    delta: Option<&'static str>,
    given: &'static str,
) -> Trial {
    let number = |text: &str| text.parse().unwrap_or(f64::NAN);
    let claim = Claim { epsilon: number(claimed), delta: delta.map_or(0.0, number) };
    let noise = if delta.is_none() { "pure" } else { "with δ" };
    let name = format!("whole fit, {}, {}, {noise}, {}", plan.method.name(), plan.mechanism.name(), pair.name);
    let schema = schema(&pair);
    let purse = Purse::new(given, delta);
    let run: Run = Box::new(move |seed, side| numbers(&fit(&pair, &schema, &plan, purse, seed, side)));
    Trial { name, claim, runs: RUNS, run }
}

fn schema(pair: &Neighbours) -> Schema {
    let mut schema = unit_schema(pair.width);
    if pair.strata > 1 {
        let kind = ColumnKind::categorical((0..pair.strata).map(|s| s.to_string()));
        schema.columns.push(Column::new("label", kind, Role::Label));
    }
    schema
}

fn fit(pair: &Neighbours, schema: &Schema, plan: &Plan, purse: Purse, seed: u64, side: Side) -> Model {
    let (plan, codes) = (plan.clone(), pair.table(side));
    let begun = Fit::begin_with_danger_kernel(schema, plan, purse.budget(), codes.rows() as u64, Kernel::seeded(seed));
    let mut fit = begun.expect("a plan that can be run");
    while let Some(pass) = fit.next_pass() {
        fit.absorb(pass.tally(codes)).expect("the tally of this pass");
    }
    fit.finish().expect("no pass is left")
}

/// Numbers of a model that may tell the tables apart: where rows are drawn, the frame, the spectrum, the strata, and how
/// far their means are apart.
fn numbers(model: &Model) -> Vec<f64> {
    let release = model.release();
    let width = model.schema().width();
    let drawn = model.draw(10, 1).block(0);
    let column = |j: usize| drawn.units.iter().skip(j).step_by(width).sum::<f64>();
    let mut numbers = vec![(0..width).map(column).sum(), (0..width).map(column).fold(0.0, f64::max)];
    let rows = |stratum: usize| release.measure.leaves(stratum).iter().map(|leaf| leaf.1 as f64).sum::<f64>();
    let strata = release.measure.strata();
    numbers.push(rows(strata - 1) - if strata > 1 { rows(strata - 2) } else { 0.0 });
    numbers.push(release.spectrum.first().copied().unwrap_or(0.0));
    numbers.push(release.spectrum.iter().sum());
    let shift = |stratum: usize| release.texture.shifts.get(stratum).map_or(0.0, |shift| shift.iter().sum());
    numbers.push(shift(strata - 1) - if strata > 1 { shift(strata - 2) } else { 0.0 });
    if let Frame::Basis { origin, sides, .. } = &release.frame {
        numbers.push(origin.iter().sum());
        numbers.extend(sides.first().map(|side| [side.low, side.width]).into_iter().flatten());
    }
    // d′ is chosen from noisy numbers, so a model has more or fewer sides; missing ones are left out by everybody.
    numbers.resize(9, 0.0);
    numbers
}
