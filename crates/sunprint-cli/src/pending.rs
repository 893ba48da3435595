//! Stand-ins for the parts of the library that are written elsewhere, under their own names and signatures.
//! This file goes when they land: `crate::pending::` becomes `sunprint::`.
#![allow(missing_docs, dead_code)]

use sunprint::error::{Error, Kind, Result};

fn not_yet<T>() -> Result<T> {
    Err(Error::new(Kind::Protocol, "this part of Sunprint is not built yet"))
}

pub mod privacy {
    use std::str::FromStr;
    use sunprint::error::{Error, Result};

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
}

pub mod plan {
    use super::privacy::{Budget, Delta, Epsilon};
    use sunprint::error::Result;

    #[derive(Clone, Copy, Debug, Default)]
    pub enum Method {
        #[default]
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
}

pub mod receipt {
    use super::{plan::Plan, privacy::Budget, schema::Schema};
    use std::fmt;

    #[derive(serde::Serialize)]
    pub struct Receipt {
        pub dimension: Option<usize>,
    }
    impl Receipt {
        pub fn promise(_: &Schema, _: &Plan, _: &Budget) -> Receipt {
            Receipt { dimension: None }
        }
    }
    impl fmt::Display for Receipt {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            Ok(())
        }
    }
}

pub mod schema {
    use std::path::Path;
    use sunprint::error::Result;

    pub struct Schema {
        pub columns: Vec<Column>,
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
    #[derive(Clone, Copy, PartialEq)]
    pub enum Role {
        Feature,
        Label,
        Stratum,
    }
    impl Schema {
        pub fn load(_: &Path) -> Result<Schema> {
            super::not_yet()
        }
        pub fn width(&self) -> usize {
            0
        }
    }
}

pub mod source {
    use super::{not_yet, schema::Schema};
    use std::io::{self, Write};
    use std::path::{Path, PathBuf};
    use sunprint::error::{Error, Kind, Result};

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format {
        Csv,
        Tsv,
        CsvGz,
        TsvGz,
        CsvZst,
        TsvZst,
        Parquet,
        Arrow,
    }
    impl Format {
        pub const ALL: [Format; 8] = [
            Format::Csv,
            Format::Tsv,
            Format::CsvGz,
            Format::TsvGz,
            Format::CsvZst,
            Format::TsvZst,
            Format::Parquet,
            Format::Arrow,
        ];
        pub fn word(self) -> &'static str {
            ["csv", "tsv", "csv.gz", "tsv.gz", "csv.zst", "tsv.zst", "parquet", "arrow"][self as usize]
        }
    }
    pub struct Input(PathBuf);
    impl Input {
        pub fn new(path: impl Into<PathBuf>, _: Option<Format>) -> Input {
            Input(path.into())
        }
    }
    pub struct Output(PathBuf);
    impl Output {
        pub fn new(path: impl Into<PathBuf>, _: Option<Format>) -> Output {
            Output(path.into())
        }
        pub fn path(&self) -> Option<&Path> {
            (self.0 != Path::new("-")).then_some(&self.0)
        }
        pub fn format(&self) -> Result<Format> {
            Ok(Format::Csv)
        }
        pub fn check(&self, input: Option<&Input>) -> Result<()> {
            let Some(path) = self.path() else { return Ok(()) };
            if input
                .is_some_and(|input| path.canonicalize().is_ok_and(|it| input.0.canonicalize().is_ok_and(|i| i == it)))
            {
                return Err(Error::new(Kind::Usage, "the output is the input file").at(path.display().to_string()));
            }
            AtomicFile::create(path).map(drop)
        }
    }
    pub struct AtomicFile(Vec<u8>, PathBuf);
    impl AtomicFile {
        pub fn create(path: &Path) -> Result<AtomicFile> {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if path.is_dir() || !folder.is_dir() || path.file_name().is_none() {
                return Err(Error::new(Kind::Io, "the output cannot be written").at(path.display().to_string()));
            }
            Ok(AtomicFile(Vec::new(), path.to_owned()))
        }
        pub fn finish(self) -> Result<()> {
            std::fs::write(&self.1, &self.0).map_err(|_| Error::new(Kind::Io, "the output cannot be written"))
        }
    }
    impl Write for AtomicFile {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
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
    #[derive(serde::Serialize)]
    pub struct CheckReport {
        pub rows: u64,
        pub columns: Vec<ColumnReport>,
    }
    #[derive(serde::Serialize)]
    pub struct ColumnReport {
        pub name: String,
        pub kind: String,
        pub below: u64,
        pub above: u64,
        pub not_a_number: u64,
        pub empty: u64,
        pub unlisted: u64,
    }
    pub fn check(_: &Input, _: &Schema, _: &dyn Progress) -> Result<CheckReport> {
        not_yet()
    }
    pub fn skeleton(_: &Input) -> Result<String> {
        not_yet()
    }
    pub fn skeleton_from_public_data(_: &Input) -> Result<String> {
        not_yet()
    }
    pub struct Drawn {
        pub strata: Vec<u32>,
    }
    impl Drawn {
        pub fn rows(&self) -> usize {
            self.strata.len()
        }
        pub fn row(&self, _: usize) -> &[f64] {
            &[]
        }
    }
    pub struct TableWriter;
    impl TableWriter {
        pub fn create(_: &Output, _: Format, _: &Schema, _: &Layout) -> Result<TableWriter> {
            not_yet()
        }
        pub fn write(&mut self, _: &Drawn) -> Result<()> {
            not_yet()
        }
        pub fn finish(self) -> Result<()> {
            not_yet()
        }
    }
}

pub mod model {
    use super::{
        not_yet,
        receipt::Receipt,
        schema::Schema,
        source::{Drawn, Layout},
    };
    use sunprint::error::Result;

    pub struct Release {
        pub spectrum: Vec<f64>,
        pub edge: f64,
    }
    pub struct Model {
        schema: Schema,
        receipt: Receipt,
        release: Release,
    }
    pub struct Draw;
    impl Draw {
        pub fn blocks(&self) -> u64 {
            0
        }
        pub fn block(&self, _: u64) -> Drawn {
            Drawn { strata: Vec::new() }
        }
    }
    impl Model {
        pub fn from_json(_: &[u8], _: &str) -> Result<Model> {
            not_yet()
        }
        pub fn to_json(&self) -> String {
            String::new()
        }
        pub fn receipt(&self) -> &Receipt {
            &self.receipt
        }
        pub fn schema(&self) -> &Schema {
            &self.schema
        }
        pub fn layout(&self) -> Layout {
            Layout
        }
        pub fn release(&self) -> &Release {
            &self.release
        }
        pub fn rows(&self) -> u64 {
            0
        }
        pub fn draw(&self, _: u64, _: u64) -> Draw {
            Draw
        }
    }
}

pub mod run {
    use super::{
        model::Model,
        not_yet,
        plan::Plan,
        privacy::Budget,
        schema::Schema,
        source::{Progress, Table},
    };
    use sunprint::error::Result;

    pub fn fit_table(_: &Table, _: &Schema, _: Plan, _: Budget, _: &dyn Progress) -> Result<Model> {
        not_yet()
    }
}
