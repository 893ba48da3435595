//! Mechanisms broken on purpose. Each claims what it does not keep, and each must be caught.

use super::stages::{self, LEVELS, MANY, Terms, visible_delta};
use super::tables::Neighbours;
use super::{Epsilons, Trial, flaws, values, whole};
use sunprint::plan::Method;
use sunprint::tally::codes::Q;

/// All of them: first the mistakes that are made most, then variations of them on every stage.
pub fn all(epsilons: &Epsilons) -> Vec<Trial> {
    let pure = Terms::honest(epsilons.stage, None);
    let narrow = pure.overspent((10, 7));
    let half = pure.overspent((2, 1));
    // Noise for one cell of one histogram, where two cells of each of two move.
    let one_cell = pure.overspent((4, 1));
    let with_delta = Terms::honest(epsilons.stage, Some(visible_delta()));
    let half_with_delta = with_delta.with_rho(4.0);
    let moments = Terms::honest(epsilons.moments, None);
    let moments_with_delta = Terms::honest(epsilons.moments, Some(visible_delta()));
    let fit = |times: u128| Terms::honest(epsilons.whole, None).overspent((times, 1));
    let (corners, span) = (Neighbours::opposite_corners, u64::from(Q));
    let known = [
        ("levels as the paper prints them", flaws::levels_as_printed(pure, 8)),
        ("Lap_Z(1/ε) as the paper prints it", stages::lattice(corners(), half)),
        ("0.7 of the noise", Trial { runs: MANY, ..stages::centre(Neighbours::all_equal(), narrow, span) }),
        ("float noise on a float sum", flaws::float_noise(pure)),
        ("clip bound not enforced", flaws::clip_not_enforced(moments)),
        ("bounds from the data", flaws::bounds_from_the_data(pure)),
        ("the same charge used twice", flaws::charge_used_twice(pure)),
        ("centre released twice", flaws::centre_released_twice(pure)),
        ("seed reused", flaws::seed_reused(pure)),
        ("key repeated after a fork", flaws::forked(pure, flaws::Keys::Repeated)),
    ];
    let others = [
        ("Lap_Z(1/ε) as the paper prints it", stages::lattice(Neighbours::one_row_strata(), half)),
        ("half of the span", stages::centre(Neighbours::all_equal(), pure, span / 2)),
        ("half of the noise", stages::centre(Neighbours::all_equal(), half_with_delta, span)),
        ("half of the sensitivity", stages::spread(Neighbours::middle_to_corner(), pure, 2)),
        ("half of the norm", stages::moments(Neighbours::next_corners(), moments, 2)),
        ("half of the norm", stages::moments(Neighbours::next_corners(), moments_with_delta, 2)),
        ("0.7 of the noise", Trial { runs: MANY, ..stages::measure(corners(), narrow, &[400, 600]) }),
        (
            "one count instead of two",
            Trial { runs: MANY, ..stages::measure(Neighbours::one_row_strata(), half, &LEVELS) },
        ),
        ("half of the noise", stages::measure(corners(), half_with_delta, &LEVELS)),
        ("1/(εn) as in the paper's proof", stages::mean(Neighbours::all_equal(), half)),
        ("half of the noise", stages::lattice(corners(), half_with_delta)),
        ("half of the span", values::cubes(Neighbours::between_strata(), pure, 2)),
        ("half of the span", values::cubes(Neighbours::within_a_stratum(), pure, 2)),
        ("half of the span", values::cubes(Neighbours::within_a_stratum(), with_delta, 2)),
        ("half of the span", values::contrasts(Neighbours::within_a_stratum(), pure, 2)),
        ("half of the span", values::contrasts(Neighbours::between_strata(), pure, 2)),
        ("half of the span", values::contrasts(Neighbours::within_a_stratum(), with_delta, 2)),
        ("Lap_Z(1/ε)", values::marginals(corners(), one_cell, 2)),
        ("Lap_Z(1/ε)", values::marginals(Neighbours::one_row_strata(), one_cell, 2)),
        ("one histogram of two", values::marginals(Neighbours::all_equal(), pure, 1)),
        ("Lap_Z(1/ε)", values::labels(corners(), one_cell)),
        ("Lap_Z(1/ε)", values::sites(corners(), one_cell)),
        ("half of the noise", values::marginals(corners(), half_with_delta, 2)),
        ("edges from the data", values::edges_from_the_data(pure)),
        ("one-sided Wishart", flaws::one_sided_wishart(pure)),
        ("eight times its ε", whole::trial(corners(), whole::plan(Method::Default), fit(8))),
        ("eight times its ε", whole::trial(corners(), whole::plan(Method::Cube), fit(8))),
        ("eight times its ε", whole::trial(corners(), whole::lattice(Method::Cube), fit(8))),
        ("eight times its ε", whole::few_rows(Neighbours::one_row_strata(), fit(8))),
        ("sixty times its ε", whole::with_marginals(corners(), fit(60))),
    ];
    let short = |(flaw, trial): (&'static str, Trial)| (flaw, Trial { short: true, ..trial });
    let long = |(flaw, trial): (&'static str, Trial)| (flaw, Trial { short: false, ..trial });
    let trials = known.into_iter().map(short).chain(others.into_iter().map(long));
    trials.map(|(flaw, trial)| Trial { name: format!("{flaw}: {}", trial.name), ..trial }).collect()
}
