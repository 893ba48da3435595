//! Damaged and hostile models: refused with a sentence, or harmless. A model file is not trusted.

mod common;

use common::{drawn, fit, promise, table};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::LazyLock;
use sunprint::error::Kind;
use sunprint::math::stream::Stream;
use sunprint::model::Model;
use sunprint::plan::{Plan, Shares};
use sunprint::privacy::Kernel;
use sunprint::schema::{HOT, Schema};

/// A model written by hand: three columns, two strata, two directions, texture.
const BY_HAND: &[u8] = include_bytes!("data/by_hand.sunprint");

/// Every kind of block, missing values, strata, and every stage of a fit.
const EVERYTHING: &str = r#"
[[column]]
name = "number"
kind = "continuous"
min = 0
max = 1
missing = "allow"

[[column]]
name = "angle"
kind = "continuous"
min = 0
max = 360
scale = "cyclic"
missing = "allow"

[[column]]
name = "colour"
kind = "categorical"
values = ["red", "green", "blue"]

[[column]]
name = "flag"
kind = "boolean"

[[column]]
name = "label"
kind = "boolean"
role = "label"
"#;

/// A model with curves, thresholds, offsets and weights of candidates; of these only the first, so that it is small.
static FITTED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let schema = Schema::parse(EVERYTHING, "everything.toml").unwrap();
    let mut stream = Stream::new(3, 92, 0);
    let rows: Vec<(Vec<u16>, u32)> = (0..4000)
        .map(|_| {
            let mut row: Vec<u16> = (0..schema.width()).map(|_| stream.bits() as u16 >> 1).collect();
            for at in [1, 4, 5, 6, 7] {
                row[at] = 0;
            }
            row[5 + stream.below(3) as usize] = HOT;
            row[[1, 4, 5][stream.below(3) as usize].min(4)] = HOT;
            row[8] = [0, u16::MAX][stream.below(2) as usize];
            let stratum = u32::from(row[0] < 9000);
            (row, stratum)
        })
        .collect();
    let shares = Shares {
        centre: 500,
        spread: 500,
        moments: 4000,
        marginals: 3000,
        measure: 1000,
        labels: 1000,
        ..Shares::default()
    };
    let plan = Plan { shares: Some(shares), ..Plan::default() };
    let model = fit(&table(schema.width(), &rows), &schema, plan, promise("4", None), Kernel::seeded(1)).unwrap();
    let weights = &model.release().weights;
    assert!(weights.len() > 1000 && weights.iter().any(|weight| *weight != weights[0]));
    let few: Value = weights[..40].to_vec().into();
    with(model.to_json().as_bytes(), "/release/weights", few)
});

