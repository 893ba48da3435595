//! The rules a schema obeys, wherever it came from: a schema file or a model.

use super::blocks::{self, Block};
use super::dates::Pattern;
use super::kinds::FORMAT_HINT;
use super::{Column, ColumnKind, Role, Scale, Schema, dates};
use crate::error::{Error, Kind, Result};
use std::collections::HashSet;

/// The largest number of coordinates of a row.
pub const MOST_COORDINATES: usize = 4096;
/// The largest number of strata.
pub const MOST_STRATA: usize = 1024;

/// A broken rule: the key it is about, the sentence, the advice.
pub(super) struct Fault {
    pub key: &'static str,
    pub rule: String,
    pub hint: String,
}

fn fault(key: &'static str, rule: impl Into<String>, hint: impl Into<String>) -> std::result::Result<(), Fault> {
    Err(Fault { key, rule: rule.into(), hint: hint.into() })
}

/// The rules on one column by itself.
pub(super) fn column(column: &Column) -> std::result::Result<(), Fault> {
    if column.name.is_empty() {
        return fault("name", "a column name must not be empty", "give the name from the header of the data file");
    }
    let name = &column.name;
    match &column.kind {
        ColumnKind::Continuous { min, max, scale, decimals } => {
            for (key, bound) in [("min", min), ("max", max)] {
                if !bound.is_finite() {
                    return fault(
                        key,
                        format!("`{key}` of column `{name}` must be a finite number, not {bound}"),
                        "give the smallest and largest value that the column can have",
                    );
                }
            }
            order(name, min, max, min < max)?;
            // Between these limits (x - min) * 65535 / (max - min) neither overflows nor loses its scale.
            let span = max - min;
            if !(1e-300..=1e300).contains(&span) {
                return fault(
                    "max",
                    format!("`max` - `min` of column `{name}` must lie between 1e-300 and 1e300"),
                    "give narrower bounds, or another unit of measurement",
                );
            }
            positive(name, *scale, min, *min > 0.0)?;
            // Far apart enough that their logarithms differ by much more than they are rounded.
            if *scale == Scale::Log && max / min < 1.0 + 1e-9 {
                return fault(
                    "scale",
                    format!("`max` of column `{name}` is too near to `min` for a log scale"),
                    "leave the scale linear",
                );
            }
            if let Some(decimals) = decimals {
                digits(name, *min, *max, *decimals)?;
            }
        }
        ColumnKind::Integer { min, max, scale } => {
            order(name, min, max, min < max)?;
            positive(name, *scale, min, *min > 0)?;
        }
        ColumnKind::Boolean { values } => {
            if let Some([no, yes]) = values
                && no == yes
            {
                return doubled(name, no);
            }
        }
        ColumnKind::Categorical { values, ordered, other } => categories(name, values, *ordered, other.as_deref())?,
        ColumnKind::Date { min, max, format } => {
            order(name, dates::iso_day(*min), dates::iso_day(*max), min < max)?;
            pattern(name, format.as_deref(), false)?;
        }
        ColumnKind::Datetime { min, max, format } => {
            order(name, dates::iso_moment(*min), dates::iso_moment(*max), min < max)?;
            pattern(name, format.as_deref(), true)?;
        }
    }
    if !column.kind.is_listed() && column.role == Role::Stratum {
        return fault(
            "role",
            format!("column `{name}` is {} and cannot be a stratum", column.kind.word()),
            "only categorical and boolean columns can be strata; use `role = \"label\"` for a numeric target",
        );
    }
    if column.kind.scale() == Scale::Cyclic && column.role != Role::Feature {
        return fault(
            "role",
            format!("column `{name}` is cyclic and cannot be a {}", column.role.word()),
            "leave the role out, or make the scale linear",
        );
    }
    if column.may_be_missing()
        && let Some(blank) = column.categories().iter().find(|value| value.trim().is_empty())
    {
        return fault(
            "missing",
            format!("column `{name}` lists `{blank}`, which cannot be told from a missing value"),
            "drop it from `values`, or forbid missing values: the listed text then stands for them",
        );
    }
    Ok(())
}

fn positive(name: &str, scale: Scale, min: impl ToString, positive: bool) -> std::result::Result<(), Fault> {
    if scale != Scale::Log || positive {
        return Ok(());
    }
    fault(
        "min",
        format!("`min` of column `{name}` must be above 0 on a log scale, but it is {}", min.to_string()),
        "give the smallest value that matters; smaller ones are moved to it",
    )
}

/// Some number with so many decimals lies between the bounds.
fn digits(name: &str, min: f64, max: f64, decimals: u8) -> std::result::Result<(), Fault> {
    let ones = 10f64.powi(i32::from(decimals));
    if decimals <= 15 && (min * ones).ceil() <= (max * ones).floor() {
        return Ok(());
    }
    fault(
        "decimals",
        format!("no number with {decimals} decimals lies between `min` and `max` of column `{name}`"),
        "give more decimals, 15 at most, or wider bounds",
    )
}

