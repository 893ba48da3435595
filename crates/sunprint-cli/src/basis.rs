//! Reading a public basis: K rows, each with one number for each feature, as CSV or JSON.

use std::path::Path;

use sunprint::error::{Error, Kind, Result};

use crate::files;

/// Reads the directions of `--public-basis`.
pub fn read(path: &Path) -> Result<Vec<Vec<f64>>> {
    let place = path.display().to_string();
    let text = String::from_utf8(files::read(path)?).map_err(|_| refuse("a public basis is text").at(&place))?;
    parse(&text, &place)
}

/// JSON if it begins with a bracket, else CSV without a header.
fn parse(text: &str, place: &str) -> Result<Vec<Vec<f64>>> {
    let rows = if text.trim_start().starts_with('[') { from_json(text, place)? } else { from_csv(text, place)? };
    if rows.is_empty() {
        return Err(refuse("a public basis has at least one row").at(place));
    }
    if let Some(i) = rows.iter().position(|row| row.len() != rows[0].len()) {
        let rule = format!("row {} has {} numbers and row 1 has {}", i + 1, rows[i].len(), rows[0].len());
        return Err(refuse(rule).at(place));
    }
    if let Some(i) = rows.iter().position(|row| !row.iter().all(|number| number.is_finite())) {
        return Err(refuse(format!("row {} holds a number that is not finite", i + 1)).at(place));
    }
    Ok(rows)
}

fn from_json(text: &str, place: &str) -> Result<Vec<Vec<f64>>> {
    serde_json::from_str(text).map_err(|error| {
        refuse("a public basis in JSON is a list of lists of numbers").at(format!(
            "{place}:{}:{}",
            error.line(),
            error.column()
        ))
    })
}

fn from_csv(text: &str, place: &str) -> Result<Vec<Vec<f64>>> {
    let numbers = |(i, line): (usize, &str)| {
        let cell = |(j, cell): (usize, &str)| {
            cell.trim().parse().map_err(|_| {
                refuse(format!("number {} of the row cannot be read", j + 1)).at(format!("{place}:{}", i + 1))
            })
        };
        line.split(',').enumerate().map(cell).collect()
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(numbers).collect()
}

fn refuse(rule: impl Into<String>) -> Error {
    Error::new(Kind::Usage, rule)
        .hint("`--public-basis` takes K rows, each with one number for each feature, no header")
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn csv_and_json_say_the_same() {
        let csv = parse("1, 0,0.5\n\n0,1e0,-0.5\n", "b").unwrap();
        let json = parse(" [[1,0,0.5],[0,1.0,-0.5]]", "b").unwrap();
        assert_eq!(csv, json);
    }

    #[test]
    fn mistakes_are_placed() {
        let cases = [
            ("", "b: a public basis has at least one row"),
            ("1,2\nx,3", "b:2: number 1 of the row cannot be read"),
            ("1,2\n3", "b: row 2 has 1 numbers and row 1 has 2"),
            ("1,nan", "b: row 1 holds a number that is not finite"),
            ("[[1,2],[3,\"x\"]]", "b:1:13: a public basis in JSON is a list of lists of numbers"),
        ];
        for (text, sentence) in cases {
            assert_eq!(parse(text, "b").unwrap_err().to_string(), sentence);
        }
    }
}
