//! Small pictures for a terminal: where W1 lies between floor and ceiling, and the columns that differ most.
//!
//! They are drawn only where somebody looks: a file or a pipe gets the words alone.

use std::fmt::Write;
use std::io::{self, IsTerminal};

use sunprint::evaluate::{ColumnFigures, Compared, Distances, Histogram};

use crate::words::colour_wanted;

/// Levels of a bar.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The width of a name.
const NAME: usize = 20;
/// The length of the line between floor and ceiling.
const LINE: usize = 40;
/// The columns that are drawn.
const WORST: usize = 5;

/// The pictures of a comparison, or nothing where stdout is no terminal.
pub fn if_looked_at(compared: &Compared) -> String {
    if io::stdout().is_terminal() { pictures(compared, colour_wanted(true)) } else { String::new() }
}

/// The line of W1, and real and synthetic bars of the worst columns.
fn pictures(compared: &Compared, colour: bool) -> String {
    let found = &compared.evaluation;
    let mut text = format!("\nWhere the synthetic rows are\n{}", distance_line(&found.distances, colour));
    let drawn: Vec<(&ColumnFigures, &Histogram)> = found
        .columns
        .iter()
        .zip(&compared.histograms)
        .filter_map(|(column, bars)| bars.as_ref().map(|bars| (column, bars)))
        .take(WORST)
        .collect();
    if !drawn.is_empty() {
        text.push_str("\nThe columns that differ most, from their lower bound to their upper\n");
    }
    for (column, bars) in drawn {
        let most = bars.shares.iter().flatten().fold(0.0_f64, |most, &share| most.max(share));
        let _ = writeln!(text, "  {}real       {}", cut(&column.name), sparkline(&bars.shares[0], most));
        let synthetic = painted(&sparkline(&bars.shares[1], most), colour);
        let _ = writeln!(text, "  {:NAME$}synthetic  {synthetic}", "");
    }
    text
}

/// One character for each share: a level of eight, or a blank for nothing. Neighbours of one height look alike in both
/// tables, because both are drawn against the largest share of either.
fn sparkline(shares: &[f64], most: f64) -> String {
    let level = |&share: &f64| match (share / most * LEVELS.len() as f64).ceil() {
        level if level >= 1.0 => LEVELS[(level as usize).min(LEVELS.len()) - 1],
        _ => ' ',
    };
    shares.iter().map(level).collect::<String>().trim_end().to_owned()
}

/// ```text
///   floor     0.4655 ├●───────────────────────────────────────┤ 2.2232 ceiling
///   synthetic 0.4930
/// ```
fn distance_line(distances: &Distances, colour: bool) -> String {
    let (low, high) = (distances.floor.as_ref().map_or(0.0, |floor| floor.w1), distances.ceiling.w1);
    let w1 = distances.synthetic.w1;
    let along = if high > low { ((w1 - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 };
    let place = (along * (LINE - 1) as f64).round() as usize;
    let (left, right) = ("─".repeat(place), "─".repeat(LINE - 1 - place));
    let start = if distances.floor.is_some() { "floor" } else { "zero" };
    let dot = painted("●", colour);
    format!(
        "  {start:<10}{low:.4} ├{left}{dot}{right}┤ {high:.4} ceiling\n  {:<10}{}\n",
        "synthetic",
        painted(&format!("{w1:.4}"), colour)
    )
}

/// Synthetic things are cyan, where there is colour.
fn painted(text: &str, colour: bool) -> String {
    if colour { format!("\x1b[36m{text}\x1b[0m") } else { text.to_owned() }
}

/// A name in the width of its column; what cannot be shown is a question mark.
fn cut(name: &str) -> String {
    let shown: Vec<char> = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let mut short: String = shown.iter().take(NAME - 2).collect();
    if shown.len() > NAME - 2 {
        short.push('…');
    }
    format!("{short:NAME$}")
}

#[cfg(test)]
mod tests {
    use sunprint::evaluate::{Settings, compare};
    use sunprint::schema::Schema;
    use sunprint::source::{Silent, Table};
    use sunprint::tally::codes::Codes;

    use super::{pictures, sparkline};

    #[test]
    fn shares_become_levels() {
        assert_eq!(sparkline(&[0.0, 0.01, 0.125, 0.126, 0.5, 1.0, 0.0], 1.0), " ▁▁▂▄█");
        assert_eq!(sparkline(&[0.2, 0.4], 0.4), "▄█");
        assert_eq!(sparkline(&[0.0, 0.0], 0.0), "", "no rows have a value");
    }

    fn drawn(shift: u16, colour: bool) -> String {
        let mut toml = String::new();
        for i in 0..7 {
            toml += &format!(
                "[[column]]\nname = \"a rather long name \\u001b[2J of column {i}\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n"
            );
        }
        let schema = Schema::parse(&toml, "wide.toml").unwrap();
        let table = |shift: u16| {
            let mut codes = Codes::with_capacity(7, 60);
            (0..60_u16).for_each(|i| codes.push(&[0_u16, 1, 2, 3, 4, 5, 6].map(|j| 500 * i + 7 * j + j * shift), 0));
            Table::of_codes(vec![codes], &schema).unwrap()
        };
        let compared = compare(&table(0), &table(shift), &schema, &Settings::default(), &Silent).unwrap();
        pictures(&compared, colour)
    }

    #[test]
    fn no_line_is_wider_than_a_screen() {
        let text = drawn(4_000, false);
        assert!(text.lines().all(|line| line.chars().count() <= 80 && !line.contains('\u{1b}')), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        let (floor, bars) = (lines[2], &lines[6..]);
        assert!(
            floor.starts_with("  floor") && floor.ends_with("ceiling") && floor.matches('●').count() == 1,
            "{floor}"
        );
        assert_eq!(bars.len(), 10, "five columns, two lines each:\n{text}");
        // The worst column is moved the most, and both start where their lines do.
        assert!(bars[0].contains("a rather long name…"), "{text}");
        let column = |line: &str| line.chars().position(|c| "▁▂▃▄▅▆▇█".contains(c)).unwrap();
        assert!(column(bars[1]) > column(bars[0]) + 10, "{text}");
        // Colour changes nothing but colour.
        let plain = drawn(4_000, true).replace("\u{1b}[36m", "").replace("\u{1b}[0m", "");
        assert_eq!(plain, text);
    }

    #[test]
    fn equal_tables_lie_at_the_floor() {
        assert!(drawn(0, false).contains("├●─"));
    }
}
