//! The verdict on a synthetic table, and what should be heard before it, for a screen of 80 columns.

use std::fmt::Write;

use sunprint::evaluate::{ChangedColumn, Evaluation};

use crate::words::thousands;

/// The width of what is judged, and of a grade.
const WHAT: usize = 18;
const GRADE: usize = 12;
/// The width of a name.
const NAME: usize = 20;
/// A screen.
const SCREEN: usize = 80;

/// A heading and a line or more for each of the five.
pub fn table(found: &Evaluation) -> String {
    let mut text = "\nVerdict (errors beyond chance; a deviation is that of the real column)\n".to_owned();
    for line in found.verdict_lines() {
        let (mut what, mut grade) = (line.what, line.grade);
        let figures = if line.figures.is_empty() { vec![String::new()] } else { line.figures };
        for part in figures.iter().flat_map(|figure| wrapped(figure, SCREEN - 2 - WHAT - GRADE)) {
            let _ = writeln!(text, "{}", format!("  {what:WHAT$}{grade:GRADE$}{part}").trim_end());
            (what, grade) = ("", "");
        }
    }
    text
}

/// What should be heard before anything else, each with a mark; nothing if there is nothing.
pub fn notices(found: &Evaluation) -> String {
    let mut text = String::new();
    for notice in &found.notices {
        let mut mark = "\n! ";
        for part in wrapped(notice, SCREEN - 2) {
            let _ = writeln!(text, "{mark}{part}");
            mark = "  ";
        }
    }
    text
}

/// A notice behind a word like `warning:`: with a small letter, and without a full stop.
pub fn spoken(notice: &str) -> String {
    let mut letters = notice.trim_end_matches('.').chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// The cells that the schema changed: the `most` columns with the largest part of the real ones.
pub fn changed(found: &Evaluation, most: usize) -> String {
    if found.changed.is_empty() {
        return String::new();
    }
    let cells = |column: &ChangedColumn| [column.real, column.synthetic].map(|cells| cells.unwrap_or_default());
    let mut columns: Vec<&ChangedColumn> =
        found.changed.iter().filter(|column| cells(column).iter().any(|cells| cells.changed > 0)).collect();
    let kept = found.changed.len() - columns.len();
    if columns.is_empty() {
        return "\nCells changed by the schema: none, in either table\n".to_owned();
    }
    columns.sort_by(|a, b| b.real_share().total_cmp(&a.real_share()));
    let mut text = "\nCells changed by the schema, most first: in the real table, and in the synthetic\n".to_owned();
    let mut line = |name: &str, numbers: [String; 6]| {
        let [part, clamped, unreadable, unlisted, missing, synthetic] = numbers;
        let name = cut(name);
        let _ = writeln!(text, "  {name}{part:>9}{clamped:>10}{unreadable:>11}{unlisted:>9}{missing:>9}{synthetic:>9}");
    };
    line("", ["of real", "clamped", "unreadable", "unlisted", "missing", "synth"].map(str::to_owned));
    for column in columns.iter().take(most) {
        let [real, synthetic] = cells(column);
        let counts = [real.clamped, real.unreadable, real.unlisted, real.missing, synthetic.changed].map(thousands);
        let [clamped, unreadable, unlisted, missing, synthetic] = counts;
        let part = format!("{:.2} %", 100.0 * real.share);
        line(&column.name, [part, clamped, unreadable, unlisted, missing, synthetic]);
    }
    if columns.len() > most {
        let _ = writeln!(text, "  and {} more", thousands((columns.len() - most) as u64));
    }
    let _ = writeln!(text, "  columns without a changed cell: {}", thousands(kept as u64));
    text
}

/// A name in the width of its column.
fn cut(name: &str) -> String {
    let mut short: String = name.chars().take(NAME - 2).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    format!("{short:NAME$}")
}

/// Words in lines of so many letters; a word that is longer is cut.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let word: String = match word.chars().count() > width {
            true => word.chars().take(width - 1).chain(['…']).collect(),
            false => word.to_owned(),
        };
        let fits = |line: &String| line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width;
        match lines.last_mut().filter(|line| fits(line)) {
            Some(line) if line.is_empty() => *line = word,
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{spoken, wrapped};

    #[test]
    fn words_are_wrapped_and_cut() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 7), ["incomp…"]);
        assert_eq!(wrapped("", 7), [""]);
        assert_eq!((spoken("It is so.").as_str(), spoken("").as_str()), ("it is so", ""));
    }
}
