//! The text of a schema file to a [`Schema`], with errors that name line, column and rule.

use super::{Column, Constraint, Dataset, Missing, Role, Schema, System, Unit, kinds, rules};
use crate::error::{Error, Kind, Result};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

type Entry<'t, 'i> = (Range<usize>, &'t Spanned<DeValue<'i>>);

const COLUMN_KEYS: [&str; 12] =
    ["name", "kind", "min", "max", "values", "scale", "decimals", "ordered", "other", "format", "missing", "role"];

/// The text with its name, to say where an error is.
pub(super) struct Page<'a> {
    text: &'a str,
    place: &'a str,
}

impl Page<'_> {
    pub(super) fn refuse(&self, at: usize, rule: impl Into<String>, hint: impl Into<String>) -> Error {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Error::new(Kind::Schema, rule).at(format!("{}:{line}:{column}", self.place)).hint(hint)
    }
}

pub(super) fn schema(text: &str, place: &str) -> Result<Schema> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let page = Page { text, place };
    let root = DeTable::parse(text).map_err(|fault| {
        let message = fault.message().lines().next().unwrap_or_default().to_string();
        let at = fault.span().map_or(0, |span| span.start);
        page.refuse(at, format!("not valid TOML: {message}"), "a schema is a TOML file; strings stand in double quotes")
    })?;
    let mut dataset = Dataset { name: String::new(), unit: Unit::Row };
    let mut columns: Vec<(Column, usize)> = Vec::new();
    let mut constraints = Vec::new();
    for (key, value) in root.get_ref() {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("constraint", value) => constraints = parse_constraints(&page, value, key.span().start)?,
            ("dataset", DeValue::Table(table)) => dataset = parse_dataset(&page, table)?,
            ("column", DeValue::Array(tables)) => {
                for one in tables.iter() {
                    let DeValue::Table(table) = one.get_ref() else {
                        return Err(page.refuse(
                            one.span().start,
                            "`column` must be a list of tables",
                            "begin each column with a line `[[column]]`",
                        ));
                    };
                    columns.push(parse_column(&page, table, one.span().start)?);
                }
            }
            ("dataset", _) => {
                let hint = "begin it with a line `[dataset]`";
                return Err(page.refuse(key.span().start, "`dataset` must be a table", hint));
            }
            ("column", _) => {
                let hint = "begin each column with a line `[[column]]`, in double brackets";
                return Err(page.refuse(key.span().start, "`column` must be a list of tables", hint));
            }
            (other, _) => {
                let hint = "a schema has one `[dataset]` table, a `[[column]]` table for each column, and perhaps \
                            `[[constraint]]` tables";
                return Err(page.refuse(key.span().start, format!("unknown key `{other}`"), hint));
            }
        }
    }
    let (columns, starts): (Vec<Column>, Vec<usize>) = columns.into_iter().unzip();
    rules::together(&columns).map_err(|(c, fault)| page.refuse(c.map_or(0, |c| starts[c]), fault.rule, fault.hint))?;
    let (constraints, starts): (Vec<Constraint>, Vec<usize>) = constraints.into_iter().unzip();
    System::new(&columns, &constraints)
        .map_err(|(i, (at, fault))| page.refuse(starts[i] + at, fault.rule, fault.hint))?;
    Ok(Schema { dataset, columns, constraints })
}

/// The constraints, and where the text of each begins.
fn parse_constraints(page: &Page, value: &DeValue, start: usize) -> Result<Vec<(Constraint, usize)>> {
    let hint = "begin each constraint with a line `[[constraint]]` and write for instance `rule = \"a <= b\"`";
    let DeValue::Array(tables) = value else {
        return Err(page.refuse(start, "`constraint` must be a list of tables", hint));
    };
    let one = |table: &Spanned<DeValue>| {
        let refuse = |at: usize, rule: String| Err(page.refuse(at, rule, hint));
        let DeValue::Table(keys) = table.get_ref() else {
            return refuse(table.span().start, "`constraint` must be a list of tables".to_string());
        };
        if let Some((key, _)) = keys.iter().find(|(key, _)| key.get_ref() != "rule") {
            return refuse(key.span().start, format!("unknown key `{}` in `[[constraint]]`", key.get_ref()));
        }
        let Some(rule) = keys.get("rule") else {
            return refuse(table.span().start, "a constraint has no `rule`".to_string());
        };
        match rule.get_ref().as_str() {
            // The text begins behind its quote.
            Some(text) => Ok((Constraint { rule: text.to_string() }, rule.span().start + 1)),
            None => refuse(rule.span().start, "`rule` must be a text".to_string()),
        }
    };
    tables.iter().map(one).collect()
}

