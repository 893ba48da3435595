//! Constraints between columns: what schemas may say, and that every row that is written obeys.

mod door_support;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int32Type, Int64Type};
use door_support::{file, open};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use sunprint::error::Error;
use sunprint::model::Model;
use sunprint::plan::{Plan, budget};
use sunprint::run::{fit_table, write_rows};
use sunprint::schema::Schema;
use sunprint::source::{Existing, Output, PhysicalType, Silent, TableWriter};

const COLUMNS: &str = r#"[dataset]
name = "flats"
[[column]]
name = "rooms"
kind = "integer"
min = 1
max = 10
[[column]]
name = "other rooms"
kind = "integer"
min = 0
max = 10
[[column]]
name = "total"
kind = "integer"
min = 1
max = 15
[[column]]
name = "net"
kind = "continuous"
min = 0
max = 2000
[[column]]
name = "tax"
kind = "continuous"
min = 0
max = 500
[[column]]
name = "gross"
kind = "continuous"
min = -1
max = 3000
[[column]]
name = "kind"
kind = "categorical"
values = ["let", "sold"]
role = "label"
[[column]]
name = "lift"
kind = "boolean"
"#;

fn with(rules: &[&str]) -> Result<Schema, Error> {
    let rules: String = rules.iter().map(|rule| format!("[[constraint]]\nrule = \"{rule}\"\n")).collect();
    Schema::parse(&format!("{COLUMNS}{rules}"), "flats.toml")
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    let line = COLUMNS.lines().count() + 2;
    for (rule, place, sentence) in [
        ("rooms <= kind", 18, "column `kind` is categorical and cannot be in a constraint"),
        ("lift <= 1", 9, "column `lift` is boolean and cannot be in a constraint"),
        ("rooms <= people", 18, "a constraint names column `people`, which the schema does not describe"),
        ("rooms", 9, "must compare two sums once"),
        ("rooms <= total <= 9", 24, "must compare two sums once"),
        ("rooms <= ", 15, "is not a comparison of two sums"),
        ("rooms total <= 3", 15, "lacks a `+` or `-` between two parts"),
        ("rooms * total <= 3", 9, "is not a comparison of two sums"),
        ("2 * 3 <= rooms", 9, "is not a comparison of two sums"),
        ("rooms <= `total", 18, "has no second backtick"),
        ("rooms <= 1.2.3", 18, "is not a number that a rule can have"),
        ("rooms / 2 <= total", 15, "`/` has no meaning in a rule"),
        ("rooms - rooms <= 3", 9, "says nothing about a column"),
        ("3 <= 4", 9, "says nothing about a column"),
        ("rooms <= 1234567890123456789", 18, "is not a number that a rule can have"),
        ("rooms > 10", 9, "the constraint `rooms > 10` cannot hold within the bounds of its columns"),
        ("rooms = 2.5", 9, "the constraint `rooms = 2.5` cannot hold within the bounds of its columns"),
        ("tax >= net + 501", 9, "the constraint `tax >= net + 501` cannot hold within the bounds"),
        ("99999999999999999 * net <= 0.00000000000000001 * tax", 9, "have too many digits for its columns"),
    ] {
        let error = with(&[rule]).expect_err(rule);
        assert_eq!(error.place(), Some(format!("flats.toml:{line}:{place}").as_str()), "{rule}: {error}");
        assert!(error.to_string().contains(sentence) && error.advice().is_some(), "{rule}: {error}");
    }
    let error = with(&["rooms < total", "total < rooms"]).unwrap_err();
    assert!(error.to_string().contains("`rooms < total` and `total < rooms` contradict one another"), "{error}");
    assert_eq!(error.place(), Some(format!("flats.toml:{}:9", line + 2).as_str()));
    let many = vec!["rooms <= total"; 257];
    assert!(with(&many).unwrap_err().to_string().contains("at most 256 are supported"));
    assert!(with(&many[..256]).is_ok());
    for rule in ["total == rooms + `other rooms`", "-rooms+2*total>=.5", "net * 0.25 >= tax", "3 <= rooms"] {
        assert!(with(&[rule]).is_ok(), "{rule}");
    }
    for (text, sentence) in [
        ("[constraint]\nrule = \"rooms <= total\"\n", "must be a list of tables"),
        ("[[constraint]]\nrules = \"rooms <= total\"\n", "unknown key `rules` in `[[constraint]]`"),
        ("[[constraint]]\n", "a constraint has no `rule`"),
        ("[[constraint]]\nrule = 3\n", "`rule` must be a text"),
    ] {
        let error = Schema::parse(&format!("{COLUMNS}{text}"), "flats.toml").unwrap_err();
        assert!(error.to_string().contains(sentence), "{error}");
    }
}

const RULES: [&str; 4] =
    ["total = rooms + `other rooms`", "gross = net + tax", "tax <= 0.19 * net", "rooms > `other rooms`"];

