//! All public knowledge about a table: its columns, their bounds and categories, and what one row stands for.
//!
//! A schema never looks at the rows. Whatever it says is public, so its errors may name every value in it.

mod blocks;
mod column;
mod constraint;
pub mod dates;
mod kinds;
mod lattice;
mod parse;
mod rules;
mod system;
mod write;

use crate::error::{Error, Kind, Result};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;

pub use blocks::{Block, Form, HOT};
pub use column::{Column, ColumnKind, Missing, Role, Scale};
pub use constraint::{Constraint, MOST_CONSTRAINTS};
pub use rules::{MOST_COORDINATES, MOST_STRATA};
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

/// No schema is longer.
const MOST_BYTES: u64 = 1 << 26;

/// A whole file, unless it is longer than any schema; a device may have no end.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES { Err(std::io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

impl Schema {
    /// Reads the text of a schema file; `place` names the file in errors.
    pub fn parse(text: &str, place: &str) -> Result<Schema> {
        parse::schema(text, place)
    }

    /// Reads a schema file.
    pub fn load(path: &Path) -> Result<Schema> {
        let place = path.display().to_string();
        let refused = |rule: &str, hint: &str| Error::new(Kind::Schema, rule).at(&place).hint(hint);
        let bytes = read(path).map_err(|fault| match fault.kind() {
            std::io::ErrorKind::FileTooLarge => {
                refused("the file is too large for a schema", "give the path of a TOML file that describes the columns")
            }
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
        Schema::parse(&text, &place)
    }

    /// Refuses a schema that gives its data set no name. A fit needs one: the ledger adds up under it what is spent on
    /// the same rows, and the name of a file, which changes with every copy, would begin anew each time.
    ///
    /// # Errors
    /// [`Kind::Schema`].
    pub fn check_named(&self) -> Result<()> {
        if self.dataset.name.trim().is_empty() {
            return Err(Error::new(Kind::Schema, "the schema gives its dataset no name, and a fit needs one").hint(
                "write `name = \"...\"` below `[dataset]`: what is spent on these rows is added up under it, always the \
                 same one",
            ));
        }
        Ok(())
    }

    /// Checks every rule on a schema that did not come from a schema file, for instance from a model.
    pub fn validate(&self) -> Result<()> {
        rules::validate(self)
    }

    /// The constraints on the grids of their columns; refuses those that no row can obey.
    pub fn system(&self) -> Result<System> {
        self.system_with_decimals(&|_| u32::MAX)
    }

    /// The same for a file whose columns keep no more than so many decimals.
    pub fn system_with_decimals(&self, most: &dyn Fn(usize) -> u32) -> Result<System> {
        System::with_decimals(&self.columns, &self.constraints, most)
            .map_err(|(_, (_, fault))| Error::new(Kind::Schema, fault.rule).hint(fault.hint))
    }

    /// The schema as the text of a schema file.
    pub fn to_toml(&self) -> String {
        write::schema(self)
    }

    /// The columns that do not split the table, in schema order: each becomes a block of coordinates.
    pub fn features(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|&c| !self.columns[c].splits()).collect()
    }

    /// The columns that split the table into strata, in schema order.
    pub fn stratum_columns(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|&c| self.columns[c].splits()).collect()
    }

    /// The number of strata: the product of the categories of all columns that split, with one more where
    /// a value may be missing; 1 if there are none.
    pub fn strata(&self) -> usize {
        self.stratum_columns().iter().map(|&c| self.columns[c].radix()).product()
    }

    /// The number of the stratum with these categories, one for each of [`Schema::stratum_columns`]; the last column
    /// counts fastest.
    pub fn stratum_of(&self, categories: &[u32]) -> u32 {
        let columns = self.stratum_columns();
        assert_eq!(columns.len(), categories.len(), "schema: one category for each column that splits");
        columns.iter().zip(categories).fold(0, |stratum, (&c, &category)| {
            let radix = self.columns[c].radix() as u32;
            assert!(category < radix, "schema: a category is one of the listed ones");
            stratum * radix + category
        })
    }

    /// The categories of a stratum, one for each of [`Schema::stratum_columns`].
    pub fn categories_of(&self, mut stratum: u32) -> Vec<u32> {
        let mut categories = Vec::new();
        for &c in self.stratum_columns().iter().rev() {
            let radix = self.columns[c].radix() as u32;
            categories.push(stratum % radix);
            stratum /= radix;
        }
        categories.reverse();
        categories
    }
}
