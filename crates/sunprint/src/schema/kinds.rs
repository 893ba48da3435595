//! What a schema file says of one column's values.

use super::dates::{self, DAY, Pattern};
use super::parse::{Fields, Page};
use super::{ColumnKind, Scale};
use crate::error::Result;
use toml::Spanned;
use toml::de::DeValue;

const KINDS: &str = "the kinds are `continuous`, `integer`, `boolean`, `categorical`, `date` and `datetime`";

/// The keys that only some kinds have, those kinds, and advice.
const KEYS: [(&str, &[&str], &str); 8] = [
    ("min", BOUNDED, "`min` and `max` belong to numbers and dates; categories have `values`"),
    ("max", BOUNDED, "`min` and `max` belong to numbers and dates; categories have `values`"),
    (
        "values",
        &["boolean", "categorical"],
        "`values` belongs to categorical and boolean columns; numbers have `min` and `max`",
    ),
    ("scale", &["continuous", "integer"], "`scale` belongs to continuous and integer columns"),
    ("decimals", &["continuous"], "`decimals` belongs to continuous columns; integers have none"),
    ("ordered", &["categorical"], "`ordered` belongs to categorical columns"),
    ("other", &["categorical"], "`other` belongs to categorical columns"),
    ("format", &["date", "datetime"], "`format` belongs to dates and datetimes"),
];

const BOUNDED: &[&str] = &["continuous", "integer", "date", "datetime"];

pub(super) fn kind(page: &Page, fields: &Fields, name: &str) -> Result<ColumnKind> {
    let Some(kind) = fields.text(page, "kind")? else {
        return Err(page.refuse(fields.start, format!("column `{name}` has no `kind`"), KINDS));
    };
    if !["continuous", "integer", "boolean", "categorical", "date", "datetime"].contains(&kind) {
        return Err(page.refuse(fields.at("kind"), format!("unknown kind `{kind}` of column `{name}`"), KINDS));
    }
    for (key, kinds, hint) in KEYS {
        if let Some((span, _)) = fields.get(key).filter(|_| !kinds.contains(&kind)) {
            return Err(page.refuse(span.start, format!("column `{name}` is {kind} and must not have `{key}`"), hint));
        }
    }
    Ok(match kind {
        "continuous" => ColumnKind::Continuous {
            min: number(page, fields, name, "min")?,
            max: number(page, fields, name, "max")?,
            scale: scale(page, fields, name)?,
            decimals: decimals(page, fields, name)?,
        },
        "integer" => ColumnKind::Integer {
            min: integer(page, fields, name, "min")?,
            max: integer(page, fields, name, "max")?,
            scale: scale(page, fields, name)?,
        },
        "boolean" => {
            let values = if fields.get("values").is_some() {
                let listed = categories(page, fields, name)?;
                Some(<[String; 2]>::try_from(listed).map_err(|_| {
                    let rule = format!("`values` of boolean column `{name}` must list two texts");
                    page.refuse(fields.at("values"), rule, "the first stands for false, the second for true")
                })?)
            } else {
                None
            };
            ColumnKind::Boolean { values }
        }
        "categorical" => ColumnKind::Categorical {
            values: categories(page, fields, name)?,
            ordered: truth(page, fields, name, "ordered")?,
            other: fields.text(page, "other")?.map(str::to_string),
        },
        "date" => ColumnKind::Date {
            min: moment(page, fields, name, "min", false)? / DAY,
            max: moment(page, fields, name, "max", false)? / DAY,
            format: format(page, fields, name, false)?,
        },
        _ => ColumnKind::Datetime {
            min: moment(page, fields, name, "min", true)?,
            max: moment(page, fields, name, "max", true)?,
            format: format(page, fields, name, true)?,
        },
    })
}

fn scale(page: &Page, fields: &Fields, name: &str) -> Result<Scale> {
    match fields.text(page, "scale")? {
        None | Some("linear") => Ok(Scale::Linear),
        Some("log") => Ok(Scale::Log),
        Some("cyclic") => Ok(Scale::Cyclic),
        Some(other) => {
            let rule = format!("unknown scale `{other}` of column `{name}`");
            Err(page.refuse(fields.at("scale"), rule, "the scales are `linear`, `log` and `cyclic`"))
        }
    }
}

fn decimals(page: &Page, fields: &Fields, name: &str) -> Result<Option<u8>> {
    let Some((_, value)) = fields.get("decimals") else { return Ok(None) };
    let whole = match value.get_ref() {
        DeValue::Integer(whole) => u8::from_str_radix(whole.as_str(), whole.radix()).ok(),
        _ => None,
    };
    // Fifteen digits are what an `f64` surely keeps.
    whole.filter(|&digits| digits <= 15).map(Some).ok_or_else(|| {
        let rule = format!("`decimals` of column `{name}` must be a whole number from 0 to 15");
        page.refuse(value.span().start, rule, "give the digits behind the point, for instance `decimals = 2`")
    })
}