/// A model of rows that break every rule, so that nearly every drawn row does.
fn model(folder: &tempfile::TempDir, rules: &[&str]) -> Model {
    let schema = with(rules).unwrap();
    let mut text = String::from("rooms,other rooms,total,net,tax,gross,kind,lift\n");
    for i in 0..3000 {
        let (rooms, other, total) = (1 + i % 10, i % 7, 1 + i % 15);
        let (net, tax, gross) = (i % 2000, i % 500, (7 * i) % 3000);
        text += &format!("{rooms},{other},{total},{net},{tax}.5,{gross}.25,let,true\n");
    }
    let table = open(&file(folder, "flats.csv", text), &schema).unwrap();
    fit_table(&table, &schema, Plan::default(), budget("2".parse().unwrap(), None).unwrap(), &Silent).unwrap()
}

fn draw(model: &Model, folder: &tempfile::TempDir, name: &str) -> std::path::PathBuf {
    let path = folder.path().join(name);
    let output = Output::new(&path, None).over(Existing::Replace);
    let mut writer = TableWriter::create(&output, output.format().unwrap(), model.schema(), &model.layout()).unwrap();
    write_rows(&model.draw(4000, 3), &mut writer, &Silent).unwrap();
    writer.finish().unwrap();
    path
}

/// A number of a text in millionths, exactly.
fn millionths(text: &str) -> i64 {
    let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
    let digits: i64 = format!("{}{behind:0<6}", whole.trim_start_matches('-')).parse().unwrap();
    if whole.starts_with('-') { -digits } else { digits }
}

#[test]
fn every_row_that_is_written_obeys() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::from_json(model(&folder, &RULES).to_json().as_bytes(), "model").unwrap();
    let text = std::fs::read_to_string(draw(&model, &folder, "out.csv")).unwrap();
    let mut rows = Vec::new();
    for line in text.lines().skip(1) {
        let values: Vec<i64> = line.split(',').take(6).map(millionths).collect();
        let [rooms, other, total, net, tax, gross] = values[..] else { panic!("{line}") };
        assert!(total == rooms + other && gross == net + tax, "{line}");
        assert!(100 * tax <= 19 * net && rooms > other, "{line}");
        rows.push(values);
    }
    assert_eq!(rows.len(), 4000);
    let apart = rows.iter().collect::<std::collections::HashSet<_>>().len();
    assert!(apart > 3000, "rows are moved, each to its own place, not all to one: {apart}");

    let file = File::open(draw(&model, &folder, "out.parquet")).unwrap();
    let mut row = rows.iter();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let whole = |j: usize| batch.column(j).as_primitive::<Int64Type>().values();
        let real = |j: usize| batch.column(j).as_primitive::<Float64Type>().values();
        for i in 0..batch.num_rows() {
            let (net, tax, gross) = (real(3)[i], real(4)[i], real(5)[i]);
            assert!(whole(2)[i] == whole(0)[i] + whole(1)[i] && whole(0)[i] > whole(1)[i]);
            assert!((gross - net - tax).abs() <= 1e-9 * gross.abs().max(1.0) && tax <= 0.19 * net + 1e-9);
            // The same numbers in both formats.
            let text = row.next().unwrap();
            let same = |j: usize, x: f64| text[j] as f64 / 1e6 == x;
            assert!(same(3, net) && same(4, tax) && same(5, gross), "{text:?}");
        }
    }
    assert!(row.next().is_none());
}

/// The control: without constraints the same table gives rows that break every rule.
#[test]
fn without_constraints_rows_break_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(draw(&model(&folder, &[]), &folder, "out.csv")).unwrap();
    let broken = |line: &&str| {
        let values: Vec<i64> = line.split(',').take(6).map(millionths).collect();
        values[2] != values[0] + values[1] && values[5] != values[3] + values[4]
    };
    assert!(text.lines().skip(1).filter(broken).count() > 3000);
}

/// A file may hold a real number in a type with fewer decimals; sums are those of what it holds.
#[test]
fn narrow_types_of_a_file_obey_too() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(&folder, &RULES);
    let mut layout = model.layout();
    layout.columns[3].physical = PhysicalType::Int32;
    layout.columns[4].physical = PhysicalType::Decimal128 { precision: 12, scale: 1 };
    layout.columns[5].physical = PhysicalType::Decimal128 { precision: 12, scale: 1 };
    let model = model.with_layout(layout);
    let file = File::open(draw(&model, &folder, "out.parquet")).unwrap();
    let mut rows = 0;
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let tenths = |j: usize| batch.column(j).as_primitive::<Decimal128Type>().values();
        for (i, &net) in batch.column(3).as_primitive::<Int32Type>().values().iter().enumerate() {
            let (net, tax, gross) = (i128::from(net), tenths(4)[i], tenths(5)[i]);
            assert!(10 * net + tax == gross && 10 * tax <= 19 * net, "{net} {tax} {gross}");
            rows += 1;
        }
    }
    assert_eq!(rows, 4000);
}
