//! A table with every kind of column, and ways to read and write it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use sunprint::error::{Error, Result};
use sunprint::schema::Schema;
use sunprint::source::{Drawn, Existing, Format, Input, Layout, Output, Silent, Table, TableWriter};

pub const SCHEMA: &str = r#"
[[column]]
name = "height"
kind = "continuous"
min = 0.5
max = 2.5

[[column]]
name = "sex"
kind = "categorical"
values = ["f", "m, or \"other\"", "none"]
role = "stratum"

[[column]]
name = "age"
kind = "integer"
min = -10
max = 120

[[column]]
name = "smoker"
kind = "boolean"

[[column]]
name = "ill"
kind = "boolean"
values = ["no", "yes"]
role = "label"
"#;

pub fn schema() -> Schema {
    Schema::parse(SCHEMA, "people.toml").unwrap()
}

/// A schema with the continuous columns `a` and `b`, both between 0 and 10.
pub fn two() -> Schema {
    let column = |name| format!("[[column]]\nname = \"{name}\"\nkind = \"continuous\"\nmin = 0\nmax = 10\n");
    Schema::parse(&(column("a") + &column("b")), "two.toml").unwrap()
}

pub fn file(folder: &tempfile::TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

pub fn open(path: &Path, schema: &Schema) -> Result<Table> {
    Table::open(&Input::new(path, None), schema, &Silent)
}

/// The error of reading a file, whose table must not be readable. It has a hint.
pub fn refusal(path: &Path, schema: &Schema) -> Error {
    let error = open(path, schema).err().expect("the file is refused");
    assert!(error.advice().is_some_and(|hint| !hint.is_empty()), "a hint for: {error}");
    error
}

pub fn write(path: &Path, schema: &Schema, layout: &Layout, drawn: &Drawn) -> Result<()> {
    let output = Output::new(path, None).over(Existing::Replace);
    let mut writer = TableWriter::create(&output, output.format()?, schema, layout)?;
    writer.write(drawn)?;
    writer.finish()
}

/// All rows: codes and stratum.
pub fn rows(table: &Table) -> Vec<(Vec<u16>, u32)> {
    let chunks = table.chunks().iter();
    chunks.flat_map(|codes| (0..codes.rows()).map(|i| (codes.row(i).to_vec(), codes.stratum(i)))).collect()
}

/// Rows with a fixed pattern over all codes and strata.
pub fn drawn(width: usize, strata: u32, rows: usize) -> Drawn {
    let unit = |i: usize| (i * 7919 % 65_536) as f64 / 65_535.0;
    Drawn {
        width,
        units: (0..rows * width).map(unit).collect(),
        strata: (0..rows as u32).map(|row| row % strata).collect(),
    }
}

pub fn every_format() -> [Format; 8] {
    Format::ALL
}

/// Writes one batch of arrays as a Parquet file.
pub fn write_parquet(path: &std::path::Path, columns: Vec<(&str, arrow_array::ArrayRef)>, nullable: bool) {
    let fields: Vec<arrow_schema::Field> = columns
        .iter()
        .map(|(name, array)| arrow_schema::Field::new(*name, array.data_type().clone(), nullable))
        .collect();
    let arrow = std::sync::Arc::new(arrow_schema::Schema::new(fields));
    let batch = arrow_array::RecordBatch::try_new(
        std::sync::Arc::clone(&arrow),
        columns.into_iter().map(|(_, array)| array).collect(),
    )
    .unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(std::fs::File::create(path).unwrap(), arrow, None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}
