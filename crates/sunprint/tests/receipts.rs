//! Receipts keep to their published form, and what comes back from outside is believed in nothing.

mod common;

use common::{fit, plan, promise, random_rows, schema, table};
use serde_json::{Value, json};
use sunprint::ledger::Entry;
use sunprint::plan::Method;
use sunprint::privacy::Kernel;
use sunprint::receipt::{FORMAT, Receipt};

const SCHEMA: &str = include_str!("../../../docs/receipt.schema.json");

/// What a value does against a JSON Schema: nothing, or the first fault with its place. Knows the words that the
/// published schema uses, and refuses any other, so that none is passed over in silence.
fn fault(schema: &Value, value: &Value, root: &Value, place: &str) -> Option<String> {
    let found = |what: String| Some(format!("{place}: {what}"));
    for (word, rule) in schema.as_object().unwrap() {
        let wrong = match word.as_str() {
            "$schema" | "title" | "description" | "$defs" | "required" | "additionalProperties" => None,
            "$ref" => {
                let path = rule.as_str().unwrap().strip_prefix('#').unwrap();
                fault(root.pointer(path).unwrap(), value, root, place)
            }
            "anyOf" => {
                let fits = rule.as_array().unwrap().iter().any(|one| fault(one, value, root, place).is_none());
                if fits { None } else { found("fits none of several".into()) }
            }
            "enum" => {
                if rule.as_array().unwrap().contains(value) {
                    None
                } else {
                    found(format!("{value} is not listed"))
                }
            }
            "type" => {
                let kinds = rule.as_array().map_or(vec![rule.clone()], Clone::clone);
                let is = |kind: &Value| match kind.as_str().unwrap() {
                    "null" => value.is_null(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "string" => value.is_string(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("unknown type {other}"),
                };
                if kinds.iter().any(is) { None } else { found(format!("{value} is no {rule}")) }
            }
            "minimum" => {
                let low = value.as_i64().is_some_and(|value| value < rule.as_i64().unwrap());
                if low { found(format!("{value} is too small")) } else { None }
            }
            "maxLength" => {
                let long = value.as_str().is_some_and(|text| text.chars().count() as u64 > rule.as_u64().unwrap());
                if long { found("too long".into()) } else { None }
            }
            "maxItems" => {
                let long = value.as_array().is_some_and(|list| list.len() as u64 > rule.as_u64().unwrap());
                if long { found("too many".into()) } else { None }
            }
            "pattern" => {
                let text = value.as_str().unwrap_or_default();
                let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let fits = match rule.as_str().unwrap() {
                    "^[0-9]+/[0-9]+$" => text.split_once('/').is_some_and(|(a, b)| digits(a) && digits(b)),
                    "^[0-9a-f]{64}$" => {
                        text.len() == 64
                            && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
                    }
                    other => panic!("unknown pattern {other}"),
                };
                if fits { None } else { found(format!("{value} has another form")) }
            }
            "items" => {
                let list = value.as_array().map_or(&[][..], Vec::as_slice);
                list.iter().enumerate().find_map(|(i, item)| fault(rule, item, root, &format!("{place}[{i}]")))
            }
            "properties" => {
                let object = value.as_object()?;
                let unknown = object.keys().find(|key| rule.get(key.as_str()).is_none());
                let missing = schema["required"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|key| value.get(key.as_str().unwrap()).is_none());
                assert_eq!(schema["additionalProperties"], json!(false));
                unknown
                    .map(|key| format!("{place}: `{key}` is not described"))
                    .or_else(|| missing.map(|key| format!("{place}: {key} is missing")))
                    .or_else(|| {
                        let inner =
                            |(key, item): (&String, &Value)| fault(&rule[key], item, root, &format!("{place}.{key}"));
                        object.iter().find_map(inner)
                    })
            }
            other => panic!("unknown word {other}"),
        };
        if wrong.is_some() {
            return wrong;
        }
    }
    None
}

fn published(value: &Value) -> Option<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    fault(&schema, value, &schema, "receipt")
}

/// Receipts of every method, pure and with δ, with many rows and with few, recorded and not.
fn receipts() -> Vec<Receipt> {
    let mut all = Vec::new();
    for method in [Method::Default, Method::Paper, Method::Cube, Method::Gaussian] {
        for delta in [None, Some("1e-6")] {
            for (rows, strata) in [(40, 3), (3_000, 1), (3_000, 2)] {
                let codes = table(3, &random_rows(3, strata, rows, 5));
                let schema = schema(3, strata as usize);
                let model = fit(&codes, &schema, plan(method), promise("0.7", delta), Kernel::new().unwrap()).unwrap();
                let mut receipt = model.receipt().clone();
                receipt.ledger = (rows == 40).then(|| Entry { number: 7, hash: "ab".repeat(32) });
                all.push(receipt);
            }
        }
    }
    let budget = promise("1", None);
    all.push(Receipt::promise(&schema(2, 1), &plan(Method::Default), &budget));
    all
}

#[test]
fn real_receipts_keep_to_the_published_schema() {
    for receipt in receipts() {
        assert_eq!(receipt.format, FORMAT);
        let text = serde_json::to_string(&receipt).unwrap();
        assert_eq!(published(&serde_json::from_str(&text).unwrap()), None, "{text}");
        let back = Receipt::from_json(text.as_bytes(), "r.json").unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), text, "nothing is lost on the way");
    }
}

