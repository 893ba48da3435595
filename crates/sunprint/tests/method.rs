//! What the methods do: without noise they find what is there; with noise, on the oddest tables, they never panic.

mod common;

use common::{drawn, fit, plan, plane, promise, random_rows, schema, table};
use sunprint::math::transport::Metric;
use sunprint::model::Model;
use sunprint::plan::{Facts, Mechanism, Method, Plan, Shares};
use sunprint::privacy::Kernel;
use sunprint::schema::Schema;
use sunprint::tally::codes::{Codes, Q};

fn quiet(codes: &Codes, schema: &Schema, plan: Plan) -> Model {
    fit(codes, schema, plan, promise("1000", None), Kernel::quiet()).unwrap()
}

/// Column means and covariances of rows of units.
fn moments(units: &[f64], width: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = (units.len() / width) as f64;
    let mean: Vec<f64> = (0..width).map(|j| units.iter().skip(j).step_by(width).sum::<f64>() / n).collect();
    let product = |i: usize, j: usize| {
        units.chunks_exact(width).map(|row| (row[i] - mean[i]) * (row[j] - mean[j])).sum::<f64>() / n
    };
    let covariance = (0..width).map(|i| (0..width).map(|j| product(i, j)).collect()).collect();
    (mean, covariance)
}

fn units(codes: &Codes) -> Vec<f64> {
    (0..codes.rows()).flat_map(|i| codes.row(i)).map(|&code| f64::from(code) / f64::from(Q)).collect()
}

#[test]
fn the_dimension_of_a_plane_is_found() {
    for dimension in [1, 2, 3] {
        for width in [3, 8, 20] {
            let (codes, basis) = plane(20_000, width, dimension, 0.08, dimension as u64);
            let schema = schema(width, 1);
            // So many rows would have sites instead.
            let shares = Shares::with_directions(&Facts::of(&schema, 20_000, 1.0));
            let plan = Plan { shares: Some(shares), ..plan(Method::Default) };
            let model = quiet(&codes, &schema, plan);
            assert_eq!(model.receipt().dimension, Some(dimension), "{dimension} of {width}");
            let sunprint::model::Frame::Basis { vectors, .. } = &model.release().frame else { panic!("a basis") };
            for v in vectors {
                // Each found direction lies in the true plane: its projection onto it has length 1.
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
                let inside: f64 = basis.iter().map(|u| dot(u, v).powi(2)).sum();
                assert!(inside > 0.999, "{inside}");
            }
        }
    }
}

/// Means within a hundredth of the bounds, correlations within a twentieth: cells are small and there is no noise.
#[test]
fn means_and_correlations_come_back() {
    for (method, dimension) in [(Method::Default, 2), (Method::Default, 3)] {
        let width = 6;
        let (codes, _) = plane(20_000, width, dimension, 0.1, 4);
        let model = quiet(&codes, &schema(width, 1), plan(method));
        let (real, synthetic) = (moments(&units(&codes), width), moments(&drawn(&model, 20_000, 1).0, width));
        let correlation = |c: &[Vec<f64>], i: usize, j: usize| c[i][j] / (c[i][i] * c[j][j]).sqrt();
        for i in 0..width {
            assert!((real.0[i] - synthetic.0[i]).abs() < 0.01, "mean {i}: {} {}", real.0[i], synthetic.0[i]);
            for j in 0..i {
                let (a, b) = (correlation(&real.1, i, j), correlation(&synthetic.1, i, j));
                assert!((a - b).abs() < 0.05, "{i} {j}: {a} {b}");
            }
        }
    }
}

/// The cube in one column: the distribution itself comes back, cell by cell.
#[test]
fn the_cube_method_keeps_a_column() {
    let rows: Vec<_> = (0..4000_u32).map(|i| (vec![(i * 8) as u16], 0)).collect();
    let codes = table(1, &rows);
    let model = quiet(&codes, &schema(1, 1), plan(Method::Cube));
    let mut drawn = drawn(&model, 4000, 2).0;
    drawn.sort_by(f64::total_cmp);
    let w1: f64 =
        drawn.iter().zip(&rows).map(|(x, row)| (x - f64::from(row.0[0]) / f64::from(Q)).abs()).sum::<f64>() / 4000.0;
    assert!(w1 < 0.002, "{w1}");
}

