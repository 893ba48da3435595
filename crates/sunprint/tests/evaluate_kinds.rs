//! What `evaluate` says of columns that are no plain numbers.

mod common;

use common::table;
use sunprint::door::{Door, Raw};
use sunprint::evaluate::{Evaluation, Settings, evaluate};
use sunprint::schema::Schema;
use sunprint::source::{Silent, Table};

const SCHEMA: &str = r#"
[[column]]
name = "colour"
kind = "categorical"
values = ["red", "green", "blue"]
missing = "allow"

[[column]]
name = "size"
kind = "categorical"
values = ["s", "m", "l"]
ordered = true

[[column]]
name = "hour"
kind = "integer"
min = 0
max = 23
scale = "cyclic"

[[column]]
name = "age"
kind = "integer"
min = 0
max = 100
missing = "allow"

[[column]]
name = "income"
kind = "continuous"
min = 1
max = 10000
scale = "log"

[[column]]
name = "born"
kind = "date"
min = "2000-01-01"
max = "2000-01-11"

[[column]]
name = "ill"
kind = "boolean"
role = "label"
missing = "allow"
"#;

fn read(schema: &Schema, rows: &[[&str; 7]]) -> Table {
    let door = Door::new(schema);
    let row = |values: &[&str; 7]| {
        let mut codes = vec![0; schema.width()];
        for block in schema.blocks() {
            let raw = Raw::Text(values[block.column]);
            door.gate(block.column).encode_block(raw, &mut codes[block.start..block.end()]);
        }
        (codes, door.category(6, values[6]))
    };
    let rows: Vec<(Vec<u16>, u32)> = rows.iter().map(row).collect();
    Table::of_codes(vec![table(schema.width(), &rows)], schema).unwrap()
}

fn compare(real: &[[&str; 7]], synthetic: &[[&str; 7]]) -> Evaluation {
    let schema = Schema::parse(SCHEMA, "kinds.toml").unwrap();
    let settings = Settings { rows: None, ..Settings::default() };
    evaluate(&read(&schema, real), &read(&schema, synthetic), &schema, &settings, &Silent).unwrap()
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-3, "{a} is not {b}");
}

#[test]
fn every_kind_has_its_figures() {
    let real = [
        ["red", "s", "23", "10", "10", "2000-01-01", "no"],
        ["red", "s", "23", "20", "10", "2000-01-01", "yes"],
        ["green", "l", "23", "", "100", "2000-01-06", ""],
        ["", "m", "23", "", "100", "2000-01-06", "no"],
    ];
    let synthetic = [
        ["red", "s", "1", "30", "10", "2000-01-03", "no"],
        ["blue", "m", "1", "40", "10", "2000-01-03", "no"],
        ["green", "l", "1", "35", "10", "2000-01-08", ""],
        ["", "m", "1", "", "10", "2000-01-08", "no"],
    ];
    let found = compare(&real, &synthetic);
    assert_eq!((found.features, found.coordinates), (6, 4 + 1 + 2 + 2 + 1 + 1));
    let of = |name: &str| found.columns.iter().find(|column| column.name == name).unwrap();
    // Two thirds of the colours were red: one of three needs another.
    near(of("colour").w1, 1.0 / 3.0);
    near(of("colour").variation.unwrap(), 1.0 / 3.0);
    assert!(of("colour").mean.is_none() && of("colour").missing.unwrap().error == 0.0);
    assert_eq!(of("colour").categories[1].value, "green");
    // One of four sizes moves by half of the line.
    near(of("size").w1, 0.125);
    near(of("size").variation.unwrap(), 0.25);
    // The short way from 23 to 1 is two hours of 24.
    near(of("hour").w1, 2.0 / 24.0);
    near(of("age").w1_own, 20.0);
    near(of("age").mean.unwrap().real, 15.0);
    near(of("age").missing.unwrap().error, -0.25);
    // Half of the incomes are a factor of ten off, of a range of four such factors; 90 in their own unit.
    near(of("income").w1, 0.125);
    assert!((of("income").w1_own - 45.0).abs() < 0.1 && (of("income").mean.unwrap().real - 55.0).abs() < 0.1);
    near(of("born").w1_own, 2.0);
    near(found.labels[0].variation, 0.25);
    assert_eq!(found.labels[0].categories.len(), 3);
    assert!(found.correlations.worst.iter().any(|pair| pair.columns[0].contains("colour = ")));
    assert!(found.correlations.worst.iter().all(|pair| {
        let name = |i: usize| pair.columns[i].split(' ').next().unwrap().to_owned();
        name(0) != name(1)
    }));
}

#[test]
fn a_column_without_values_has_none_to_compare() {
    let row = |age: &'static str| ["red", "s", "1", age, "10", "2000-01-03", "no"];
    let found = compare(&[row(""), row("")], &[row("1"), row("")]);
    let age = found.columns.iter().find(|column| column.name == "age").unwrap();
    assert_eq!((age.w1, age.mean.is_none(), age.constant_real), (0.0, true, true));
    assert_eq!(age.missing.unwrap().error, -0.5);
}

/// Categories are 1 apart, whichever they are, up to the rounding of a code.
#[test]
fn categories_are_one_apart() {
    let row = |colour: &'static str| [colour, "s", "1", "1", "10", "2000-01-03", "no"];
    near(compare(&[row("red")], &[row("blue")]).distances.synthetic.w1, 1.0);
    near(compare(&[row("red")], &[row("")]).distances.synthetic.w1, 1.0);
}
