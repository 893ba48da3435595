//! Tables that nobody would fit, and somebody will: whatever they hold, the fit ends, spends its promise, and its model draws
//! rows of the schema.

mod common;

use common::{drawn, fit, plan, promise, random_rows, schema, table};
use sunprint::math::stream::Stream;
use sunprint::model::Model;
use sunprint::plan::Method;
use sunprint::privacy::{Kernel, Ratio};
use sunprint::schema::{HOT, Schema};
use sunprint::tally::codes::{Codes, Q};

/// Fits a table at ordinary, tiny and huge ε, with and without δ.
fn survives(name: &str, schema: &Schema, codes: &Codes) {
    for (epsilon, delta) in [("1", None), ("1", Some("1e-6")), ("0.001", None), ("1000", None)] {
        let budget = promise(epsilon, delta);
        let total = budget.amount();
        let model = fit(codes, schema, plan(Method::Default), budget, Kernel::seeded(7)).unwrap();
        let spent = &model.receipt().spent;
        let sum = spent.iter().fold(Ratio::ZERO, |sum, spent| sum.checked_add(spent.amount).unwrap());
        assert_eq!(sum, total, "{name}, ε = {epsilon}: {spent:?}");
        let stages: Vec<&str> = spent.iter().map(|spent| spent.stage.as_str()).collect();
        let promised: Vec<&str> = model.receipt().stages.iter().map(|stage| stage.name.as_str()).collect();
        assert_eq!(stages, promised, "{name}, ε = {epsilon}");
        let back = Model::from_json(model.to_json().as_bytes(), "m").unwrap();
        let (units, strata) = drawn(&back, 50, 3);
        assert_eq!((units.len(), strata.len()), (50 * schema.width(), 50), "{name}");
        assert!(units.iter().all(|x| (0.0..=1.0).contains(x)), "{name}, ε = {epsilon}");
        assert!(strata.iter().all(|&stratum| (stratum as usize) < schema.strata()));
    }
}

#[test]
fn one_row() {
    for strata in [1, 3] {
        for row in [vec![0; 4], vec![Q; 4], vec![9, 30_000, Q, 7]] {
            survives("one row", &schema(4, strata), &table(4, &[(row, strata as u32 - 1)]));
        }
    }
}

#[test]
fn all_rows_equal() {
    for strata in [1, 2] {
        for code in [0, Q, 12_345] {
            for rows in [3, 6000] {
                survives("all rows equal", &schema(3, strata), &table(3, &vec![(vec![code; 3], 0); rows]));
            }
        }
    }
}

#[test]
fn one_column() {
    for strata in [1, 2] {
        for rows in [2, 200, 8000] {
            survives("one column", &schema(1, strata), &table(1, &random_rows(1, strata as u32, rows, 5)));
        }
    }
}

#[test]
fn three_hundred_columns() {
    for (strata, rows) in [(1, 400), (2, 400), (1, 3000)] {
        survives("300 columns", &schema(300, strata), &table(300, &random_rows(300, strata as u32, rows, 5)));
    }
}

/// Columns of three, two and five categories, and a label or none.
#[test]
fn only_categories() {
    let column = |name: &str, values: usize, more: &str| {
        let values: Vec<String> = (0..values).map(|v| format!("\"v{v}\"")).collect();
        format!("[[column]]\nname = \"{name}\"\nkind = \"categorical\"\nvalues = [{}]\n{more}\n", values.join(", "))
    };
    for label in [false, true] {
        let mut text = column("a", 3, "") + &column("b", 2, "") + &column("c", 5, "");
        if label {
            text += &column("y", 3, "role = \"label\"");
        }
        let schema = Schema::parse(&text, "categories.toml").unwrap();
        let blocks = schema.blocks();
        for rows in [1, 300, 9000] {
            let mut stream = Stream::new(4, 93, rows);
            let mut row = || {
                let mut row = vec![0; schema.width()];
                for block in &blocks {
                    row[block.start + stream.below(block.len as u64) as usize] = HOT;
                }
                (row, stream.below(schema.strata() as u64) as u32)
            };
            let rows: Vec<(Vec<u16>, u32)> = (0..rows).map(|_| row()).collect();
            survives("only categories", &schema, &table(schema.width(), &rows));
        }
    }
}