/// With many rows and much budget a column is cut more often than a code has bits.
#[test]
fn very_deep_cells_of_one_column_stay_in_place() {
    let rows: Vec<_> = (0..300_000_u32).map(|i| (vec![(i % 65_536) as u16], 0)).collect();
    let model = quiet(&table(1, &rows), &schema(1, 1), plan(Method::Cube));
    let (mean, covariance) = moments(&drawn(&model, 300_000, 2).0, 1);
    assert!((mean[0] - 0.46).abs() < 0.05 && (covariance[0][0].sqrt() - 0.29).abs() < 0.02, "{mean:?} {covariance:?}");
}

#[test]
fn strata_keep_their_sizes_and_means() {
    // Three strata around different corners; the last one empty.
    let mut rows = Vec::new();
    for (i, (row, _)) in random_rows(5, 1, 9000, 6).into_iter().enumerate() {
        let stratum = [0, 0, 1][i % 3];
        let row = row.iter().map(|&x| if stratum == 0 { x / 4 } else { Q - x / 4 }).collect();
        rows.push((row, stratum));
    }
    let codes = table(5, &rows);
    for method in [Method::Default, Method::Paper, Method::Cube] {
        let model = quiet(&codes, &schema(5, 3), plan(method));
        let (units, strata) = drawn(&model, 9000, 5);
        let of = |stratum: u32| {
            let picked: Vec<f64> = units
                .chunks_exact(5)
                .zip(&strata)
                .filter(|(_, s)| **s == stratum)
                .flat_map(|(row, _)| row)
                .copied()
                .collect();
            picked
        };
        assert_eq!([0, 1, 2].map(|s| of(s).len() / 5), [6000, 3000, 0], "{}", method.name());
        let mean = |stratum: u32| moments(&of(stratum), 5).0.iter().sum::<f64>() / 5.0;
        assert!(mean(0) < 0.35 && mean(1) > 0.65, "{}: {} {}", method.name(), mean(0), mean(1));
    }
}

#[test]
fn a_chosen_dimension_is_kept_and_texture_can_be_left_out() {
    let (codes, _) = plane(2000, 6, 3, 0.1, 4);
    for method in [Method::Default, Method::Paper] {
        for k in [1, 2, 6] {
            let chosen = Plan { dimension: Some(k), texture: false, ..plan(method) };
            let model = quiet(&codes, &schema(6, 1), chosen);
            assert_eq!(model.receipt().dimension, Some(k));
            let texture = &model.release().texture;
            assert!(texture.directions.is_empty() && texture.diagonal.is_empty() && texture.shifts.is_empty());
            // Texture off: rows lie in a k-dimensional plane before they meet the walls of the cube.
            let sunprint::model::Frame::Basis { vectors, .. } = &model.release().frame else { panic!("a basis") };
            assert_eq!(vectors.len(), k);
        }
    }
}

#[test]
fn a_public_plane_is_kept() {
    let (codes, basis) = plane(5000, 4, 2, 0.1, 4);
    let doubled = basis.iter().map(|v| v.iter().map(|x| 2.0 * x).collect()).collect();
    let model = quiet(&codes, &schema(4, 1), Plan { public_basis: Some(doubled), ..plan(Method::Default) });
    let sunprint::model::Frame::Basis { vectors, .. } = &model.release().frame else { panic!("a basis") };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    assert_eq!(vectors.len(), 2);
    for v in vectors {
        let inside: f64 = basis.iter().map(|u| dot(u, v).powi(2)).sum();
        assert!((inside - 1.0).abs() < 1e-9, "the same plane");
    }
    let (real, synthetic) = (moments(&units(&codes), 4), moments(&drawn(&model, 5000, 1).0, 4));
    assert!((0..4).all(|j| (real.0[j] - synthetic.0[j]).abs() < 0.01));
}

