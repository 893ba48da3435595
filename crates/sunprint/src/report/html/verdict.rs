//! The verdict, and what the schema changed.

use super::super::page::{ChangedPanel, Headline, Page, VerdictPanel};
use super::parts::{Cell, badge, class, count, heads, named, percent, table};
use crate::evaluate::{ChangedCells, ChangedColumn};
use crate::markup::escaped;

/// The first thing to read: what should be heard, then the verdict, then what is worst.
pub fn headline(page: &Page) -> String {
    let Headline { origin, notices, sentence, notes } = &page.headline;
    let list = |of: &[String], kind: &str| {
        let items: String = of.iter().map(|one| format!("<li dir=\"auto\">{}</li>\n", escaped(one))).collect();
        if items.is_empty() { items } else { format!("<ul class=\"{kind}\">\n{items}</ul>\n") }
    };
    format!(
        "<section class=\"headline\" id=\"headline\" data-origin=\"{}\" aria-labelledby=\"headline-title\">\n\
         <div class=\"heading\"><h2 id=\"headline-title\">In short</h2>{}</div>\n{}<p class=\"sentence\">{}</p>\n{}{}\
         </section>\n",
        class(*origin),
        badge(*origin),
        list(notices, "notices"),
        escaped(sentence),
        page.verdict.as_ref().map(verdict).unwrap_or_default(),
        list(notes, "notes")
    )
}

/// One line for each of the five.
fn verdict(own: &VerdictPanel) -> String {
    let mut text = "<table class=\"plain verdict\" id=\"verdict\">\n<caption>Errors beyond what chance alone gives. A \
                    deviation is that of the real column.</caption>\n<thead><tr><th scope=\"col\">What</th>\
                    <th scope=\"col\">Verdict</th><th scope=\"col\">Figures</th></tr></thead>\n<tbody>\n"
        .to_string();
    for line in &own.lines {
        let (mark, kind) = match line.grade {
            "good" => ("✓", "good"),
            "usable" => ("~", "usable"),
            "poor" => ("✗", "poor"),
            _ => ("–", "open"),
        };
        let figures: Vec<String> = line.figures.iter().map(|figure| named(figure)).collect();
        text.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td><span class=\"grade {kind}\"><span aria-hidden=\"true\">{mark}</span> \
             {}</span></td><td>{}</td></tr>\n",
            capital(line.what),
            line.grade,
            figures.join("; ")
        ));
    }
    text + "</tbody>\n</table>\n"
}

/// With a capital letter.
fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Columns with cells that do not come through as they are.
pub fn changed(own: &ChangedPanel) -> String {
    let kept = match own.kept {
        1 => "Of one column every cell came through as it was.".to_string(),
        kept => format!("Of {} columns every cell came through as it was.", count(kept as u64)),
    };
    let words = "The schema decides what becomes of a cell that does not fit, in both tables alike, and the comparison \
                 sees the result alone. Many changed cells in the real table mean that the schema is wrong.";
    if own.columns.is_empty() {
        return format!("<p class=\"lead\">{kept}</p>\n");
    }
    let cells = |cells: Option<ChangedCells>, of: fn(&ChangedCells) -> u64| {
        Cell::of(cells.map(|cells| of(&cells) as f64), |number| count(number as u64))
    };
    let row = |column: &ChangedColumn| {
        vec![
            Cell::name(&column.name),
            Cell::of(column.real.map(|cells| cells.share), percent),
            cells(column.real, |cells| cells.clamped),
            cells(column.real, |cells| cells.unreadable),
            cells(column.real, |cells| cells.unlisted),
            cells(column.real, |cells| cells.missing),
            cells(column.synthetic, |cells| cells.changed),
        ]
    };
    let heads = heads(&[
        "Column",
        "#Changed, real",
        "#Clamped",
        "#Unreadable",
        "#Unlisted",
        "#Missing, not allowed",
        "#Changed, synthetic",
    ]);
    let rows: Vec<Vec<Cell>> = own.columns.iter().map(row).collect();
    format!("<p class=\"lead\">{words} {kept}</p>\n{}", table("Changed cells, most first", false, &heads, &rows))
}
