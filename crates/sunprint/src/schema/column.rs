//! One column: what its values are, what it is for, and what becomes of gaps.

use super::dates;
use serde::{Deserialize, Serialize};

/// One column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The name, as in the header of the data file.
    pub name: String,
    /// What its values are, with their public bounds.
    pub kind: ColumnKind,
    /// What it is for.
    pub role: Role,
    /// What becomes of missing values.
    #[serde(default)]
    pub missing: Missing,
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
        /// How numbers are laid out between the bounds.
        #[serde(default)]
        scale: Scale,
        /// The digits behind the point that are kept on the way out; as many as the codes carry where not given.
        #[serde(default)]
        decimals: Option<u8>,
    },
    /// Whole numbers between two bounds, both included.
    Integer {
        /// The lower bound.
        min: i64,
        /// The upper bound.
        max: i64,
        /// How numbers are laid out between the bounds.
        #[serde(default)]
        scale: Scale,
    },
    /// False or true.
    Boolean {
        /// How false and true are written, where not as `false` and `true`.
        #[serde(default)]
        values: Option<[String; 2]>,
    },
    /// One of some listed texts.
    Categorical {
        /// The listed texts.
        values: Vec<String>,
        /// Whether the texts are listed in their order: they lie on a line then, like numbers.
        #[serde(default)]
        ordered: bool,
        /// The listed text that stands for everything that is not listed; the first where not given.
        #[serde(default)]
        other: Option<String>,
    },
    /// Days between two bounds, both included.
    Date {
        /// The first day, in days since 1970-01-01.
        #[serde(with = "dates::as_day")]
        min: i64,
        /// The last day.
        #[serde(with = "dates::as_day")]
        max: i64,
        /// How days are written as text; `%Y-%m-%d` where not given.
        #[serde(default)]
        format: Option<String>,
    },
    /// Moments between two bounds, to the second, both included.
    Datetime {
        /// The first moment, in seconds since 1970-01-01T00:00:00.
        #[serde(with = "dates::as_moment")]
        min: i64,
        /// The last moment.
        #[serde(with = "dates::as_moment")]
        max: i64,
        /// How moments are written as text; `%Y-%m-%dT%H:%M:%S` where not given.
        #[serde(default)]
        format: Option<String>,
    },
}

/// How numbers are laid out between their bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal steps are equally long.
    #[default]
    Linear,
    /// Equal factors are equally long: for skewed positive numbers.
    Log,
    /// On a circle: the end meets the beginning, as with hours and angles.
    Cyclic,
}

/// What becomes of missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// A missing value becomes the middle of the bounds, or the category for what is not listed.
    #[default]
    Forbid,
    /// Missing values are kept: the column may be empty, and the output has empty cells.
    Allow,
}

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A part of a row.
    Feature,
    /// What a row is used to predict: a category splits the measure first, a number is one more coordinate.
    Label,
    /// A category that splits the measure first.
    Stratum,
}

impl ColumnKind {
    /// Real numbers on a linear scale.
    pub fn continuous(min: f64, max: f64) -> ColumnKind {
        ColumnKind::Continuous { min, max, scale: Scale::Linear, decimals: None }
    }

    /// Whole numbers on a linear scale.
    pub fn integer(min: i64, max: i64) -> ColumnKind {
        ColumnKind::Integer { min, max, scale: Scale::Linear }
    }

    /// Categories without an order.
    pub fn categorical(values: impl IntoIterator<Item = impl Into<String>>) -> ColumnKind {
        let values = values.into_iter().map(Into::into).collect();
        ColumnKind::Categorical { values, ordered: false, other: None }
    }

    /// How many values there are, where they lie at equal distances or are listed.
    pub fn values(&self) -> Option<u64> {
        match self {
            ColumnKind::Integer { min, max, scale: Scale::Linear } => min.abs_diff(*max).checked_add(1),
            ColumnKind::Boolean { .. } => Some(2),
            ColumnKind::Categorical { values, .. } => Some(values.len() as u64),
            _ => None,
        }
    }

    /// The word for it in a schema file.
    pub fn word(&self) -> &'static str {
        match self {
            ColumnKind::Continuous { .. } => "continuous",
            ColumnKind::Integer { .. } => "integer",
            ColumnKind::Boolean { .. } => "boolean",
            ColumnKind::Categorical { .. } => "categorical",
            ColumnKind::Date { .. } => "date",
            ColumnKind::Datetime { .. } => "datetime",
        }
    }

    /// How numbers are laid out; linear for everything else.
    pub fn scale(&self) -> Scale {
        match self {
            ColumnKind::Continuous { scale, .. } | ColumnKind::Integer { scale, .. } => *scale,
            _ => Scale::Linear,
        }
    }

    /// Whether the values are texts out of a list: categories, or false and true.
    pub fn is_listed(&self) -> bool {
        matches!(self, ColumnKind::Boolean { .. } | ColumnKind::Categorical { .. })
    }
}

impl Scale {
    /// The word for it in a schema file.
    pub fn word(self) -> &'static str {
        match self {
            Scale::Linear => "linear",
            Scale::Log => "log",
            Scale::Cyclic => "cyclic",
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
    /// A column without missing values.
    pub fn new(name: impl Into<String>, kind: ColumnKind, role: Role) -> Column {
        Column { name: name.into(), kind, role, missing: Missing::Forbid }
    }

    /// Whether missing values are kept.
    pub fn may_be_missing(&self) -> bool {
        self.missing == Missing::Allow
    }

    /// Whether the column splits the table into strata (categories or truth values with role label or stratum) rather
    /// than being a part of a row.
    pub fn splits(&self) -> bool {
        self.kind.is_listed() && self.role != Role::Feature
    }

    /// The texts that the column may hold, in the order of their category numbers; empty for numbers and dates.
    pub fn categories(&self) -> Vec<&str> {
        match &self.kind {
            ColumnKind::Categorical { values, .. } => values.iter().map(String::as_str).collect(),
            ColumnKind::Boolean { values: Some([no, yes]) } => vec![no, yes],
            ColumnKind::Boolean { values: None } => vec!["false", "true"],
            _ => Vec::new(),
        }
    }

    /// The number of categories that a column of categories tells apart: those listed, and the missing value where
    /// there may be one, which is the last.
    pub fn radix(&self) -> usize {
        let listed = match &self.kind {
            ColumnKind::Categorical { values, .. } => values.len(),
            ColumnKind::Boolean { .. } => 2,
            _ => return 0,
        };
        listed + usize::from(self.may_be_missing())
    }
}
