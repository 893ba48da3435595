//! Models: reproducible draws, exact round trips, and damage that is refused or harmless.

mod common;

use common::{drawn, fit, plan, promise, random_rows, schema, table};
use proptest::prelude::*;
use serde_json::Value;
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
    for newer in ["4", "7", "18446744073709551615"] {
        let newer = text.replacen("\"sunprint_model\": 1", &format!("\"sunprint_model\": {newer}, \"more\": [1]"), 1);
        let error = Model::from_json(newer.as_bytes(), "m.sunprint").unwrap_err();
        assert_eq!(error.kind(), Kind::Model);
        assert!(error.to_string().contains("this Sunprint reads up to 3"), "{error}");
        assert_eq!((error.place(), error.advice()), (Some("m.sunprint"), Some("install a newer Sunprint")));
    }
    // Even where the rest has a form that this version cannot know.
    assert!(Model::from_json(b"{\"sunprint_model\": 4}", "").unwrap_err().to_string().contains("format 4"));
}

/// Loads what may be damaged; if it loads, draws from it.
fn load(bytes: &[u8]) -> bool {
    match Model::from_json(bytes, "m") {
        Ok(model) => {
            for (rows, seed) in [(50, 1), (1, 2)] {
                let (units, strata) = drawn(&model, rows, seed);
                assert_eq!(strata.len() as u64, rows);
                assert!(units.iter().all(|x| (0.0..=1.0).contains(x)), "whatever loads draws rows of the cube");
                assert!(strata.iter().all(|&s| (s as usize) < model.schema().strata()));
            }
            model.layout();
            model.receipt().to_string();
            true
        }
        Err(error) => {
            assert_eq!(error.kind(), Kind::Model);
            assert!(error.advice().is_some());
            false
        }
    }
}

#[test]
fn every_truncation_is_refused() {
    let end = BY_HAND.iter().rposition(|&byte| byte == b'}').unwrap();
    (0..end).for_each(|length| assert!(!load(&BY_HAND[..length]), "{length}"));
    assert!(load(BY_HAND));
}

#[test]
fn every_byte_may_be_flipped() {
    for at in 0..BY_HAND.len() {
        for flip in [1, 2, 4, 16, 0x80] {
            let mut damaged = BY_HAND.to_vec();
            damaged[at] ^= flip;
            load(&damaged);
        }
    }
}

/// Replaces the value at a path of the document.
fn with(path: &str, value: Value) -> Vec<u8> {
    let mut document: Value = serde_json::from_slice(BY_HAND).unwrap();
    *document.pointer_mut(path).unwrap_or_else(|| panic!("no {path}")) = value;
    serde_json::to_vec(&document).unwrap()
}