fn truth(page: &Page, fields: &Fields, name: &str, key: &str) -> Result<bool> {
    match fields.get(key).map(|(_, value)| (value.span().start, value.get_ref())) {
        None => Ok(false),
        Some((_, DeValue::Boolean(truth))) => Ok(*truth),
        Some((at, _)) => {
            let rule = format!("`{key}` of column `{name}` must be true or false");
            Err(page.refuse(at, rule, "write it without quotes"))
        }
    }
}

/// A bound of dates, as the moment at its beginning.
fn moment(page: &Page, fields: &Fields, name: &str, key: &str, moments: bool) -> Result<i64> {
    let value = bound(page, fields, name, key)?;
    let text = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Datetime(moment) => moment.to_string(),
        _ => String::new(),
    };
    let read = dates::read_iso(&text).filter(|_| moments || text.trim().len() == "2024-02-29".len());
    read.ok_or_else(|| {
        let what = if moments { "datetime" } else { "date" };
        let example = if moments { "2024-02-29T13:45:00" } else { "2024-02-29" };
        let rule = format!("`{key}` of column `{name}` must be a {what} such as \"{example}\"");
        let hint = "bounds are written year first, whatever the column's `format`; years go from 0001 to 9999";
        page.refuse(value.span().start, rule, hint)
    })
}

fn format(page: &Page, fields: &Fields, name: &str, moments: bool) -> Result<Option<String>> {
    let Some(format) = fields.text(page, "format")? else { return Ok(None) };
    Pattern::new(format, moments).map_err(|fault| {
        let rule = format!("`format` of column `{name}` {fault}");
        page.refuse(fields.at("format"), rule, FORMAT_HINT)
    })?;
    Ok(Some(format.to_string()))
}

/// Advice on formats.
pub(super) const FORMAT_HINT: &str = "the parts are %Y %m %d %H %M %S, for instance \"%d.%m.%Y %H:%M\"";

/// The value of a bound, refusing one that is absent or still `"?"`.
fn bound<'t, 'i>(page: &Page, fields: &Fields<'t, 'i>, name: &str, key: &str) -> Result<&'t Spanned<DeValue<'i>>> {
    let hint = "bounds are public knowledge: give the smallest and largest value that the column can have, \
                without looking at the data";
    match fields.get(key) {
        None => Err(page.refuse(fields.start, format!("column `{name}` has no `{key}`"), hint)),
        Some((_, value)) if value.get_ref().as_str() == Some("?") => {
            let rule = format!("`{key}` of column `{name}` is still \"?\"");
            Err(page.refuse(value.span().start, rule, hint))
        }
        Some((_, value)) => Ok(value),
    }
}

fn number(page: &Page, fields: &Fields, name: &str, key: &str) -> Result<f64> {
    let value = bound(page, fields, name, key)?;
    let parsed = match value.get_ref() {
        DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
        DeValue::Integer(whole) => i128::from_str_radix(whole.as_str(), whole.radix()).ok().map(|whole| whole as f64),
        _ => None,
    };
    parsed.ok_or_else(|| {
        let rule = format!("`{key}` of column `{name}` must be a number");
        page.refuse(value.span().start, rule, "write it without quotes")
    })
}

fn integer(page: &Page, fields: &Fields, name: &str, key: &str) -> Result<i64> {
    let value = bound(page, fields, name, key)?;
    let at = value.span().start;
    match value.get_ref() {
        DeValue::Integer(whole) => i64::from_str_radix(whole.as_str(), whole.radix()).map_err(|_| {
            let rule = format!("`{key}` of column `{name}` does not fit in 64 bits");
            page.refuse(at, rule, "use `kind = \"continuous\"` for numbers of that size")
        }),
        _ => {
            let rule = format!("`{key}` of integer column `{name}` must be a whole number");
            Err(page.refuse(
                at,
                rule,
                "write it without quotes and without a decimal point, or use `kind = \"continuous\"`",
            ))
        }
    }
}

fn categories(page: &Page, fields: &Fields, name: &str) -> Result<Vec<String>> {
    let hint = "list every category, for instance `values = [\"no\", \"yes\"]`";
    let Some((_, value)) = fields.get("values") else {
        return Err(page.refuse(fields.start, format!("column `{name}` has no `values`"), hint));
    };
    let at = value.span().start;
    match value.get_ref() {
        DeValue::String(text) if text == "?" => {
            let hint = "categories are public knowledge: list them all, without looking at the data";
            Err(page.refuse(at, format!("`values` of column `{name}` is still \"?\""), hint))
        }
        DeValue::Array(items) => items
            .iter()
            .map(|item| match item.get_ref().as_str() {
                Some(text) => Ok(text.to_string()),
                None => {
                    let rule = format!("`values` of column `{name}` must be texts");
                    Err(page.refuse(item.span().start, rule, "put every category in double quotes, numbers too"))
                }
            })
            .collect(),
        _ => Err(page.refuse(at, format!("`values` of column `{name}` must be a list of texts"), hint)),
    }
}
