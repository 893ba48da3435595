//! All public knowledge about a table: its columns, their bounds and categories, and what one row stands for.
//!
//! A schema never looks at the rows. Whatever it says is public, so its errors may name every value in it.

mod constraint;
mod lattice;
mod parse;
mod rules;
mod system;
mod write;

use crate::error::{Error, Kind, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

pub use constraint::{Constraint, MOST_CONSTRAINTS};
pub use rules::{MOST_FEATURES, MOST_STRATA};
pub use system::{Line, System, TickRule};
pub use write::text as toml_text;

/// The public description of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// The table as a whole.
    pub dataset: Dataset,
    /// The columns, in the order of the schema file.
    pub columns: Vec<Column>,
    /// Rules between columns that every row obeys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Constraint>,
}

/// The table as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dataset {
    /// The name of the data set; empty where the schema gives none.
    pub name: String,
    /// What one neighbour may change.
    pub unit: Unit,
}

/// The unit of privacy: what one neighbour may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// One row is replaced by another; the number of rows is public.
    Row,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The name, as in the header of the data file.
    pub name: String,
    /// What its values are, with their public bounds.
    pub kind: ColumnKind,
    /// What it is for.
    pub role: Role,
}

/// What the values of a column are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ColumnKind {
    /// Real numbers between two bounds.
    Continuous {
        /// The lower bound.
        min: f64,
        /// The upper bound.
        max: f64,
    },
    /// Whole numbers between two bounds, both included.
    Integer {
        /// The lower bound.
        min: i64,
        /// The upper bound.
        max: i64,
    },
    /// False or true.
    Boolean {
        /// How false and true are written, where not as `false` and `true`.
        #[serde(default)]
        values: Option<[String; 2]>,
    },
    /// One of some listed texts.
    Categorical {
        /// The listed texts; the first also stands for everything that is not listed.
        values: Vec<String>,
    },
}

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// One coordinate of a row.
    Feature,
    /// What a row is used to predict: a category splits the measure first, a number is one more coordinate.
    Label,
    /// A category that splits the measure first.
    Stratum,
}

impl ColumnKind {
    /// The word for it in a schema file.
    pub fn word(&self) -> &'static str {
        match self {
            ColumnKind::Continuous { .. } => "continuous",
            ColumnKind::Integer { .. } => "integer",
            ColumnKind::Boolean { .. } => "boolean",
            ColumnKind::Categorical { .. } => "categorical",
        }
    }
}

impl Role {
    /// The word for it in a schema file.
    pub fn word(self) -> &'static str {
        match self {
            Role::Feature => "feature",
            Role::Label => "label",
            Role::Stratum => "stratum",
        }
    }
}

impl Column {
    /// Whether the column splits the table into strata (a category with role label or stratum) rather than being a
    /// coordinate of a row.
    pub fn splits(&self) -> bool {
        match self.kind {
            ColumnKind::Categorical { .. } => true,
            ColumnKind::Boolean { .. } => self.role != Role::Feature,
            ColumnKind::Continuous { .. } | ColumnKind::Integer { .. } => false,
        }
    }

    /// The texts that the column may hold, in the order of their category numbers; empty for numbers.
    pub fn categories(&self) -> Vec<&str> {
        match &self.kind {
            ColumnKind::Categorical { values } => values.iter().map(String::as_str).collect(),
            ColumnKind::Boolean { values: Some([no, yes]) } => vec![no, yes],
            ColumnKind::Boolean { values: None } => vec!["false", "true"],
            ColumnKind::Continuous { .. } | ColumnKind::Integer { .. } => Vec::new(),
        }
    }
}

impl Schema {
    /// Reads the text of a schema file; `place` names the file in errors.
    pub fn parse(text: &str, place: &str) -> Result<Schema> {
        parse::schema(text, place)
    }

    /// Reads a schema file. A data set without a name takes the file's.
    pub fn load(path: &Path) -> Result<Schema> {
        let place = path.display().to_string();
        let refused = |rule: &str, hint: &str| Error::new(Kind::Schema, rule).at(&place).hint(hint);
        let bytes = std::fs::read(path).map_err(|fault| match fault.kind() {
            std::io::ErrorKind::NotFound => refused(
                "the schema file does not exist",
                "check the path, or write a skeleton with `sunprint schema FILE`",
            ),
            std::io::ErrorKind::IsADirectory => {
                refused("the schema is a directory, not a file", "give the path of the TOML file in it")
            }
            std::io::ErrorKind::PermissionDenied => {
                refused("the schema file may not be read", "check the rights of the file and of its folder")
            }
            _ => refused("the schema file cannot be read", "check the path and the disk"),
        })?;
        let text = String::from_utf8(bytes)
            .map_err(|_| refused("the schema is not UTF-8 text", "save it as UTF-8; a schema is a TOML file"))?;
        let mut schema = Schema::parse(&text, &place)?;
        if schema.dataset.name.is_empty() {
            schema.dataset.name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        }
        Ok(schema)
    }

    /// Checks every rule on a schema that did not come from a schema file, for instance from a model.
    pub fn validate(&self) -> Result<()> {
        rules::validate(self)
    }

    /// The constraints on the grids of their columns; refuses those that no row can obey.
    pub fn system(&self) -> Result<System> {
        System::new(&self.columns, &self.constraints)
            .map_err(|(_, (_, fault))| Error::new(Kind::Schema, fault.rule).hint(fault.hint))
    }

    /// The schema as the text of a schema file.
    pub fn to_toml(&self) -> String {
        write::schema(self)
    }

    /// The columns that are coordinates of a row, in schema order: coordinate `j` is column `features()[j]`.
    pub fn features(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|&c| !self.columns[c].splits()).collect()
    }

    /// The number of coordinates of a row, d.
    pub fn width(&self) -> usize {
        self.columns.iter().filter(|column| !column.splits()).count()
    }

    /// The columns that split the table into strata, in schema order.
    pub fn stratum_columns(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|&c| self.columns[c].splits()).collect()
    }

    /// The number of strata: the product of the categories of all columns that split; 1 if there are none.
    pub fn strata(&self) -> usize {
        self.stratum_columns().iter().map(|&c| self.columns[c].categories().len()).product()
    }

    /// The number of the stratum with these categories, one for each of [`Schema::stratum_columns`]; the last column
    /// counts fastest.
    pub fn stratum_of(&self, categories: &[u32]) -> u32 {
        let columns = self.stratum_columns();
        assert_eq!(columns.len(), categories.len(), "schema: one category for each column that splits");
        columns.iter().zip(categories).fold(0, |stratum, (&c, &category)| {
            let radix = self.columns[c].categories().len() as u32;
            assert!(category < radix, "schema: a category is one of the listed ones");
            stratum * radix + category
        })
    }

    /// The categories of a stratum, one for each of [`Schema::stratum_columns`].
    pub fn categories_of(&self, mut stratum: u32) -> Vec<u32> {
        let mut categories = Vec::new();
        for &c in self.stratum_columns().iter().rev() {
            let radix = self.columns[c].categories().len() as u32;
            categories.push(stratum % radix);
            stratum /= radix;
        }
        categories.reverse();
        categories
    }
}