/// The odd tables: name, width, strata, rows.
fn odd_tables() -> Vec<(&'static str, usize, usize, Codes)> {
    let rows = |row: Vec<u16>, count: usize| vec![(row, 0); count];
    let one =
        |name, width: usize, strata: usize, rows: Vec<(Vec<u16>, u32)>| (name, width, strata, table(width, &rows));
    let mut constant = random_rows(4, 1, 60, 1);
    constant.iter_mut().for_each(|(row, _)| (row[0], row[2]) = (Q, 777));
    let mut half_empty = random_rows(3, 2, 50, 2);
    half_empty.iter_mut().for_each(|(_, stratum)| *stratum *= 2);
    let corners = (0..8_u32).map(|i| ((0..3).map(|j| if i >> j & 1 == 1 { Q } else { 0 }).collect(), 0)).collect();
    vec![
        one("one row", 3, 1, rows(vec![5, Q, 30_000], 1)),
        one("one row, one column", 1, 1, rows(vec![Q], 1)),
        one("fewer rows than columns", 12, 1, random_rows(12, 1, 4, 3)),
        one("constant columns", 4, 1, constant),
        one("all rows equal", 3, 1, rows(vec![1, 2, 3], 50)),
        one("all at the lower bound", 3, 1, rows(vec![0; 3], 50)),
        one("all at the upper bound", 3, 1, rows(vec![Q; 3], 50)),
        one("one column", 1, 1, random_rows(1, 1, 80, 4)),
        one("corners", 3, 1, corners),
        one("a stratum without rows", 3, 4, half_empty),
        one("one row in two strata", 2, 2, rows(vec![9, 9], 1)),
        one("65 strata, more than rows", 2, 65, random_rows(2, 65, 24, 5)),
    ]
}

/// Every plan at an ε, with these δ and seeds; seed 0 is a kernel without noise.
fn check_everything(
    name: &str,
    width: usize,
    strata: usize,
    codes: &Codes,
    epsilon: &str,
    runs: &[(Option<&str>, u64)],
) {
    let schema = schema(width, strata);
    let basis = Some(vec![vec![1.0; width]]);
    let plans = [
        plan(Method::Default),
        Plan { texture: false, ..plan(Method::Default) },
        Plan { dimension: Some(1), ..plan(Method::Default) },
        Plan { dimension: Some(width), ..plan(Method::Default) },
        Plan { public_basis: basis, ..plan(Method::Default) },
        plan(Method::Paper),
        Plan { dimension: Some(width), ..plan(Method::Paper) },
        plan(Method::Cube),
        plan(Method::Gaussian),
        Plan { mechanism: Mechanism::Psmm, ..plan(Method::Default) },
        Plan { mechanism: Mechanism::Psmm, metric: Metric::Largest, ..plan(Method::Default) },
        Plan { mechanism: Mechanism::Psmm, cell: Some(0.2), ..plan(Method::Default) },
        Plan { mechanism: Mechanism::Psmm, dimension: Some(width.min(3)), cell: Some(0.7), ..plan(Method::Paper) },
        Plan { mechanism: Mechanism::Psmm, metric: Metric::Manhattan, ..plan(Method::Cube) },
    ];
    // On the cube of more columns there is no lattice to ask for.
    for plan in
        plans.iter().filter(|plan| plan.method != Method::Cube || plan.mechanism == Mechanism::Auto || width <= 10)
    {
        for &(delta, seed) in runs {
            let kernel = if seed == 0 { Kernel::quiet() } else { Kernel::seeded(seed) };
            let model = fit(codes, &schema, plan.clone(), promise(epsilon, delta), kernel)
                .unwrap_or_else(|error| panic!("{name}, {plan:?}, {epsilon}, {delta:?}: {error}"));
            let measure = &model.release().measure;
            let total: u64 = (0..measure.strata()).map(|stratum| measure.rows(stratum)).sum();
            assert_eq!(total, codes.rows() as u64, "{name}: the measure has n rows");
            let (units, labels) = drawn(&model, 40, seed);
            assert!(units.len() == 40 * width && units.iter().all(|x| (0.0..=1.0).contains(x)), "{name}");
            assert!(labels.iter().all(|&s| (s as usize) < strata), "{name}");
            let text = model.to_json();
            let back = Model::from_json(text.as_bytes(), "file")
                .unwrap_or_else(|error| panic!("{name}, {plan:?}, {epsilon}, {delta:?}: {error}"));
            assert_eq!(back.to_json(), text, "{name}: what is saved can be loaded");
        }
    }
}

