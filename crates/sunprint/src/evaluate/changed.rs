//! How many cells the schema changes on the way in: what a comparison of codes cannot see.

use crate::schema::Schema;
use crate::source::{CheckReport, ColumnReport, Table};
use serde::Serialize;

/// More than this part of a real column is worth the first line of a report: whatever is compared, those cells are not
/// what the curator has.
pub const WORTH_SAYING: f64 = 0.01;

/// The cells of one column that the schema changes, in both tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedColumn {
    /// The name.
    pub name: String,
    /// The kind, as in the schema.
    pub kind: &'static str,
    /// In the real table; none if it was not counted.
    pub real: Option<ChangedCells>,
    /// In the synthetic table. Rows that Sunprint has drawn have none.
    pub synthetic: Option<ChangedCells>,
}

/// Cells of one column of one table that do not come through as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ChangedCells {
    /// Outside of the bounds: they become a bound, or go around a circle.
    pub clamped: u64,
    /// Neither number nor date: they become missing, or the middle of the bounds.
    pub unreadable: u64,
    /// No category of the list: they become `other`, or the first, or missing.
    pub unlisted: u64,
    /// Missing where the schema does not allow it: they become the middle of the bounds, or a category.
    pub missing: u64,
    /// All of these.
    pub changed: u64,
    /// Their part of the rows.
    pub share: f64,
}

impl ChangedCells {
    fn of(report: &ColumnReport, rows: u64) -> ChangedCells {
        ChangedCells {
            clamped: report.below + report.above,
            unreadable: report.not_a_number,
            unlisted: report.unlisted,
            missing: if report.missing_allowed { 0 } else { report.empty },
            changed: report.changed(),
            share: report.changed() as f64 / rows.max(1) as f64,
        }
    }

    /// What became of them, in words: `5,171 unlisted and 3 missing`.
    pub fn words(&self) -> String {
        let parts = [
            (self.clamped, "clamped to the bounds"),
            (self.unreadable, "unreadable"),
            (self.unlisted, "not among the categories"),
            (self.missing, "missing where none may be"),
        ];
        let said: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        said.join(", ")
    }
}

impl ChangedColumn {
    /// The part of the real cells; 0 where nobody counted.
    pub fn real_share(&self) -> f64 {
        self.real.map_or(0.0, |cells| cells.share)
    }
}

/// Every column in the order of the schema, those that split the table too. Empty where neither table was counted.
pub(super) fn changed(real: &Table, synthetic: &Table, schema: &Schema) -> Vec<ChangedColumn> {
    if real.check().is_none() && synthetic.check().is_none() {
        return Vec::new();
    }
    let cells = |check: Option<&CheckReport>, name: &str| {
        let check = check?;
        check.columns.iter().find(|one| one.name == name).map(|one| ChangedCells::of(one, check.rows))
    };
    let one = |column: &crate::schema::Column| ChangedColumn {
        name: column.name.clone(),
        kind: column.kind.word(),
        real: cells(real.check(), &column.name),
        synthetic: cells(synthetic.check(), &column.name),
    };
    schema.columns.iter().map(one).collect()
}

/// What the counts say that somebody should hear before anything else, a sentence each.
pub(super) fn notices(changed: &[ChangedColumn]) -> Vec<String> {
    let mut found = Vec::new();
    let mut bad: Vec<&ChangedColumn> = changed.iter().filter(|column| column.real_share() > WORTH_SAYING).collect();
    bad.sort_by(|a, b| b.real_share().total_cmp(&a.real_share()));
    if let Some(worst) = bad.first() {
        let cells = worst.real.unwrap_or_default();
        let others = match bad.len() - 1 {
            0 => String::new(),
            1 => ", and more than 1 % of one other column".to_owned(),
            more => format!(", and more than 1 % of {more} other columns"),
        };
        found.push(format!(
            "The schema changed {:.1} % of the real cells of {} ({}){others}: both tables are compared as the schema \
             made them, so look at its bounds, categories and number format first.",
            100.0 * cells.share,
            worst.name,
            cells.words()
        ));
    }
    let count = |of: fn(&ChangedColumn) -> Option<ChangedCells>| {
        changed.iter().map(of).map(|cells| cells.map(|cells| cells.changed)).sum::<Option<u64>>()
    };
    match (count(|column| column.real), count(|column| column.synthetic)) {
        (real, Some(synthetic)) if synthetic > 0 => {
            let cells = if synthetic == 1 { "1 cell".to_owned() } else { format!("{synthetic} cells") };
            let swapped = match real {
                Some(0) => {
                    ", while the real one has none: perhaps the tables are swapped, for the real one comes first"
                }
                _ => "",
            };
            found.push(format!(
                "The synthetic table has {cells} that the schema changes, which no row drawn by Sunprint has{swapped}."
            ));
        }
        _ => {}
    }
    found
}
