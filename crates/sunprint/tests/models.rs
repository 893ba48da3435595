//! Models: reproducible draws and exact round trips.

mod common;

use common::{drawn, fit, plan, promise, random_rows, schema, table};
use sunprint::error::Kind;
use sunprint::measure::Measure;
use sunprint::model::{BLOCK, Model};
use sunprint::plan::{Mechanism, Method, Plan};
use sunprint::privacy::Kernel;

/// A model written by hand: three columns, two strata, two directions, texture.
const BY_HAND: &[u8] = include_bytes!("data/by_hand.sunprint");

fn by_hand() -> Model {
    Model::from_json(BY_HAND, "by_hand.sunprint").unwrap()
}

/// Models of every method and mechanism, with and without strata, with noise.
fn fitted() -> Vec<Model> {
    let mut models = Vec::new();
    for method in [Method::Default, Method::Paper, Method::Cube, Method::Gaussian] {
        for strata in [1, 3] {
            let codes = table(4, &random_rows(4, strata, 300, 8));
            let schema = schema(4, strata as usize);
            for mechanism in [Mechanism::Pmm, Mechanism::Psmm] {
                let plan = Plan { mechanism, ..plan(method) };
                models.push(fit(&codes, &schema, plan, promise("3", None), Kernel::seeded(5)).unwrap());
            }
        }
    }
    models
}

/// FNV-1a over the bits of all units and strata.
fn hash(units: &[f64], strata: &[u32]) -> u64 {
    let bytes = units.iter().flat_map(|x| x.to_bits().to_le_bytes()).chain(strata.iter().flat_map(|s| s.to_le_bytes()));
    bytes.fold(0xCBF2_9CE4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

/// Written down once. A machine, compiler or library that draws other bits from the same file is noticed here.
#[test]
fn drawn_rows_never_change() {
    let (units, strata) = drawn(&by_hand(), 3000, 42);
    assert_eq!(hash(&units, &strata), GOLDEN, "{:x}", hash(&units, &strata));
}

const GOLDEN: u64 = 0x138C_77E2_0BFE_C23B;

#[test]
fn a_seed_gives_the_same_rows_in_any_order_and_on_any_number_of_threads() {
    for model in fitted().iter().chain([&by_hand()]) {
        let rows = 3 * BLOCK + 17;
        let (units, strata) = drawn(model, rows, 9);
        assert_eq!(strata.len() as u64, rows);
        assert!(units.iter().all(|x| (0.0..=1.0).contains(x)));
        let draw = model.draw(rows, 9);
        let (width, block) = (model.schema().width(), BLOCK as usize);
        let same = |number: u64| {
            let one = draw.block(number);
            let from = number as usize * block;
            let to = (from + block).min(rows as usize);
            let bits = |units: &[f64]| units.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&one.units), bits(&units[from * width..to * width]));
            assert_eq!(one.strata, strata[from..to]);
        };
        (0..draw.blocks()).rev().for_each(same);
        std::thread::scope(|scope| (0..draw.blocks()).for_each(|number| drop(scope.spawn(move || same(number)))));
        let (again, _) = drawn(model, rows, 9);
        assert_eq!(again, units);
        assert_ne!(drawn(model, rows, 10).0, units, "another seed, other rows");
        assert!(draw.block(draw.blocks()).units.is_empty() && draw.block(u64::MAX).units.is_empty());
    }
}

#[test]
fn as_many_rows_as_were_measured_give_every_leaf_its_count() {
    for model in fitted().iter().chain([&by_hand()]) {
        let measure = &model.release().measure;
        let total: u64 = (0..measure.strata()).map(|stratum| measure.rows(stratum)).sum();
        for seed in 0..5 {
            // Strata are visible in the rows; leaves are where the frame is the cube itself and rows are not moved.
            let (units, strata) = drawn(model, total, seed);
            for number in 0..measure.strata() {
                assert_eq!(strata.iter().filter(|&&s| s as usize == number).count() as u64, measure.rows(number));
            }
            if let sunprint::model::Frame::Columns { width } = model.release().frame {
                let mut counts = std::collections::HashMap::new();
                for (row, &stratum) in units.chunks_exact(width).zip(&strata) {
                    *counts.entry((stratum as usize, leaf_of(measure, stratum as usize, row))).or_insert(0_u64) += 1;
                }
                for number in 0..measure.strata() {
                    for &(leaf, count) in measure.leaves(number) {
                        assert_eq!(counts.get(&(number, leaf)), Some(&count));
                    }
                }
            }
        }
    }
}

