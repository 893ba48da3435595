//! The rules a schema obeys, wherever it came from: a schema file or a model.

use super::{Column, ColumnKind, Role, Schema};
use crate::error::{Error, Kind, Result};
use std::collections::HashSet;

/// The largest number of feature columns.
pub const MOST_FEATURES: usize = 4096;
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
        ColumnKind::Continuous { min, max } => {
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
        }
        ColumnKind::Integer { min, max } => order(name, min, max, min < max)?,
        ColumnKind::Boolean { values } => {
            if let Some([no, yes]) = values
                && no == yes
            {
                return doubled(name, no);
            }
        }
        ColumnKind::Categorical { values } => {
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
        }
    }
    let numeric = matches!(column.kind, ColumnKind::Continuous { .. } | ColumnKind::Integer { .. });
    if numeric && column.role == Role::Stratum {
        return fault(
            "role",
            format!("column `{name}` is {} and cannot be a stratum", column.kind.word()),
            "only categorical and boolean columns can be strata; use `role = \"label\"` for a numeric target",
        );
    }
    if matches!(column.kind, ColumnKind::Categorical { .. }) && column.role == Role::Feature {
        return fault(
            "kind",
            format!("column `{name}` is a categorical feature, which is not supported yet"),
            "give it `role = \"label\"` or `role = \"stratum\"`, or drop the column from the schema and the data",
        );
    }
    Ok(())
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
    let width = columns.iter().filter(|column| !column.splits()).count();
    if width == 0 {
        return whole(
            "column",
            "the schema has no feature columns".to_string(),
            "describe at least one continuous, integer or boolean feature",
        );
    }
    if width > MOST_FEATURES {
        return whole(
            "column",
            format!("the schema has {width} feature columns and at most {MOST_FEATURES} are supported"),
            "drop columns from the schema and the data",
        );
    }
    let mut strata = 1usize;
    for (c, column) in columns.iter().enumerate().filter(|(_, column)| column.splits()) {
        strata = strata.saturating_mul(column.categories().len());
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
