//! Whole fits: everything that a model shows, through the public protocol.

use super::stages::{self, Terms, visible_delta};
use super::tables::{Neighbours, Purse};
use super::{Epsilons, Noise, Run, Side, Trial};
use crate::synthesise::unit_schema;
use sunprint::model::{Frame, Model};
use sunprint::plan::{Mechanism, Method, Plan, Shares};
use sunprint::schema::{Column, ColumnKind, Role, Schema};

/// Runs of a whole fit.
const RUNS: u64 = 3_000;
/// Runs of a whole fit whose values are settled, which takes longer: enough to see a loss of several times the claim.
const FEWER_RUNS: u64 = 120;
/// Runs of one that counts what the model proposes, which takes longest.
const FEWEST_RUNS: u64 = 40;

/// Each method on its own worst neighbours: texture is post-processing and left out where it can be, which saves time.
pub fn all(epsilons: &Epsilons) -> Vec<Trial> {
    let mut trials = Vec::new();
    let pure = Terms::honest(epsilons.whole, None);
    let with_delta = Terms::honest(epsilons.whole, Some(visible_delta()));
    for method in [Method::Default, Method::Paper, Method::Cube] {
        for terms in [pure, with_delta] {
            for plan in [plan(method), lattice(method)] {
                let short = plan.mechanism == Mechanism::Pmm && terms.pure();
                trials.push(Trial { short, ..trial(Neighbours::opposite_corners(), plan, terms) });
            }
        }
    }
    for terms in [pure, with_delta] {
        trials.push(gaussian(Neighbours::opposite_corners(), terms));
        trials.push(few_rows(Neighbours::one_row_strata(), terms));
    }
    trials.push(gaussian(Neighbours::one_row_strata(), pure));
    trials.push(trial(Neighbours::all_equal(), plan(Method::Default), pure));
    trials.push(trial(Neighbours::extreme_row(), plan(Method::Default), pure));
    trials.push(trial(Neighbours::two_identical_rows(), plan(Method::Default), pure));
    for method in [Method::Default, Method::Cube] {
        trials.push(trial(Neighbours::one_row_strata(), plan(method), pure));
        trials.push(trial(Neighbours::one_row_strata(), lattice(method), pure));
    }
    trials.push(few_rows(Neighbours::within_a_stratum(), pure));
    trials.push(with_marginals(Neighbours::opposite_corners(), pure));
    trials.push(with_marginals(Neighbours::one_row_strata(), pure));
    trials.push(with_labels(Neighbours::one_row_strata(), pure));
    trials.push(with_sites(Neighbours::opposite_corners(), pure));
    trials.push(sites_alone(Neighbours::one_row_strata(), pure));
    trials
}

/// The default method with few rows: the contrasts of strata and no directions, whatever the ε.
pub fn few_rows(pair: Neighbours, terms: Terms) -> Trial {
    let shares = Shares { centre: 3600, spread: 600, contrasts: 4800, measure: 1000, ..Shares::default() };
    let trial = trial(pair, Plan { shares: Some(shares), ..Plan::default() }, terms);
    Trial { name: format!("{}, contrasts", trial.name), runs: RUNS / 3, ..trial }
}

/// The default method with marginals, which five rows would not have on their own.
pub fn with_marginals(pair: Neighbours, terms: Terms) -> Trial {
    let shares =
        Shares { centre: 1000, spread: 500, moments: 1500, marginals: 5000, measure: 2000, ..Shares::default() };
    let plan = Plan { texture: true, shares: Some(shares), ..lattice(Method::Default) };
    let trial = trial(pair, plan, terms);
    Trial { name: format!("{}, marginals", trial.name), runs: FEWER_RUNS, ..trial }
}

/// The default method with a tree of labels, which so few rows would not have on their own.
pub fn with_labels(pair: Neighbours, terms: Terms) -> Trial {
    let shares = Shares { centre: 1000, spread: 500, moments: 1500, measure: 2000, labels: 5000, ..Shares::default() };
    let plan = Plan { texture: true, shares: Some(shares), ..lattice(Method::Default) };
    let trial = trial(pair, plan, terms);
    Trial { name: format!("{}, labels", trial.name), runs: FEWEST_RUNS, ..trial }
}

/// The default method with sites, which so few rows would not have on their own.
pub fn with_sites(pair: Neighbours, terms: Terms) -> Trial {
    let shares = Shares { centre: 1000, spread: 500, moments: 1500, measure: 2000, sites: 5000, ..Shares::default() };
    let plan = Plan { texture: true, shares: Some(shares), ..lattice(Method::Default) };
    let trial = trial(pair, plan, terms);
    Trial { name: format!("{}, sites", trial.name), runs: FEWEST_RUNS, ..trial }
}

/// The default method with sites and no other cells: the path of tables with many rows.
pub fn sites_alone(pair: Neighbours, terms: Terms) -> Trial {
    let shares = Shares { centre: 1000, spread: 500, moments: 3500, sites: 5000, ..Shares::default() };
    let trial = trial(pair, Plan { shares: Some(shares), ..Plan::default() }, terms);
    Trial { name: format!("{}, sites alone", trial.name), runs: FEWEST_RUNS, ..trial }
}

/// The baseline of one Gaussian.
pub fn gaussian(pair: Neighbours, terms: Terms) -> Trial {
    trial(pair, Plan { method: Method::Gaussian, ..Plan::default() }, terms)
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

/// A whole fit.
pub fn trial(pair: Neighbours, plan: Plan, terms: Terms) -> Trial {
    let schema = schema(&pair);
    let name = terms.name(&format!("fit, {}, {}", plan.method.name(), plan.mechanism.name()), &pair);
    let purse = terms.purse();
    let run: Run = Box::new(move |noise, side| numbers(&fit(&pair, &schema, &plan, purse, noise, side)));
    stages::trial(name, terms, RUNS, run)
}

fn schema(pair: &Neighbours) -> Schema {
    let mut schema = unit_schema(pair.width);
    if pair.strata > 1 {
        let kind = ColumnKind::categorical((0..pair.strata).map(|s| s.to_string()));
        schema.columns.push(Column::new("label", kind, Role::Label));
    }
    schema
}

fn fit(pair: &Neighbours, schema: &Schema, plan: &Plan, purse: Purse, noise: Noise, side: Side) -> Model {
    let codes = pair.table(side);
    let mut fit = noise.fit(schema, plan.clone(), purse.budget(), codes.rows() as u64);
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
