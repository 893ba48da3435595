//! Whether the synthetic table keeps the rules of the schema.

use super::page::{Origin, RuleKept, ValidityPanel};
use super::round::five;
use crate::error::Result;
use crate::evaluate::{Evaluation, broken};
use crate::schema::dates::{iso_day, iso_moment};
use crate::schema::{Column, ColumnKind, Schema};
use crate::source::{CheckReport, ColumnReport, Table};

/// Every rule, broken ones first: what was counted in the synthetic file, and the constraints in the synthetic table.
pub(super) fn panel(
    schema: &Schema,
    synthetic: &Table,
    check: &CheckReport,
    evaluation: &Evaluation,
) -> Result<ValidityPanel> {
    let of_column = |report: &ColumnReport| {
        let column = schema.columns.iter().find(|column| column.name == report.name)?;
        let wrong = report.below + report.above + report.not_a_number + report.unlisted;
        let wrong = if report.missing_allowed { wrong } else { wrong + report.empty };
        let missing = report.missing_allowed.then(|| {
            let synthetic = report.empty as f64 / check.rows.max(1) as f64;
            [five(real_missing(&report.name, evaluation)), five(synthetic)]
        });
        Some(RuleKept { what: report.name.clone(), rule: rule(column), broken: wrong, of: check.rows, missing })
    };
    let mut rules: Vec<RuleKept> = check.columns.iter().filter_map(of_column).collect();
    for (constraint, [broken, of]) in schema.constraints.iter().zip(broken(synthetic, schema)?) {
        let rule = "between columns, in rows that have all of them".to_owned();
        rules.push(RuleKept { what: constraint.rule.clone(), rule, broken, of, missing: None });
    }
    let part = |rule: &RuleKept| rule.broken as f64 / rule.of.max(1) as f64;
    rules.sort_by(|a, b| part(b).total_cmp(&part(a)));
    Ok(ValidityPanel { origin: Origin::Curator, rules })
}

/// The part of the real rows without a value. A label's missing value is a category without a text, the last.
fn real_missing(name: &str, evaluation: &Evaluation) -> f64 {
    let feature = evaluation.columns.iter().find(|column| column.name == name).and_then(|column| column.missing);
    let label = || {
        let label = evaluation.labels.iter().find(|label| label.name == name)?;
        label.categories.iter().find(|category| category.value.is_empty()).map(|category| category.real)
    };
    feature.map(|missing| missing.real).or_else(label).unwrap_or(0.0)
}

/// A column's rule in words.
fn rule(column: &Column) -> String {
    let values = match &column.kind {
        ColumnKind::Continuous { min, max, .. } => format!("a number between {min} and {max}"),
        ColumnKind::Integer { min, max, .. } => format!("a whole number between {min} and {max}"),
        ColumnKind::Boolean { .. } => format!("{} or {}", column.categories()[0], column.categories()[1]),
        ColumnKind::Categorical { values, .. } if values.len() == 1 => "the one category".to_owned(),
        ColumnKind::Categorical { values, .. } => format!("one of {} categories", values.len()),
        ColumnKind::Date { min, max, .. } => format!("a date from {} to {}", iso_day(*min), iso_day(*max)),
        ColumnKind::Datetime { min, max, .. } => format!("a time from {} to {}", iso_moment(*min), iso_moment(*max)),
    };
    values + if column.may_be_missing() { ", or empty" } else { ", never empty" }
}