#[test]
fn models_that_do_not_fit_together_are_refused() {
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for (path, value) in [
        ("/release/measure/strata/0/depth", "255"),
        ("/release/measure/strata/0/depth", "5"),
        ("/release/measure/strata/0/leaves/0/0", "8"),
        ("/release/measure/strata/0/leaves/0/0", "18446744073709551615"),
        ("/release/measure/strata/0/leaves/0/1", "18446744073709551615"),
        ("/release/measure/strata/0/leaves/0/1", "-1"),
        ("/release/measure/strata/0/leaves/0/1", "1.5"),
        ("/release/measure/strata/0/leaves/0/1", "\"NaN\""),
        ("/release/measure/strata", "[]"),
        ("/release/measure/strata", "[{\"depth\": 0, \"leaves\": []}, {\"depth\": 0, \"leaves\": []}]"),
        ("/release/measure/strata", "[{\"depth\": 0, \"leaves\": [[0, 1]]}]"),
        ("/release/measure/cuts", "[]"),
        ("/release/measure/cuts/0", "2"),
        ("/release/measure/cuts/0", "65535"),
        ("/release/frame/basis/origin", "[0.5, 0.5]"),
        ("/release/frame/basis/origin/0", "1e31"),
        ("/release/frame/basis/origin/0", "null"),
        ("/release/frame/basis/vectors", "[[1, 0, 0]]"),
        ("/release/frame/basis/vectors/0", "[1, 0]"),
        ("/release/frame/basis/vectors/0/0", "1e300"),
        ("/release/frame/basis/sides", "[]"),
        ("/release/frame/basis/sides/0/width", "0"),
        ("/release/frame/basis/sides/0/width", "-1"),
        ("/release/frame/basis/sides/0/low", "-1e308"),
        ("/release/frame", "{\"columns\": {\"width\": 4}}"),
        ("/release/texture/diagonal", "[0.1]"),
        ("/release/texture/shifts", "[[0, 0, 0]]"),
        ("/release/texture/directions/0/1", "1e308"),
        ("/release/spot", "\"corner\""),
        ("/schema/columns", "[]"),
        ("/schema/columns/0/kind/max", "-5"),
        ("/schema/columns/0/kind/max", "1e305"),
        ("/schema/columns/3/kind/values", "[\"one\"]"),
        ("/schema/columns/3/kind/values", "[\"one\", \"one\"]"),
        ("/schema/columns/0/name", "\"b\""),
        ("/receipt/epsilon", "\"1/0\""),
        ("/receipt/epsilon", "\"NaN\""),
        ("/layout", "{\"columns\": []}"),
        ("/sunprint_model", "-1"),
        ("/sunprint_model", "\"1\""),
    ] {
        assert!(!load(&with(path, json(value))), "{path} = {value}");
    }
    for bytes in [&b""[..], b"{}", b"[]", b"null", b"\xff\xfe", b"{\"sunprint_model\": 1}", &[b'['; 100_000]] {
        assert!(!load(bytes));
    }
    // Not a number and infinity have no place in JSON.
    let text = String::from_utf8(BY_HAND.to_vec()).unwrap();
    for word in ["NaN", "Infinity", "-Infinity", "1e999", "nan"] {
        assert!(!load(text.replacen("0.55", word, 1).as_bytes()), "{word}");
    }
}

/// All places of numbers, texts, lists and objects in a document.
fn places(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| places(item, format!("{path}/{i}"), found));
        }
        Value::Object(items) => {
            items.iter().for_each(|(key, item)| places(item, format!("{path}/{key}"), found));
        }
        _ => {}
    }
    found.push(path);
}

fn odd_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        prop_oneof![Just(0.0), Just(-0.0), Just(1e-320), Just(-1e30), Just(1e30), Just(1e308), any::<f64>()]
            .prop_map(|x| serde_json::json!(x)),
        any::<i64>().prop_map(|x| serde_json::json!(x)),
        prop_oneof![Just(0_u64), Just(1), Just(40), Just(41), Just(255), Just(u64::MAX), any::<u64>()]
            .prop_map(|x| serde_json::json!(x)),
        Just(Value::Null),
        Just(serde_json::json!([])),
        Just(serde_json::json!({})),
        Just(serde_json::json!("NaN")),
        Just(serde_json::json!([[0, 1], [0, 1]])),
        Just(serde_json::json!([0.5, 0.5, 0.5])),
        Just(serde_json::json!(true)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// One to three values anywhere in the document become something else.
    #[test]
    fn odd_values_anywhere_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), odd_value()), 1..4)) {
        let mut document: Value = serde_json::from_slice(BY_HAND).unwrap();
        for (at, value) in changes {
            let mut found = Vec::new();
            places(&document, String::new(), &mut found);
            if let Some(place) = document.pointer_mut(&found[at.index(found.len())]) {
                *place = value;
            }
        }
        load(&serde_json::to_vec(&document).unwrap());
    }

    /// Lists of the document lose or repeat an item.
    #[test]
    fn wrong_lengths_never_panic(at: prop::sample::Index, item: prop::sample::Index, repeat: bool) {
        let mut document: Value = serde_json::from_slice(BY_HAND).unwrap();
        let mut found = Vec::new();
        places(&document, String::new(), &mut found);
        found.retain(|path| document.pointer(path).is_some_and(|v| v.as_array().is_some_and(|list| !list.is_empty())));
        let list = document.pointer_mut(&found[at.index(found.len())]).and_then(Value::as_array_mut).unwrap();
        let item = item.index(list.len());
        if repeat { list.insert(item, list[item].clone()) } else { drop(list.remove(item)) }
        load(&serde_json::to_vec(&document).unwrap());
    }

    #[test]
    fn random_bytes_in_random_places_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut damaged = BY_HAND.to_vec();
        for (at, byte) in changes {
            let at = at.index(damaged.len());
            damaged[at] = byte;
        }
        load(&damaged);
    }
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
