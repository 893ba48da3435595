//! What was promised, without scripts.

use super::super::page::Privacy;
use super::parts::{Cell, heads, name_heads, named, percent, place, table};
use crate::markup::escaped;
use crate::receipt::Block;

/// The promise, where the budget went, and the statement to open.
pub fn privacy(own: &Privacy) -> String {
    let mut facts = vec![("Who is protected", named(&own.unit)), ("ε", named(&own.epsilon))];
    facts.push(("δ", own.delta.as_deref().map_or("none: the promise is pure".to_string(), named)));
    facts.push(match &own.ledger {
        Some(entry) => ("Ledger", format!("entry {}, <code>{}</code>", entry.number, escaped(&entry.hash))),
        None => ("Ledger", "not recorded".to_string()),
    });
    let facts: String =
        facts.iter().map(|(name, what)| format!("<div><dt>{name}</dt><dd>{what}</dd></div>\n")).collect();
    let stages: Vec<Vec<Cell>> = (own.stages.iter())
        .map(|stage| vec![Cell::name(&stage.name), Cell::of(Some(stage.share), percent), Cell::name(&stage.mechanism)])
        .collect();
    let stages = match stages.is_empty() {
        true => String::new(),
        false => format!(
            "<h3>Where the budget went</h3>\n{}{}",
            place("privacy-budget"),
            table("The budget by stages", true, &heads(&["Stage", "#Share", "Mechanism"]), &stages)
        ),
    };
    let statement: String = (own.statement.iter())
        .map(|section| {
            let blocks: String = section.blocks.iter().map(|one| block(&section.heading, one)).collect();
            format!("<h3>{}</h3>\n{blocks}", escaped(&section.heading))
        })
        .collect();
    let statement = match statement.is_empty() {
        true => statement,
        false => format!(
            "<details class=\"statement\" data-print><summary>The privacy statement in full</summary>\n{statement}\
             </details>\n"
        ),
    };
    format!(
        "<p class=\"promise\">{}</p>\n<dl class=\"facts\">\n{facts}</dl>\n{stages}{statement}",
        escaped(&own.sentence)
    )
}

/// A block of the statement, under a heading.
fn block(heading: &str, block: &Block) -> String {
    match block {
        Block::Heading(heading) => format!("<h4>{}</h4>\n", escaped(heading)),
        Block::Words(words) => format!("<p dir=\"auto\">{}</p>\n", escaped(words)),
        Block::List(points) => {
            let points: String =
                points.iter().map(|point| format!("<li dir=\"auto\">{}</li>\n", escaped(point))).collect();
            format!("<ul>\n{points}</ul>\n")
        }
        Block::Facts(facts) => {
            let fact =
                |(name, what): &(String, String)| format!("<dt>{}</dt>\n<dd>{}</dd>\n", named(name), named(what));
            format!("<dl>\n{}</dl>\n", facts.iter().map(fact).collect::<String>())
        }
        Block::Table { head, rows } => {
            let rows: Vec<Vec<Cell>> =
                rows.iter().map(|row| row.iter().map(|cell| Cell::name(cell)).collect()).collect();
            table(heading, true, &name_heads(head), &rows)
        }
    }
}