fn categories(name: &str, values: &[String], ordered: bool, other: Option<&str>) -> std::result::Result<(), Fault> {
    if values.is_empty() {
        return fault(
            "values",
            format!("`values` of column `{name}` is empty"),
            "list every category, for instance `values = [\"no\", \"yes\"]`",
        );
    }
    let mut seen = HashSet::new();
    if let Some(twice) = values.iter().find(|value| !seen.insert(*value)) {
        return doubled(name, twice);
    }
    if let Some(other) = other
        && !values.iter().any(|value| value == other)
    {
        return fault(
            "other",
            format!("`other` of column `{name}` is `{other}`, which `values` does not list"),
            "list it too: it stands for everything that is not listed",
        );
    }
    if ordered && values.len() < 2 {
        return fault(
            "ordered",
            format!("column `{name}` is ordered and has one category"),
            "list at least two, from the lowest to the highest",
        );
    }
    Ok(())
}

fn pattern(name: &str, format: Option<&str>, moments: bool) -> std::result::Result<(), Fault> {
    match format.map(|format| Pattern::new(format, moments)) {
        Some(Err(wrong)) => fault("format", format!("`format` of column `{name}` {wrong}"), FORMAT_HINT),
        _ => Ok(()),
    }
}

fn order(name: &str, min: impl ToString, max: impl ToString, ordered: bool) -> std::result::Result<(), Fault> {
    if ordered {
        return Ok(());
    }
    fault(
        "min",
        format!(
            "`min` of column `{name}` must be below `max`, but {} is not below {}",
            min.to_string(),
            max.to_string()
        ),
        "give the smallest and largest value that the column can have",
    )
}

fn doubled(name: &str, value: &str) -> std::result::Result<(), Fault> {
    fault("values", format!("`values` of column `{name}` lists `{value}` twice"), "list every category once")
}

/// The rules on all columns together. The index says which column an error is about, if it is about one.
pub(super) fn together(columns: &[Column]) -> std::result::Result<(), (Option<usize>, Fault)> {
    let whole = |key, rule: String, hint: &str| Err((None, Fault { key, rule, hint: hint.to_string() }));
    if columns.is_empty() {
        return whole(
            "column",
            "the schema has no columns".to_string(),
            "describe each column of the data in a `[[column]]` table, or start from `sunprint schema FILE`",
        );
    }
    let mut seen = HashSet::new();
    for (c, column) in columns.iter().enumerate() {
        if !seen.insert(column.name.as_str()) {
            let rule = format!("column `{}` is described twice", column.name);
            let hint = "every column has one `[[column]]` table and its own name".to_string();
            return Err((Some(c), Fault { key: "name", rule, hint }));
        }
    }
    let blocks = blocks::of(columns);
    let width = blocks.last().map_or(0, Block::end);
    if width == 0 {
        return whole(
            "column",
            "the schema has no feature columns".to_string(),
            "describe at least one column without a role",
        );
    }
    if width > MOST_COORDINATES {
        // Columns that are one coordinate each are too many; of others the widest is worth naming.
        let widest = blocks.iter().max_by_key(|block| block.width()).filter(|block| block.width() > 16);
        let hint = match widest {
            Some(block) => format!(
                "column `{}` alone has {}, one for each category; list fewer, or let `other` stand for the rare ones",
                columns[block.column].name,
                block.width()
            ),
            None => "drop columns from the schema and the data".to_string(),
        };
        let rule = if blocks.len() == width {
            format!("the schema has {width} feature columns and at most {MOST_COORDINATES} are supported")
        } else {
            let columns = blocks.len();
            format!(
                "the {columns} feature columns have {width} coordinates and at most {MOST_COORDINATES} are supported"
            )
        };
        return whole("column", rule, &hint);
    }
    let mut strata = 1usize;
    for (c, column) in columns.iter().enumerate().filter(|(_, column)| column.splits()) {
        strata = strata.saturating_mul(column.radix());
        if strata > MOST_STRATA {
            let rule = format!(
                "with column `{}` the schema has {strata} strata and at most {MOST_STRATA} are supported",
                column.name
            );
            let hint = "the strata are all combinations of label and stratum categories; use fewer".to_string();
            return Err((Some(c), Fault { key: "name", rule, hint }));
        }
    }
    Ok(())
}

pub(super) fn validate(schema: &Schema) -> Result<()> {
    let refused = |fault: Fault| Error::new(Kind::Schema, fault.rule).hint(fault.hint);
    for one in &schema.columns {
        column(one).map_err(refused)?;
    }
    together(&schema.columns).map_err(|(_, fault)| refused(fault))?;
    schema.system().map(drop)
}
