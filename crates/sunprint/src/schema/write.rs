//! A schema as text.

use super::dates::{iso_day, iso_moment};
use super::{ColumnKind, Role, Scale, Schema};
use std::fmt::Write;

/// A text as a TOML string, with its quotes.
pub fn text(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len() + 2);
    quoted.push('"');
    for letter in value.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(control));
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

fn list<'a>(values: impl IntoIterator<Item = &'a String>) -> String {
    let quoted: Vec<String> = values.into_iter().map(|value| text(value)).collect();
    format!("[{}]", quoted.join(", "))
}

pub(super) fn schema(schema: &Schema) -> String {
    let mut out = String::from("[dataset]\n");
    if !schema.dataset.name.is_empty() {
        let _ = writeln!(out, "name = {}", text(&schema.dataset.name));
    }
    out.push_str("unit = \"row\"\n");
    for column in &schema.columns {
        let _ = writeln!(out, "\n[[column]]\nname = {}\nkind = \"{}\"", text(&column.name), column.kind.word());
        values(&mut out, &column.kind);
        if column.may_be_missing() {
            out.push_str("missing = \"allow\"\n");
        }
        if column.role != Role::Feature {
            let _ = writeln!(out, "role = \"{}\"", column.role.word());
        }
    }
    for constraint in &schema.constraints {
        let _ = writeln!(out, "\n[[constraint]]\nrule = {}", text(&constraint.rule));
    }
    out
}

fn values(out: &mut String, kind: &ColumnKind) {
    let _ = match kind {
        // `{:?}` writes the shortest decimal that reads back to the same number, always with a point or exponent.
        ColumnKind::Continuous { min, max, .. } => writeln!(out, "min = {min:?}\nmax = {max:?}"),
        ColumnKind::Integer { min, max, .. } => writeln!(out, "min = {min}\nmax = {max}"),
        ColumnKind::Boolean { values: Some(values) } => writeln!(out, "values = {}", list(values)),
        ColumnKind::Boolean { values: None } => Ok(()),
        ColumnKind::Categorical { values, .. } => writeln!(out, "values = {}", list(values)),
        ColumnKind::Date { min, max, .. } => {
            writeln!(out, "min = \"{}\"\nmax = \"{}\"", iso_day(*min), iso_day(*max))
        }
        ColumnKind::Datetime { min, max, .. } => {
            writeln!(out, "min = \"{}\"\nmax = \"{}\"", iso_moment(*min), iso_moment(*max))
        }
    };
    if kind.scale() != Scale::Linear {
        let _ = writeln!(out, "scale = \"{}\"", kind.scale().word());
    }
    match kind {
        ColumnKind::Continuous { decimals: Some(decimals), .. } => {
            let _ = writeln!(out, "decimals = {decimals}");
        }
        ColumnKind::Categorical { ordered, other, .. } => {
            if *ordered {
                out.push_str("ordered = true\n");
            }
            if let Some(other) = other {
                let _ = writeln!(out, "other = {}", text(other));
            }
        }
        ColumnKind::Date { format: Some(format), .. } | ColumnKind::Datetime { format: Some(format), .. } => {
            let _ = writeln!(out, "format = {}", text(format));
        }
        _ => {}
    }
}
