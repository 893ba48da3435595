//! Mechanisms broken on purpose. Each claims what it does not keep, and each must be caught.

use super::stages::{self, MANY, PURE, QUICK, Terms, WITH_DELTA};
use super::tables::Neighbours;
use super::{Side, Trial, values, whole};
use sunprint::plan::Method;
use sunprint::privacy::{Kernel, Ratio};
use sunprint::tally::codes::Q;

/// All of them.
pub fn all() -> Vec<Trial> {
    let narrow = Terms::overspent("1", None, (10, 7));
    let narrow_with_delta = Terms::overspent("1", Some("0.001"), (4, 1));
    let half = Terms::overspent("1", None, (2, 1));
    // Noise for one cell of one histogram, where two cells of each of two move.
    let one_cell = Terms::overspent("1", None, (4, 1));
    let moments = stages::moment_terms;
    let trials = [
        ("levels as the paper prints them", levels_as_printed(8)),
        ("0.7 of the noise", stages::centre(Neighbours::all_equal(), narrow, u64::from(Q))),
        ("half of the span", stages::centre(Neighbours::all_equal(), PURE, u64::from(Q) / 2)),
        ("half of the noise", stages::centre(Neighbours::all_equal(), narrow_with_delta, u64::from(Q))),
        ("half of the sensitivity", stages::spread(PURE, 2)),
        ("half of the norm", stages::moments(Neighbours::next_corners(), moments(PURE), 2)),
        ("half of the norm", stages::moments(Neighbours::next_corners(), moments(WITH_DELTA), 2)),
        ("0.7 of the noise", Trial { runs: MANY, ..stages::measure(Neighbours::opposite_corners(), narrow) }),
        ("one count instead of two", stages::measure(Neighbours::one_row_strata(), half)),
        ("half of the noise", stages::measure(Neighbours::opposite_corners(), narrow_with_delta)),
        ("1/(εn) as in the paper's proof", stages::mean(Neighbours::all_equal(), half)),
        ("Lap_Z(1/ε) as the paper prints it", stages::lattice(Neighbours::opposite_corners(), half)),
        ("Lap_Z(1/ε) as the paper prints it", stages::lattice(Neighbours::one_row_strata(), half)),
        ("half of the noise", stages::lattice(Neighbours::opposite_corners(), narrow_with_delta)),
        ("half of the span", values::contrasts(Neighbours::within_a_stratum(), PURE, 2)),
        ("half of the span", values::contrasts(Neighbours::between_strata(), PURE, 2)),
        ("half of the span", values::contrasts(Neighbours::within_a_stratum(), WITH_DELTA, 2)),
        ("Lap_Z(1/ε)", values::marginals(Neighbours::opposite_corners(), one_cell, 2)),
        ("Lap_Z(1/ε)", values::marginals(Neighbours::one_row_strata(), one_cell, 2)),
        ("one histogram of two", values::marginals(Neighbours::all_equal(), PURE, 1)),
        ("Lap_Z(1/ε)", values::labels(Neighbours::opposite_corners(), one_cell)),
        ("half of the noise", values::marginals(Neighbours::opposite_corners(), narrow_with_delta, 2)),
        ("edges from the data", values::edges_from_the_data()),
        ("bounds from the data", bounds_from_the_data()),
        ("one-sided Wishart", one_sided_wishart()),
        (
            "eight times its ε",
            whole::trial(Neighbours::opposite_corners(), whole::plan(Method::Default), "1", None, "8"),
        ),
        ("eight times its ε", whole::trial(Neighbours::opposite_corners(), whole::plan(Method::Cube), "1", None, "8")),
        (
            "eight times its ε",
            whole::trial(Neighbours::opposite_corners(), whole::lattice(Method::Cube), "1", None, "8"),
        ),
        ("eight times its ε", whole::few_rows(Neighbours::one_row_strata(), "1", None, "8")),
        ("sixty times its ε", whole::with_marginals(Neighbours::opposite_corners(), "1", "60")),
    ];
    trials.into_iter().map(|(flaw, trial)| Trial { name: format!("{}: {flaw}", trial.name), ..trial }).collect()
}

