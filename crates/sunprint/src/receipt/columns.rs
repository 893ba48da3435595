//! A column's public bounds in a few words.

use crate::schema::dates::{iso_day, iso_moment};
use crate::schema::{Column, ColumnKind, Role, Scale};
use std::fmt::Write;

/// A statement lists at most so many columns, and so many categories of each.
pub const LISTED: usize = 40;

/// A column's kind and bounds, with at most `most` categories.
pub fn describe(column: &Column, most: usize) -> String {
    let mut words = match &column.kind {
        ColumnKind::Continuous { min, max, .. } => format!("continuous, {min} to {max}"),
        ColumnKind::Integer { min, max, .. } => format!("integer, {min} to {max}"),
        ColumnKind::Boolean { .. } => "boolean".to_owned(),
        ColumnKind::Categorical { values, ordered, .. } => {
            let listed = &values[..values.len().min(most)];
            let rest = values.len() - listed.len();
            let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!("categorical, {}{rest}", listed.join(if *ordered { " < " } else { " | " }))
        }
        ColumnKind::Date { min, max, .. } => format!("date, {} to {}", iso_day(*min), iso_day(*max)),
        ColumnKind::Datetime { min, max, .. } => format!("datetime, {} to {}", iso_moment(*min), iso_moment(*max)),
    };
    let scale = column.kind.scale();
    let notes = [
        (scale != Scale::Linear, scale.word()),
        (column.may_be_missing(), "may be missing"),
        (column.role != Role::Feature, column.role.word()),
    ];
    for (_, note) in notes.iter().filter(|(holds, _)| *holds) {
        let _ = write!(words, " ({note})");
    }
    words
}
