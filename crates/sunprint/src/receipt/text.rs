//! A receipt, and a statement, as text for a terminal.

use super::Receipt;
use super::statement::{Block, Statement};
use crate::ledger::Entry;
use std::fmt;

/// No line of a receipt is wider than this.
pub(super) const WIDTH: usize = 80;

impl Receipt {
    /// What is promised, as text: everything that is known before the data is read.
    pub fn promised(&self) -> String {
        let name = if self.dataset.is_empty() { "(unnamed)".to_string() } else { visible(&self.dataset) };
        let mut text = format!("Receipt of Sunprint {} for dataset `{name}`\n", self.version);
        text.push_str(&wrapped(&self.sentence(), ""));
        line(&mut text, "unit of privacy", &self.unit);
        line(&mut text, "promise", &self.promise_in_numbers());
        line(&mut text, "method", self.method.name());
        let strata = if self.strata > 1 { format!(", and {} strata", self.strata) } else { String::new() };
        let coordinates = self.coordinates.map(|count| format!(" with {count} coordinates")).unwrap_or_default();
        line(&mut text, "columns", &format!("{}{coordinates}{strata}", self.columns));
        let entry = |entry: &Entry| format!("entry {}, hash {:.16}…", entry.number, entry.hash);
        line(&mut text, "ledger", &self.ledger.as_ref().map_or("none: nothing was recorded".to_string(), entry));
        text
    }

    /// What came of it, as text: what only the fit could tell, without the remarks.
    pub fn measured(&self) -> String {
        let mut text = String::new();
        let rows = self.rows.map_or("counted when the table is opened".to_string(), |rows| rows.to_string());
        line(&mut text, "rows", &rows);
        if let Some(dimension) = self.dimension {
            line(&mut text, "dimension d′", &dimension.to_string());
        }
        if let Some(cells) = &self.cells {
            line(&mut text, "cells", cells);
        }
        if !self.stages.is_empty() {
            line(&mut text, "budget", "divided between the stages:");
        }
        for stage in &self.stages {
            let share = 100.0 * stage.share as f64 / stage.of as f64;
            line(&mut text, &stage.name, &format!("{share:>6.2} %  {}", stage.mechanism));
        }
        text
    }

    fn promise_in_numbers(&self) -> String {
        let epsilon = &self.epsilon;
        match &self.delta {
            None => format!("pure ε = {epsilon}"),
            Some(delta) => {
                format!("ε = {epsilon}, δ = {delta} (by ρ = {:.6} of zCDP)", crate::plan::as_float(&self.total))
            }
        }
    }
}

/// The whole receipt: the promise, what came of it, and the remarks.
impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.promised())?;
        f.write_str(&self.measured())?;
        self.remarks.iter().try_for_each(|remark| f.write_str(&wrapped(&format!("note: {remark}"), "  ")))
    }
}

/// A title and what it says.
fn line(text: &mut String, title: &str, what: &str) {
    text.push_str(&wrapped(what, &format!("  {title:<18}")));
}

/// Words on lines of at most [`WIDTH`] letters. The first begins with `head`, the others with as many spaces.
pub(super) fn wrapped(words: &str, head: &str) -> String {
    let indent = head.chars().count();
    let (mut text, mut used) = (head.to_string(), indent);
    for (i, word) in words.split(' ').enumerate() {
        let length = word.chars().count();
        if i > 0 && used + 1 + length > WIDTH {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            used = indent;
        } else if i > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
    }
    text.push('\n');
    text
}

/// Text with everything spelt out that would move the cursor, turn the line around or not be seen at all.
pub(super) fn visible(text: &str) -> String {
    let hidden = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
            || ('\u{2028}'..='\u{202e}').contains(&letter)
            || ('\u{2060}'..='\u{206f}').contains(&letter)
            || ('\u{e0000}'..='\u{e007f}').contains(&letter)
    };
    let spelt = |letter: char| match letter {
        letter if hidden(letter) => letter.escape_unicode().to_string(),
        letter => letter.to_string(),
    };
    text.chars().map(spelt).collect()
}

impl Statement {
    /// The statement for a terminal, in lines of at most 80 letters where words allow it.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n{}\n", self.title, "=".repeat(self.title.chars().count()));
        for section in &self.sections {
            text.push_str(&format!("\n{}\n{}\n", section.heading, "-".repeat(section.heading.chars().count())));
            for (i, block) in section.blocks.iter().enumerate() {
                if i > 0 {
                    text.push('\n');
                }
                put_block(&mut text, block);
            }
        }
        text
    }
}

fn put_block(text: &mut String, block: &Block) {
    match block {
        Block::Heading(heading) => text.push_str(&wrapped(&format!("{heading}:"), "")),
        Block::Words(words) => text.push_str(&wrapped(words, "")),
        Block::List(points) => points.iter().for_each(|point| text.push_str(&wrapped(point, "  - "))),
        Block::Facts(facts) => {
            let longest = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
            let width = longest.clamp(12, 28);
            facts.iter().for_each(|(name, what)| text.push_str(&wrapped(what, &format!("  {name:<width$}  "))));
        }
        Block::Table { head, rows } => {
            for cells in rows {
                text.push_str(&wrapped(&cells[0], "  "));
                for (head, cell) in head.iter().zip(cells).skip(1) {
                    text.push_str(&wrapped(cell, &format!("    {head}: ")));
                }
            }
        }
    }
}