fn parse_dataset(page: &Page, table: &DeTable) -> Result<Dataset> {
    let mut dataset = Dataset { name: String::new(), unit: Unit::Row };
    for (key, value) in table {
        let at = value.span().start;
        match (key.get_ref().as_ref(), value.get_ref().as_str()) {
            ("name", Some("?")) => {
                let hint = "name these rows, always alike: what is spent on them is added up under it";
                return Err(page.refuse(at, "`name` of the dataset is still \"?\"", hint));
            }
            ("name", Some(name)) => dataset.name = name.to_string(),
            ("name", None) => return Err(page.refuse(at, "`name` must be a text", "put it in double quotes")),
            ("unit", Some("row")) => {}
            ("unit", _) => {
                let hint = "write `unit = \"row\"` and bring the table to one row per person first";
                return Err(page.refuse(at, "`unit` must be \"row\"", hint));
            }
            (other, _) => {
                let rule = format!("unknown key `{other}` in `[dataset]`");
                return Err(page.refuse(key.span().start, rule, "the keys are `name` and `unit`"));
            }
        }
    }
    Ok(dataset)
}

/// The keys of one column and where they stand.
pub(super) struct Fields<'t, 'i> {
    entries: [Option<Entry<'t, 'i>>; COLUMN_KEYS.len()],
    pub(super) start: usize,
}

impl<'t, 'i> Fields<'t, 'i> {
    pub(super) fn get(&self, key: &str) -> Option<&Entry<'t, 'i>> {
        COLUMN_KEYS.iter().position(|known| *known == key).and_then(|k| self.entries[k].as_ref())
    }

    /// Where the value of a key stands; the whole column's place if it is absent.
    pub(super) fn at(&self, key: &str) -> usize {
        self.get(key).map_or(self.start, |(_, value)| value.span().start)
    }

    pub(super) fn text(&self, page: &Page, key: &str) -> Result<Option<&'t str>> {
        match self.get(key) {
            None => Ok(None),
            Some((_, value)) => match value.get_ref().as_str() {
                Some(text) => Ok(Some(text)),
                None => {
                    Err(page.refuse(value.span().start, format!("`{key}` must be a text"), "put it in double quotes"))
                }
            },
        }
    }
}

/// The column, and where its name stands.
fn parse_column(page: &Page, table: &DeTable, start: usize) -> Result<(Column, usize)> {
    let mut fields = Fields { entries: Default::default(), start };
    for (key, value) in table {
        match COLUMN_KEYS.iter().position(|known| known == key.get_ref()) {
            Some(k) => fields.entries[k] = Some((key.span(), value)),
            None => {
                return Err(page.refuse(
                    key.span().start,
                    format!("unknown key `{}` in `[[column]]`", key.get_ref()),
                    "the keys are `name`, `kind`, `min`, `max`, `values`, `scale`, `decimals`, `ordered`, `other`, \
                     `format`, `missing` and `role`",
                ));
            }
        }
    }
    let Some(name) = fields.text(page, "name")? else {
        return Err(page.refuse(start, "a column has no `name`", "give the name from the header of the data file"));
    };
    let kind = kinds::kind(page, &fields, name)?;
    let role = match fields.text(page, "role")? {
        None | Some("feature") => Role::Feature,
        Some("label") => Role::Label,
        Some("stratum") => Role::Stratum,
        Some(other) => {
            let rule = format!("unknown role `{other}` of column `{name}`");
            return Err(page.refuse(fields.at("role"), rule, "the roles are `feature`, `label` and `stratum`"));
        }
    };
    let missing = match fields.text(page, "missing")? {
        None | Some("forbid") => Missing::Forbid,
        Some("allow") => Missing::Allow,
        Some(other) => {
            let rule = format!("unknown rule `{other}` for missing values of column `{name}`");
            let hint = "write `missing = \"allow\"` to keep missing values, or `missing = \"forbid\"` to fill them in";
            return Err(page.refuse(fields.at("missing"), rule, hint));
        }
    };
    let column = Column { name: name.to_string(), kind, role, missing };
    rules::column(&column).map_err(|fault| page.refuse(fields.at(fault.key), fault.rule, fault.hint))?;
    Ok((column, fields.at("name")))
}
