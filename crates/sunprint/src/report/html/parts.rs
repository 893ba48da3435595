//! Numbers, tables and badges as markup.

use super::super::page::Origin;
use crate::markup::escaped;

/// A panel of the page.
pub struct Panel {
    /// The name of its field, and the place to link to.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Where its numbers come from.
    pub origin: Origin,
    /// What it says, as markup.
    pub body: String,
}

impl Panel {
    /// The panel as a section with its badge.
    pub fn to_html(&self) -> String {
        let Panel { id, title, origin, body } = self;
        format!(
            "<section class=\"panel\" id=\"{id}\" data-origin=\"{}\" aria-labelledby=\"{id}-title\">\n\
             <div class=\"heading\"><h2 id=\"{id}-title\">{title}</h2>{}</div>\n{body}</section>\n",
            class(*origin),
            badge(*origin)
        )
    }
}

/// The word for an origin in the page's own names.
pub fn class(origin: Origin) -> &'static str {
    match origin {
        Origin::Curator => "curator",
        Origin::Released => "released",
    }
}

/// Whether a panel may be published, in words.
pub fn badge(origin: Origin) -> String {
    let words = match origin {
        Origin::Curator => "curator only",
        Origin::Released => "free: from the release",
    };
    format!("<span class=\"badge {}\">{words}</span>", class(origin))
}

/// A name from the data: text, whichever way it is written.
pub fn named(text: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(text))
}

/// A place for a chart or a table that the scripts draw.
pub fn place(id: &str) -> String {
    format!("<div id=\"{id}\" class=\"place\"></div>\n")
}

/// Three significant digits.
pub fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_string();
    }
    let rounded = format!("{value:.2e}");
    let exponent: i32 = rounded.split_once('e').and_then(|(_, digits)| digits.parse().ok()).unwrap_or(0);
    let text = match exponent {
        -4..=2 => {
            let decimals = usize::try_from(2 - exponent).unwrap_or(0);
            let text = format!("{value:.decimals$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
                false => text,
            }
        }
        3..=6 => thousands(&format!("{value:.0}")),
        _ => format!("{}·10{}", rounded.split('e').next().unwrap_or("").trim_end_matches(".00"), raised(exponent)),
    };
    match text.as_str() {
        "-0" => "0".to_string(),
        text => text.replace('-', "−"),
    }
}

/// An exponent.
fn raised(power: i32) -> String {
    let small = |letter: char| match letter.to_digit(10) {
        Some(digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize).unwrap_or(letter),
        None => '⁻',
    };
    power.to_string().chars().map(small).collect()
}

/// A part of a whole in per cent.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        whole if !whole.is_finite() => "–".to_string(),
        whole if whole == 0.0 || whole.abs() >= 9.995 => format!("{whole:.0} %").replace('-', "−"),
        whole if whole.abs() >= 0.095 => format!("{whole:.1} %").replace('-', "−"),
        whole => format!("{} %", figure(whole)),
    }
}

/// A whole number with commas.
pub fn count(number: u64) -> String {
    thousands(&number.to_string())
}

fn thousands(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|three| str::from_utf8(three).ok()).collect();
    format!("{sign}{}", groups.join(","))
}

/// The head of a table's column.
pub struct Head {
    /// What it says.
    pub words: String,
    /// Whether its cells are numbers.
    pub number: bool,
}

/// Heads from words; those that begin with `#` are over numbers.
pub fn heads(words: &[&str]) -> Vec<Head> {
    words
        .iter()
        .map(|word| Head { words: word.trim_start_matches('#').to_string(), number: word.starts_with('#') })
        .collect()
}

/// Heads over text, whatever the words begin with: they come from the data.
pub fn name_heads(words: &[String]) -> Vec<Head> {
    words.iter().map(|word| Head { words: word.clone(), number: false }).collect()
}

/// A cell: what it shows, and the number that it is sorted by.
pub struct Cell {
    shown: String,
    by: Option<f64>,
}

impl Cell {
    /// Text from the data.
    pub fn name(text: &str) -> Cell {
        Cell { shown: named(text), by: None }
    }

    /// A number, shown in a form of its own.
    pub fn of(value: Option<f64>, form: impl Fn(f64) -> String) -> Cell {
        Cell { shown: value.map_or("–".to_string(), form), by: Some(value.unwrap_or(f64::NEG_INFINITY)) }
    }
}

/// A table. The scripts make it sortable unless it is plain, and show the first rows of a long one.
pub fn table(caption: &str, plain: bool, heads: &[Head], rows: &[Vec<Cell>]) -> String {
    let class = if plain { "plain" } else { "sortable" };
    let mut text = format!("<table class=\"{class}\">\n<caption>{}</caption>\n<thead><tr>", escaped(caption));
    for head in heads {
        let class = if head.number { " class=\"number\"" } else { "" };
        text.push_str(&format!("<th scope=\"col\"{class}>{}</th>", escaped(&head.words)));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        text.push_str("<tr>");
        for (i, (cell, head)) in row.iter().zip(heads).enumerate() {
            let by = cell.by.map(|by| format!(" data-by=\"{by:?}\"")).unwrap_or_default();
            let class = if head.number { " class=\"number\"" } else { "" };
            let head = escaped(&head.words);
            text.push_str(&match i {
                0 => format!("<th scope=\"row\"{class}{by}>{}</th>", cell.shown),
                _ => format!("<td data-head=\"{head}\"{class}{by}>{}</td>", cell.shown),
            });
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (0.012_345, "0.0123"),
            (-0.5, "−0.5"),
            (999.6, "1,000"),
            (123.4, "123"),
            (12_345.6, "12,346"),
            (0.000_012_3, "1.23·10⁻⁵"),
            (4e20, "4·10²⁰"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(figure(value), text, "{value}");
        }
        for (share, text) in
            [(0.0, "0 %"), (1.0, "100 %"), (0.123, "12 %"), (0.0123, "1.2 %"), (0.000_2, "0.02 %"), (-0.05, "−5.0 %")]
        {
            assert_eq!(percent(share), text, "{share}");
        }
        assert_eq!((count(0), count(999), count(1_234_567)), ("0".into(), "999".into(), "1,234,567".into()));
    }

    #[test]
    fn cells_are_text() {
        let html = table(
            "<cap>",
            false,
            &heads(&["a", "#b"]),
            &[vec![Cell::name("<img src=x>\""), Cell::of(Some(0.5), percent)]],
        );
        assert!(html.contains("<caption>&lt;cap&gt;</caption>") && !html.contains("<img"));
        assert!(html.contains("data-by=\"0.5\">50 %</td>"), "{html}");
    }
}