/// The cell of a row of the cube, found anew: halving the longest side, or counting steps.
fn leaf_of(measure: &Measure, stratum: usize, row: &[f64]) -> u64 {
    match measure {
        Measure::Tree(tree) => {
            let depth = usize::from(tree.strata[stratum].depth);
            let (mut low, mut side) = (vec![0.0; row.len()], vec![1.0; row.len()]);
            let mut leaf = 0_u64;
            for &cut in &tree.cuts[..depth] {
                let cut = usize::from(cut);
                side[cut] /= 2.0;
                let right = row[cut] >= low[cut] + side[cut];
                if right {
                    low[cut] += side[cut];
                }
                leaf = leaf << 1 | u64::from(right);
            }
            leaf
        }
        Measure::Lattice(lattice) => {
            let geometry = &lattice.lattices[stratum].geometry;
            let along = |j: usize| ((row[j] - geometry.lows[j]) / geometry.cell).floor() as u64;
            (0..row.len()).fold(0, |leaf, j| leaf * u64::from(geometry.shape[j]) + along(j))
        }
    }
}

/// Twice the rows give every stratum twice its count, and odd numbers are off by less than one row for each leaf.
#[test]
fn other_numbers_of_rows_keep_the_proportions() {
    let model = by_hand();
    let count = |rows: u64| drawn(&model, rows, 3).1.iter().filter(|&&s| s == 0).count() as f64;
    let (first, total) = (70.0, 100.0);
    assert_eq!(count(200), 2.0 * first);
    for rows in [1, 7, 33, 1001] {
        assert!((count(rows) - rows as f64 * first / total).abs() <= 1.0, "{rows}");
    }
    assert!(drawn(&model, 0, 3).0.is_empty());
}

#[test]
fn more_rows_than_anyone_will_ever_draw_do_not_overflow() {
    for model in fitted() {
        for rows in [1 << 35, 1 << 60, u64::MAX] {
            let draw = model.draw(rows, 1);
            for block in [0, draw.blocks() / 2, draw.blocks() - 1] {
                let block = draw.block(block);
                assert!(block.units.iter().all(|x| (0.0..=1.0).contains(x)));
            }
        }
    }
}

#[test]
fn saving_and_loading_is_exact() {
    for model in fitted().iter().chain([&by_hand()]) {
        let text = model.to_json();
        let back = Model::from_json(text.as_bytes(), "file").unwrap();
        assert_eq!(back.to_json(), text, "the same text");
        assert_eq!(back.release(), model.release(), "the same numbers");
        assert_eq!(drawn(&back, 999, 4), drawn(model, 999, 4), "the same rows");
        assert_eq!(back.receipt().spent, model.receipt().spent);
        assert_eq!(back.schema(), model.schema());
    }
}

#[test]
fn a_newer_format_is_refused_politely() {
    let text = String::from_utf8(BY_HAND.to_vec()).unwrap();
    for newer in ["9", "10", "18446744073709551615"] {
        let newer = text.replacen("\"sunprint_model\": 1", &format!("\"sunprint_model\": {newer}, \"more\": [1]"), 1);
        let error = Model::from_json(newer.as_bytes(), "m.sunprint").unwrap_err();
        assert_eq!(error.kind(), Kind::Model);
        assert!(error.to_string().contains("this Sunprint reads up to 8"), "{error}");
        assert_eq!((error.place(), error.advice()), (Some("m.sunprint"), Some("install a newer Sunprint")));
    }
    // Even where the rest has a form that this version cannot know.
    assert!(Model::from_json(b"{\"sunprint_model\": 9}", "").unwrap_err().to_string().contains("format 9"));
}

/// A model is what was released. With noise, no exact count, sum or mean of the table is in it but by chance: each leaf
/// of the cube would have to keep its count, and each noise term to be 0.
#[test]
fn a_model_holds_no_tally() {
    let codes = table(1, &random_rows(1, 1, 5000, 8));
    let schema = schema(1, 1);
    let quiet = fit(&codes, &schema, plan(Method::Cube), promise("0.1", None), Kernel::quiet()).unwrap();
    let exact = quiet.release().measure.leaves(0);
    for seed in 0..20 {
        let noisy = fit(&codes, &schema, plan(Method::Cube), promise("0.1", None), Kernel::seeded(seed)).unwrap();
        assert_ne!(noisy.release().measure.leaves(0), exact);
    }
    // In the default method the exact sums would show in the frame and the spectrum.
    let numbers = |kernel: Kernel| {
        let model = fit(&codes, &schema, plan(Method::Default), promise("0.1", None), kernel).unwrap();
        serde_json::to_value(model.release()).unwrap()
    };
    let quiet = numbers(Kernel::quiet());
    for seed in 0..20 {
        let noisy = numbers(Kernel::seeded(seed));
        for place in ["/frame/basis/origin", "/spectrum", "/measure/strata/0/leaves"] {
            assert_ne!(quiet.pointer(place), noisy.pointer(place), "{place}");
            assert!(quiet.pointer(place).is_some());
        }
    }
}
