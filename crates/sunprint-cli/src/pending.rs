//! Stand-ins for the parts of the library that are written elsewhere, with the names and shapes of the contract.
//! This file goes when they land: `use crate::pending::…` becomes `use sunprint::…`.
#![allow(missing_docs, dead_code)]

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::Serialize;
use sunprint::error::{Error, Kind, Result};

fn not_yet<T>() -> Result<T> {
    Err(Error::new(Kind::Protocol, "this part of Sunprint is not built yet"))
}

// --- sunprint::privacy -----------------------------------------------------------------------------------------------
pub struct Epsilon;
impl FromStr for Epsilon {
    type Err = Error;
    fn from_str(_: &str) -> Result<Self> {
        Ok(Epsilon)
    }
}
pub struct Delta;
impl FromStr for Delta {
    type Err = Error;
    fn from_str(_: &str) -> Result<Self> {
        Ok(Delta)
    }
}
pub struct Budget;

// --- sunprint::plan --------------------------------------------------------------------------------------------------
pub enum Method {
    Default,
    Paper,
    Cube,
}
pub struct Plan {
    pub method: Method,
    pub dimension: Option<usize>,
    pub texture: bool,
    pub public_basis: Option<Vec<Vec<f64>>>,
    pub shares: Option<()>,
}
impl Default for Plan {
    fn default() -> Self {
        Plan { method: Method::Default, dimension: None, texture: true, public_basis: None, shares: None }
    }
}
pub fn budget(_: Epsilon, _: Option<Delta>) -> Result<Budget> {
    Ok(Budget)
}

// --- sunprint::receipt -----------------------------------------------------------------------------------------------
#[derive(Serialize)]
pub struct Receipt;
impl Receipt {
    /// What is promised before the data is read: everything but the number of rows and the spendings.
    pub fn promise(_: &Schema, _: &Plan, _: &Budget) -> Result<Receipt> {
        not_yet()
    }
}
impl fmt::Display for Receipt {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

// --- sunprint::schema ------------------------------------------------------------------------------------------------
pub struct Schema {
    pub dataset: Dataset,
    pub columns: Vec<Column>,
}
pub struct Dataset {
    pub name: String,
}
pub struct Column {
    pub name: String,
    pub kind: ColumnKind,
    pub role: Role,
}
pub enum ColumnKind {
    Continuous { min: f64, max: f64 },
    Integer { min: i64, max: i64 },
    Boolean,
    Categorical { values: Vec<String> },
}
#[derive(PartialEq)]
pub enum Role {
    Feature,
    Label,
    Stratum,
}
impl Schema {
    pub fn parse(_: &str, _: &str) -> Result<Schema> {
        not_yet()
    }
    pub fn features(&self) -> Vec<usize> {
        Vec::new()
    }
}

// --- sunprint::source ------------------------------------------------------------------------------------------------
#[derive(Clone, Copy)]
pub enum Format {
    Csv,
    Tsv,
    CsvGz,
    CsvZst,
    Parquet,
    Arrow,
}
pub struct Input;
impl Input {
    pub fn new(_: &str, _: Option<Format>) -> Result<Input> {
        Ok(Input)
    }
}
pub struct Output;
impl Output {
    pub fn new(_: &str, _: Option<Format>) -> Result<Output> {
        Ok(Output)
    }
}
pub struct Layout;
pub struct Table;
impl Table {
    pub fn open(_: &Input, _: &Schema, _: &dyn Progress) -> Result<Table> {
        not_yet()
    }
}
pub trait Progress: Sync {
    fn start(&self, what: &str, total: Option<u64>);
    fn advance(&self, by: u64);
    fn done(&self);
}
#[derive(Serialize)]
pub struct CheckReport {
    pub rows: u64,
    pub columns: Vec<ColumnCheck>,
}
#[derive(Serialize)]
pub struct ColumnCheck {
    pub name: String,
    pub below: u64,
    pub above: u64,
    pub not_a_number: u64,
    pub empty: u64,
    pub unlisted: u64,
}
pub fn check(_: &Input, _: &Schema, _: &dyn Progress) -> Result<CheckReport> {
    not_yet()
}
/// The skeleton of a schema: names and kinds from the header, bounds left as `?`, or filled in from public data.
pub fn skeleton(_: &Input, _data_is_public: bool, _: &dyn Progress) -> Result<String> {
    not_yet()
}
pub struct Drawn {
    pub width: usize,
    pub units: Vec<f64>,
    pub strata: Vec<u32>,
}
pub struct TableWriter;
impl TableWriter {
    pub fn create(_: &Output, _: &Schema, _: &Layout) -> Result<TableWriter> {
        not_yet()
    }
    pub fn write(&mut self, _: &Drawn) -> Result<()> {
        not_yet()
    }
    pub fn finish(self) -> Result<()> {
        not_yet()
    }
}

// --- sunprint::model, sunprint::run ----------------------------------------------------------------------------------
pub struct Model {
    schema: Schema,
}
impl Model {
    pub fn load(_: &Path) -> Result<Model> {
        not_yet()
    }
    pub fn to_json(&self) -> String {
        String::new()
    }
    pub fn receipt(&self) -> &Receipt {
        &Receipt
    }
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
    pub fn layout(&self) -> &Layout {
        &Layout
    }
    pub fn rows(&self) -> u64 {
        0
    }
    pub fn dimension(&self) -> usize {
        0
    }
    /// Variances along the released directions, largest first, in squared units of the bounds.
    pub fn spectrum(&self) -> &[f64] {
        &[]
    }
    pub fn draw(&self, _rows: u64, _seed: u64) -> impl Iterator<Item = Drawn> {
        std::iter::empty()
    }
}
pub fn fit_table(_: &Table, _: &Schema, _: Plan, _: Budget, _: &dyn Progress) -> Result<Model> {
    not_yet()
}

// --- sunprint::math --------------------------------------------------------------------------------------------------
/// Euclidean W1 between two sets of rows of `width` numbers, row-major.
pub fn w1(_: &[f64], _: &[f64], _width: usize) -> f64 {
    f64::NAN
}