#[test]
fn the_published_schema_refuses_what_is_no_receipt() {
    let whole = serde_json::to_value(&receipts()[0]).unwrap();
    assert_eq!(published(&whole), None);
    for (pointer, wrong) in [
        ("/epsilon", json!(1.0)),
        ("/epsilon", json!("1")),
        ("/delta", json!(0)),
        ("/format", json!(FORMAT + 1)),
        ("/rows", json!(-1)),
        ("/accounting", json!("loose")),
        ("/stages/0/share", json!("all")),
        ("/spent/0/noise", Value::Null),
        ("/ledger/hash", json!("ab")),
        ("/remarks", json!("none")),
    ] {
        let mut broken = whole.clone();
        *broken.pointer_mut(pointer).unwrap() = wrong.clone();
        assert!(published(&broken).is_some_and(|fault| fault.starts_with("receipt")), "{pointer} = {wrong}");
    }
    let mut more = whole.clone();
    more["seed"] = json!(7);
    assert!(published(&more).unwrap().contains("`seed` is not described"));
    for key in whole.as_object().unwrap().keys().filter(|key| *key != "ledger") {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(key);
        assert!(published(&less).is_some(), "{key} may be left out");
    }
}

#[test]
fn receipts_of_earlier_models_are_read() {
    for bytes in [
        &include_bytes!("data/by_hand.sunprint")[..],
        include_bytes!("data/format_2_tree.sunprint"),
        include_bytes!("data/format_2_lattice.sunprint"),
    ] {
        let receipt = Receipt::from_json(bytes, "old.sunprint").unwrap();
        assert_eq!((receipt.format, receipt.ledger.is_none()), (1, true));
    }
}

#[test]
fn what_is_no_receipt_is_refused_with_one_sentence() {
    let whole = serde_json::to_value(&receipts()[0]).unwrap();
    let with = |pointer: &str, value: Value| {
        let mut changed = whole.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        changed.to_string()
    };
    let neither = "this is neither a receipt in JSON nor a model";
    for (text, sentence) in [
        (String::new(), neither),
        ("[]".to_string(), neither),
        ("{}".to_string(), neither),
        ("{\"sunprint_model\": 3}".to_string(), neither),
        ("[".repeat(100_000), neither),
        (format!("{{\"receipt\":{}", "{\"a\":".repeat(100_000)), neither),
        (with("/format", json!(FORMAT + 1)), "this Sunprint reads up to"),
        (with("/format", json!(0)), "its format is not known"),
        (with("/epsilon", json!("1/0")), neither),
        (with("/dataset", json!("x".repeat(70_000))), "one of its texts is too long"),
        (with("/spent/0/noise", json!("x".repeat(70_000))), "one of its texts is too long"),
        (with("/remarks", json!(vec![""; 5_000])), "one of its lists is too long"),
        (with("/stages/0/share", json!(u64::MAX)), "a share is more than the whole"),
        (with("/stages/0/of", json!(0)), "a share is more than the whole"),
        (with("/ledger/hash", json!("not a hash")), "its ledger entry is none"),
        (with("/ledger/entry", json!(0)), "its ledger entry is none"),
    ] {
        let error = Receipt::from_json(text.as_bytes(), "r.json").unwrap_err().to_string();
        assert!(error.contains(sentence) && error.lines().count() <= 2, "{sentence}: {error}");
    }
    // Cut off anywhere, it is refused and nothing breaks.
    let text = whole.to_string();
    for length in 0..text.len() {
        assert!(Receipt::from_json(&text.as_bytes()[..length], "r.json").is_err());
    }
}