/// The same with a sieve, as formats 4 to 6 have it.
static SIEVED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut document: Value = serde_json::from_slice(&FITTED).unwrap();
    let release = document["release"].as_object_mut().unwrap();
    release.remove("weights");
    let sieve = r#"{"forks": [[0, 9000, -1, 1], [1, 100, -2, -3]], "keep": [[0.5, 1, 0.2], [1, 0.3, 8]]}"#;
    release.insert("sieve".to_string(), serde_json::from_str(sieve).unwrap());
    serde_json::to_vec(&document).unwrap()
});

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
fn with(model: &[u8], path: &str, value: Value) -> Vec<u8> {
    let mut document: Value = serde_json::from_slice(model).unwrap();
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
        assert!(!load(&with(BY_HAND, path, json(value))), "{path} = {value}");
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

/// What settling and sieving rely on.
#[test]
fn values_and_sieves_that_do_not_fit_are_refused() {
    assert!(load(&FITTED) && load(&SIEVED));
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for (path, value) in [
        // A missing value is said behind the coordinates that it empties.
        ("/release/settle/blocks/1/circle/absent/at", "0"),
        ("/release/settle/blocks/1/circle/absent/at", "9"),
        ("/release/settle/blocks/0/line/at", "2"),
        ("/release/settle/blocks/0/line/at", "18446744073709551615"),
        ("/release/settle/blocks/1/circle/at", "8"),
        ("/release/settle/blocks/2/hot/at", "7"),
        ("/release/settle/blocks/2/hot/offsets", "[]"),
        ("/release/sieve/forks", "[]"),
        ("/release/sieve/forks/0", "[0, 7, 0, 0]"),
        ("/release/sieve/forks/0/0", "9"),
        ("/release/sieve/forks/0/1", "65536"),
        ("/release/sieve/forks/0/2", "-2147483648"),
        ("/release/sieve/forks/0/3", "2147483647"),
        ("/release/sieve/keep", "[]"),
        ("/release/sieve/keep/0", "[]"),
        ("/release/sieve/keep/0/0", "8.001"),
        ("/release/sieve/keep/0/0", "-1e-9"),
        ("/release/sieve/keep/0/0", "null"),
    ] {
        assert!(!load(&with(&SIEVED, path, json(value))), "{path} = {value}");
    }
    for (weights, loads) in
        [("[]", true), ("[0]", true), ("[7]", true), ("[0, 0, 0]", true), ("[-1]", false), ("[0.5]", false)]
    {
        assert_eq!(load(&with(&FITTED, "/release/weights", json(weights))), loads, "{weights}");
    }
    assert!(!load(&with(&FITTED, "/release/weights", vec![1; (1 << 24) + 1].into())), "too many");
    // Candidates may have ancestors, if there are any.
    let ancestors = |value: &str, weights: &str| {
        let mut document = serde_json::from_slice::<Value>(&with(&FITTED, "/release/weights", json(weights))).unwrap();
        document["release"]["ancestors"] = json(value);
        load(&serde_json::to_vec(&document).unwrap())
    };
    assert!(ancestors(r#"[{"weights": [0, 3], "fresh": 0.1}, {"weights": [0], "fresh": 1}]"#, "[1, 2, 3]"));
    for wrong in [
        r#"[{"weights": [], "fresh": 0.1}]"#,
        r#"[{"weights": [1], "fresh": 1.1}]"#,
        r#"[{"weights": [1], "fresh": -0.1}]"#,
        r#"[{"weights": [-1], "fresh": 0.1}]"#,
        r#"[{"weights": [1]}]"#,
    ] {
        assert!(!ancestors(wrong, "[1, 2, 3]"), "{wrong}");
    }
    assert!(!ancestors(r#"[{"weights": [1], "fresh": 0.1}]"#, "[]"), "nobody descends from them");
    let many = vec![r#"{"weights": [1], "fresh": 0.1}"#; 17].join(", ");
    assert!(!ancestors(&format!("[{many}]"), "[1]"), "too many");
    // Columns that exclude one another are columns of two values, each on one list.
    let one_of = |value: &str| {
        let mut document = serde_json::from_slice::<Value>(&FITTED).unwrap();
        document["release"]["settle"]["one_of"] = json(value);
        load(&serde_json::to_vec(&document).unwrap())
    };
    assert!(one_of(r#"[{"at": [8], "none": true, "offsets": [[0.5, -1e6]]}]"#));
    for wrong in [
        r#"[{"at": [0], "none": true, "offsets": [[0, 0]]}]"#,
        r#"[{"at": [8, 8], "none": false, "offsets": [[0, 0]]}]"#,
        r#"[{"at": [], "none": true, "offsets": [[0]]}]"#,
        r#"[{"at": [8], "none": true, "offsets": [[0]]}]"#,
        r#"[{"at": [8], "none": false, "offsets": [[0], [0], [0]]}]"#,
        r#"[{"at": [18446744073709551615], "none": false, "offsets": [[0]]}]"#,
        r#"[{"at": [8], "none": false, "offsets": [[0]]}, {"at": [8], "none": false, "offsets": [[0]]}]"#,
    ] {
        assert!(!one_of(wrong), "{wrong}");
    }
    // A sieve that keeps nothing gives up after some tries.
    let keep = serde_json::from_slice::<Value>(&SIEVED).unwrap()["release"]["sieve"]["keep"].clone();
    let none = keep.as_array().unwrap().iter().map(|list| Value::from(vec![0.0; list.as_array().unwrap().len()]));
    assert!(load(&with(&SIEVED, "/release/sieve/keep", none.collect())));
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
        for model in [BY_HAND, &FITTED] {
            let mut document: Value = serde_json::from_slice(model).unwrap();
            for (at, value) in &changes {
                let mut found = Vec::new();
                places(&document, String::new(), &mut found);
                if let Some(place) = document.pointer_mut(&found[at.index(found.len())]) {
                    *place = value.clone();
                }
            }
            load(&serde_json::to_vec(&document).unwrap());
        }
    }

    /// Lists of the document lose or repeat an item.
    #[test]
    fn wrong_lengths_never_panic(at: prop::sample::Index, item: prop::sample::Index, repeat: bool) {
        for model in [BY_HAND, &FITTED] {
            let mut document: Value = serde_json::from_slice(model).unwrap();
            let mut found = Vec::new();
            places(&document, String::new(), &mut found);
            let filled = |v: &Value| v.as_array().is_some_and(|list| !list.is_empty());
            found.retain(|path| document.pointer(path).is_some_and(filled));
            let list = document.pointer_mut(&found[at.index(found.len())]).and_then(Value::as_array_mut).unwrap();
            let item = item.index(list.len());
            if repeat { list.insert(item, list[item].clone()) } else { drop(list.remove(item)) }
            load(&serde_json::to_vec(&document).unwrap());
        }
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