/// A scale as a ratio of short integers.
fn ratio(scale: f64) -> Ratio {
    Ratio::new((scale * 1_048_576.0) as u128, 1_048_576).unwrap_or(Ratio::ONE)
}

/// Algorithm 4 with the printed `σ_j = ε⁻¹ 2^{½(1−1/d′)(r−j)}`, d′ = 2, ε = 1, on every level.
fn levels_as_printed(depth: u8) -> Trial {
    let leaves = stages::leaves(&Neighbours::opposite_corners(), depth);
    // Levels from the leaves up to the children of the root, with the noise of each.
    let levels = |leaves: &[u64]| {
        let mut levels = vec![leaves.to_vec()];
        for _ in 1..depth {
            let below = &levels[levels.len() - 1];
            levels.push(below.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect());
        }
        levels
    };
    let exact = leaves.map(|leaves| levels(&leaves));
    let sigma = |above_leaves: usize| (0.25 * above_leaves as f64).exp2();
    let run = move |seed: u64, side: Side| {
        let mut kernel = Kernel::seeded(seed);
        let mut loss = 0.0;
        for (level, counts) in exact[side as usize].iter().enumerate() {
            let sigma = sigma(level);
            for (i, &count) in counts.iter().enumerate() {
                let (a, b) = (exact[0][level][i] as f64, exact[1][level][i] as f64);
                let noisy = count as f64 + kernel.draw_laplace(ratio(sigma)) as f64;
                loss += ((noisy - b).abs() - (noisy - a).abs()) / sigma;
            }
        }
        vec![loss]
    };
    Trial { name: "measure".to_string(), claim: PURE.claim(), runs: QUICK, run: Box::new(run) }
}

/// A mean with noise of the right size for bounds that were read off the table: four rows within [0, 1], the fifth either
/// among them or far away.
fn bounds_from_the_data() -> Trial {
    let run = |seed: u64, side: Side| {
        let fifth = if side == Side::Here { 0.5 } else { 1000.0 };
        let values = [0.0, 0.25, 0.75, 1.0, fifth];
        let (low, high) = (0.0, f64::max(1.0, fifth));
        // Lap((high − low)/(εn)) on a grid of 2⁻²⁰ of the width.
        let noise = Kernel::seeded(seed).draw_laplace(ratio(1_048_576.0 / 5.0)) as f64 / 1_048_576.0;
        let mean = values.iter().sum::<f64>() / 5.0;
        vec![mean + noise * (high - low)]
    };
    Trial { name: "centre".to_string(), claim: PURE.claim(), runs: QUICK, run: Box::new(run) }
}

/// One Wishart matrix instead of a difference (order 2): the noise is never negative, so its support tells the tables
/// apart. The rows are the two unit vectors; s = 1/ε as for the difference, ε = 1.
fn one_sided_wishart() -> Trial {
    let run = |seed: u64, side: Side| {
        let mut kernel = Kernel::seeded(seed);
        let mut normal = || kernel.draw_normal() as f64 / (1_u64 << 48) as f64;
        let columns: [[f64; 2]; 3] = std::array::from_fn(|_| [normal(), normal()]);
        let entry = |i: usize, j: usize| columns.iter().map(|z| z[i] * z[j]).sum::<f64>();
        let row = if side == Side::Here { [1.0, 0.0] } else { [0.0, 1.0] };
        // Could the first table have given this? Only if what is left without its row is a positive matrix.
        let (a, b, c) = (entry(0, 0) + row[0] - 1.0, entry(0, 1), entry(1, 1) + row[1]);
        vec![0.5 * (a + c) - (0.25 * (a - c) * (a - c) + b * b).sqrt()]
    };
    Trial { name: "moments".to_string(), claim: PURE.claim(), runs: MANY, run: Box::new(run) }
}
