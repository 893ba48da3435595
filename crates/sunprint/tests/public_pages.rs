//! The public page: from a model alone, and its intervals hold what they should.

mod common;

use common::{fit, plan, plane, promise, schema};
use sunprint::model::Model;
use sunprint::plan::Method;
use sunprint::privacy::Kernel;
use sunprint::report::page::{Origin, Page};
use sunprint::report::{html, public, to_json};
use sunprint::tally::codes::Codes;

fn model(codes: &Codes, width: usize, method: Method, delta: Option<&str>, seed: u64) -> Model {
    fit(codes, &schema(width, 1), plan(method), promise("1", delta), Kernel::seeded(seed)).unwrap()
}

fn page(model: &Model) -> Page {
    public(model).unwrap()
}

fn origins(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => fields.iter().for_each(|(name, value)| match value.as_str() {
            Some(origin) if name == "origin" => found.push(origin.to_owned()),
            _ => origins(value, found),
        }),
        serde_json::Value::Array(values) => values.iter().for_each(|value| origins(value, found)),
        _ => {}
    }
}

#[test]
fn nothing_on_the_page_is_the_curators() {
    let (codes, _) = plane(2_000, 6, 2, 0.1, 3);
    for (method, delta) in [(Method::Default, None), (Method::Default, Some("1e-6")), (Method::Gaussian, None)] {
        let model = model(&codes, 6, method, delta, 5);
        // What came back from a file is the same page.
        let model = Model::from_json(model.to_json().as_bytes(), "m").unwrap();
        let page = page(&model);
        assert_eq!(page.origin, Origin::Released);
        let mut found = Vec::new();
        origins(&serde_json::to_value(&page).unwrap(), &mut found);
        assert!(found.len() >= 5 && found.iter().all(|origin| origin == "released"), "{found:?}");
        let predicted = page.predicted.as_ref().unwrap();
        assert_eq!((predicted.level, predicted.columns.len()), (0.9, 6));
        for figure in predicted.columns.iter().flat_map(|column| &column.figures) {
            assert!(figure.low <= figure.high && (0.0..=1.0).contains(&figure.low) && figure.high <= 1.0, "{figure:?}");
        }
        assert!(page.correlations.as_ref().unwrap().real.is_none() && page.plane.as_ref().unwrap().real.is_empty());
        let cite = page.cite.as_ref().unwrap();
        assert!(cite.contains("test") && cite.contains("ε = 1") && cite.contains("δ") == delta.is_some(), "{cite}");
        assert!(html(&page).is_ok() && to_json(&page).is_ok());
        assert!(page.absent.iter().any(|absent| absent.panel == "distances"));
    }
}

/// Methods that release no number of a single column say so, and everything else is there.
#[test]
fn methods_without_evidence_have_no_intervals() {
    let (codes, _) = plane(2_000, 6, 2, 0.1, 3);
    let cube = page(&model(&codes, 6, Method::Cube, None, 5));
    assert!(cube.predicted.is_none() && cube.correlations.is_some());
    assert!(cube.absent.iter().any(|absent| absent.panel == "predicted"));
    assert!(html(&cube).is_ok());
    // The paper releases means by themselves, and nothing else of a column.
    let paper = page(&model(&codes, 6, Method::Paper, None, 5)).predicted.unwrap();
    assert!(paper.pairs.is_empty() && paper.columns.iter().all(|column| column.figures.len() == 1));
}

#[test]
fn few_rows_and_labels_are_no_trouble() {
    for (rows, strata) in [(1_usize, 1_usize), (3, 2), (40, 3), (5_001, 1)] {
        let schema = schema(3, strata);
        let rows = common::random_rows(3, strata as u32, rows, 2);
        let model =
            fit(&common::table(3, &rows), &schema, plan(Method::Default), promise("1", None), Kernel::seeded(1))
                .unwrap();
        let page = page(&model);
        let columns = page.predicted.unwrap().columns;
        assert_eq!(columns.len(), schema.columns.len());
        if strata > 1 {
            let shares: f64 = columns[3].figures.iter().map(|figure| figure.value).sum();
            assert!((shares - 1.0).abs() < 1e-3);
        }
    }
}