/// Every odd table with noise of its own, with and without δ, and if asked for also without noise.
fn check_odd_tables(epsilon: &str, quiet: bool) {
    for (seed, (name, width, strata, codes)) in (1..).zip(odd_tables()) {
        let runs = [(None, seed), (Some("1e-9"), seed + 100), (None, 0)];
        check_everything(name, width, strata, &codes, epsilon, &runs[..if quiet { 3 } else { 2 }]);
    }
}

#[test]
fn odd_tables_at_a_tiny_epsilon_never_panic() {
    check_odd_tables("0.0001", true);
}

#[test]
fn odd_tables_at_an_ordinary_epsilon_never_panic() {
    check_odd_tables("1", true);
}

#[test]
fn odd_tables_at_a_huge_epsilon_never_panic() {
    check_odd_tables("1000", false);
}

#[test]
fn a_thousand_strata_never_panic() {
    let runs = [(None, 0), (Some("1e-9"), 0)];
    for epsilon in ["0.0001", "1"] {
        check_everything("1000 strata", 2, 1000, &table(2, &random_rows(2, 1000, 1500, 6)), epsilon, &runs);
    }
    let codes = table(2, &random_rows(2, 1000, 300, 6));
    let noisy = fit(&codes, &schema(2, 1000), plan(Method::Default), promise("1", None), Kernel::seeded(1)).unwrap();
    assert_eq!(noisy.release().measure.strata(), 1000);
}

#[test]
fn many_columns_and_few_rows_never_panic() {
    let codes = table(300, &random_rows(300, 1, 20, 7));
    let schema = schema(300, 1);
    for method in [Method::Default, Method::Paper, Method::Cube, Method::Gaussian] {
        for epsilon in ["0.0001", "1", "1000"] {
            for delta in [None, Some("1e-6")] {
                let model = fit(&codes, &schema, plan(method), promise(epsilon, delta), Kernel::seeded(1)).unwrap();
                assert!(drawn(&model, 20, 1).0.iter().all(|x| (0.0..=1.0).contains(x)));
            }
        }
    }
}

/// A table too small for anything but noise says so, and still keeps its promise.
#[test]
fn a_hopeless_fit_says_so() {
    let codes = table(20, &random_rows(20, 1, 30, 9));
    let model = fit(&codes, &schema(20, 1), plan(Method::Default), promise("0.1", None), Kernel::seeded(1)).unwrap();
    assert!(model.receipt().remarks.iter().any(|remark| remark.contains("stands out of the privacy noise")));
    assert_eq!(model.receipt().spent.len(), 2, "what can be heard is where the cloud is, and how wide");
    assert_eq!(model.receipt().dimension, Some(0));
    let apart = table(20, &random_rows(20, 2, 30, 9));
    let model = fit(&apart, &schema(20, 2), plan(Method::Default), promise("0.1", None), Kernel::seeded(1)).unwrap();
    assert!(model.receipt().remarks.iter().any(|remark| remark.contains("around its own mean")));
    assert_eq!(model.receipt().spent.len(), 4, "and where the strata are, and how many rows they have");
}
